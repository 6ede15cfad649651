"""Draw docs/console.svg: the live screen of `quickstart` at 16 simulated seconds.

python docs/draw_console.py
"""

import asyncio
import io
import tempfile
from pathlib import Path

from rich.console import Console

from scenarios.api import make_plan
from scenarios.conduct import Run
from scenarios.governor import Hand
from scenarios.observers.console import Frame, LiveScreen
from scenarios.observers.view import frame

WIDTH, HEIGHT, AT = 100, 30, 16.0


def main() -> None:
    """Run up to the instant, look once, and write the picture."""
    plan = make_plan("quickstart")
    with tempfile.TemporaryDirectory() as folder:
        hand = Hand(watched=True)
        run = Run(plan, Path(folder) / "run", hand, 1.0)
        console = Console(record=True, width=WIDTH, height=HEIGHT, file=io.StringIO())
        screen = LiveScreen(run, console)

        def look() -> None:
            console.print(Frame(frame(screen.model(HEIGHT), WIDTH, HEIGHT)))
            hand.interrupt()

        run.clock.at(int(AT * 1e9), 4 << 32, look)
        asyncio.run(run.perform())
    console.save_svg(str(Path(__file__).parent / "console.svg"), title="hush run")


if __name__ == "__main__":
    main()

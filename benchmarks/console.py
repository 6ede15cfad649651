"""What the live console costs: a frame beside Rich's own Table, and a watched run beside a quiet one.

python benchmarks/console.py [--nodes 5 100 1000 10000] [--repeat 5]

Frames are drawn from a run that is paused halfway, all figures anew each time (of
thousands everybody is looked at twice a second at most, which is a survey), into a file that forgets. A frame is
looking (everything gathered), drawing (model to lines) and writing (Rich's Live, 100 × 30). Runs are interleaved
pairs; the slowdown is the median of their ratios in processor time. Times are of one process, ratios within one run.
"""

import argparse
import asyncio
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from rich.console import Console
from rich.live import Live
from rich.table import Table

from scenarios.api.runs import make_plan
from scenarios.console.drawing.frame import frame
from scenarios.console.screens.screen import Frame, Screen
from scenarios.console.screens.viewer import Viewer, viewer_of
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run

SIZE = (100, 30)


def world(nodes: int, horizon: float) -> dict[str, Any]:
    """Build the world of benchmarks/wakeups.py: 20 neighbours or fewer, a hundred dimensions."""
    return {
        "schema": 1,
        "name": f"console-{nodes}",
        "run": {"seed": 1, "horizon": horizon, "sample_every": 1.0},
        "data": {"source": "separators", "dimension": 20, "points": 10, "test_points": 0},
        "task": {"l2": "1/m"},
        "network": {
            "topology": {"kind": "regular", "degree": 10} if nodes > 10 else {"kind": "complete"},
            "latency": {"kind": "exponential", "mean": 0.05},
            "loss": 0.02,
        },
        "nodes": [{"count": nodes, "budget": {"epsilon": 10.0, "delta": 1e-5}}],
        "mechanism": {"kind": "cd", "noise": "gaussian", "releases": math.ceil(2 * horizon)},
    }


def forgetful() -> Console:
    """A terminal that nobody looks at."""
    sink = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    return Console(
        file=sink, force_terminal=True, color_system="truecolor", width=SIZE[0], height=SIZE[1]
    )


def milliseconds(work: Callable[[], Any], repeat: int) -> float:
    """Return the median processor time of some work."""
    work()
    found = []
    for _ in range(repeat):
        begun = time.process_time()
        work()
        found.append(1e3 * (time.process_time() - begun))
    return statistics.median(found)


def rich_table(viewer: Viewer) -> Table:
    """The same rows, as a user of Rich would show them."""
    builder, size = viewer.session.pane.builder, viewer.session.pane.source.facts.size
    builder.source.refresh()
    rows = [builder._row(i) for i in range(min(SIZE[1] - 5, size))]
    table = Table(expand=True)
    for name in ("id", "state", "ε", "cap", "loss", "releases", "inbox", "stale"):
        table.add_column(name)
    for row in rows:
        table.add_row(
            str(row.id),
            row.state,
            f"{row.epsilon:.2f}",
            f"{row.cap:g}",
            f"{row.loss:.4f}",
            str(row.releases),
            str(row.inbox),
            f"{row.stale_s:.1f}s",
        )
    return table


def frames(nodes: int, repeat: int) -> tuple[float, ...]:
    """Pause a run halfway, and draw it again and again."""
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        governor = RunGovernor(watched=True, looks=True)
        run = Run(make_plan(world(nodes, 6.0)), Path(folder) / "run", governor, 1.0)
        viewer = viewer_of(run)
        console = forgetful()

        def measure() -> None:
            model = viewer.model(*SIZE)
            lines = frame(model, *SIZE)
            with Live(console=console, auto_refresh=False, screen=True) as live:

                def write(what: Any) -> None:
                    live.update(what)
                    live.refresh()

                def look(*, anew: bool) -> None:
                    gather = viewer.session.pane.builder
                    gather._ranking._order = (None, [])
                    if anew:
                        gather._survey, gather._crowds.known = None, None
                    viewer.model(*SIZE)

                found.append(milliseconds(lambda: look(anew=True), repeat))
                found.append(milliseconds(lambda: look(anew=False), repeat))
                found.append(milliseconds(lambda: frame(model, *SIZE), repeat))
                found.append(milliseconds(lambda: write(Frame(lines)), repeat))
                found.append(milliseconds(lambda: write(rich_table(viewer)), max(3, repeat // 5)))
            governor.interrupt()

        run.clock.at(3_000_000_500, 4 << 32, measure)
        asyncio.run(run.perform())
    return tuple(found)


def once(nodes: int, horizon: float, *, watched: bool) -> float:
    """Run a world as fast as can be, and return its processor time."""
    plan = make_plan(world(nodes, horizon))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(plan, Path(folder) / "run", RunGovernor(watched=watched, looks=watched), 1.0)
        viewer = viewer_of(run) if watched else None
        begun = time.process_time()

        async def work() -> None:
            if viewer is None:
                await run.perform()
            else:
                await Screen(viewer, forgetful()).watch(run.perform())

        asyncio.run(work())
        return time.process_time() - begun


def main() -> None:
    """Print both tables."""
    words = argparse.ArgumentParser()
    words.add_argument("--nodes", type=int, nargs="*", default=[5, 100, 1000, 10_000])
    words.add_argument("--repeat", type=int, default=30)
    words.add_argument("--pairs", type=int, default=5)
    chosen = words.parse_args()
    print(
        f"{'agents':>7} {'survey':>8} {'look':>8} {'draw':>8} {'write':>8} {'frame ms':>9} {'10 fps %':>9} {'Rich Table ms':>14}"
    )
    for nodes in chosen.nodes:
        anew, look, draw, write, table = frames(nodes, chosen.repeat)
        whole = look + draw + write
        survey = min(0.2 * (anew - look), 5.0)  # twice a second, a twentieth of the time at most
        print(
            f"{nodes:>7} {anew:>8.2f} {look:>8.2f} {draw:>8.2f} {write:>8.2f} {whole:>9.2f} {whole + survey:>9.1f} {table:>14.2f}"
        )
    print(f"\n{'agents':>7} {'quiet s':>8} {'watched':>8} {'slowdown':>9}")
    for nodes in chosen.nodes:
        horizon = max(3.0, 40_000 / nodes) if nodes < 10_000 else 5.0
        found = []
        for _ in range(chosen.pairs):  # a quiet run before and after: the machine drifts
            before, watched, after = (once(nodes, horizon, watched=w) for w in (False, True, False))
            found.append(((before + after) / 2, watched))
        ratio = statistics.median(watched / quiet for quiet, watched in found)
        quiet, watched = (statistics.median(times) for times in zip(*found, strict=True))
        print(f"{nodes:>7} {quiet:>8.2f} {watched:>8.2f} {100 * (ratio - 1):>+8.1f}%")


if __name__ == "__main__":
    main()

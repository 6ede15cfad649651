"""Draw the pictures of docs/console.md and the README: moments of replayed runs, and the quickstart as it moves.

python docs/draw_console.py
"""

import asyncio
import math
import tempfile
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.drawing.palette import THEMES
from scenarios.console.screens.svg import animation
from scenarios.console.screens.viewer import Viewer, viewer_of_recording
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run

DOCS = Path(__file__).parent
THOUSANDS: dict[str, Any] = {
    "schema": 1,
    "name": "two-thousand",
    "run": {"seed": 3, "horizon": 20.0},
    "data": {"source": "blobs", "dimension": 4, "points": 10, "test_points": 0},
    "task": {"l2": 0.1},
    "network": {"topology": {"kind": "regular", "degree": 6}, "latency": 0.05, "loss": 0.02},
    "nodes": [
        {"name": "phones", "count": 1900, "clock": {"kind": "poisson", "rate": 0.5}},
        {"name": "hubs", "count": 100, "clock": {"kind": "poisson", "rate": 2.0}},
    ],
    "mechanism": {"kind": "cd", "noise": "gaussian", "releases": 40},
    "fault": [{"at": 8.0, "for": 8.0, "crash": {"percent": 4}}],
}
for group in THOUSANDS["nodes"]:
    group["budget"] = {"epsilon": 8.0, "delta": 1e-5}


STILLS = (
    ("quickstart", 28.0, "console", "grid", "dark"),
    ("quickstart", 12.0, "console-network", "network", "light"),
    ("ring5-dropout", 28.0, "console-few", "table", "dark"),
    (THOUSANDS, 12.0, "console-many", "crowd", "dark"),
)
"""The scenario, the instant (s), the name of the picture, the scale and the theme."""
MOVES, SPEED, FPS, SIZE = "quickstart", 2.0, 1.0, (92, 30)
"""What moves in the README: the scenario, simulated seconds a second, frames a second, columns and lines."""


def viewer_for(scenario: Any, folder: Path) -> tuple[Viewer, ReplayControl]:
    """Run a scenario, and return what shows its recording."""
    run = Run(make_plan(scenario), folder / "run", RunGovernor(), 1.0)
    asyncio.run(run.perform())
    viewer, control = viewer_of_recording(RunRecord(run.folder.path), math.inf)
    control.hold()
    return viewer, control


def main() -> None:
    """Run each, look at one moment, and write the picture; then the one that moves."""
    for scenario, at, name, scale, theme in STILLS:
        with tempfile.TemporaryDirectory() as folder:
            viewer, control = viewer_for(scenario, Path(folder))
            viewer.session.pane.change(scale=scale)
            viewer.theme = THEMES[theme]
            control.source.seek(round(at * 1e9))
            text = viewer.picture(110, 36)
        (DOCS / f"{name}.svg").write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        viewer, control = viewer_for(MOVES, Path(folder))
        viewer.session.pane.change(scale="network")
        frames = []
        for k in range(1 + int(control.source.length / 1e9 * FPS / SPEED)):
            control.source.seek(round(k * SPEED / FPS * 1e9))
            frames.append(viewer.moving(*SIZE, SPEED))
        moving = animation(frames, FPS, SIZE[0], viewer.title, viewer.theme)
    (DOCS / "quickstart.svg").write_text(moving, encoding="utf-8")


if __name__ == "__main__":
    main()

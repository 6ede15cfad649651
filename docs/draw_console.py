"""Draw the pictures of docs/console.md and the README: three scales, each a moment of a replayed run.

python docs/draw_console.py
"""

import asyncio
import math
import tempfile
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.console.screens.viewer import viewer_of_recording
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


def main() -> None:
    """Run each, look at one moment, and write the picture."""
    for scenario, at, name in (
        ("quickstart", 16.0, "console"),
        ("ring5-dropout", 28.0, "console-few"),
        (THOUSANDS, 12.0, "console-many"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(make_plan(scenario), Path(folder) / "run", RunGovernor(), 1.0)
            asyncio.run(run.perform())
            viewer, control = viewer_of_recording(run.folder.path, math.inf)
            control.hold()
            control.source.seek(round(at * 1e9))
            text = viewer.picture(100, 30)
        (DOCS / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""A hostile run, looked at as it was at some time."""

from typing import Any

from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.screens.viewer import Viewer, viewer_of_recording
from scenarios.records.reader import RunRecord
from scenarios.running.run import Run
from tests.support.builders import Ran, private

HOSTILE = private(
    run={"seed": 5, "horizon": 20.0},
    network={"topology": "complete", "latency": 0.2, "loss": 0.2},
    nodes=[
        {"name": "phones", "count": 8, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        {"name": "hubs", "count": 4, "budget": {"epsilon": 9.0, "delta": 1e-5}},
    ],
    fault=[
        {"at": 6.0, "crash": [1, 2, 9]},
        {"at": 8.0, "for": 3.0, "slow": {"on": [4], "factor": 3}},
    ],
)


HOSTILE["nodes"][0]["compute"] = 0.05


def stood(ran: Ran | Run, at: float, speed: float = 4.0) -> tuple[Viewer, ReplayControl]:
    """Look at a run as it was at some time."""
    folder = ran.outcome.folder if isinstance(ran, Ran) else ran.folder.path
    viewer, found = viewer_of_recording(RunRecord(folder), speed)
    found.source.seek(round(at * 1e9))
    found.hold()
    return viewer, found


def told(viewer: Viewer, width: int = 130, height: int = 40) -> list[str]:
    return ["".join(text for text, _ in line) for line in viewer.draw(width, height)]


def samples(ran: Ran) -> list[dict[str, Any]]:
    return [e for e in RunRecord(ran.outcome.folder).events() if e["kind"] == "sampled"]

"""Agents whose clocks tick alike leave together what they leave one by one."""

from pathlib import Path
from typing import Any

import pytest

from actors.events import FaultBegan, Woke
from scenarios.api.runs import make_plan
from tests.support.builders import scenario
from tests.support.marks import one_in
from tests.worlds.test_paths import differences, told

PERIOD = {"kind": "synchronous", "period": 1.0}


def world(**changes: Any) -> dict[str, Any]:
    """Return six agents on a ring that tick together ten times."""
    tree: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": PERIOD}],
        "network": {"topology": "ring", "latency": 0.0},
        "run": {"seed": 5, "rounds": 10, "sample_every": 2.5},
    }
    return scenario(**(tree | changes))


FAULTS: dict[str, dict[str, Any]] = {
    "crash": {"at": 3.5, "for": 2.0, "crash": [2]},
    "crash at a tick": {"at": 4.0, "for": 2.0, "crash": [0]},
    "pause": {"at": 2.5, "for": 3.0, "pause": [0]},
    "leave": {"at": 2.5, "for": 3.0, "leave": [5]},
    "leave at a tick": {"at": 3.0, "for": 3.0, "leave": [1, 5]},
}
WORLDS: dict[str, dict[str, Any]] = {
    "quiet": {},
    "sampled at ticks": {"run": {"seed": 5, "rounds": 10, "sample_every": 1.0}},
    "ended in the middle of a tick": {"run": {"seed": 5, "updates": 27, "sample_every": 2.5}},
    "late and lost": {"network": {"topology": "ring", "latency": 0.4, "loss": 0.2}},
    "ADMM": {"mechanism": {"kind": "admm"}, "task": {}},
    "a period of its own": {
        "run": {"seed": 5, "horizon": 9.5, "sample_every": 2.5},
        "nodes": [
            {"count": 3, "clock": PERIOD},
            {"count": 1, "clock": "poisson"},
            {"count": 2, "clock": {"kind": "synchronous", "period": 0.5}},
        ],
    },
    "leaving when the budget is spent": {
        "mechanism": {"kind": "cd", "mu": 1.0, "noise": "norm-gamma", "releases": 4},
        "nodes": [
            {
                "count": 6,
                "clock": PERIOD,
                "budget": {"epsilon": 1.0, "delta": 1e-5, "on_exhausted": "leave"},
            }
        ],
    },
    **{name: {"fault": [fault]} for name, fault in FAULTS.items()},
}


@pytest.mark.parametrize("name", one_in(3, WORLDS))
def test_agents_that_tick_together_leave_what_they_leave_one_by_one(
    tmp_path: Path, name: str
) -> None:
    plan = make_plan(world(**WORLDS[name]))
    detailed, plain = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, plain) == []
    assert plain[1].rows > 0


@pytest.mark.parametrize("kind", ["woke", "spent"])
def test_what_a_wake_brings_about_comes_before_the_next_wake(tmp_path: Path, kind: str) -> None:
    """A fault that an event of agent 2 triggers strikes before agent 4 wakes at this instant."""
    changes = WORLDS["leaving when the budget is spent"]
    fault = {"when": f"kind == '{kind}' and node == 2 and t >= 4000000000", "crash": [4]}
    plan = make_plan(world(**changes, fault=[fault]))
    detailed, plain = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, plain) == []
    struck = next(event.t for event in plain[1].events if isinstance(event, FaultBegan))
    woke = [event.t for event in plain[1].events if isinstance(event, Woke) and event.node == 4]
    assert max(woke) < struck

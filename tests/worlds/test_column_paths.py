"""Whole runs in columns, with all invariants on: the same as by single steps, also where agents enter and leave them."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from tests.actors.columns.test_same_worlds import WORLDS
from tests.support.builders import private
from tests.worlds.test_paths import differences, told

BUDGET = {"epsilon": 4.0, "delta": 1e-5}
CHURN: dict[str, dict[str, Any]] = {
    "joins and crashes": private(
        nodes=[{"count": 8, "budget": BUDGET}],
        network={"topology": "complete", "latency": {"kind": "exponential", "mean": 0.4}},
        fault=[
            {"at": 4.0, "join": [1, 5]},
            {"every": 2.0, "until": 15.0, "crash": {"count": 2}, "for": 1.3},
            {"at": 6.0, "leave": [3], "for": 2.5},
        ],
    ),
    "lossy windows": private(
        network={"topology": "complete", "latency": 0.3},
        fault=[
            {"every": 3.0, "loss": {"on": "all", "p": 0.5}, "for": 1.0},
            {"every": 2.5, "pause": {"count": 1}, "for": 0.8},
        ],
    ),
    "memory lost": private(
        network={"latency": {"kind": "exponential", "mean": 0.7}, "loss": 0.2},
        fault=[{"every": 1.5, "crash": {"count": 2}, "lose": "all", "for": 0.9}],
    ),
}


@pytest.mark.parametrize("name", [*CHURN, *WORLDS])
def test_a_whole_run_is_that_of_single_steps(tmp_path: Path, name: str) -> None:
    plan = make_plan({**CHURN, **WORLDS}[name])
    detailed, other = told(plan, "events", tmp_path), told(plan, "columns", tmp_path)
    assert detailed[0].outcome.code in {0, 1}, detailed[0].outcome.message
    found = differences(detailed, other)
    assert found == []

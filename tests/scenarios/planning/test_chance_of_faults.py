"""The chance of a fault has a name that depends on what the author wrote, and on nothing else."""

import os
import subprocess
import sys
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from tests.support.builders import scenario

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a choice": (
        {
            "at": 1.0,
            "for": {"kind": "exponential", "mean": 2},
            "crash": {"count": 2},
            "lose": "all",
        },
        "fault/crash-c0cab6bf8a71/1",
    ),
    "bursts": (
        {
            "every": 5,
            "from": "1s",
            "loss": {"on": "all", "kind": "gilbert-elliott", "enter": 0.1, "leave": 0.2},
        },
        "fault/loss-9a7fe2540b3c/1",
    ),
    "sessions": (
        {
            "at": 2.0,
            "churn": {
                "on": [1, 2],
                "session": {"kind": "bittorrent-redhat", "scaled": 0.01},
                "downtime": 3,
            },
        },
        "fault/churn-112d2017dfd4/1",
    ),
    "groups": (
        {"at": 3.0, "partition": {"groups": [[0, 1], [2]]}, "direction": "to", "oracle": True},
        "fault/partition-70f7012e3f3f/1",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_the_name_is_the_one_of_version_0_5(what: str) -> None:
    """Seeds of published runs give the same faults: these names were printed by version 0.5.0."""
    fault, name = FAULTS[what]
    assert make_plan(scenario(fault=[fault])).faults[0].path == name


def test_other_faults_do_not_touch_the_name() -> None:
    """Where a fault stands in its file does not matter; the second of two equal ones has another name."""
    fault, name = FAULTS["a choice"]
    paths = [f.path for f in make_plan(scenario(fault=[FAULTS["bursts"][0], fault, fault])).faults]
    assert paths[1:] == [name, name.removesuffix("1") + "2"]


@pytest.mark.slow
def test_the_name_does_not_depend_on_the_hashes_of_python() -> None:
    """Sets of texts have another order in every process."""
    fault, name = FAULTS["bursts"]
    says = (
        "from scenarios.api.runs import make_plan; from tests.support.builders import scenario;"
        f"print(make_plan(scenario(fault=[{fault!r}])).faults[0].path)"
    )
    for seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", says],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == name

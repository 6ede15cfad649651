"""Numbers that no author means are refused with their place, or they work: no input ends in a traceback."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.language.value_rules import number_of_seconds
from scenarios.language.writer import to_toml
from scenarios.planning.forecast import forecast
from scenarios.planning.run_size import extent
from tests.support.builders import perform, scenario
from tests.support.extremes import EXTREME, WORLDS, changed, numbers, whole
from tests.support.marks import one_in

EACH = 16
"""So many changed files of each of about 150 worlds: more than 2,000 in all."""


def judge(tree: dict[str, Any], folder: Path, *, runs: bool) -> None:
    """Read a file as the command does; a refusal names its line and column, and a plan can be told and run."""
    file = folder / "x.toml"
    file.write_text(to_toml(tree), "utf-8")
    try:
        plan = make_plan(str(file))
    except ScenarioError as error:
        for problem in error.problems:
            assert str(problem).startswith(f"{file}:"), str(problem)  # each of them
        return
    forecast(plan)
    expected = extent(plan)
    small = expected.updates < 100 and expected.samples < 100 and expected.messages < 300
    if runs and small and plan.engine == "virtual":
        ran = perform(plan, folder / "runs")
        assert ran.outcome.code in {0, 1, 4}, ran.outcome.message


@pytest.mark.parametrize("name", one_in(10, WORLDS))
def test_an_extreme_number_is_refused_with_its_place_or_works(name: str, tmp_path: Path) -> None:
    tree = whole(name)
    places = list(numbers(tree))
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    rng = np.random.default_rng(seed)
    for at in range(EACH):
        place = places[int(rng.integers(len(places)))]
        value = EXTREME[int(rng.integers(len(EXTREME)))]
        judge(changed(tree, place, value), tmp_path, runs=at == 0)


def _budget(**more: Any) -> dict[str, Any]:
    return {"nodes": [{"count": 3, "budget": {"epsilon": 1.0} | more}]}


_CD = {"kind": "cd", "noise": "laplace", "releases": 3}
NAMED: dict[str, tuple[dict[str, Any], str]] = {
    "wakes in nanoseconds": (
        {"nodes": [{"count": 3, "clock": {"kind": "trace", "wakes": [[1.7e18, 0]]}}]},
        "nodes.0.clock.wakes.0: must be [time, id] with a time in seconds up to 9e+09, got [1.7e+18, 0.0]: nanoseconds?",
    ),
    "a gamma of a billion stages": (
        {"network": {"latency": {"kind": "gamma", "mean": 0.1, "shape": 1e9}}},
        "network.latency.shape: must be a number > 0, and at most 1e+06, got 1000000000.0",
    ),
    "no budget to speak of": (
        _budget(epsilon=1e-300) | {"mechanism": _CD},
        "nodes.0.budget.epsilon: must be a number > 0, and at least 1e-12, got 1e-300",
    ),
    "a release for nothing": (
        _budget() | {"mechanism": _CD | {"alpha": 1e-200}},
        "mechanism.alpha: must be a number > 0, and at least 1e-12, got 1e-200",
    ),
    "a release for nothing, without a count": (
        _budget() | {"task": {}, "mechanism": {"kind": "dvp", "alpha": 1e-200}},
        "mechanism.alpha: must be a number > 0, and at least 1e-12, got 1e-200",
    ),
    "the smallest l2": (
        {"task": {"l2": 5e-324}},
        "task.l2: must be a number >= 0, and at least 1e-12, got 5e-324",
    ),
    "the largest l2": (
        {"task": {"l2": 1e308}},
        "task.l2: must be a number >= 0, and at most 1e+12, got 1e+308",
    ),
    "samples between two nanoseconds": (
        {"run": {"seed": 1, "horizon": 5.0, "sample_every": 1e-30}},
        "run.sample_every: must be > 0, and at least 1e-09, got 1e-30",
    ),
    "a number beyond all floats": (
        {"task": {"l2": 10**400}},
        "task.l2: must be a number >= 0",
    ),
    "a horizon beyond all floats": (
        {"run": {"seed": 1, "horizon": 10**400}},
        "run.horizon: must be > 0 and finite",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_an_extreme_number_by_name(name: str) -> None:
    sections, said = NAMED[name]
    with pytest.raises(ScenarioError) as error:
        make_plan(scenario(**sections))
    assert said in str(error.value)
    assert len(error.value.problems) == 1, "nothing is said to be missing that was refused"


@pytest.mark.parametrize("row", ["1.7e18,0", "1,inf", "nan,0", "-1,0", "1,0.5", "1"])
def test_a_trace_file_of_odd_numbers(row: str, tmp_path: Path) -> None:
    (tmp_path / "wakes.csv").write_text(f"{row}\n")
    file = tmp_path / "x.toml"
    clock = {"kind": "trace", "path": "wakes.csv"}
    file.write_text(to_toml(scenario(nodes=[{"count": 3, "clock": clock}])))
    with pytest.raises(ScenarioError, match=r"nodes\.0\.clock: a trace holds rows of time, in s"):
        make_plan(str(file))


@pytest.mark.parametrize("text", ["1e300", "1e400", "-1", "1e-300", "nan", "1e300d"])
def test_a_duration_of_the_command_line_has_the_same_bounds(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        number_of_seconds(text if text.endswith("d") else float(text))

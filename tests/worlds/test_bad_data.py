"""Data as they come: nobody's points, one point, one label, a constant feature, long rows, NaN."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import check
from tests.support.builders import perform
from tests.support.catalogue import EVERY, private, world
from tests.support.marks import one_in

RNG = np.random.Generator(np.random.PCG64(7))


def good(m: int = 30, d: int = 3) -> tuple[Any, Any]:
    x = RNG.standard_normal((m, d))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    return x, np.where(x[:, 0] > 0, 1.0, -1.0)


def spoiled(how: str) -> tuple[Any, Any]:
    x, y = good()
    match how:
        case "no points":
            return x[:0], y[:0]
        case "one point":
            return x[:1], y[:1]
        case "one label":
            return x, np.ones(30)
        case "constant feature":
            return np.column_stack([0.9 * x[:, :2], np.full(30, 0.1)]), y
        case "all zeros":
            return np.zeros_like(x), y
        case "long rows":
            return 3 * x, y
        case _:
            x[3, 1] = np.nan
            return x, y


def shards(name: str, how: str) -> dict[str, Any]:
    bad = [spoiled(how)]
    if name == "central-gradient":
        return {"nodes": bad}
    return {"nodes": [good() for _ in range(5)] + bad}


REFUSED = {
    "no points": "has no points",
    "NaN": "row 3: column 1 is missing (NaN)",
}


@pytest.mark.parametrize("how", REFUSED)
@pytest.mark.parametrize("name", EVERY)
def test_what_cannot_be_learned_from_is_refused(name: str, how: str) -> None:
    problems = check(world(name), data=shards(name, how)).problems
    assert problems
    assert any(REFUSED[how] in problem for problem in problems), problems


@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
@pytest.mark.parametrize("name", [name for name in EVERY if private(name)])
def test_long_rows_are_refused_where_noise_or_a_charge_rests_on_their_norms(
    name: str, calibration: str
) -> None:
    """The ledger charges the true loss of a scale as printed, too: that needs the bound."""
    made = world(name)
    made["mechanism"] = made["mechanism"] | {"calibration": calibration}
    problems = check(made, data=shards(name, "long rows")).problems
    assert any("above the declared bound 1" in problem for problem in problems), problems
    assert any("charges of" in problem for problem in problems), problems


@pytest.mark.parametrize("name", [name for name in EVERY if not private(name)])
def test_long_rows_are_learned_from_where_there_is_no_noise(tmp_path: Path, name: str) -> None:
    data = shards(name, "long rows")
    ran = perform(world(name), tmp_path, data=data)
    assert ran.outcome.code == 0, ran.outcome.message
    assert ran.run.plan.shards.train[-1][0].tolist() == data["nodes"][-1][0].tolist()


@pytest.mark.parametrize("how", ["one point", "one label", "constant feature", "all zeros"])
@pytest.mark.parametrize("name", one_in(8, EVERY))
def test_odd_data_are_learned_from(tmp_path: Path, name: str, how: str) -> None:
    ran = perform(world(name), tmp_path, data=shards(name, how))
    summary = ran.outcome.summary
    assert ran.outcome.code == 0, ran.outcome.message
    assert math.isfinite(summary["loss"]["mean"])
    assert np.isfinite(ran.theta).all()
    if private(name) and not name.startswith("pp noise"):
        assert 0 < summary["epsilon"]["max"] <= 4.0


@pytest.mark.parametrize("name", ["admm", "dvp", "wddp once", "local-dp cd"])
def test_long_rows_are_scaled_on_request_and_it_is_said(tmp_path: Path, name: str) -> None:
    scenario = world(name)
    scenario["data"] = scenario["data"] | {"scale": "row"}
    ran = perform(scenario, tmp_path, data=shards(name, "long rows"))
    assert ran.outcome.code == 0
    assert any("were scaled to norm 1" in note for note in ran.outcome.summary["notes"])

"""Expectations and targets: judged at samples, with the first event that decided."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import perform, private, scenario


def verdict(tmp_path: Path, world: Any = None, **claim: Any) -> dict[str, Any]:
    ran = perform((world or scenario)(expect=[claim]), tmp_path)
    found: dict[str, Any] = ran.result.verdicts["expectations"][0]
    return found | {"code": ran.outcome.code}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({"metric": "gap", "below": 0.2}, "pass"),
        ({"metric": "gap", "above": 1.0}, "fail"),
        ({"metric": "gap", "below": 1e9, "when": "always"}, "pass"),
        ({"metric": "gap", "below": 1e-6, "when": "always"}, "fail"),
        ({"metric": "gap", "below": 0.2, "when": "always", "after": 15.0}, "pass"),
        ({"metric": "gap", "below": 0.2, "when": "eventually"}, "pass"),
        ({"metric": "gap", "below": 0.2, "when": "eventually", "within": 0.5}, "fail"),
        ({"metric": "gap", "below": -1.0, "when": "eventually"}, "fail"),
        ({"metric": "loss", "node": 2, "below": 0.69}, "pass"),
        ({"metric": "loss.max", "group": "peers", "at_most": 0.69}, "pass"),
        ({"metric": "messages.lost", "equals": 0}, "pass"),
        ({"metric": "nodes.up", "equals": 5, "tolerance": 1.5}, "pass"),
        ({"metric": "nodes.up", "equals": 5, "tolerance": 0.5}, "fail"),
        ({"metric": "epsilon.left.mean", "below": 1.0}, "unknown"),
        ({"metric": "staleness.mean", "below": 10.0}, "pass"),
        ({"metric": "gap.present", "below": 0.2}, "pass"),
        ({"metric": "lag.max", "at_least": 0.0}, "pass"),
        ({"metric": "loss.p90", "below": 0.69}, "pass"),
        ({"metric": "availability.min", "equals": 1.0}, "pass"),
        ({"metric": "epsilon.min", "above": 1e300}, "pass"),
    ],
)
def test_verdicts_and_exit_codes(tmp_path: Path, claim: dict[str, Any], expected: str) -> None:
    found = verdict(tmp_path, **claim)
    assert found["verdict"] == expected
    if claim["metric"] != "epsilon.min":
        assert found["code"] == {"pass": 0, "fail": 1, "unknown": 4}[expected]


def test_the_deciding_event_is_a_sample_where_it_holds_for_the_first_time(tmp_path: Path) -> None:
    ran = perform(
        scenario(expect=[{"metric": "gap", "below": 0.2, "when": "eventually"}]), tmp_path
    )
    (found,) = ran.result.verdicts["expectations"]
    samples = list(ran.result.samples())
    first = next(s for s in samples if s["values"]["gap"] < 0.2)
    assert (found["first"], found["t"]) == (first["seq"], first["t"] / 1e9)


def test_targets_hold_to_the_end(tmp_path: Path) -> None:
    targets = {"near": {"metric": "gap", "at_most": 0.2}, "never": {"metric": "gap", "below": -1.0}}
    expect = [{"metric": "time_to.near", "at_most": 20.0}]
    ran = perform(private(targets=targets, expect=expect), tmp_path)
    reached = ran.outcome.summary["targets"]
    assert reached["time_to.never"] is None
    plain = perform(scenario(targets=targets, expect=expect), tmp_path)
    reached, samples = plain.outcome.summary["targets"], list(plain.result.samples())
    last_bad = max(s["t"] for s in samples if s["values"]["gap"] > 0.2)
    first_good = min(s["t"] for s in samples if s["t"] > last_bad)
    assert reached["time_to.near"] == first_good / 1e9
    at = next(s for s in samples if s["t"] == first_good)["values"]
    assert reached["releases_to.near"] == sum(at["releases"])
    assert reached["bytes_to.near"] == at["bytes.sent"]
    assert plain.outcome.code == 0

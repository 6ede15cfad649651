"""P(t) of Zhang, Khalili, Liu 2018, and the ε of the last release alone: closed forms."""

import json
from typing import Any

import pytest

from tests.support.builders import perform, scenario

ASKED = [
    {"metric": "epsilon.printed.max", "at_least": 0, "when": "always"},
    {"metric": "epsilon.per_release.max", "at_least": 0, "when": "always"},
]


def samples(one: dict[str, Any], tmp_path: Any, name: str) -> list[float]:
    """The largest value of any agent at each sample."""
    ran = perform(one, tmp_path)
    found = [e["values"][name] for e in ran.events("sampled")]
    return [max(float(v) for v in (json.loads(x) if isinstance(x, str) else x)) for x in found]


def world(**mechanism: Any) -> dict[str, Any]:
    kind = {
        "kind": "pp",
        "C": 10.0,
        "theta": 0.5,
        "eta": {"start": 0.5, "growth": 1.05},
        "noise": {"start": 3.0, "growth": 1.1},
        "calibration": "as_printed",
        **mechanism,
    }
    return scenario(
        run={"seed": 2, "rounds": 12, "sample_every": 1.0},
        task={},
        nodes=[{"count": 6, "clock": "synchronous"}],
        mechanism=kind,
        expect=ASKED,
    )


def test_the_printed_bound_is_the_sum_of_the_paper(tmp_path: Any) -> None:
    """P(t) = Σ_{r ≤ t} C(1.4c₁ + α(r))/(η(r)VB), with c₁ = ¼, V = 2 on a ring, B points."""
    seen = samples(world(), tmp_path, "epsilon.printed")
    total, wanted = 0.0, [0.0]
    for r in range(12):
        total += 10 * (1.4 * 0.25 + 3 * 1.1**r) / (0.5 * 1.05**r * 2 * 30)
        wanted.append(total)
    assert seen[-1] == pytest.approx(wanted[-1], rel=1e-9)
    for value in seen:
        assert min(abs(value - w) for w in wanted) < 1e-9 * max(1.0, value)


def test_the_last_release_alone_is_one_term_of_the_sum(tmp_path: Any) -> None:
    """Charges of pure ε at δ: no accountant gives less than 0, or more than the release's own ε."""
    alone = samples(world(), tmp_path, "epsilon.per_release")
    assert alone[0] == 0.0
    for k, value in enumerate(alone[1:]):
        own = 10 * 3 * 1.1**k / (0.5 * 1.05**k * 2 * 30)
        assert 0 < value <= own + 10 * 0.25 / (30 * 0.5 * 2 * 2 * 1.05**k)


def test_one_release_costs_alone_what_the_ledger_has(tmp_path: Any) -> None:
    one = world() | {"run": {"seed": 2, "rounds": 1, "sample_every": 1.0}}
    ran = perform(one, tmp_path)
    last = ran.events("sampled")[-1]["values"]
    assert last["epsilon.per_release"] == pytest.approx(last["epsilon"])

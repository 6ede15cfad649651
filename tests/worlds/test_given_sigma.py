"""The noise scale of wddp as printed, given in the file: what a budget would set, and what it makes of a ledger."""

from typing import Any

import pytest

from mechanisms.accounting.gaussian import mu
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from tests.support.builders import perform, scenario

BUDGET = {"epsilon": 0.5, "delta": 1e-3}


def world(mechanism: dict[str, Any], budget: dict[str, float] | None = None) -> dict[str, Any]:
    group: dict[str, Any] = {"count": 4, "clock": "barrier"}
    if budget is not None:
        group["budget"] = budget
    kind = {"kind": "wddp", "local_rounds": 9, "calibration": "as_printed", **mechanism}
    return scenario(nodes=[group], run={"seed": 3, "rounds": 1}, task={}, mechanism=kind)


def sigma_of(one: dict[str, Any]) -> float:
    spends = make_plan(one).nodes[0].planned
    assert spends is not None
    return spends[0].scale


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_the_printed_scale_given_as_a_number_is_the_same_run(weights: str, tmp_path: Any) -> None:
    """σ = 2G√T/(n μ(ε, δ)), eq. (3) with the constant that is exact for (ε, δ)."""
    printed = world({"weights": weights}, BUDGET)
    sigma = sigma_of(printed)
    points = sum(o.points for o in make_plan(printed).objectives)
    assert sigma == pytest.approx(2 * 3 / (points * mu(0.5, 1e-3)), rel=1e-8)
    runs = [
        perform(one, tmp_path)
        for one in (printed, world({"weights": weights, "sigma": sigma}, BUDGET))
    ]
    assert runs[0].digests == runs[1].digests
    assert runs[0].outcome.summary["epsilon"] == runs[1].outcome.summary["epsilon"]


def test_without_a_budget_the_claim_is_what_the_printed_formula_makes_of_sigma() -> None:
    """Twice the noise, half the μ that is claimed and half the μ that is charged: claimed is charged·n_j/n (E5)."""
    for sigma in (0.1, 0.2):
        plan = make_plan(world({"sigma": sigma}))
        points = [o.points for o in plan.objectives]
        for node, own in zip(plan.nodes, points, strict=True):
            spends = node.planned
            assert spends is not None
            assert spends[0].claimed == pytest.approx(2 * 3 / (sum(points) * sigma))
            assert spends[0].charged == pytest.approx(2 * 3 / (own * sigma))


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        ({"calibration": "corrected"}, "as_printed"),
        ({"noise": "none", "calibration": "corrected"}, "means nothing"),
        ({"sigma": -1.0}, "> 0"),
    ],
)
def test_a_scale_that_proves_nothing_is_refused(mechanism: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        make_plan(world({"sigma": 0.3, **mechanism}))

"""Audits: what is printed wrong is refuted, what is corrected is not, and planted mistakes are found."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.auditing.audit import (
    BROKEN,
    NOT_REFUTED,
    REFUTED,
    Finding,
    Order,
    audit,
)
from scenarios.auditing.neighbouring_data import neighbours
from scenarios.auditing.report import as_json, in_words
from scenarios.auditing.watched_run import observe
from scenarios.planning.context import Options
from tests.support.builders import couple
from tests.support.catalogue import EVERY, family, private, world

RUNS = int(os.environ.get("HUSH_AUDIT_RUNS", "80"))
"""The catalogue's audits: 80 runs in CI, thousands at night."""


def audited(tree: dict[str, Any] | str, runs: int, **how: Any) -> Finding:
    return audit(Order(make_plan(tree), runs, **how))


# what is printed, and what is corrected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("printed", "runs", "seeds"),
    [
        ("errata/e01-dvp-zeta-as-printed", 600, 5),
        ("errata/e04-pvp-final-step-as-printed", 300, 2),
        ("errata/e05-weighted-average-as-printed", 500, 3),
        ("errata/e07-lipschitz-norm-as-printed", 1500, 5),
    ],
)
def test_a_claim_that_is_not_kept_is_refuted_time_and_again(
    printed: str, runs: int, seeds: int
) -> None:
    """A few repetitions here; twenty are in the closing note. None passes the charge."""
    plan = make_plan(printed)
    found = [audit(Order(replace(plan, seed=seed), runs)) for seed in range(seeds)]
    assert sum(f.verdict == REFUTED for f in found) >= seeds - seeds // 5
    for each in found:
        assert each.lower <= each.charged
        assert each.claimed < each.charged


@pytest.mark.slow
@pytest.mark.parametrize("runs", [600])
def test_the_corrected_zeta_is_not_refuted(runs: int) -> None:
    plan = make_plan("errata/e01-dvp-zeta")
    for seed in range(5):
        found = audit(Order(replace(plan, seed=seed), runs))
        assert found.verdict == NOT_REFUTED
        assert 0.3 < found.lower <= found.charged
        assert found.claimed == pytest.approx(found.charged)
        assert found.power is not None
        assert found.power > 0.9
        assert found.enough is None


@pytest.mark.slow
def test_two_dimensions_need_two_thousand_runs() -> None:
    for calibration, expected in (("as_printed", REFUTED), ("corrected", NOT_REFUTED)):
        tree = couple({"kind": "dvp", "alpha": 1.0, "calibration": calibration}, d=2)
        assert audited(tree, 2000).verdict == expected


@pytest.mark.slow
def test_low_bits_leak_where_nothing_is_rounded() -> None:
    """E21: the noise is right, its doubles are not; on the grid nothing is left of it."""
    assert audited("errata/e21-low-bits-unrounded", 800).verdict == BROKEN
    rounded = audited("errata/e21-low-bits", 800)
    assert rounded.verdict == NOT_REFUTED
    assert rounded.lower < 0.1


@pytest.mark.slow
def test_final_models_leak_more_than_one_release() -> None:
    """E17: who sees the final models only; each release cost 1."""
    found = audited("errata/e17-composition", 250)
    assert found.bound.statistic == "final models"
    assert 1.0 < found.lower < found.charged


CORRECTED = [name for name in EVERY if private(name)]


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["synchronous", "poisson"])
@pytest.mark.parametrize("name", CORRECTED)
def test_no_corrected_mechanism_is_refuted_under_any_clock(name: str, clock: str) -> None:
    """All the catalogue, clean and with latency, loss and a crash; upper bounds are above lower ones."""
    sections: dict[str, Any] = {
        "data": {"source": "blobs", "dimension": 2, "points": 8, "test_points": 0}
    }
    if clock == "poisson":
        sections["network"] = {"topology": "ring", "latency": "100ms", "loss": 0.1}
        sections["fault"] = [{"at": 4.0, "for": 3.0, "crash": [0]}]
    regularised = {} if family(name) == "consensus" else {"l2": 0.1}
    sections["task"] = {"loss": "smoothed-hinge"} | regularised
    tree = world(name, clock, rounds=4, **sections)
    order = Order(make_plan(tree), RUNS, jobs=1)
    found = audit(order)
    assert found.verdict == NOT_REFUTED, (found.lower, found.claimed, found.bound)
    assert found.lower <= found.charged
    assert found.releases > 0


# which statistic is the privacy loss


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CORRECTED if name != "wddp once"])
def test_a_statistic_that_is_called_exact_is_the_privacy_loss(name: str) -> None:
    """E e^L = 1 under D′ and E e^{−L} = 1 under D, to five deviations; a pure ε bounds every |L|.

    Records are the worst that are known, and the rest of the world is small: budgets of 1, so that e^L varies little.
    """
    regularised = {} if family(name) == "consensus" else {"l2": 0.1}
    tree = world(
        name,
        "synchronous",
        rounds=2,
        task={"loss": "logistic"} | regularised,
        data={"source": "blobs", "dimension": 2, "points": 8, "test_points": 0},
    )
    for group in tree["nodes"]:
        if "budget" in group and "alpha" not in tree["mechanism"]:
            group["budget"] = {"epsilon": 1.0, "delta": 1e-5}
    pair = neighbours(make_plan(tree), how="worst", more=Options()).plans()
    seen = [
        [observe(plan, pair.node, pair.pair, f"exact/{side}/{run}") for run in range(120)]
        for side, plan in enumerate((pair.one, pair.other))
    ]
    assert all(each.exact for each in (*seen[0], *seen[1]))
    for sign, some in ((-1.0, seen[0]), (1.0, seen[1])):
        weights = np.exp([sign * each.losses[0] for each in some])
        error = weights.std() / np.sqrt(len(weights))
        assert abs(weights.mean() - 1.0) <= 5 * error + 1e-6
    for each in (*seen[0], *seen[1]):
        for loss, spend in zip(each.losses, each.spends, strict=False):
            if spend.law not in {"gaussian", "none"}:
                assert abs(loss) <= spend.charged * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "exact"), [(1, True), (10, False)])
def test_several_noisy_steps_have_no_exact_loss(steps: int, exact: bool) -> None:  # noqa: FBT001
    """What a client sends after ten steps is Gaussian only where the loss is linear: the report says so."""
    tree = world("wddp once", "synchronous", rounds=2, task={"loss": "logistic", "l2": 0.1})
    tree["mechanism"]["local_rounds"] = steps
    tree["data"] = {"source": "blobs", "dimension": 2, "points": 8, "test_points": 0}
    order = Order(make_plan(tree), 60)
    found = audit(order)
    wanted = "exact loss" if exact else "Gaussian approximation of the loss"
    assert found.bound.statistic == wanted
    assert (found.power is not None) == exact
    assert found.verdict == NOT_REFUTED
    assert any(wanted in line for line in in_words(order, found))


@pytest.mark.slow
def test_an_audit_says_what_it_does_not_test() -> None:
    """The graph stays as it is when a record is replaced: that it was made of data is beyond the audit."""
    data = {"source": "separators", "dimension": 2, "points": 20}
    tree = couple({"kind": "pvp", "alpha": 0.5}, data=data)
    assert "NOT COVERED" not in " ".join(in_words(*_quick(tree)))
    order, found = _quick(tree | {"network": {"topology": {"kind": "knn", "k": 1}}})
    (reason,) = order.plan.uncovered
    assert [line for line in in_words(order, found) if reason in line and "NOT COVERED" in line]
    assert as_json(order, found)["epsilon"]["not_covered"] == [reason]


def _quick(tree: dict[str, Any]) -> tuple[Order, Finding]:
    order = Order(make_plan(tree), 8)
    return order, audit(order)


# the curve, the canary, the processes


@pytest.mark.slow
def test_a_curve_has_the_bound_below_the_charge_at_every_number_of_releases() -> None:
    run = {"seed": 1, "rounds": 12}
    found = audited(couple({"kind": "pvp", "alpha": 0.5}, d=2, run=run), 200)
    assert [at for at, *_ in found.curve] == sorted({at for at, *_ in found.curve})
    assert found.curve[-1][0] == found.releases == 12
    for _, low, claimed, charged in found.curve:
        assert low <= charged
        assert claimed == pytest.approx(charged)


def test_a_canary_in_the_scenarios_own_data() -> None:
    found = audited(
        couple({"kind": "dvp", "alpha": 1.0, "calibration": "as_printed"}), 600, how="canary"
    )
    assert found.verdict in {REFUTED, NOT_REFUTED}
    assert found.lower <= found.charged


def test_more_processes_find_the_same() -> None:
    tree = couple({"kind": "dvp", "alpha": 1.0})
    alone, together = audited(tree, 40), audited(tree, 40, jobs=2)
    assert alone.bound == together.bound
    assert (alone.lower, alone.charged) == (together.lower, together.charged)


def test_every_run_has_noise_of_its_own_and_the_rest_of_the_world_in_common() -> None:
    plan = make_plan(
        couple(
            {"kind": "cd", "noise": "gaussian", "releases": 3},
            nodes=[{"count": 2, "budget": {"epsilon": 1.0}}],
            run={"seed": 1, "horizon": 20.0},
        )
    )
    pair = neighbours(plan, how="worst", more=Options()).plans()
    seen = [observe(pair.one, pair.node, pair.pair, name) for name in ("a", "b", "a")]
    assert seen[0].losses == seen[2].losses != seen[1].losses
    assert seen[0].spends == seen[1].spends
    assert np.array_equal(seen[0].models, seen[2].models)

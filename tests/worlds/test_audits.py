"""Audits: what is printed wrong is refuted, what is corrected is not, and planted mistakes are found."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.spend import Spend
from mechanisms.guards import Guard, Terms
from mechanisms.mixing import Heard
from mechanisms.strategy import RELEASE, Mechanism, Step
from scenarios.api import make_plan
from scenarios.auditor import (
    BROKEN,
    NOT_REFUTED,
    REFUTED,
    Finding,
    Order,
    audit,
    evidence,
    judge,
)
from scenarios.neighbours import neighbours
from scenarios.plan import Plan
from scenarios.seeds import generator
from scenarios.settling import Options
from scenarios.trial import observe
from tests.support.builders import scenario
from tests.support.catalogue import EVERY, family, private, world

RUNS = int(os.environ.get("HUSH_AUDIT_RUNS", "80"))
"""The catalogue's audits: 80 runs in CI, thousands at night."""
HINGE = {"loss": "smoothed-hinge"}


def couple(mechanism: dict[str, Any], d: int = 1, **sections: Any) -> dict[str, Any]:
    """Two agents who hear each other, a few records each."""
    base: dict[str, Any] = {
        "run": {"seed": 1, "rounds": 1},
        "data": {"source": "blobs", "dimension": d, "points": 20, "test_points": 0},
        "task": HINGE,
        "network": {"topology": "path"},
        "nodes": [{"count": 2, "clock": "synchronous"}],
        "mechanism": mechanism,
    }
    return scenario(**(base | sections))


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


def test_low_bits_leak_where_nothing_is_rounded() -> None:
    """E21: the noise is right, its doubles are not; on the grid nothing is left of it."""
    assert audited("errata/e21-low-bits-unrounded", 800).verdict == BROKEN
    rounded = audited("errata/e21-low-bits", 800)
    assert rounded.verdict == NOT_REFUTED
    assert rounded.lower < 0.1


def test_final_models_leak_more_than_one_release() -> None:
    """E17: who sees the final models only; each release cost 1."""
    found = audited("errata/e17-composition", 250)
    assert found.bound.statistic == "final models"
    assert 1.0 < found.lower < found.charged


CORRECTED = [name for name in EVERY if private(name)]


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


# planted mistakes


@dataclass(frozen=True)
class Planted:
    """A guard with a mistake in it: it says one thing and draws another."""

    guard: Guard
    mistake: Callable[[Guard, int, float, float], Terms | None]

    @property
    def planned(self) -> int | None:
        return self.guard.planned

    def fix(self, k: int, convexity: float, pull: float) -> Terms | None:
        return self.mistake(self.guard, k, convexity, pull)

    def like(self, k: int) -> object:
        return k


def half_the_noise(guard: Guard, k: int, convexity: float, pull: float) -> Terms | None:
    terms = guard.fix(k, convexity, pull)
    assert terms is not None
    assert terms.linear is not None
    return terms._replace(linear=2 * terms.linear)


def one_neighbour_too_many(guard: Guard, k: int, convexity: float, pull: float) -> Terms | None:
    return guard.fix(k, convexity + 2 * pull, 2 * pull)


def every_second_one_free(guard: Guard, k: int, convexity: float, pull: float) -> Terms | None:
    terms = guard.fix(k, convexity, pull)
    assert terms is not None
    free: Spend = replace(terms.spend, charged=0.0, claimed=0.0) if k % 2 else terms.spend
    return terms._replace(spend=free)


class Forgetful:
    """Restores its noise stream with its state: after a rejoin the same noise comes again."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._drawn, self._trial = 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def begin(self, start: Any) -> Any:
        self._drawn = 0
        return self._mechanism.begin(start)

    def propose(self, state: Any, heard: Heard, made: int) -> Step:
        step: Step = self._mechanism.propose(state, heard, made)
        if step.kind != RELEASE:
            return step

        def finish(rng: Any) -> Any:
            if made == 0:
                self._trial = int(rng.integers(1 << 60))
            again = generator(self._trial, f"noise/{self._drawn}")
            self._drawn += 1
            finished: Any = step.finish(again)
            return finished

        return Step(step.kind, step.spend, finish)


def planted(tree: dict[str, Any], plant: Callable[[Any], Any], runs: int) -> Finding:
    """Audit a plan whose watched agent has a mistake, against what the mechanism should be."""
    plan = make_plan(tree)
    setting = neighbours(plan, how="worst", more=Options())
    pair = setting.plans()

    def wrong(of: Plan) -> Plan:
        nodes = list(of.nodes)
        made: Mechanism = plant(nodes[pair.node].mechanism)
        nodes[pair.node] = replace(nodes[pair.node], mechanism=made)
        return replace(of, nodes=tuple(nodes))

    sides = [
        [observe(side, pair.node, pair.pair, f"{at}/{run}") for run in range(runs)]
        for at, side in enumerate((wrong(pair.one), wrong(pair.other)))
    ]
    return judge(Order(plan, runs), setting, evidence(*sides))


def guarded(mistake: Callable[..., Terms | None]) -> Callable[[Any], Any]:
    return lambda mechanism: replace(mechanism, guard=Planted(mechanism.guard, mistake))


DVP = {"kind": "dvp", "alpha": 1.0, "rho": 0.1}


def test_half_the_noise_is_found() -> None:
    assert planted(couple(DVP), guarded(half_the_noise), 600).verdict == BROKEN


def test_a_neighbour_count_off_by_one_is_found() -> None:
    """PVP-clean: Δ = 2C/(B(ρ+2ηV)), with V = 2 for V = 1."""
    found = planted(
        couple({"kind": "pvp", "alpha": 1.0, "rho": 0.1}), guarded(one_neighbour_too_many), 800
    )
    assert found.verdict == BROKEN


def test_a_release_left_uncharged_is_found() -> None:
    tree = couple(DVP | {"alpha": 1.5}, run={"seed": 1, "rounds": 4}, data={
        "source": "blobs", "dimension": 1, "points": 200, "test_points": 0,
    })  # fmt: skip
    found = planted(tree, guarded(every_second_one_free), 1500)
    assert found.verdict == BROKEN


def test_noise_that_is_used_again_after_a_rejoin_is_found() -> None:
    """It cancels in the difference; the record's pull does not, where its slope has changed in between."""
    run = {"seed": 1, "rounds": 8}
    fault = [{"at": 4.5, "for": 1.0, "crash": [0]}]
    kind = {"kind": "dvp", "alpha": 0.5, "rho": 0.1}
    tree = couple(kind, d=2, run=run, fault=fault, task={"loss": "logistic"})
    found = planted(tree, Forgetful, 300)
    assert found.verdict == BROKEN
    assert found.bound.statistic == "noise that repeats"


@pytest.mark.parametrize("plant", [lambda m: m, guarded(lambda g, k, c, p: g.fix(k, c, p))])
def test_without_a_mistake_nothing_is_found(plant: Callable[[Any], Any]) -> None:
    run = {"seed": 1, "rounds": 4}
    fault = [{"at": 2.5, "for": 1.0, "crash": [0]}]
    tree = couple({"kind": "dvp", "alpha": 0.5, "rho": 0.1}, run=run, fault=fault)
    assert planted(tree, plant, 300).verdict == NOT_REFUTED


# the curve, the canary, the processes


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
    plan = make_plan(couple({"kind": "cd", "noise": "gaussian", "releases": 3},
        nodes=[{"count": 2, "budget": {"epsilon": 1.0}}], run={"seed": 1, "horizon": 20.0}))  # fmt: skip
    pair = neighbours(plan, how="worst", more=Options()).plans()
    seen = [observe(pair.one, pair.node, pair.pair, name) for name in ("a", "b", "a")]
    assert seen[0].losses == seen[2].losses != seen[1].losses
    assert seen[0].spends == seen[1].spends
    assert np.array_equal(seen[0].models, seen[2].models)

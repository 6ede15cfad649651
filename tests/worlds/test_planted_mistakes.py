"""Mistakes that are planted in a mechanism are found by an audit; without them it finds nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from mechanisms.accounting.spend import Spend
from mechanisms.guards import Guard, Terms
from mechanisms.mixing import Heard
from mechanisms.strategy import RELEASE, Mechanism, Step
from scenarios.api.runs import make_plan
from scenarios.auditing.audit import (
    BROKEN,
    NOT_REFUTED,
    Finding,
    Order,
    evidence,
    judge,
)
from scenarios.auditing.neighbouring_data import neighbours
from scenarios.auditing.watched_run import observe
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator
from tests.support.altered import altered
from tests.support.builders import couple

# planted mistakes


@dataclass(frozen=True)
class Planted:
    """A guard with a mistake in it: it says one thing and draws another."""

    guard: Guard
    mistake: Callable[[Guard, int, float, float, int], Terms | None]

    @property
    def planned(self) -> int | None:
        return self.guard.planned

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms | None:
        return self.mistake(self.guard, k, convexity, pull, degree)

    def like(self, k: int) -> object:
        return k


def half_the_noise(
    guard: Guard, k: int, convexity: float, pull: float, degree: int
) -> Terms | None:
    terms = guard.fix(k, convexity, pull, degree)
    assert terms is not None
    assert terms.linear is not None
    return terms._replace(linear=2 * terms.linear)


def one_neighbour_too_many(
    guard: Guard, k: int, convexity: float, pull: float, degree: int
) -> Terms | None:
    return guard.fix(k, convexity + 2 * pull, 2 * pull, degree)


def every_second_one_free(
    guard: Guard, k: int, convexity: float, pull: float, degree: int
) -> Terms | None:
    terms = guard.fix(k, convexity, pull, degree)
    assert terms is not None
    free: Spend = replace(terms.spend, charged=0.0, claimed=0.0) if k % 2 else terms.spend
    return terms._replace(spend=free)


def forgetful(mechanism: Any) -> Any:
    """Return a mechanism that restores its noise stream with its state: after a rejoin the same noise comes again."""
    drawn, trial = 0, 0

    def begin(start: Any) -> Any:
        nonlocal drawn
        drawn = 0
        return mechanism.begin(start)

    def propose(state: Any, heard: Heard, made: int) -> Step:
        step: Step = mechanism.propose(state, heard, made)
        if step.kind != RELEASE:
            return step

        def finish(rng: Any) -> Any:
            nonlocal drawn, trial
            if made == 0:
                trial = int(rng.integers(1 << 60))
            again = generator(trial, f"noise/{drawn}")
            drawn += 1
            finished: Any = step.finish(again)
            return finished

        return Step(step.kind, step.spend, finish)

    return altered(mechanism, begin=begin, propose=propose)


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


@pytest.mark.slow
def test_a_neighbour_count_off_by_one_is_found() -> None:
    """PVP-clean: Δ = 2C/(B(ρ+2ηV)), with V = 2 for V = 1."""
    found = planted(
        couple({"kind": "pvp", "alpha": 1.0, "rho": 0.1}), guarded(one_neighbour_too_many), 800
    )
    assert found.verdict == BROKEN


@pytest.mark.slow
def test_a_release_left_uncharged_is_found() -> None:
    tree = couple(
        DVP | {"alpha": 1.5},
        run={"seed": 1, "rounds": 4},
        data={
            "source": "blobs",
            "dimension": 1,
            "points": 200,
            "test_points": 0,
        },
    )
    found = planted(tree, guarded(every_second_one_free), 1500)
    assert found.verdict == BROKEN


@pytest.mark.slow
def test_noise_that_is_used_again_after_a_rejoin_is_found() -> None:
    """It cancels in the difference; the record's pull does not, where its slope has changed in between."""
    run = {"seed": 1, "rounds": 8}
    fault = [{"at": 4.5, "for": 1.0, "crash": [0]}]
    kind = {"kind": "dvp", "alpha": 0.5, "rho": 0.1}
    tree = couple(kind, d=2, run=run, fault=fault, task={"loss": "logistic"})
    found = planted(tree, forgetful, 300)
    assert found.verdict == BROKEN
    assert found.bound.statistic == "noise that repeats"


@pytest.mark.slow
@pytest.mark.parametrize("plant", [lambda m: m, guarded(lambda g, k, c, p, n: g.fix(k, c, p, n))])
def test_without_a_mistake_nothing_is_found(plant: Callable[[Any], Any]) -> None:
    run = {"seed": 1, "rounds": 4}
    fault = [{"at": 2.5, "for": 1.0, "crash": [0]}]
    tree = couple({"kind": "dvp", "alpha": 0.5, "rho": 0.1}, run=run, fault=fault)
    assert planted(tree, plant, 300).verdict == NOT_REFUTED

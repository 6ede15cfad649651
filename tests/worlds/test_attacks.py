"""Attacks: the KKT inference recovers what is not protected, and noise stops it; membership stays below what ε allows."""

import math
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.auditing.kkt_attack import kkt
from scenarios.auditing.membership_attack import membership, most_advantage
from scenarios.language.problems import ScenarioError
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator
from tests.support.builders import scenario


def ring(
    mechanism: dict[str, Any], rounds: int = 30, clock: Any = "synchronous", seed: int = 3
) -> Plan:
    """Five agents, d = 4, twenty records of no pattern: labels are coins, so that every record pulls."""
    rng = generator(seed, "kkt/data")
    x = rng.standard_normal((5, 20, 4))
    x *= (rng.random((5, 20, 1)) ** 0.25) / np.linalg.norm(x, axis=2, keepdims=True)
    y = rng.choice([-1.0, 1.0], (5, 20))
    run = {"seed": 2, "rounds": rounds} if clock == "synchronous" else {"seed": 2, "horizon": 30.0}
    tree = scenario(
        run=run,
        network={"topology": "ring"},
        nodes=[{"count": 5, "clock": clock}],
        mechanism={"C": 20.0} | mechanism,
        task={},
    )
    return make_plan(tree, data={"nodes": list(zip(x, y, strict=True))})


def errors(plan: Plan, node: int = 0) -> list[float]:
    return [recovered.error for recovered in kkt(plan, node).recovered]


GROWING = {"kind": "madmm", "eta": {"start": 0.5, "growth": 1.02, "cap": 2.0}}


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["synchronous", "poisson"])
@pytest.mark.parametrize("mechanism", [{"kind": "admm"}, GROWING], ids=["admm", "madmm"])
def test_without_noise_the_record_is_recovered_whatever_is_secret(
    mechanism: dict[str, Any], clock: str
) -> None:
    """Theory.md, section 7: error 1e-10, η known or secret (E22); on any clock."""
    assert max(errors(ring(mechanism, clock=clock))) < 1e-8


@pytest.mark.slow
def test_every_agent_and_record_can_be_attacked() -> None:
    plan = ring(GROWING)
    for node, record in ((1, 0), (3, 7), (4, 19)):
        assert kkt(plan, node, record).recovered[1].error < 1e-8
        assert kkt(plan, node, record).recovered[1].cosine == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_noise_in_the_penalty_hides_the_record_as_it_grows() -> None:
    """Section 7 (N): α = 200: 8e-3; α = 20: 0.07; α = 1: 0.88 known, 1.06 secret. Means over four agents and seeds."""

    def mean(alpha: float, rounds: int, which: int) -> float:
        plans = [
            ring(GROWING | {"kind": "pp", "noise": {"start": alpha}}, rounds, seed=s)
            for s in (3, 4)
        ]
        return float(np.median([errors(plan, i)[which] for plan in plans for i in (0, 2)]))

    known = [mean(alpha, rounds, 0) for alpha, rounds in ((200.0, 30), (20.0, 30), (1.0, 100))]
    assert 0.001 < known[0] < 0.04
    assert 0.02 < known[1] < 0.4
    assert known[2] > 0.3
    assert known[0] < known[1] < known[2]
    assert mean(1.0, 100, 1) > 0.5


@pytest.mark.slow
def test_private_releases_at_a_small_epsilon_give_nothing_away() -> None:
    for kind in ("dvp", "pvp"):
        found = kkt(ring({"kind": kind, "alpha": 0.05}))
        assert min(r.error for r in found.recovered) > 0.4 * found.length
        assert math.isfinite(found.charged)


def test_what_cannot_be_attacked_is_refused_with_the_kinds_that_can() -> None:
    with pytest.raises(ScenarioError, match="admm, dvp, pvp, madmm, pp"):
        kkt(make_plan("quickstart"))
    with pytest.raises(ScenarioError, match="records 0 to 19"):
        kkt(ring(GROWING), 0, 20)


# membership


def alone(mechanism: dict[str, Any], **node: Any) -> Plan:
    """Two agents with four records in twenty dimensions: models that remember."""
    tree = scenario(
        run={"seed": 2, "horizon": 30.0},
        data={"source": "separators", "dimension": 20, "points": 4, "flip": 0.5, "test_points": 0},
        task={"l2": 0.01},
        network={"topology": "path"},
        nodes=[{"count": 2} | node],
        mechanism=mechanism,
    )
    return make_plan(tree)


def told(plan: Plan, runs: int) -> Any:
    return membership(plan, records=3, runs=runs, node=0, confidence=0.95, more=Options())


def test_a_model_without_noise_tells_its_members() -> None:
    found = told(alone({"kind": "local"}), 4)
    assert found.auc == 1.0
    assert found.advantage == 1.0
    assert found.allowed == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_membership_is_never_told_better_than_epsilon_allows(epsilon: float) -> None:
    mechanism = {"kind": "cd", "noise": "norm-gamma", "releases": 4, "smooth_after": False}
    found = told(alone(mechanism, budget={"epsilon": epsilon, "delta": 1e-6}), 60)
    assert found.at_least <= found.allowed
    assert found.charged <= epsilon
    if epsilon < 1:
        assert abs(found.advantage) < 0.35


@pytest.mark.parametrize(
    ("epsilon", "delta", "allowed"),
    [
        (0.0, 0.0, 0.0),
        (0.0, 0.25, 0.25),
        (math.log(3), 0.0, 0.5),
        (1e9, 0.0, 1.0),
        (math.inf, 1e-5, 1.0),
    ],
)
def test_the_largest_advantage_in_closed_form(epsilon: float, delta: float, allowed: float) -> None:
    """(e^ε − 1 + 2δ)/(e^ε + 1): randomised response attains it at δ = 0."""
    assert most_advantage(epsilon, delta) == pytest.approx(allowed)


def test_what_is_no_better_than_chance_is_told_so() -> None:
    """The threshold of a record comes from one half of the runs: on the other, chance stays chance, 95 times of 100."""
    from scenarios.auditing.membership_attack import _success

    above, advantages = 0, []
    for seed in range(200):
        rng = generator(seed, "null")
        there, gone = rng.normal(size=(10, 20)), rng.normal(size=(10, 20))
        _, advantage, low = _success(there, gone, 0.95)
        above += low > 0
        advantages.append(advantage)
    assert above <= 14
    assert abs(float(np.mean(advantages))) < 0.03  # thresholds of all runs would see 0.1 and more


def test_noise_that_varies_weighs_what_is_overheard() -> None:
    """S_t is the ζ of that release: the norm-gamma log-likelihood (theory.md, section 7)."""
    from mechanisms.inference import Glimpse, _residual
    from mechanisms.objectives import Logistic

    def share(zeta: float | None, *secret: str) -> float:
        glimpse = Glimpse(np.ones(2), np.zeros(2), np.ones(2), np.zeros(2), 0.5, 3, zeta)
        return _residual(glimpse, np.zeros((1, 2)), Logistic(), 1.0, secret)[3]

    assert share(7.0) == 7.0
    assert share(None) == pytest.approx(1 / (2 * 0.5 * 3))
    assert share(7.0, "eta") == 1.0

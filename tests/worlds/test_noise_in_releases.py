"""White-box noise tests: what stands in the releases of a run is the noise its ledger says, for every mechanism.

From the recorded plan and the released vectors the noise is solved for; norms are Gamma (norm-gamma), χ (Gaussian),
coordinates Laplace, at the scale of the ledger line. A factor 2 in a scale needs 23 draws to be seen (theory.md, 6).
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanisms.admm import Alternating
from mechanisms.descent import CoordinateDescent
from mechanisms.propagation import Propagation
from mechanisms.solve import minimise
from mechanisms.strategy import Step
from tests.support.altered import altered
from tests.support.builders import Ran, perform
from tests.support.catalogue import world
from tests.support.finished_runs import finished

Draw = tuple[str, float, Any]
"""Law, scale in the ledger, the noise that was found."""
SEEDS = range(4)
LEVEL = 1e-4


def watched(mechanism: Any, found: list[Draw]) -> Callable[..., Step]:
    """A mechanism's own `propose`, whose steps also solve for the noise in what they made."""
    propose = mechanism.propose

    def wrapped(state: Any, heard: Any, made: int) -> Step:
        step: Step = propose(state, heard, made)
        if step.spend is None or step.spend.law not in {
            "norm-gamma",
            "objective",
            "laplace",
            "gaussian",
        }:
            return step
        before = heard.frozen()
        before.ticks, before.own = heard.ticks, heard.own

        def finish(rng: Any) -> Any:
            after, vector = step.finish(rng)
            assert step.spend is not None
            noise = noise_in(mechanism, state, before, made, after)
            found.append((step.spend.law, step.spend.scale, noise))
            return after, vector

        return Step(step.kind, step.spend, finish)

    return wrapped


def noise_in(mechanism: Any, state: Any, heard: Any, made: int, after: Any) -> Any:
    """Solve for the noise from the state after a release."""
    if isinstance(mechanism, CoordinateDescent):
        pull = mechanism.mu * mechanism.confidence
        alpha = 1 / (1 + pull * mechanism.smoothness)
        gradient = mechanism.objective.gradient(state, mechanism.clip)
        wanted = (after - (1 - alpha) * state) / alpha
        return (heard.mean() - wanted) / pull - gradient
    if isinstance(mechanism, Propagation):
        if mechanism.ridge is None:
            return after.anchor - minimise(mechanism.objective).theta
        return -(mechanism.objective.gradient(after.anchor) + mechanism.ridge * after.anchor)
    assert isinstance(mechanism, Alternating)
    terms = mechanism.guard.fix(
        made,
        2 * mechanism.objective.l2 + 2 * pull_of(mechanism, heard, made),
        pull_of(mechanism, heard, made),
        heard.degree,
    )
    assert terms is not None
    if terms.output is not None:
        centre = mechanism.minimiser(state, heard, made, terms, None)
        return after.theta - centre
    ridge = 2 * pull_of(mechanism, heard, made) + terms.ridge
    tilt = mechanism.linear(state, heard, made, terms)
    return -(mechanism.objective.gradient(after.theta) + ridge * after.theta + tilt)


def pull_of(mechanism: Alternating, heard: Any, made: int) -> float:
    return mechanism.penalty.at(made) * float(heard.degree)


def draws_of(name: str, tmp_path: Path) -> list[Draw]:
    """All the noise of a few runs, without rounding."""
    from scenarios.api.runs import make_plan
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    found: list[Draw] = []
    for seed in SEEDS:
        tree = world(name, privacy={"grid": False}, seeds={"noise": seed})
        plan = make_plan(tree, path="events")  # mechanisms are exchanged below
        run = Run(plan, tmp_path / str(seed), RunGovernor(), 1.0)
        for agent in run.agents:
            agent.mechanism = altered(agent.mechanism, propose=watched(agent.mechanism, found))
        import asyncio

        assert asyncio.run(run.perform()).code == 0
    return found


def uniforms(draws: list[Draw], d: int) -> Any:
    """Each draw's size under its law, which is uniform on [0, 1] if the scale is right."""
    sizes = []
    for law, scale, noise in draws:
        length = float(np.linalg.norm(noise))
        if law in {"norm-gamma", "objective"}:
            sizes.append(stats.gamma(d).cdf(scale * length))
        elif law == "gaussian":
            sizes.append(stats.chi(d).cdf(length / scale))
        else:
            sizes.append(stats.gamma(d).cdf(float(np.abs(noise).sum()) / scale))
    return np.array(sizes)


NOISY = [
    "dvp",
    "dvp growing",
    "pvp",
    "pvp printed",
    "pp",
    "pp noise",
    "cd laplace",
    "cd gaussian",
    "propagation output",
    "propagation objective",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_the_noise_in_releases_is_what_the_ledger_says(tmp_path: Path, name: str) -> None:
    draws = draws_of(name, tmp_path)
    assert len(draws) >= 23
    sizes = uniforms(draws, 3)
    assert stats.kstest(sizes, "uniform").pvalue > LEVEL
    doubled = uniforms([(law, scale * 2, noise) for law, scale, noise in draws], 3)
    assert stats.kstest(doubled, "uniform").pvalue < LEVEL  # and it would be noticed
    unit = np.array([noise / np.linalg.norm(noise) for _, _, noise in draws])
    statistic = 3 * len(unit) * float((unit.mean(axis=0) ** 2).sum())
    assert stats.chi2(3).cdf(statistic) < 1 - LEVEL


def runs(name: str, tmp_path: Path, count: int, **sections: Any) -> list[Ran]:
    return [
        perform(world(name, seeds={"noise": seed}, privacy={"grid": False}, **sections), tmp_path)
        for seed in range(count)
    ]


@pytest.mark.slow
def test_the_noise_of_a_partys_path_adds_up(tmp_path: Path) -> None:
    """On a loss that is linear over the path, θ_T − E θ_T is −γ Σ_t C^{T−1−t} z_t: Gaussian of known variance."""
    mechanism = {"kind": "wddp", "local_rounds": 10, "learning_rate": 0.01}
    sent: list[Any] = []
    for seed in range(30):
        ran = perform(
            world("wddp once", seeds={"noise": seed}, privacy={"grid": False}, mechanism=mechanism),
            tmp_path,
        )
        sent.append([agent.store.published for agent in ran.run.agents])
        scales = [line["scale"] for line in sorted(ran.result.ledger, key=lambda e: e["node"])]
    paths = np.array(sent)
    spread = paths - paths.mean(axis=0)
    for j, sigma in enumerate(scales):
        # the gradient's curvature is at most 0.25 + 0.2: over ten steps of 0.01 it contracts by 4 % at most
        variance = (spread[:, j] ** 2).sum() / (29 * 3)
        expected = 0.01**2 * 10 * sigma**2
        low, high = stats.chi2(87).ppf([1e-5, 1 - 1e-5]) / 87
        assert low * 0.92 * expected < variance < high * expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law"),
    [("jayaraman-gradient", "gaussian"), ("jayaraman-output", "norm-gamma"), ("pathak", "laplace")],
)
def test_the_noise_inside_the_computation_is_the_ledgers(
    tmp_path: Path, name: str, law: str
) -> None:
    """θ of the server minus what it would be without noise, over seeds, for survivors that all answered."""
    draws: list[Draw] = []
    d = 3
    for seed in range(40):
        sections: dict[str, Any] = {"run": {"seed": 5, "rounds": 1}, "seeds": {"noise": seed}}
        ran = perform(world(name, "barrier", **sections), tmp_path)
        server = ran.run.members.agents[-1]
        objectives = ran.run.plan.objectives
        if name == "jayaraman-gradient":
            mean = np.mean([o.gradient(np.zeros(d)) for o in objectives], axis=0)
            noise = -server.model - mean
        else:
            noise = server.model - np.mean([minimise(o).theta for o in objectives], axis=0)
        plan = ran.run.plan.server
        assert plan is not None
        central = plan.mechanism.central
        assert central is not None
        draws.append((law, central.scale(6, min(ran.run.plan.shards.sizes)), noise))
    assert stats.kstest(uniforms(draws, d), "uniform").pvalue > LEVEL
    doubled = [(law, 2 * scale, noise) for law, scale, noise in draws]
    assert stats.kstest(uniforms(doubled, d), "uniform").pvalue < LEVEL


@pytest.mark.slow
def test_the_noise_of_a_secure_sum_has_the_variance_that_is_charged_for(tmp_path: Path) -> None:
    """Σ_j w_j z_j over all six, tolerance two: variance σ*²·6/4."""
    found = []
    for seed in range(40):
        sections: dict[str, Any] = {"run": {"seed": 5, "rounds": 1}, "seeds": {"noise": seed}}
        ran = perform(world("wddp sum", "barrier", **sections), tmp_path)
        objectives = ran.run.plan.objectives
        mean = np.mean([o.gradient(np.zeros(3)) for o in objectives], axis=0)
        found.append(-ran.run.members.agents[-1].model - mean)
    scale = ran.result.ledger[0]["scale"] * math.sqrt(6 / 4)
    draws = [("gaussian", scale, noise) for noise in found]
    assert stats.kstest(uniforms(draws, 3), "uniform").pvalue > LEVEL
    assert (
        stats.kstest(uniforms([("gaussian", scale * 1.5, n) for n in found], 3), "uniform").pvalue
        < LEVEL
    )


@pytest.mark.slow
def test_the_noise_on_records_is_local_privacys() -> None:
    """X + NG(ε_x/2): norms are Gamma; labels flip with probability 1/(1 + e^ε_y)."""
    from scenarios.planning.seeds import NoiseSource

    ran = finished(world("local-dp"))
    draws, flips = [], []
    source = NoiseSource(ran.run.plan.seeds["noise"])
    for node in ran.run.plan.nodes:
        disguise: Any = node.mechanism
        for k in range(150):
            x, y = disguise.perturbed(source.of(node.id)(k))
            draws += [("norm-gamma", 1.0, row) for row in x - disguise.features]  # ε_x/2 = 1
            flips += (y != disguise.labels).tolist()
    sizes = uniforms(draws, 3)
    assert stats.kstest(sizes, "uniform").pvalue > LEVEL
    louder = uniforms([("norm-gamma", 0.95, noise) for _, _, noise in draws], 3)
    assert (
        stats.kstest(louder, "uniform").pvalue < LEVEL
    )  # a twentieth more or less would be noticed
    p = 1 / (1 + math.e)
    low, high = stats.binom(len(flips), p).ppf([LEVEL, 1 - LEVEL])
    assert low <= sum(flips) <= high

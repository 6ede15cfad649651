"""The law of a step over rows: a row has the bits that it has alone, however many stand beside it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechanisms.abilities import Pauses
from mechanisms.columns import in_rows
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard, mean_of
from mechanisms.noise import LAWS
from mechanisms.objectives import (
    Gradients,
    LocalObjective,
    Logistic,
    SmoothedHinge,
    Squared,
    Welsch,
)
from scenarios.api.runs import make_plan
from tests.support.builders import private

RNG = np.random.Generator(np.random.PCG64(7))
LOSSES: list[Any] = [Logistic(), SmoothedHinge(), Squared(), Squared(0.5), Welsch()]


@pytest.mark.parametrize("d", [1, 2, 3, 20, 33])
@pytest.mark.parametrize("degree", [1, 2, 5, 6, 12])
def test_a_mean_over_neighbours_has_the_bits_of_one_agent(degree: int, d: int) -> None:
    shares, values = RNG.random((40, degree)), RNG.normal(size=(40, degree, d))
    alone = np.array([mean_of(shares[r : r + 1], values[r : r + 1])[0] for r in range(40)])
    assert np.array_equal(mean_of(shares, values), alone)
    assert np.array_equal(mean_of(shares[7:20], values[7:20]), alone[7:20])
    if d > 1:  # neighbours without a share, behind the others
        wide = np.zeros((40, degree + 3))
        wide[:, :degree] = shares
        more = np.concatenate([values, RNG.normal(size=(40, 3, d))], axis=1)
        assert np.array_equal(mean_of(wide, more), alone)


def test_the_mean_of_an_agent_is_its_weighted_sum() -> None:
    weights, values = np.array([1.0, 3.0]), np.array([[2.0, 0.0], [6.0, 8.0]])
    assert Heard(values, weights).mean().tolist() == [5.0, 6.0]


def objective(loss: Any, points: int, d: int, *, l2: float, single: bool) -> LocalObjective:
    rows = RNG.normal(size=(points, d)) / d
    labels = np.sign(RNG.normal(size=points))
    made = LocalObjective(rows, labels, loss, l2)
    if single:
        made._rows = made._rows.astype(np.float32)
    return made


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_gradients_of_many_agents_are_those_of_each(loss: Any, *, single: bool) -> None:
    d = 6
    each = [
        objective(loss, points, d, l2=l2, single=single)
        for points, l2 in zip((1, 7, 33, 8, 64), (0.1, 0.0, 0.3, 0.0, 0.1), strict=True)
    ]
    clips = [None, np.full(7, 0.2), None, np.full(8, 0.01), None]
    members = np.array([4, 0, 0, 2, 1, 3])
    theta = RNG.normal(size=(len(members), d))
    gradients = Gradients(each, clips).prepared(members)
    alone = [each[i].gradient(theta[r], clips[i]) for r, i in enumerate(members.tolist())]
    assert np.array_equal(gradients(0, 6, theta), np.array(alone))
    assert np.array_equal(gradients(2, 5, theta[2:5]), np.array(alone[2:5]))


@pytest.mark.parametrize("law", LAWS)
def test_noise_fills_a_row_with_what_a_draw_returns(law: str) -> None:
    drawn = LAWS[law].draw(np.random.Generator(np.random.Philox(3)), 0.7, 9)
    row = np.empty(9)
    LAWS[law].fill(np.random.Generator(np.random.Philox(3)), 0.7, row)
    assert np.array_equal(row, drawn)


LOCAL = {"kind": "local-dp", "epsilon_features": 5.0, "epsilon_label": 2.0}
KINDS: dict[str, dict[str, Any]] = {
    **{
        f"cd, {noise}": {"kind": "cd", "noise": noise, "releases": 3}
        for noise in ("laplace", "norm-gamma", "gaussian")
    },
    "warm-cd": {"kind": "warm-cd", "noise": "gaussian", "releases": 3, "warm_wakes": 3},
    "propagation": {"kind": "propagation", "noise": "output"},
    "propagation, objective": {"kind": "propagation", "noise": "objective"},
    "local-dp": LOCAL | {"inner": {"kind": "cd"}},
}


def noise_of(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


@pytest.mark.parametrize("name", KINDS)
def test_steps_over_rows_are_those_of_each_agent(name: str) -> None:
    budget = {} if name == "local-dp" else {"budget": {"epsilon": 10.0, "delta": 1e-5}}
    world = private(mechanism=KINDS[name], nodes=[{"count": 6, **budget}])
    if not budget:
        world.pop("budget", None)
    plan = make_plan(world)
    kinds = [node.mechanism for node in plan.nodes]
    rows = in_rows(kinds)
    assert rows is not None
    d, members = plan.dimension, np.array([3, 0, 5, 1])
    states = [kinds[i].begin(plan.nodes[i].start) for i in members.tolist()]
    made = [0] * len(members)
    done = 0
    for wake in range(8):
        heard = [Heard(RNG.normal(size=(2, d)), np.array([1.0, 2.0])) for _ in members]
        models = [rows.enter(i, state) for i, state in zip(members.tolist(), states, strict=True)]
        steps = [
            kinds[i].propose(states[r], heard[r], made[r]) for r, i in enumerate(members.tolist())
        ]
        after = [step.finish(noise_of(10 * wake + r)) for r, step in enumerate(steps)]
        releases = [step.spend is not None for step in steps]
        if all(model is not None for model in models):
            noise = np.zeros((len(members), d))
            for r, step in enumerate(steps):
                if step.spend is not None and rows.law is not None:
                    rows.law.fill(noise_of(10 * wake + r), step.spend.scale, noise[r])
            pauses = [
                kinds[i].pause(states[r]) if isinstance(kinds[i], Pauses) else 0
                for r, i in enumerate(members.tolist())
            ]
            front = rows.prepared(members, np.array(pauses))
            theta, mixed = np.array(models), np.array([each.mean() for each in heard])
            for some in (slice(0, 4), slice(1, 3)):
                act = theta[some], mixed[some]
                moved = front.release(some, *act, noise[some]) if all(releases) else None
                if moved is None:
                    moved = front.smooth(some, *act)
                assert np.array_equal(moved, np.array([v for _, v in after])[some])
            if not any(releases):
                rows.rest(members, np.ones(len(members), np.int64), silent=False)
            for r, i in enumerate(members.tolist()):
                assert after[r][1] is not None
                mine = rows.state(i, after[r][1])
                assert repr(mine) == repr(after[r][0])
            done += 1
        states = [state for state, _ in after]
        made = [count + released for count, released in zip(made, releases, strict=True)]
    assert done >= 7


def test_a_subclass_with_a_step_of_its_own_has_none_over_rows() -> None:
    class Other(CoordinateDescent):
        def propose(self, state: Any, heard: Heard, made: int) -> Any:
            return super().propose(state, heard, made)

    kinds = [node.mechanism for node in make_plan(private()).nodes]
    first = kinds[0]
    assert isinstance(first, CoordinateDescent)
    assert in_rows(kinds) is not None
    fields = {name: getattr(first, name) for name in CoordinateDescent.__dataclass_fields__}
    assert in_rows([Other(**fields)] * 6) is None
    assert in_rows([first, replace(first, grid=0.5)]) is None

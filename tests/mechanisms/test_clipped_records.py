"""What one record does to a clipped step, however long its features are."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from scenarios.api.runs import check, make_plan
from scenarios.auditing.neighbouring_data import neighbours
from scenarios.planning.context import Options
from scenarios.planning.seeds import generator
from tests.support.builders import couple, private

LONG = {"nodes": [(np.full((30, 3), 30.0), np.linspace(-2.0, 2.0, 30))] * 6}
"""Rows of norm 52, which no bound on features holds."""


NOISES = ("laplace", "norm-gamma", "gaussian")


def world(noise: str, **mechanism: Any) -> dict[str, Any]:
    clipped = {"kind": "cd", "noise": noise, "releases": 4, "clip": 2.5} | mechanism
    return private(mechanism=clipped, task={"loss": "squared", "l2": 0.1})


def moved(noise: str, one: Any, other: Any, seed: int = 0) -> tuple[float, float]:
    """Return how far apart the steps on two data sets are before the step size, with one noise; and what was charged."""
    made = [
        make_plan(world(noise, smoothness=7.0), data={"nodes": [first, *LONG["nodes"][1:]]})
        for first in (one, other)
    ]
    theta = generator(seed, "theta").standard_normal(3) * 10.0
    heard = Heard(np.zeros((1, 3)), np.ones(1))
    mechanisms = [plan.nodes[0].mechanism for plan in made]
    here, there = (
        m.propose(theta, heard, 0).finish(generator(seed, "noise"))[0] for m in mechanisms
    )
    step = mechanisms[0]
    assert isinstance(step, CoordinateDescent)
    pull = step.mu * step.confidence
    apart = (here - there) * (1.0 + pull * step.smoothness) / pull
    norm = np.abs(apart).sum() if noise == "laplace" else math.sqrt(float(apart @ apart))
    return float(norm), step.spends[0].sensitivity


def replaced(record: Any, label: float) -> Any:
    x, y = (part.copy() for part in LONG["nodes"][0])
    x[0], y[0] = record, label
    return x, y


@pytest.mark.parametrize("noise", NOISES)
@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.0, 1e6))
def test_one_record_moves_a_clipped_step_by_no_more_than_was_charged(
    noise: str, seed: int, length: float
) -> None:
    """Two data sets that differ in one record, of any length and label."""
    luck = generator(seed, "records")
    way = luck.standard_normal(3)
    other = replaced(way * length / np.linalg.norm(way), luck.normal(0.0, 100.0))
    apart, charged = moved(noise, LONG["nodes"][0], other, seed)
    assert apart <= charged * (1 + 1e-4)


@pytest.mark.parametrize("noise", NOISES)
def test_two_long_records_with_far_labels_move_it_by_all_of_it(noise: str) -> None:
    """Gradients of length C that point to opposite sides, among m records: 2C/m."""
    sides = [replaced([0.0, 50.0, 0.0], label) for label in (-1e6, 1e6)]
    apart, charged = moved(noise, *sides)
    assert charged == pytest.approx(2 * 2.5 / 30)
    assert apart == pytest.approx(charged, rel=1e-4)


@pytest.mark.parametrize("smoothness", [None, "bound", 7.0])
def test_long_features_are_refused_where_anything_rests_on_their_norm(smoothness: Any) -> None:
    """The default smoothness is that of the bound 1."""
    given_one = {} if smoothness is None else {"smoothness": smoothness}
    problems = check(world("laplace", **given_one), data=LONG).problems
    assert any('smoothness = "bound" rests on it' in problem for problem in problems) == (
        smoothness != 7.0
    )
    unclipped = {"mechanism": {"kind": "cd", "noise": "laplace", "releases": 4, "smoothness": 7.0}}
    problems = check(
        private(**unclipped), data={"nodes": [(x, np.sign(y)) for x, y in LONG["nodes"]]}
    ).problems
    assert any("the noise and the charges of cd rest on it" in problem for problem in problems)


def test_a_record_of_zeros_is_clipped_without_a_warning() -> None:
    zeros = {"nodes": [(np.zeros((30, 3)), np.ones(30))] * 6}
    assert not check(world("norm-gamma"), data=zeros).problems


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("loss", ["logistic", "smoothed-hinge", "squared"])
@pytest.mark.parametrize("clip", [0.2, 8.0])
@pytest.mark.parametrize("d", [1, 3])
def test_an_audit_replaces_a_record_by_one_that_moves_a_step_by_all_that_was_charged(
    noise: str, loss: str, clip: float, d: int
) -> None:
    """Clipped at 8, a record of norm 1 would move a step of the logistic loss by an eighth of that: a test of nothing."""
    table = {"kind": "cd", "noise": noise, "alpha": 1.0, "releases": 1, "clip": clip}
    task = {"loss": loss, "l2": 0.1}
    plan = make_plan(couple(table | {"smoothness": 7.0}, d=d, task=task))
    nodes = neighbours(plan, how="worst", more=Options()).plans()
    one, other = nodes.pair
    assert isinstance(one, CoordinateDescent)
    assert isinstance(other, CoordinateDescent)
    start = nodes.one.nodes[nodes.node].start
    assert start is not None
    apart = np.subtract(*(m.objective.gradient(start, m.clip) for m in (one, other)))
    norm = np.abs(apart).sum() if noise == "laplace" else math.sqrt(float(apart @ apart))
    assert norm == pytest.approx(one.spends[0].sensitivity, rel=1e-9)

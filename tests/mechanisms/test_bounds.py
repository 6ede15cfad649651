"""The papers' bounds as calculators: closed forms, limits, and shares that no other shares beat."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.bounds import (
    Accuracy,
    Descent,
    noise_error,
    optimisation_error,
    printed_noise_error,
    sample_sizes,
    shares,
)

WORLD = Descent(np.array([1.0, 2.0]), np.array([2.0, 4.0]), 0.5, 3)


def test_each_wake_keeps_the_same_share_of_the_gap() -> None:
    """C = 1 − σ/(nL_max) = 1 − 0.5/(2·4)."""
    assert WORLD.contraction == pytest.approx(1 - 0.0625)
    assert optimisation_error(WORLD, 8.0, 0) == 8.0
    for wakes in (1, 5, 60):
        now, later = (optimisation_error(WORLD, 8.0, w) for w in (wakes, wakes + 1))
        assert later / now == pytest.approx(WORLD.contraction)


def test_the_noise_of_each_wake_is_contracted_by_those_that_follow() -> None:
    """P(T+1) = C·P(T) + Σ(pull²·energy)/(2nL_min): the recursion behind Theorem 2."""
    energies, drawn = [3.0, 5.0], 1.0 * 3 + 4.0 * 5
    step = drawn / (2 * 2 * 2.0)
    assert noise_error(WORLD, energies, 1) == pytest.approx(step)
    for wakes in (1, 4, 30):
        now = noise_error(WORLD, energies, wakes)
        assert noise_error(WORLD, energies, wakes + 1) == pytest.approx(
            WORLD.contraction * now + step
        )
    assert noise_error(WORLD, energies, 10**6) == pytest.approx(step / (1 - WORLD.contraction))


@given(st.integers(1, 50), st.floats(0.1, 10), st.integers(0, 300))
def test_as_printed_the_dimension_is_missing(dimension: int, scale: float, wakes: int) -> None:
    """Laplace noise of scale s on d coordinates has E‖ν‖² = 2ds²: the true bound is d times the printed one (E9)."""
    true = noise_error(WORLD, [2 * dimension * scale**2] * 2, wakes)
    assert true == pytest.approx(dimension * printed_noise_error(WORLD, [scale] * 2, wakes))


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(0, 10**6))
def test_no_other_shares_have_less_noise(releases: int, seed: int) -> None:
    """Σ C^{n(T−k)}/ε_k² at Σε_k = 1 is least for the corrected shares (E10)."""
    world = Descent(np.ones(5), np.full(5, 3.0), 0.9, 1)
    weights = world.contraction ** (world.agents * (releases - np.arange(1, releases + 1)))

    def left(part: np.ndarray) -> float:
        return float((weights / part**2).sum())

    mine = shares(world, releases)
    assert mine.sum() == pytest.approx(1)
    other = mine * np.exp(0.3 * np.random.default_rng(seed).standard_normal(releases))
    assert left(mine) <= left(other / other.sum()) * (1 + 1e-12)
    assert left(mine) <= left(np.full(releases, 1 / releases))
    assert (np.diff(mine) > 0).all()


def test_as_printed_shares_are_reversed() -> None:
    world = Descent(np.ones(5), np.full(5, 3.0), 0.9, 1)
    assert shares(world, 12, printed=True) == pytest.approx(shares(world, 12)[::-1])


GIVEN = Accuracy(
    norm=2.0, error=0.1, failure=0.05, dimension=10, weight=3.0, alpha=0.5, penalty=0.5, degree=4
)


def terms(theorem: int, given: Accuracy = GIVEN) -> list[float]:
    return list(sample_sizes(theorem, given).values())


def test_the_terms_are_those_of_the_theorems() -> None:
    sampling = 3 * 4 * math.log(20) / 0.01
    d, log = 10, math.log(200)
    assert terms(3) == pytest.approx([sampling])
    assert terms(4) == pytest.approx(
        [sampling, 2 * d * log / (0.1 * 0.5), 3 * 0.25 * 4 / (0.1 * 0.5)]
    )
    penalised = 8 * 0.5 * 4 * d * log / (0.01 * 0.5)
    assert terms(5) == pytest.approx([sampling, 3 * penalised])
    assert terms(6) == pytest.approx(
        [
            sampling,
            3 * penalised,
            4 * 3 * 2 * d * log**2 / (0.1 * 0.5),
            4 * penalised,
            4 * 3**1.5 * 4 * d * log / (0.1**1.5 * 0.5),
        ]
    )
    with pytest.raises(KeyError):
        sample_sizes(7, GIVEN)

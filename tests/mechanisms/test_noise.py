"""White-box tests of noise: norms, directions, coordinates; and scale ↔ charge."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mechanisms.federated import Descent
from mechanisms.noise import LAWS, Gaussian, Laplace, Law, NormGamma
from mechanisms.objectives import LocalObjective, Squared
from scenarios.planning.seeds import NoiseSource, generator

N = 4000
LEVEL = 1e-6
"""Each test rejects a true law once in a million; a factor of 2 in the scale is certain to be seen."""


def sample(law: Law, scale: float, d: int) -> np.ndarray:
    source = NoiseSource(1).of(d)
    return np.array([law.draw(source(k), scale, d) for k in range(N)])


@pytest.mark.parametrize("d", [1, 2, 5, 100])
def test_norm_gamma_norms_are_gamma(d: int) -> None:
    norms = np.linalg.norm(sample(NormGamma(), 2.5, d), axis=1)
    assert stats.kstest(norms, stats.gamma(d, scale=1 / 2.5).cdf).pvalue > LEVEL


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_tenth_more_or_less_noise_is_noticed(factor: float) -> None:
    norms = np.linalg.norm(sample(NormGamma(), 2.5, 100), axis=1)
    assert stats.kstest(norms, stats.gamma(100, scale=factor / 2.5).cdf).pvalue < LEVEL


@pytest.mark.parametrize("d", [2, 5, 100])
def test_norm_gamma_directions_are_uniform(d: int) -> None:
    """d·n‖mean direction‖² ~ χ²_d and u₁² ~ Beta(½, (d−1)/2) (theory.md, section 6)."""
    noise = sample(NormGamma(), 1.0, d)
    unit = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    statistic = d * N * float((unit.mean(axis=0) ** 2).sum())
    assert LEVEL < stats.chi2(d).cdf(statistic) < 1 - LEVEL
    assert stats.kstest(unit[:, 0] ** 2, stats.beta(0.5, (d - 1) / 2).cdf).pvalue > LEVEL


@pytest.mark.parametrize(
    ("law", "exact"), [(Laplace(), stats.laplace(scale=0.7)), (Gaussian(), stats.norm(scale=0.7))]
)
def test_coordinates_follow_their_law_and_are_independent(law: Law, exact: object) -> None:
    noise = sample(law, 0.7, 3)
    for column in noise.T:
        assert stats.kstest(column, exact.cdf).pvalue > LEVEL  # type: ignore[attr-defined]
    correlation = np.corrcoef(np.abs(noise).T) - np.eye(3)
    assert np.abs(correlation).max() < 6 / math.sqrt(N)


@pytest.mark.parametrize("name", LAWS)
@given(charge=st.floats(1e-3, 10), sensitivity=st.floats(1e-4, 10))
def test_scale_and_charge_are_inverse(name: str, charge: float, sensitivity: float) -> None:
    law = LAWS[name]
    assert law.charge(law.scale(charge, sensitivity), sensitivity) == pytest.approx(charge)


@given(st.floats(0.1, 5), st.floats(0.1, 5))
def test_norm_gamma_density_changes_by_at_most_its_charge(zeta: float, shift: float) -> None:
    """‖x − v‖ and ‖x‖ differ by at most ‖v‖: the log-density moves by at most ζ‖v‖, attained."""
    x = generator(0, "x").standard_normal((200, 3)) * 3
    v = np.array([shift, 0.0, 0.0])
    loss = zeta * np.abs(np.linalg.norm(x - v, axis=1) - np.linalg.norm(x, axis=1))
    charge = NormGamma().charge(zeta, shift)
    assert (loss <= charge * (1 + 1e-12)).all()
    assert zeta * abs(np.linalg.norm(-v) - 0.0) == pytest.approx(charge)


@pytest.mark.parametrize("name", LAWS)
def test_the_mean_norm_is_the_mean_norm(name: str) -> None:
    law = LAWS[name]
    squares = (sample(law, 1.7, 4) ** 2).sum(axis=1)
    error = 6 * squares.std() / math.sqrt(N)
    assert squares.mean() == pytest.approx(law.mean_norm(1.7, 4) ** 2, abs=error)


def test_noise_k_is_a_function_of_seed_agent_and_k() -> None:
    one, again, other, elsewhere = (
        NoiseSource(5).of(3),
        NoiseSource(5).of(3),
        NoiseSource(6).of(3),
        NoiseSource(5).of(4),
    )
    backwards = [again(k).standard_normal(4).tolist() for k in (7, 3, 0)]
    forwards = [one(k).standard_normal(4).tolist() for k in (0, 3, 7)]
    assert forwards == backwards[::-1]
    assert len({tuple(v) for v in forwards}) == 3
    assert other(0).standard_normal(4).tolist() != forwards[0]
    assert elsewhere(0).standard_normal(4).tolist() != forwards[0]


@pytest.mark.parametrize("steps", [1, 9])
def test_the_spread_of_a_hidden_descent_is_that_of_its_steps_together(steps: int) -> None:
    """Where the gradient is 0 everywhere, the answer is γ times the sum of the steps' noises; one step is Gaussian."""
    task = Descent(0.5, steps, 0.2)
    flat = LocalObjective(np.zeros((1, N)), np.ones(1), Squared(), 0.0)
    answer = task.answer(flat, np.zeros(N), np.random.default_rng(3))
    assert task.spread == pytest.approx(0.5 * 0.2 * math.sqrt(steps))
    assert float(answer.std()) == pytest.approx(task.spread, rel=0.1)
    assert task.has_exact_spread == (steps == 1)
    assert not task.noiseless.answer(flat, np.zeros(N), None).any()

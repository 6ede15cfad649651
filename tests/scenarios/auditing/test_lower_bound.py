"""Lower bounds: Clopper and Pearson's intervals, coverage, and power."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mechanisms.accounting import gaussian, numerical
from mechanisms.accounting.loss import Loss, Tally
from scenarios.auditing.lower_bound import (
    Criterion,
    Rates,
    best_threshold,
    bound_by_law,
    clopper_pearson,
    lower_bound,
    power,
    projections,
    rounded,
)
from scenarios.planning.seeds import generator


@given(st.integers(0, 200), st.integers(1, 200), st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals_are_those_of_the_exact_test(hits: int, count: int, confidence: float) -> None:
    hits = min(hits, count)
    low, high = clopper_pearson(np.array([hits]), np.array([hits]), count, confidence)
    exact = stats.binomtest(hits, count).proportion_ci(confidence, method="exact")
    assert low[0] == pytest.approx(exact.low, abs=1e-9)
    assert high[0] == pytest.approx(exact.high, abs=1e-9)


def test_rates_turn_into_epsilon_and_mu_by_their_definitions() -> None:
    rates = Rates(0.6, 0.1)
    assert rates.epsilon(0.0) == pytest.approx(math.log(6))
    assert rates.epsilon(0.1) == pytest.approx(math.log(5))
    assert rates.mu() == pytest.approx(stats.norm.ppf(0.6) - stats.norm.ppf(0.1))
    assert Rates(0.1, 0.6).epsilon(0.0) == Rates(0.1, 0.6).mu() == 0.0
    assert Rates(0.01, 0.0001).epsilon(0.02) == 0.0


def drawn(name: str, mean: float, runs: int, seed: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Losses of Gaussian noise with a shift: N(±μ²/2, μ²)."""
    rng = generator(seed, "refute")
    both = [rng.normal(s * mean * mean / 2, mean, runs) for s in (1, -1)]
    return name, both[0], both[1]


@pytest.mark.slow
def test_a_bound_is_above_the_truth_no_more_often_than_it_says() -> None:
    """Coverage, over 200 repetitions: at 95 %, at most 5 % + 3 deviations."""
    above_mu = above_epsilon = 0
    for seed in range(200):
        told = [drawn("loss", 1.0, 200, seed)]
        found = lower_bound(told, Criterion("mu", 0.0, 0.95))
        above_mu += found.value > 1.0
        found = lower_bound(told, Criterion("epsilon", 1e-2, 0.95))
        above_epsilon += found.value > gaussian.epsilon(1.0, 1e-2)
    assert above_mu <= 20
    assert above_epsilon <= 20


def test_it_finds_most_of_a_large_loss() -> None:
    found = lower_bound([drawn("loss", 3.0, 4000, 1)], Criterion("mu", 0.0, 0.95))
    assert 2.6 < found.value <= 3.0
    found = lower_bound([drawn("loss", 3.0, 4000, 1)], Criterion("epsilon", 1e-5, 0.95))
    assert 2.5 < found.value < gaussian.epsilon(3.0, 1e-5)


def test_it_chooses_the_statistic_that_tells_and_its_direction() -> None:
    _, one, other = drawn("", 2.0, 1000, 3)
    blind = ("blind", generator(0, "a").random(1000), generator(0, "b").random(1000))
    for turned in (1.0, -1.0):
        told = [blind, ("telling", turned * one, turned * other)]
        found = lower_bound(told, Criterion("mu", 0.0, 0.95))
        assert found.statistic == ("telling" if turned > 0 else found.statistic)
    assert lower_bound([blind], Criterion("mu", 0.0, 0.95)).value < 0.3


def test_it_looks_at_both_ends() -> None:
    """D is unlikely in one corner, and likely in none: only the other direction shows it."""
    rng = generator(5, "ends")
    one = np.where(rng.random(4000) < 0.02, 0.0, 1.0)
    other = np.where(rng.random(4000) < 0.5, 0.0, 1.0)
    found = lower_bound([("ends", one, other)], Criterion("epsilon", 0.0, 0.95))
    assert 2.5 < found.value < math.log(25) + 0.1


def test_no_statistic_bounds_nothing() -> None:
    assert lower_bound([], Criterion("epsilon", 0.0, 0.95)).value == 0.0


def test_constant_statistics_bound_nothing() -> None:
    same = ("same", np.ones(100), np.ones(100))
    assert lower_bound([same], Criterion("epsilon", 0.0, 0.95)).value == 0.0


@pytest.mark.parametrize("law", ["laplace", "gaussian", "pure"])
def test_the_power_is_what_repetitions_show(law: str) -> None:
    """Audits of losses of twice the claim, drawn from their own law, refute it about as often as was told."""
    claimed, runs = (0.4, 1200) if law == "gaussian" else (0.7, 400)
    unit = "mu" if law == "gaussian" else "epsilon"
    losses, mass = numerical.law(Tally([(Loss(law, 2 * claimed), 1)]))
    told = power(
        (losses, mass),
        claimed,
        runs,
        Criterion(unit, 0.0, 0.95),
        generator(1, "power"),
    )
    under = np.exp(-losses) * mass
    refuted = 0
    for seed in range(60):
        rng = generator(seed, "draws")
        one = rng.choice(losses, runs, p=mass / mass.sum())
        other = rng.choice(losses, runs, p=under / under.sum())
        found = lower_bound([("loss", rounded(one), rounded(other))], Criterion(unit, 0.0, 0.95))
        refuted += found.value > claimed
    assert abs(refuted / 60 - told) < 0.25
    fewer = power(
        (losses, mass),
        claimed,
        40,
        Criterion(unit, 0.0, 0.95),
        generator(1, "power"),
    )
    assert fewer < told


def test_models_are_projected_on_the_line_between_their_means() -> None:
    rng = generator(2, "models")
    shift = np.array([0.0, 0.7, 0.0])
    one, other = rng.normal(size=(2000, 3)) + shift, rng.normal(size=(2000, 3))
    a, b = projections(one, other)
    apart = (a.mean() - b.mean()) / b.std()
    assert apart == pytest.approx(0.7, abs=0.1)
    fixed = projections(np.ones((10, 2)), np.ones((10, 2)))
    assert (fixed[0] == fixed[1]).all()


def test_what_was_chosen_on_one_half_is_judged_on_the_other() -> None:
    """Two halves that disagree: the first tells D from D′ perfectly, the second not at all."""
    one, other = np.zeros(400), np.zeros(400)
    one[::2] = 1.0
    found = lower_bound([("", one, other)], Criterion("epsilon", 0.0, 0.95))
    assert found.value == 0.0
    one[1::2] = 1.0
    found = lower_bound([("", one, other)], Criterion("epsilon", 0.0, 0.95))
    assert found.value > 3.5


def test_the_line_of_projection_is_the_first_halfs() -> None:
    rng = generator(7, "halves")
    one, other = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    one[::2, 0] += 3.0  # the first half differs along the first axis
    one[1::2, 1] += 30.0  # the second along the other
    a, b = projections(one, other)
    line = np.linalg.lstsq(np.rint(other / 1e-6) * 1e-6, b, rcond=None)[0]
    assert abs(line[0]) > 5 * abs(line[1])
    assert a.shape == b.shape == (400,)


def test_the_power_uses_both_laws() -> None:
    """Under D′ a loss l has e^{−l} of its mass: with two atoms the chances are those of randomised response."""
    epsilon, claimed, runs = 2.0, 1.0, 100
    losses = np.array([-epsilon, epsilon])
    mass = np.array([1.0, math.exp(epsilon)]) / (1 + math.exp(epsilon))
    told = power(
        (losses, mass),
        claimed,
        runs,
        Criterion("epsilon", 0.0, 0.95),
        generator(3, "power"),
    )
    hits, alarms = mass[1], mass[0]
    chance = 0.0
    for k in range(51):
        for j in range(51):
            low, high = clopper_pearson(np.array([k]), np.array([j]), 50, 0.95)
            if Rates(float(low[0]), float(high[0])).epsilon(0.0) > claimed:
                chance += stats.binom.pmf(k, 50, hits) * stats.binom.pmf(j, 50, alarms)
    assert 0.05 < chance < 0.95
    assert told == pytest.approx(chance, abs=0.1)


# thresholds from the claimed law


def losses_of(law: str, size: float, d: int, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact losses under D and D′ of noise that is drawn here, for a shift of 1."""
    rng, found = generator(seed, f"losses/{law}"), []
    if law == "gaussian":
        both = [rng.normal(s * size * size / 2, size, runs) for s in (1, -1)]
        return rounded(both[0]), rounded(both[1])
    shift = np.zeros(d)
    shift[0] = 1.0
    for centre in (0.0 * shift, shift):
        way = rng.standard_normal((runs, d))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        seen = centre + way * rng.gamma(d, 1.0 / size, (runs, 1))
        found.append(size * (np.linalg.norm(seen - shift, axis=1) - np.linalg.norm(seen, axis=1)))
    return rounded(found[0]), rounded(found[1])


CASES = [("gaussian", 1.0, 0), ("laplace", 3.0, 1), ("norm-gamma", 1.0, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "size", "d"), CASES)
@pytest.mark.parametrize("runs", [200, 1000])
def test_a_bound_by_the_true_law_never_refutes_more_often_than_it_says(
    law: str, size: float, d: int, runs: int
) -> None:
    """The claim is the truth: over 300 audits at 95 % at most 5 % + 3 deviations are above it."""
    claimed = numerical.law(Tally([(Loss(law, size, d), 1)]))
    unit, above = "mu" if law == "gaussian" else "epsilon", 0
    for seed in range(300):
        told = ("loss", *losses_of(law, size, d, runs, seed))
        found = bound_by_law(told, claimed, Criterion(unit, 0.0, 0.95))
        above += found.value > size
    assert above <= 300 * 0.05 + 3 * (300 * 0.05 * 0.95) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "size", "d", "runs", "by_law", "by_split"),
    [
        ("gaussian", 1.0, 0, 1000, 0.796, 0.730),
        ("gaussian", 1.0, 0, 5000, 0.930, 0.892),
        ("laplace", 3.0, 1, 1000, 2.626, 2.385),
        ("norm-gamma", 1.0, 2, 1000, 0.623, 0.481),
    ],
)
def test_a_threshold_that_costs_no_runs_tells_more(
    law: str, size: float, d: int, runs: int, by_law: float, by_split: float
) -> None:
    """Medians of 45 audits, beside those of 15 that were measured elsewhere: a tenth of the size is their noise."""
    claimed = numerical.law(Tally([(Loss(law, size, d), 1)]))
    unit = "mu" if law == "gaussian" else "epsilon"
    how = Criterion(unit, 0.0, 0.95)
    ours, halves = [], []
    for seed in range(45):
        told = ("loss", *losses_of(law, size, d, runs, seed))
        ours.append(bound_by_law(told, claimed, how).value)
        halves.append(lower_bound([told], how).value)
    assert np.median(ours) > np.median(halves)
    assert np.median(ours) == pytest.approx(by_law, abs=0.1 * size)
    assert np.median(ours) > by_split


def test_the_threshold_of_a_law_is_fixed_before_anything_is_seen() -> None:
    """Of randomised response both atoms are told apart by any threshold between them, whatever was drawn."""
    law = np.array([-1.0, 1.0]), np.array([1.0, math.e]) / (1.0 + math.e)
    at = best_threshold(law, 500, Criterion("epsilon", 0.0, 0.95))
    assert at == 0.0
    one, other = np.ones(500), -np.ones(500)
    for a, b, hits, alarms in [(one, other, 500, 0), (other, one, 0, 500), (one, one, 500, 500)]:
        found = bound_by_law(("loss", a, b), law, Criterion("epsilon", 0.0, 0.95))
        low, high = clopper_pearson(np.array([hits]), np.array([alarms]), 500, 0.95)
        assert found.rates == Rates(float(low[0]), float(high[0]))
        assert found.threshold == at


@pytest.mark.parametrize(("law", "size", "d"), CASES)
def test_the_power_of_a_known_threshold_is_what_repetitions_show(
    law: str, size: float, d: int
) -> None:
    claimed, runs = 0.5 * size, 150
    unit = "mu" if law == "gaussian" else "epsilon"
    how = Criterion(unit, 0.0, 0.95)
    known = numerical.law(Tally([(Loss(law, claimed, d), 1)]))
    at = best_threshold(known, runs, how)
    told = power(
        numerical.law(Tally([(Loss(law, size, d), 1)])),
        claimed,
        runs,
        how,
        generator(1, "power"),
        at,
    )
    refuted = 0
    for seed in range(80):
        seen = ("loss", *losses_of(law, size, d, runs, seed))
        refuted += bound_by_law(seen, known, how).value > claimed
    assert abs(refuted / 80 - told) < 0.2


def test_what_does_not_vary_tells_everything_where_it_differs() -> None:
    """Releases without noise: every run under D is equal, and differs from every run under D′."""
    one, other = np.zeros((200, 2)), np.tile([0.0, 1e-3], (200, 1))
    a, b = projections(one, other)
    found = lower_bound([("", a, b)], Criterion("mu", 0.0, 0.95))
    assert found.value > 3.0


def test_all_statistics_together_go_wrong_as_often_as_one_may() -> None:
    """Of an error of 5 % the exact loss has nine tenths and the others one: each is judged at its own confidence."""
    from mechanisms.accounting.loss import Loss, Tally
    from scenarios.auditing.audit import EXACT, _bound
    from scenarios.auditing.planned_test import confidence

    rng = np.random.Generator(np.random.PCG64(4))
    claims = Tally([(Loss("laplace", 1.0), 1)])
    nothing = np.round(rng.standard_normal(400), 6), np.round(rng.standard_normal(400), 6)
    far = (rng.standard_normal(400) + 3.0, rng.standard_normal(400))
    others = [("noise that repeats", *far)]
    both = _bound([(EXACT, *nothing), *others], claims, Criterion("epsilon", 0.0, 0.95))
    alone = lower_bound(others, Criterion("epsilon", 0.0, 0.995))
    assert both == alone
    assert both.value < lower_bound(others, Criterion("epsilon", 0.0, 0.95)).value
    assert (1 - confidence(0.95, others=True)) + 0.1 * (1 - 0.95) == pytest.approx(0.05)
    assert confidence(0.95, others=False) == 0.95

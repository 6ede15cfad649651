"""Races: losers stop early, equals do not stop, and what says nothing stops nothing."""

import math

import numpy as np
import pytest
from scipy import stats

from scenarios.experiments.racing import FIRST_LOOK, Race
from scenarios.planning.seeds import generator


def raced(race: Race, values: np.ndarray) -> dict[int, int]:
    """Run a race to its end; return after how many seeds each stopped setting was stopped. A row for each setting."""
    running = {number: list(row) for number, row in enumerate(values)}
    stopped: dict[int, int] = {}
    for seen in range(1, race.seeds + 1):
        now = {n: row[:seen] for n, row in running.items()}
        for number in race.losers(now, len(values)):
            stopped[number] = seen
            del running[number]
    return stopped


@pytest.mark.parametrize("higher", [True, False])
def test_a_clear_winner_stops_the_others_early(*, higher: bool) -> None:
    rng = generator(1, "test/race")
    common = rng.normal(size=20)
    values = common + 0.01 * rng.normal(size=(5, 20))
    values[3] += 5 if higher else -5
    stopped = raced(Race("m", higher, 20), values)
    assert set(stopped) == {0, 1, 2, 4}
    assert max(stopped.values()) <= FIRST_LOOK + 2


@pytest.mark.slow
def test_equal_settings_are_stopped_less_often_than_the_level_allows() -> None:
    """1,000 races of five equal settings: at most 1 % may stop any; 21 is the 99.9 % quantile of Binomial(1000, 1 %)."""
    rng = generator(2, "test/race")
    false = sum(bool(raced(Race("m", True, 10), rng.normal(size=(5, 10)))) for _ in range(1000))
    assert false <= stats.binom.ppf(0.999, 1000, 0.01)


def test_the_level_is_shared_out_over_pairs_and_looks() -> None:
    """At level 1 − 0.01/(pairs × looks), the critical difference of t is known in closed form."""
    seeds, n, settings = 8, 4, 3
    level = 0.01 / (3 * (seeds - FIRST_LOOK))
    spread = np.array([1.0, -1.0, 1.0, -1.0])
    half = stats.t.ppf(1 - level / 2, n - 1) * spread.std(ddof=1) / math.sqrt(n)
    race = Race("m", True, seeds)
    for factor, out in ((1.01, {1}), (0.99, set())):
        values = {0: [0.0] * n, 1: list(spread - factor * half), 2: list(spread * 0.5)}
        assert race.losers(values, settings) - {2} == out


def test_what_says_nothing_stops_nothing() -> None:
    race = Race("m", True, 9)
    nan = math.nan
    assert race.losers({0: [1.0, 1.1, 1.2, 1.0], 1: [0.5, 0.6, 0.7, 0.5]}, 2) == set()  # no spread
    assert race.losers({0: [9.0, 9.1, 9.2], 1: [nan, 0.0, 0.1]}, 2) == set()
    assert race.losers({0: [9.0, 9.1], 1: [0.0, 0.3]}, 2) == set()  # too early
    assert race.losers({0: [9.0, 9.1, 9.3]}, 1) == set()
    assert (
        Race("m", True, 3).losers({0: [9.0, 9.1, 9.2], 1: [0.1, 0.3, 0.2]}, 2) == set()
    )  # all ran

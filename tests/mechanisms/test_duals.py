"""Duals as integrals: conservation, antisymmetry, healing; and masks that cancel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms import duals
from mechanisms.masking import MODULUS, Seal
from mechanisms.mixing import Heard
from scenarios.planning.seeds import generator, pads

D = 3
VALUES = st.lists(st.floats(-5, 5), min_size=D, max_size=D)
STEPS = st.lists(st.tuples(st.floats(0.01, 3.0), VALUES), min_size=1, max_size=12)


def path(steps: list[tuple[float, list[float]]]) -> list[np.ndarray]:
    """Rows published one after the other, `gap` ticks apart."""
    rows, now = [], 0.0
    former = None
    for gap, value in steps:
        now += gap
        former = duals.row(np.array(value), former, now)
        rows.append(former)
    return rows


def end(own: np.ndarray | None, other: np.ndarray, ticks: float) -> Heard:
    heard = Heard(other[None, :].copy(), np.ones(1))
    heard.own, heard.ticks = own, ticks
    return heard


@given(STEPS)
def test_an_integral_is_the_sum_of_value_times_time(steps: list[tuple[float, list[float]]]) -> None:
    rows = path(steps)
    later = rows[-1][-1] + 0.7
    by_hand = np.zeros(D)
    for row, after in zip(rows, [*[r[-1] for r in rows[1:]], later], strict=True):
        by_hand += row[:D] * (after - row[-1])
    assert duals.standing(rows[-1], D, later) == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.slow
@given(STEPS, STEPS)
def test_both_ends_of_an_edge_say_the_opposite(
    mine: list[tuple[float, list[float]]], theirs: list[tuple[float, list[float]]]
) -> None:
    a, b = path(mine)[-1], path(theirs)[-1]
    now = max(a[-1], b[-1]) + 0.5
    assert duals.gaps(end(a, b, now), D) == pytest.approx(-duals.gaps(end(b, a, now), D), abs=1e-9)


@given(STEPS)
def test_one_message_heals_whatever_was_lost(steps: list[tuple[float, list[float]]]) -> None:
    """The newest row says everything: what a receiver held before does not matter."""
    rows = path(steps)
    me = duals.row(np.ones(D), None, 0.0)
    now = rows[-1][-1] + 1.0
    stale = end(me, rows[0], now)
    stale.values[0] = rows[-1]
    assert np.array_equal(duals.gaps(stale, D), duals.gaps(end(me, rows[-1], now), D))


def test_who_has_said_nothing_adds_nothing_and_who_is_forgotten_has_no_edge() -> None:
    me = duals.row(np.ones(D), None, 1.0)
    silent = end(me, duals.opening(7 * np.ones(D)), 3.0)
    assert duals.gaps(silent, D).tolist() == [[2.0] * D]
    lost = end(me, duals.row(np.ones(D), None, 2.0), 3.0)
    duals.forget(lost.values)
    assert duals.gaps(lost, D).tolist() == [[0.0] * D]
    away = end(me, duals.row(np.ones(D), None, 2.0), 3.0)
    away.attend(np.array([False]))
    assert duals.gaps(away, D).tolist() == [[0.0] * D]
    begun = end(me, duals.row(np.ones(D), None, 2.0), 3.0)
    begun.offsets = np.array([[0.25, 0.5, 0.75]])
    assert duals.gaps(begun, D).tolist() == [[0.75, 0.5, 0.25]]


@pytest.mark.slow
@given(st.integers(1, 8), st.integers(0, 2**32), st.integers(1, 50))
def test_masks_cancel_in_the_sum_and_in_nothing_less(clients: int, seed: int, round_: int) -> None:
    seal = Seal(pads(seed), 2.0**-30, 8)
    rng = generator(seed, "vectors")
    vectors = [np.rint(1e9 * rng.standard_normal(D)) * 2.0**-30 for _ in range(clients)]
    hidden = [seal.hide(vector, j, round_) for j, vector in enumerate(vectors)]
    everybody = list(range(clients))
    assert np.array_equal(seal.total(hidden, everybody), np.sum(vectors, axis=0))
    some = everybody[1:]
    if some:
        assert np.array_equal(seal.total(hidden[1:], some), np.sum(vectors[1:], axis=0))
        assert not np.array_equal(seal.total(hidden, [*some, clients]), np.sum(vectors, axis=0))
    again = seal.hide(vectors[0], 0, round_ + 1)
    assert not np.array_equal(again[:D], hidden[0][:D])  # a pad is of its release


def test_what_is_masked_is_uniform_whatever_it_hides() -> None:
    from scipy import stats

    for value in (0.0, 1e5):
        seal = Seal(pads(3), 2.0**-30, 8)
        words = np.concatenate([seal.hide(np.full(8, value), 0, r)[:8] for r in range(400)])
        share = words / 2.0**-30 / MODULUS
        assert stats.kstest(share, "uniform").pvalue > 1e-4


def test_what_cannot_be_added_exactly_is_refused() -> None:
    seal = Seal(pads(3), 2.0**-30, 8)
    assert not np.isfinite(seal.hide(np.array([1e9, 0.0]), 0, 1)).all()
    assert not np.isfinite(seal.hide(np.array([np.nan, 0.0]), 0, 1)).all()
    most = MODULUS // 16 * 2.0**-30 * 0.999  # eight such add up, nine might wrap
    hidden = [seal.hide(np.full(2, most), j, 0) for j in range(8)]
    assert seal.total(hidden, list(range(8))) == pytest.approx(np.full(2, 8 * most))
    assert not np.isfinite(seal.hide(np.full(2, 1.01 * most), 0, 0)).all()


def test_pads_are_of_one_client_and_one_release() -> None:
    """Used twice, their difference would lie open on the wire."""
    words = pads(5)
    seen = {
        tuple(words(client, release, 4).tolist()) for client in range(20) for release in range(20)
    }
    assert len(seen) == 400


def test_naive_steps_count_who_is_there_and_has_spoken() -> None:
    heard = Heard(np.array([duals.opening(np.ones(D))] * 4), np.ones(4))
    heard.values[:3] = [duals.row(np.full(D, float(i)), None, 1.0) for i in range(3)]
    assert not duals.steps(heard, D).any()  # nothing of its own was published
    heard.own = duals.row(np.full(D, 5.0), None, 1.0)
    heard.attend(np.array([True, False, True, True]))
    assert duals.steps(heard, D)[:, 0].tolist() == [5.0, 0.0, 3.0, 0.0]

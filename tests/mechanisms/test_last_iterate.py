"""The last of hidden noisy steps: the closed form, and a simulation of the quadratic for which it is exact."""

import math

import numpy as np
import pytest

from mechanisms.accounting import gaussian
from mechanisms.accounting.disclosure import Reader, epsilon_of
from mechanisms.accounting.gaussian import last_iterate
from mechanisms.accounting.loss import Tally
from mechanisms.accounting.spend import Hidden, Spend
from mechanisms.accounting.views import EAVESDROPPER, OUTSIDER, add_in


@pytest.mark.parametrize(("steps", "expected"), [(9, 2.896), (100, 4.359), (1000, 4.359)])
def test_the_table_of_nine_tenths(steps: int, expected: float) -> None:
    assert last_iterate(0.9, steps) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("contraction", [0.0, 0.3, 0.9, 0.999, 1.0, 1.7])
@pytest.mark.parametrize("steps", [1, 2, 9, 1000])
def test_between_one_step_and_all_of_them(contraction: float, steps: int) -> None:
    """One step is one step; nothing hidden costs more than all; without contraction it is all; it grows with steps."""
    found = last_iterate(contraction, steps)
    assert last_iterate(contraction, 1) == pytest.approx(1.0)
    assert 1.0 - 1e-12 <= found <= math.sqrt(steps) * (1 + 1e-12)
    if contraction >= 1:
        assert found == math.sqrt(steps)
    assert last_iterate(contraction, steps + 1) >= found
    assert last_iterate(min(1.0, contraction + 0.01), steps) >= found * (1 - 1e-12)


@pytest.mark.parametrize(("contraction", "steps"), [(0.5, 3), (0.9, 9), (0.9, 60)])
def test_on_a_quadratic_it_is_reached(contraction: float, steps: int) -> None:
    """Of x ← a(x + shift) + z with unit noise the best adversary's gap in deviations.

    The worst record of a quadratic moves the gradient by s or −s at every step, so that the last model's means differ by
    s·Σaᵏ and its variance is Σa²ᵏ: their ratio squared is (1−aᵀ)²/(1−a)² · (1−a²)/(1−a²ᵀ), the bound.
    """
    powers = contraction ** np.arange(steps)
    gap, deviation = powers.sum(), math.sqrt((powers**2).sum())
    assert gap / deviation == pytest.approx(last_iterate(contraction, steps), rel=1e-12)


def releases(count: int, contraction: float) -> list[Spend]:
    hidden = Hidden(0.2, contraction)
    spend = Spend(
        "central-gradient", "gaussian", "corrected", 1.0, 0.2, "l2", 5, 0.0, 0.2, 0.2, hidden=hidden
    )
    return [spend] * count


@pytest.mark.parametrize("contraction", [0.5, 0.9, 1.2])
@pytest.mark.parametrize("count", [1, 5, 100])
def test_an_outsider_pays_for_the_last_model_and_an_eavesdropper_for_all(
    contraction: float, count: int
) -> None:
    spends, told = releases(count, contraction), {}
    for view in (EAVESDROPPER, OUTSIDER):
        bag = add_in(view, Tally(), spends)
        told[view] = epsilon_of(bag, Reader(view, "tightest", 1e-5))[0]
    assert told[EAVESDROPPER] == pytest.approx(gaussian.epsilon(0.2 * math.sqrt(count), 1e-5))
    assert told[OUTSIDER] == pytest.approx(
        gaussian.epsilon(0.2 * last_iterate(contraction, count), 1e-5)
    )


def test_steps_of_different_noise_are_composed_as_if_all_were_seen() -> None:
    first = releases(3, 0.5)
    other = Spend(
        "central-gradient",
        "gaussian",
        "corrected",
        1.0,
        0.3,
        "l2",
        5,
        0.0,
        0.3,
        0.3,
        hidden=Hidden(0.3, 0.5),
    )
    bag = add_in(OUTSIDER, Tally(), [*first, other])
    found = epsilon_of(bag, Reader(OUTSIDER, "tightest", 1e-5))[0]
    assert found == pytest.approx(gaussian.epsilon(math.sqrt(3 * 0.04 + 0.09), 1e-5))

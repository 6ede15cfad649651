"""Keys that are set in the memory of a generator give the bits that its state gives."""

from ctypes import Structure

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms import rekeying
from mechanisms.rekeying import rekey_of

WORDS = st.integers(0, 2**64 - 1)


def philox() -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=0))


def draws(rng: np.random.Generator, count: int) -> list[float]:
    """Draw numbers of all widths: what is left of a word must not come before the next key's words."""
    small = rng.integers(0, 1000, count, dtype=np.uint32)
    return [*rng.standard_normal(count), *small, rng.standard_gamma(3.0), rng.random()]


IN_PLACE, BY_STATE = philox(), philox()
REKEY = rekey_of(IN_PLACE.bit_generator)


@given(WORDS, WORDS, st.integers(0, 2**40), st.integers(0, 9))
def test_both_ways_give_the_same_bits(low: int, high: int, k: int, count: int) -> None:
    key = np.array([low, high], np.uint64)
    REKEY(key, k)
    rekeying._by_state(BY_STATE.bit_generator)(key, k)
    assert draws(IN_PLACE, count) == draws(BY_STATE, count)
    one, other = IN_PLACE.bit_generator.state, BY_STATE.bit_generator.state
    assert repr(one) == repr(other)


def test_the_memory_is_known_here() -> None:
    """NumPy of this environment keeps the state where it is looked for: else runs would be slower, not wrong."""
    assert "_in_place" in rekey_of(philox().bit_generator).__qualname__


def test_a_generator_keeps_its_state_while_its_memory_is_looked_at() -> None:
    rng, same = philox(), philox()
    assert draws(rng, 3) == draws(same, 3)
    rekeying._laid_out(rng.bit_generator)
    assert draws(rng, 5) == draws(same, 5)


@pytest.mark.parametrize(("one", "other"), [("counter", "key"), ("buffer_pos", "has_uint32")])
def test_a_memory_that_is_not_as_known_is_left_alone(
    one: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layout with two fields in each other's place is told from the true one, and the state is used."""
    swap = {one: other, other: one}
    kinds = dict(rekeying._State._fields_)
    swapped = [(swap.get(name, name), kinds[name]) for name in kinds]
    monkeypatch.setattr(rekeying, "_State", type("Other", (Structure,), {"_fields_": swapped}))
    assert "_by_state" in rekey_of(philox().bit_generator).__qualname__


def test_another_kind_of_generator_is_keyed_by_nothing_in_memory() -> None:
    assert rekeying._laid_out(np.random.PCG64(1)) is None

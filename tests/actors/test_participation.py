"""What an agent knows of its own participation: wakes without a charge, and versions that neighbours say they merged."""

import numpy as np
import pytest

from actors.messages import Message
from actors.participation import Participation


def said(sender: int, version: int, reads: dict[int, int] | None) -> dict[int, Message]:
    return {sender: Message(sender, version, 1, np.zeros(1), 0, reads=reads)}


@pytest.mark.parametrize(
    ("read", "acknowledged"), [(4, False), (5, True), (6, True), (None, False)]
)
def test_a_release_is_read_where_it_or_a_later_message_was_merged(
    read: int | None,
    acknowledged: bool,  # noqa: FBT001
) -> None:
    known = Participation(None)
    known.release(5)
    known.merge(0, said(3, 9, None if read is None else {0: read, 7: 99}))
    assert known.acknowledged == acknowledged
    assert known.reads == {3: 9}
    known.release(8)
    assert not known.acknowledged  # the next one was not


def test_a_crash_takes_what_was_merged_and_not_what_was_released() -> None:
    known = Participation(None)
    known.release(5)
    known.merge(0, said(3, 9, {0: 5}))
    shared = known.reads
    known.lose_memory()
    assert shared == {}  # messages say so, too: they hold the same mapping
    assert known.acknowledged
    assert known.released == 5


def test_wakes_without_a_charge_are_missed_once_each() -> None:
    """Own instants 10, 20, …: wakes 0, 2 (paid), 3 (not), 6. Missed are 1, 3, 4, 5."""
    known = Participation(iter(range(10, 1000, 10)))
    for instant, pays in ((10, True), (30, True), (40, False), (70, True)):
        known.wake(instant, 0)
        if pays:
            known.pay()
    assert known.slot == 6
    assert known.missed == (1, 3, 4, 5)


def test_a_barrier_counts_rounds() -> None:
    known = Participation(None)
    for round_ in (1, 2, 5):
        known.wake(0, round_)
        known.pay()
    assert (known.slot, known.missed) == (4, (2, 3))

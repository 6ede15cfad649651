"""Entries of a second source are served among those of SimPy, each in its place."""

import asyncio
import math
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocks.clock import Governor
from clocks.virtual import VirtualClock
from scenarios.running.control import RunGovernor

Place = tuple[int, int]


class Listed:
    """Serves entries that were listed before."""

    def __init__(self, clock: VirtualClock, entries: list[Place], served: list[Place]) -> None:
        self._clock, self._entries, self._served = clock, sorted(entries), served
        self.calls = 0

    @property
    def upcoming(self) -> Place | None:
        return self._entries[0] if self._entries else None

    @property
    def count(self) -> int:
        return len(self._entries)

    def serve(self, until: int, priority: int, most: int) -> None:
        self.calls += 1
        for _ in range(most):
            if not self._entries or self._entries[0] >= (until, priority):
                return
            self._served.append(self._entries.pop(0))
            self._clock.move_to(self._served[-1][0])


def serve(
    here: list[Place], ahead: list[Place], until: int | None, governor: Governor
) -> tuple[list[Place], Listed]:
    clock, served = VirtualClock(), list[Place]()
    clock.ahead = listed = Listed(clock, ahead, served)
    for place in here:
        clock.at(*place, partial(served.append, place))
    asyncio.run(clock.run(until, governor))
    return served, listed


PLACES = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), max_size=12, unique=True)


@given(PLACES, PLACES, st.sampled_from([None, 0, 3, 6]), st.booleans())
def test_all_entries_are_served_in_one_order(
    here: list[Place],
    ahead: list[Place],
    until: int | None,
    paced: bool,  # noqa: FBT001 # drawn
) -> None:
    here = [place for place in here if place not in ahead]
    governor = RunGovernor(speed=1e12 if paced else math.inf)
    served, listed = serve(here, ahead, until, governor)
    due = [place for place in sorted(here + ahead) if until is None or place[0] <= until]
    assert served == due
    assert listed.count == len([place for place in ahead if until is not None and place[0] > until])


def test_a_paced_run_asks_for_each_entry() -> None:
    ahead = [(n, 1) for n in range(20)]
    assert serve([], ahead, None, RunGovernor())[1].calls == 1
    assert serve([], ahead, None, RunGovernor(speed=1e12))[1].calls == 20


def test_what_waits_counts_as_due() -> None:
    clock = VirtualClock()
    clock.ahead = Listed(clock, [(5, 2)], [])
    assert (clock.queue, clock.idle) == (1, False)
    assert [clock.is_taken(5, 2), clock.is_taken(5, 1), clock.is_taken(4, 9)] == [
        True,
        False,
        False,
    ]


def test_an_actor_that_an_entry_starts_runs_at_its_instant() -> None:
    clock, seen = VirtualClock(), list[Any]()

    class Starting(Listed):
        def serve(self, until: int, priority: int, most: int) -> None:
            super().serve(until, priority, most)
            clock.spawn(actor)

    async def actor() -> None:
        seen.append(clock.now)
        await clock.sleep_until(clock.now + 3, 1)
        seen.append(clock.now)

    clock.ahead = Starting(clock, [(5, 2)], [])
    asyncio.run(clock.run(None, RunGovernor()))
    assert seen == [5, 8]


def test_what_an_entry_raises_ends_the_run() -> None:
    clock = VirtualClock()

    class Failing(Listed):
        def serve(self, until: int, priority: int, most: int) -> None:
            raise ZeroDivisionError(until, priority, most)

    clock.ahead = Failing(clock, [(5, 2)], [])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(clock.run(None, RunGovernor()))


def test_what_is_served_next_may_be_an_entry_of_its_own() -> None:
    """Who serves several agents at one instant asks for it: an entry of the second source may come between them."""
    clock = VirtualClock()
    clock.ahead = Listed(clock, [(5, 2)], [])
    assert clock.upcoming == (5, 2)
    clock.at(5, 3, lambda: None)
    assert clock.upcoming == (5, 2)
    clock.at(5, 1, lambda: None)
    assert clock.upcoming == (5, 1)
    clock.ahead = Listed(clock, [], [])
    assert clock.upcoming == (5, 1)

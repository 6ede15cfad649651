"""The log: events of one instant have one order, observers get what they declare, and nothing is told twice."""

from typing import Any

import msgspec
import pytest

from actors.events import KINDS, Charged, Event, Released, Sampled, Woke
from actors.log import Batch, BatchObserver, Listener, Log, SingleObserver
from actors.turns import Row, Spends, encode
from clocks.virtual import VirtualClock
from mechanisms.accounting.spend import unprotected


class Late(VirtualClock):
    """A clock that serves an instant late, as wall time does."""

    late = 7


class Single:
    """Declares that it wants single events of one kind."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.routes: dict[type[Event], Listener] = {Released: self.seen.append}


class Folder:
    """Declares that it wants batches."""

    def __init__(self) -> None:
        self.batches: list[list[Event]] = []

    def fold(self, batch: Batch) -> None:
        self.batches.append(list(batch))


class Both(Single, Folder):
    """Declares both."""

    def __init__(self) -> None:
        Single.__init__(self)
        Folder.__init__(self)


def test_an_observer_gets_what_it_declares() -> None:
    log, single, batch, both = Log(VirtualClock()), Single(), Folder(), Both()
    observers: tuple[SingleObserver | BatchObserver, ...] = single, batch, both
    for observer in observers:
        log.subscribe(observer)
    woke = log.emit(Woke, 3, None)
    log.emit(Released, 3, woke, 0)
    assert [event.seq for event in single.seen] == [event.seq for event in both.seen] == [2]
    assert batch.batches == both.batches == []
    log.drain()
    log.drain()
    assert batch.batches == both.batches
    assert [[event.seq for event in told] for told in batch.batches] == [[1, 2]]


def test_an_observer_that_declares_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="routes or a fold"):
        Log(VirtualClock()).subscribe(object())  # type: ignore[arg-type]


def test_an_event_says_how_late_its_instant_was_served() -> None:
    log, batch = Log(Late()), Folder()
    log.subscribe(batch)
    log.emit(Woke, 3, None)
    log.drain()
    assert batch.batches == [[Woke(1, 0, 3, None, 7)]]
    assert msgspec.json.encode(batch.batches[0][0]).endswith(b'"late_ns":7}')


def test_a_file_of_events_has_no_spend() -> None:
    """In memory a charge carries its spend; its line in the file is what it was before events carried one."""
    event = Charged(2, 5, 0, 1, 0, 0.5, unprotected("own", 3))
    line = msgspec.json.encode(event.as_recorded)
    assert line == b'{"kind":"charged","seq":2,"t":5,"node":0,"cause":1,"k":0,"charged":0.5}'
    read = msgspec.json.decode(line, type=Charged)
    assert read == event.as_recorded
    assert read.spend is None
    assert all("spend" not in kind.__struct_fields__ for kind in KINDS if kind is not Charged)


def test_a_demand_for_single_events_of_turns_holds_until_it_is_taken_back() -> None:
    log = Log(VirtualClock())

    def heard(_: Event) -> None:
        raise AssertionError

    assert not log.needs_events
    log.watch(heard, (Sampled,))
    assert not log.needs_events, "no row stands for a sample"
    log.watch(heard, (Woke, Charged))
    log.demand_events(log)
    log.ignore(heard, KINDS)
    assert log.needs_events
    log.release_demand(log)
    assert not log.needs_events


def row_of_a_wake(seq: int) -> Row:
    """The row of a wake of agent 3, and of nothing else."""
    (row,) = encode([Woke(seq, 0, 3, None)], Spends())
    assert isinstance(row, list)
    return row


class Broken(Folder):
    """Finds something wrong in the second batch that it gets."""

    def fold(self, batch: Batch) -> None:
        super().fold(batch)
        if len(self.batches) == 2:
            raise ValueError("something is wrong")


def test_a_patient_observer_has_in_one_batch_what_others_had_in_several() -> None:
    """Whatever the others make of it: rows and events, in order, each once."""
    log, eager, patient = Log(VirtualClock()), Broken(), Folder()
    log.subscribe(eager)
    log.subscribe(patient, is_patient=True)
    log.emit(Woke, 3, None)
    log.add_turn(row_of_a_wake(2), 1)
    log.drain()
    log.add_turn(row_of_a_wake(3), 1)
    log.emit(Sampled, None, None, {})
    with pytest.raises(ValueError, match="wrong"):
        log.drain()
    log.add_turn(row_of_a_wake(5), 1)
    assert patient.batches == []
    log.hand_over()
    log.hand_over()
    assert [[e.seq for e in batch] for batch in eager.batches] == [[1, 2], [3, 4], [5]]
    assert [[e.seq for e in batch] for batch in patient.batches] == [[1, 2, 3, 4, 5]]
    assert not log.is_full

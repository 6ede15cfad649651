"""Rows of turns: they stand for the very same events, and their columns say what the events say."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from actors.events import (
    Charged,
    Delivered,
    Derived,
    Event,
    Lost,
    Merged,
    Proposed,
    Released,
    Sent,
    Superseded,
    Woke,
)
from actors.log import Batch
from actors.turns import (
    Spends,
    Turns,
    encode,
    expand,
    fates_of,
    pack_receivers,
    senders_of,
    versions_of,
)
from clocks.virtual import VirtualClock
from mechanisms.accounting.spend import Spend, unprotected
from scenarios.api.runs import make_plan
from scenarios.running.simulation import Simulation
from tests.support.builders import private, scenario

SPEND = unprotected("own", 3)


def a_turn() -> list[Event]:
    """Agent 4 settles four messages, two of one sender, merges, releases, and loses one of three messages."""
    return [
        Delivered(10, 90, 4, 3, 1, 7, 60),
        Delivered(11, 90, 4, 4, 2, 1, 61),
        Superseded(12, 90, 4, 11, 2, 0),  # it was settled earlier, and was not read
        Delivered(13, 90, 4, 5, 1, 8, 70),
        Superseded(14, 90, 4, 13, 1, 7),
        Delivered(15, 90, 4, 2, 1, 6, 80),
        Superseded(16, 90, 4, 15, 1, 6),
        Woke(17, 90, 4, None),
        Merged(18, 90, 4, 17, [9, 2, 1], [5, 1, 8]),
        Proposed(19, 90, 4, 17, 6, "inf"),
        Charged(20, 90, 4, 19, 6, "inf", SPEND),
        Released(21, 90, 4, 20, 6),
        Sent(22, 90, 4, 21, 6, [1, 2, 9], [95, -1, 99], 24),
        Lost(23, 90, 4, 22, 2, 6),
    ]


def test_a_whole_turn_is_one_row_and_back() -> None:
    spends = Spends()
    (row,) = encode(a_turn(), spends)
    assert isinstance(row, list)
    assert expand(row, spends) == a_turn()
    turns = Turns.of([row])
    assert (len(row), int(turns.events[0])) == (11 + 2 + 3 * 4 + 2 + 3, 14)
    assert turns.sent_to.tolist() == [1, 2, 9]
    assert turns.arrives.tolist() == [95, -1, 99]
    words = turns.settled_words
    assert words[:, :2].tolist() == [[60, 3], [61, 4], [70, 5], [80, 2]]
    assert senders_of(words[:, 2]).tolist() == [1, 2, 1, 1]
    assert versions_of(words[:, 2]).tolist() == [7, 1, 8, 6]
    assert fates_of(words[:, 2]).tolist() == [0, 2, 2, 1]


@pytest.mark.parametrize("at", range(14))
@pytest.mark.parametrize("what", ["gone", "node", "t", "late_ns", "cause"])
def test_a_turn_with_anything_odd_comes_back_as_it_was(at: int, what: str) -> None:
    """Whatever does not fit the row stays an event: nothing is made to fit."""
    import msgspec

    events, spends = a_turn(), Spends()
    if what == "gone":
        del events[at]
        for number, event in enumerate(events[at:], at):
            events[number] = msgspec.structs.replace(event, seq=event.seq - 1)
    else:
        odd = (getattr(events[at], what) or 0) + 1
        events[at] = msgspec.structs.replace(events[at], **{what: odd})
    back = list[Event]()
    for part in encode(events, spends):
        back += [part] if isinstance(part, Event) else expand(part, spends)
    assert back == events


@pytest.mark.parametrize("size", [2, 3, 4])
def test_equal_spends_have_one_place(size: int) -> None:
    spends = Spends()
    places = [spends.place(unprotected("own", d)) for d in range(size) for _ in range(2)]
    assert places == [d for d in range(size) for _ in range(2)]
    assert [type(each) for each in spends.table] == [Spend] * size


@pytest.mark.parametrize("count", range(5))
def test_receivers_come_back_from_their_words(count: int) -> None:
    ids = [3, 1 << 28, 0, 7, 9][:count]
    packed = pack_receivers(ids)
    assert len(packed) == (count + 1) // 2
    assert np.array(packed, "<i8").view("<u4").tolist()[:count] == ids


class Kept:
    """Keeps batches."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def fold(self, batch: Batch) -> None:
        self.batches.append(batch)


def batches_of(world: Any) -> list[Batch]:
    """Return what happens in a world, event by event."""
    simulation, kept = Simulation(make_plan(world), VirtualClock()), Kept()
    simulation.log.subscribe(kept)
    simulation.complete()
    simulation.log.drain()
    return kept.batches


SERVER = {"mechanism": {"kind": "fedavg"}, "run": {"seed": 3, "rounds": 4}, "network": {}}
WORLDS: dict[str, Any] = {
    "losses": private(
        network={"topology": "ring", "loss": 0.2, "latency": {"kind": "exponential", "mean": 0.7}}
    ),
    "crash": private(fault=[{"at": 3.0, "crash": [2], "for": 4.0}], network={"loss": 0.1}),
    "computing": private(
        nodes=[
            {
                "count": 6,
                "compute": {"kind": "exponential", "mean": 0.3},
                "budget": {"epsilon": 4.0},
            }
        ]
    ),
    "duplicates": private(fault=[{"at": 2.0, "duplicate": {"on": "all", "p": 0.5}, "for": 9.0}]),
    "server": scenario(**SERVER),
    "quickstart": "quickstart",
    "federated": "federated-dropout",
    "barrier": "stragglers-barrier",
    "duals": "lost-duals",
}


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_rows_stand_for_the_events_of_a_world(world: Any) -> None:
    spoken = Counter[type[Event]]()
    for batch in batches_of(world):
        back = list[Event]()
        for part in batch.parts:
            if isinstance(part, Turns):
                told = [expand(row, batch.spends) for row in part.rows()]
                assert [len(each) for each in told] == part.events.tolist()
                assert [each[0].seq for each in told] == part.seq.tolist()
                spoken.update(type(event) for each in told for event in each)
                back += [event for each in told for event in each]
            else:
                back.append(part)
        assert back == list(batch.events)
    assert spoken[Woke] > 0
    assert spoken[Delivered] > 0
    assert spoken[Released] + spoken[Derived] > 0

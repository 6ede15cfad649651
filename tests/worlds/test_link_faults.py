"""Links and partitions under faults, in whole runs: windows are exact, directions are directions, nothing gets lost in the books."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import Ran, perform, private, scenario

SECOND = 10**9
SYNCHRONOUS = [{"name": "peers", "count": 6, "clock": "synchronous"}]


def ran(tmp_path: Path, *faults: dict[str, Any], **sections: Any) -> Ran:
    base = {"nodes": SYNCHRONOUS, "network": {"topology": "complete"}, "fault": list(faults)}
    made = perform(scenario(**(base | sections)), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def ways(made: Ran) -> Iterable[tuple[float, int, int, int]]:
    """Yield every message: when, from whom, to whom, arrival."""
    for event in made.events("sent"):
        for to, arrives in zip(event["to"], event["arrives"], strict=True):
            yield event["t"] / 1e9, event["node"], to, arrives


def conserved(made: Ran) -> None:
    m = made.outcome.summary["messages"]
    assert (
        m["sent"] + m["duplicated"] == m["delivered"] + m["lost"] + m["rejected"] + m["in_flight"]
    )


@pytest.mark.parametrize("direction", ["both", "to", "from"])
def test_a_partition_cuts_what_crosses_it_in_its_direction_and_window(
    tmp_path: Path, direction: str
) -> None:
    """The window is [5 s, 12 s): a fault's end comes before the wakes of its instant."""
    fault = {"at": 5.0, "for": 7.0, "partition": {"groups": [[0, 1]]}, "direction": direction}
    made = ran(tmp_path, fault)
    for t, i, j, arrives in ways(made):
        crosses = (i in {0, 1}) != (j in {0, 1})
        meant = direction == "both" or (direction == "to") == (j in {0, 1})
        assert (arrives < 0) == (crosses and meant and 5 <= t < 12), (t, i, j)
    conserved(made)


def test_an_isolated_group_still_talks_among_itself(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 3.0, "partition": {"isolate": [0, 1]}})
    for t, i, j, arrives in ways(made):
        assert (arrives < 0) == (t >= 3 and len({i, j} & {0, 1}) == 1)


def test_only_the_bridge_joins_two_halves(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 3.0, "partition": {"bridge": [2]}})
    half = {0: 0, 1: 0, 3: 0, 4: 1, 5: 1}
    for t, i, j, arrives in ways(made):
        crosses = 2 not in {i, j} and half[i] != half[j]
        assert (arrives < 0) == (t >= 3 and crosses)


def test_a_slow_partition_is_late_by_its_latency(tmp_path: Path) -> None:
    fault = {
        "at": 3.0,
        "for": 5.0,
        "partition": {"isolate": [0], "mode": "slow", "latency": "700ms"},
    }
    made = ran(tmp_path, fault)
    for t, i, j, arrives in ways(made):
        late = 0.7 if 3 <= t < 8 and 0 in {i, j} else 0.0
        assert arrives == round((t + late) * SECOND)
    conserved(made)


@pytest.mark.parametrize(
    "fault",
    [
        {"hold": [2], "direction": "to"},
        {"partition": {"isolate": [2], "mode": "jam"}, "direction": "to"},
    ],
    ids=["hold", "jam"],
)
def test_what_is_held_arrives_when_the_hold_ends(tmp_path: Path, fault: dict[str, Any]) -> None:
    made = ran(tmp_path, {"at": 4.5, "for": 6.0, **fault})
    arrived = [e["arrived"] / 1e9 for e in made.events("delivered") if e["node"] == 2]
    assert not [t for t in arrived if 4.5 <= t < 10.5]
    assert sum(1 for t in arrived if t == 10.5) == 6 * 5  # six rounds of five neighbours
    assert made.outcome.summary["messages"]["lost"] == 0
    conserved(made)


def test_what_is_held_at_the_end_is_in_flight(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 17.5, "hold": "all"})
    assert made.outcome.summary["messages"]["in_flight"] == 3 * 6 * 5
    conserved(made)


def test_pairs_have_directions_of_their_own(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 0.0, "loss": {"on": [[3, 1]], "p": 1.0}, "direction": "to"})
    for _, i, j, arrives in ways(made):
        assert (arrives < 0) == ((i, j) == (3, 1))


def test_copies_arrive_and_change_nothing(tmp_path: Path) -> None:
    """Every message twice: all are delivered twice, the second is superseded, the models are the same bits."""
    doubled = ran(tmp_path, {"at": 0.0, "duplicate": {"on": "all", "p": 1.0}})
    plain = ran(tmp_path)
    messages = doubled.outcome.summary["messages"]
    assert messages["duplicated"] == messages["sent"] == plain.outcome.summary["messages"]["sent"]
    conserved(doubled)
    assert (doubled.theta == plain.theta).all()


def test_what_is_damaged_is_thrown_away_on_arrival(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 0.0, "corrupt": {"on": [0], "p": 1.0}, "direction": "from"})
    assert {e["reason"] for e in made.events("rejected")} == {"corrupt"}
    assert {e["sender"] for e in made.events("rejected")} == {0}
    assert not [e for e in made.events("merged") if 0 in e["senders"]]
    conserved(made)


def test_a_link_carries_its_bytes_a_second_and_no_more(tmp_path: Path) -> None:
    """24 bytes a message and 12 a second: a message takes two seconds, so half of one a second arrive, in order."""
    made = ran(tmp_path, network={"topology": "ring", "rate": 12})
    by_link: dict[tuple[int, int], list[int]] = {}
    for e in made.events("delivered"):
        by_link.setdefault((e["sender"], e["node"]), []).append(e["arrived"])
    for arrivals in by_link.values():
        gaps = [b - a for a, b in pairwise(arrivals)]
        assert set(gaps) == {2 * SECOND}
    conserved(made)


def test_one_slow_link_is_an_exception(tmp_path: Path) -> None:
    made = ran(tmp_path, network={"topology": "ring"}, link=[{"from": 0, "to": 1, "rate": 12}])
    for t, i, j, arrives in ways(made):
        assert (arrives > t * SECOND) == ((i, j) == (0, 1))


def test_a_fault_leaves_what_was_before_it_and_the_draws_of_others_alone(tmp_path: Path) -> None:
    """With a second fault, the first one loses the very same messages; before it, the runs are one."""
    loss = {"at": 0.0, "name": "rain", "loss": {"on": "all", "p": 0.3}}
    other = {"at": 10.0, "for": 3.0, "delay": {"on": "all", "latency": "5ms"}}
    alone, both = ran(tmp_path, loss), ran(tmp_path, other, loss)

    def lost(made: Ran) -> list[tuple[int, int, int]]:
        return [(e["t"], e["node"], e["receiver"]) for e in made.events("lost")]

    assert lost(alone) == lost(both)
    before = [[e for e in r.events("sent") if e["t"] < 10 * SECOND] for r in (alone, both)]
    assert [(e["node"], e["t"], e["arrives"]) for e in before[0]] == [
        (e["node"], e["t"], e["arrives"]) for e in before[1]
    ]


def test_an_event_says_which_fault_touched_it(tmp_path: Path) -> None:
    faults = ({"at": 0.0, "crash": [5]}, {"at": 0.0, "loss": {"on": "all", "p": 0.5}})
    made = ran(tmp_path, *faults)
    assert {tuple(e["by"]) for e in made.events("lost")} == {(1,)}
    told = made.outcome.summary["faults"]
    assert [f["fired"] for f in told] == [1, 1]
    assert told[1]["touched"] > 0


@pytest.mark.parametrize("engine", ["virtual", "wall"])
def test_every_link_fault_is_the_same_on_both_engines_and_twice(
    tmp_path: Path, engine: str
) -> None:
    faults = [
        {"every": 3.0, "until": 15.0, "for": 1.0, "partition": {"isolate": "one"}},
        {"at": 2.0, "for": 9.0, "reorder": {"on": "all", "p": 0.5}},
        {"at": 1.0, "loss": {"on": "all", "kind": "gilbert-elliott", "enter": 0.2, "leave": 0.5}},
    ]
    world = private(fault=faults, network={"topology": "ring", "latency": "200ms"})
    first, second = (perform(world, tmp_path, engine=e) for e in ("virtual", engine))
    assert first.digests["schedule"] == second.digests["schedule"]


def test_a_burst_loses_every_message_unless_the_file_says_less(tmp_path: Path) -> None:
    """The chain enters at the first message of a link and never leaves: only that message arrives."""
    burst = {"on": "all", "kind": "gilbert-elliott", "enter": 1.0, "leave": 0.0}
    fault = [{"at": 0.0, "loss": burst}]
    ran = perform(scenario(run={"seed": 2, "horizon": 90.0}, fault=fault), tmp_path)
    assert sum(len(event["to"]) for event in ran.events("sent")) > 500
    links = [(event["sender"], event["node"]) for event in ran.events("delivered")]
    assert len(links) == len(set(links))

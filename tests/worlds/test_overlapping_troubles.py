"""Troubles that compose on one link: copies, holds, delays and reordering, and how they are counted."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import check
from tests.support.builders import Ran, perform, scenario
from tests.support.hostile import SECOND, ran


def but(*away: range) -> list[int]:
    return [t for t in range(1, 21) if not any(t in span for span in away)]


NETWORK = {"topology": "path", "latency": "100ms"}
TWO = [{"count": 2, "clock": "synchronous"}]
COPIES = {"at": 0.0, "duplicate": {"on": "all", "p": 1.0}}


def pair(tmp_path: Path, *faults: dict[str, Any]) -> Ran:
    return ran(tmp_path, *faults, nodes=TWO, network=NETWORK, run={"seed": 5, "horizon": 10.0})


def arrivals(made: Ran) -> list[float]:
    return sorted(e["arrived"] / 1e9 for e in made.events("delivered") if e["node"] == 1)


def test_copies_take_as_long_as_the_link_and_suffer_what_it_suffers(tmp_path: Path) -> None:
    plain = arrivals(pair(tmp_path, COPIES))
    assert plain == pytest.approx([t + 0.1 for t in range(1, 10) for _ in range(2)])
    late = arrivals(pair(tmp_path, COPIES, {"at": 0.0, "delay": {"on": "all", "latency": 3.3}}))
    assert min(late) == pytest.approx(4.4)
    held = arrivals(pair(tmp_path, COPIES, {"at": 1.5, "for": 5.0, "hold": "all"}))
    assert not [t for t in held if 1.5 <= t < 6.5]
    damaged = pair(tmp_path, COPIES, {"at": 0.0, "corrupt": {"on": "all", "p": 1.0}})
    assert arrivals(damaged) == []
    summary = damaged.outcome.summary["messages"]
    assert summary["rejected"] + summary["in_flight"] == 2 * summary["sent"]


def test_what_is_held_and_damaged_stays_damaged(tmp_path: Path) -> None:
    faults = [
        {"at": 0.0, "for": 4.5, "corrupt": {"on": "all", "p": 1.0}},
        {"at": 0.0, "for": 4.5, "hold": "all"},
    ]
    made = pair(tmp_path, *faults)
    assert {e["reason"] for e in made.events("rejected")} == {"corrupt"}
    assert len(made.events("rejected")) == 8


def test_nobody_is_overtaken_into_haste(tmp_path: Path) -> None:
    """Eight seconds late and waiting for the next one: it arrives when both have passed."""
    faults = [
        {"at": 0.0, "for": 1.5, "delay": {"on": "all", "latency": 7.0}},
        {"at": 0.0, "for": 1.5, "reorder": {"on": "all", "p": 1.0}},
    ]
    first = [
        e["arrived"] / 1e9 for e in pair(tmp_path, *faults).events("delivered") if e["version"] == 0
    ]
    assert first == pytest.approx([8.1, 8.1])


def test_the_end_of_a_hold_does_not_end_a_wait_to_be_overtaken(tmp_path: Path) -> None:
    """What waits for the next message goes behind what the hold lets go."""
    faults: list[dict[str, Any]] = [
        {"at": 0.0, "for": 1.5, "reorder": {"on": "all", "p": 1.0}},
        {"at": 1.2, "for": 3.0, "hold": "all"},
    ]
    made = pair(tmp_path, *faults)
    held = {e["version"]: e["arrived"] / 1e9 for e in made.events("delivered") if e["node"] == 1}
    assert held[0] == pytest.approx(4.2)
    assert held[1] == held[2] == held[3] == pytest.approx(4.3)


def test_a_delay_from_a_trace_takes_its_values_in_their_order(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "late.csv").write_text("0.1\n0.2\n0.3\n")
    law = {"kind": "trace", "path": "late.csv"}
    tree = scenario(
        nodes=TWO,
        network=NETWORK,
        fault=[{"at": 0.0, "delay": {"on": [[0, 1]], "latency": law}, "direction": "to"}],
    )
    made = perform(tree, tmp_path / "runs", folders=(data,))
    found = [round(t - int(t), 9) for t in arrivals(made)]
    assert found[:6] == [0.2, 0.3, 0.4, 0.2, 0.3, 0.4]


def test_pairs_are_edges_and_each_direction_counts_once(tmp_path: Path) -> None:
    twice = {"at": 0.0, "delay": {"on": [[0, 1], [1, 0]], "latency": 0.3}}
    assert min(arrivals(pair(tmp_path, twice))) == pytest.approx(1.4)
    far = scenario(fault=[{"at": 0.0, "loss": {"on": [[0, 3]], "p": 1.0}}])
    assert any("no edge joins 0 and 3" in problem for problem in check(far).problems)


def test_removing_a_fault_leaves_its_like_alone(tmp_path: Path) -> None:
    one = {"at": 1.5, "for": 3.0, "loss": {"on": "all", "p": 0.5}}
    other = {"at": 5.5, "loss": {"on": "all", "p": 0.5}}

    def lost(made: Ran) -> list[tuple[int, int]]:
        return [(e["t"], e["node"]) for e in made.events("lost") if e["t"] > 5 * SECOND]

    both, alone = lost(pair(tmp_path, one, other)), lost(pair(tmp_path, other))
    assert both == alone


def test_messages_that_a_fault_touched_are_counted_once(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 0.0, "loss": {"on": "all", "p": 1.0}})
    assert made.outcome.summary["faults"][0]["touched"] == made.outcome.summary["messages"]["sent"]
    assert made.outcome.summary["faults"][0]["touched"] == made.outcome.summary["messages"]["lost"]


def test_the_first_message_is_what_is_played_again(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 5.5, "privacy": {"on": [0], "kind": "replay"}})
    assert {e["version"] for e in made.events("duplicated")} == {0}

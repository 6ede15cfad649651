"""Faults that meet: windows that touch or overlap, and who comes and goes in them."""

from pathlib import Path
from typing import Any

import pytest

from actors.events import Charged
from tests.support.builders import perform, scenario
from tests.support.hostile import SECOND, SYNCHRONOUS, ran, wakes


def but(*away: range) -> list[int]:
    return [t for t in range(1, 21) if not any(t in span for span in away)]


AWAY: list[tuple[str, list[dict[str, Any]], list[int]]] = [
    (
        "back to back",
        [{"at": 2.0, "for": 2.0, "crash": [0]}, {"at": 4.0, "for": 2.0, "crash": [0]}],
        but(range(2, 6)),
    ),
    (
        "leaves back to back",
        [{"at": 4.0, "for": 2.0, "leave": [0]}, {"at": 2.0, "for": 2.0, "leave": [0]}],
        but(range(2, 6)),
    ),
    (
        "one in another",
        [{"at": 2.0, "for": 9.0, "crash": [0]}, {"at": 4.0, "for": 1.0, "crash": [0]}],
        but(range(2, 11)),
    ),
    (
        "one after another",
        [{"at": 2.0, "for": 4.0, "crash": [0]}, {"at": 4.0, "for": 10.0, "crash": [0]}],
        but(range(2, 14)),
    ),
    (
        "leaves that overlap",
        [{"at": 2.0, "for": 4.0, "leave": [0]}, {"at": 4.0, "for": 10.0, "leave": [0]}],
        but(range(2, 14)),
    ),
    ("one that lasts", [{"at": 1.5, "for": 3.0, "crash": [0]}, {"at": 3.5, "crash": [0]}], [1]),
    (
        "one that lasts after a restart",
        [
            {"at": 1.5, "for": 3.0, "crash": [0]},
            {"at": 2.5, "restart": [0]},
            {"at": 3.5, "crash": [0]},
        ],
        [1, 3],
    ),
    (
        "who is down cannot say goodbye",
        [{"at": 5.0, "for": 10.0, "crash": [0]}, {"at": 8.0, "for": 1.0, "leave": [0]}],
        but(range(5, 15)),
    ),
    (
        "churn revives nobody",
        [
            {"at": 1.5, "for": 18.0, "crash": [0]},
            {"at": 0.0, "churn": {"on": [0], "session": 3.0, "downtime": 1.0}},
        ],
        [1, 20],
    ),
    (
        "an ambush in a crash",
        [
            {"at": 1.5, "for": 3.0, "crash": [0]},
            {"at": 2.0, "for": 9.0, "privacy": {"on": [0], "kind": "crash-after-send"}},
        ],
        [1, 5, *range(11, 21)],
    ),
]


@pytest.mark.parametrize(
    ("faults", "wanted"), [case[1:] for case in AWAY], ids=[c[0] for c in AWAY]
)
def test_who_is_held_by_several_comes_back_with_the_last(
    tmp_path: Path, faults: list[dict[str, Any]], wanted: list[int]
) -> None:
    assert wakes(ran(tmp_path, *faults)) == wanted


def test_undoing_a_leave_or_a_join_touches_only_whom_it_moved(tmp_path: Path) -> None:
    nodes = [*SYNCHRONOUS, {"name": "late", "present": False, "clock": "synchronous"}]
    faults = [
        {"at": 2.0, "leave": [1]},
        {"at": 3.0, "for": 4.0, "leave": [0, 1]},
        {"at": 5.0, "for": 4.0, "join": "late"},
    ]
    made = perform(scenario(nodes=nodes, fault=faults), tmp_path)
    assert wakes(made, 0) == but(range(3, 7))
    assert wakes(made, 1) == [1]  # it was gone before, for good
    assert wakes(made, 6) == [5, 6, 7, 8]


def test_twins_end_with_the_last_window_and_learn_for_themselves(tmp_path: Path) -> None:
    fault = [
        {"at": 1.5, "for": 3.0, "privacy": {"on": [0], "kind": "twin"}},
        {"at": 2.5, "for": 5.0, "privacy": {"on": [0], "kind": "twin"}},
    ]
    made = ran(tmp_path, *fault, run={"seed": 5, "horizon": 12.0})
    times = [e["t"] / 1e9 for e in made.events("released") if e["node"] == 0]
    assert times == [1, *(t for t in range(2, 8) for _ in range(2)), 8, 9, 10, 11, 12]
    alone = ran(tmp_path, run={"seed": 5, "horizon": 12.0})
    assert len(alone.events("released")) == len(made.events("released")) - 6


def test_an_ambush_that_is_over_springs_no_more(tmp_path: Path) -> None:
    fault = {"at": 3.2, "for": 0.5, "privacy": {"on": [0], "kind": "crash-after-charge"}}
    assert ran(tmp_path, fault).events("crashed") == []


def test_a_resend_is_no_message_of_ones_own(tmp_path: Path) -> None:
    """Agent 1 resends its last words to agent 0, who comes at 3.2 s: the ambush waits for what it says at 4 s."""
    faults = [
        {"at": 2.2, "for": 1.0, "leave": [0]},
        {"at": 3.1, "privacy": {"on": [1], "kind": "crash-after-send"}},
    ]
    assert [e["t"] / 1e9 for e in ran(tmp_path, *faults).events("crashed")] == [4]


def test_slowness_ends_by_parts(tmp_path: Path) -> None:
    nodes = [SYNCHRONOUS[0] | {"compute": "100ms"}]
    faults = [
        {"at": 1.5, "for": 10.0, "slow": {"on": [0], "factor": 2.0}},
        {"at": 2.5, "for": 2.0, "slow": {"on": [0], "factor": 3.0}},
    ]
    made = ran(tmp_path, *faults, nodes=nodes)
    late = {e["t"] // SECOND: e["t"] % SECOND / 1e9 for e in made.events("sent") if e["node"] == 0}
    assert [late[t] for t in (1, 2, 3, 4, 5, 11, 12)] == [0.1, 0.2, 0.6, 0.6, 0.2, 0.2, 0.1]


def test_until_is_included_and_so_is_after(tmp_path: Path) -> None:
    made = ran(tmp_path, {"every": 3.0, "until": 9.0, "for": 1.0, "pause": [0]})
    assert [e["t"] / 1e9 for e in made.events("fault_began")] == [3, 6, 9]
    by_event = {
        "when": 'kind == "woke" and node == 0',
        "after": 4.0,
        "until": 6.0,
        "times": 9,
        "for": 0.1,
        "hold": [1],
    }
    assert [e["t"] / 1e9 for e in ran(tmp_path, by_event).events("fault_began")] == [4, 5, 6]


def test_times_counts_what_happened_whatever_the_chance(tmp_path: Path) -> None:
    timings: list[dict[str, Any]] = [{"every": 0.5}, {"when": 'kind == "woke"'}]
    for timing in timings:
        fault = timing | {"probability": 0.3, "times": 4, "for": 0.1, "hold": [1]}
        assert len(ran(tmp_path, fault).events("fault_began")) == 4


def test_a_joiner_by_the_rule_forgets_the_edges_it_chose_once(tmp_path: Path) -> None:
    nodes = [
        {"count": 5, "clock": "synchronous"},
        {"name": "late", "present": False, "clock": "synchronous"},
    ]
    faults = [
        {"at": 3.0, "join": [5], "edges": [1, 2]},
        {"at": 8.5, "leave": [5]},
        {"at": 10.5, "join": [5], "edges": "rule"},
    ]
    made = perform(scenario(nodes=nodes, network={"topology": "path"}, fault=faults), tmp_path)
    heard = [(e["t"] < 9 * SECOND, e["node"]) for e in made.events("sent") if 5 in e["to"]]
    assert {node for early, node in heard if early} == {1, 2}
    assert {node for early, node in heard if not early} == {4}


def test_a_clock_fault_that_never_happens_changes_nothing(tmp_path: Path) -> None:
    crash = {"at": 2.0, "for": 2.0, "crash": [5]}
    never = {"when": 'kind == "left"', "for": 1.0, "clock": {"on": "all", "drift": 0.1}}
    plain, with_dials = ran(tmp_path, crash), ran(tmp_path, crash, never)
    assert plain.digests == with_dials.digests


def test_no_clock_gives_more_wakes_than_rounds(tmp_path: Path) -> None:
    faults = [
        {"at": 4.5, "clock": {"on": [0], "jump": "-3s"}},
        {"at": 4.6, "for": 0.1, "crash": [0]},
    ]
    made = ran(tmp_path, *faults, run={"seed": 1, "rounds": 10})
    assert len(wakes(made)) <= 10
    assert len(wakes(made, 1)) == 10


def test_who_comes_back_in_the_instant_of_its_wake_does_not_wake_twice(tmp_path: Path) -> None:
    faults: list[dict[str, Any]] = [
        {"when": 'kind == "woke" and node == 2 and t > 2500000000', "leave": "event"},
        {"when": 'kind == "left"', "join": [2]},
    ]
    assert wakes(ran(tmp_path, *faults), 2) == list(range(1, 21))


def test_who_stands_still_greets_nobody(tmp_path: Path) -> None:
    made = ran(
        tmp_path, {"at": 3.5, "for": 9.0, "pause": [1]}, {"at": 4.5, "for": 2.0, "leave": [0]}
    )
    assert not [e for e in made.events("sent") if e["node"] == 1 and 3.5 < e["t"] / 1e9 < 12.5]


def test_an_event_of_nobody_triggers_nothing_that_needs_somebody(tmp_path: Path) -> None:
    made = ran(tmp_path, {"when": "updates.mean >= 7", "crash": "event"})
    assert len(made.events("crashed")) == 1


def test_divergence_triggers_only_an_oracles_fault(tmp_path: Path) -> None:
    mechanism = {"kind": "fedavg", "learning_rate": 1e200}
    base: dict[str, Any] = {
        "mechanism": mechanism,
        "task": {"loss": "squared"},
        "run": {"seed": 1, "rounds": 6},
    }
    sly = {"when": '"div" in kind', "crash": [0]}
    hidden = perform(scenario(**base, fault=[sly]), tmp_path)
    assert hidden.outcome.summary["epsilon"]["covered"]
    assert hidden.events("diverged")
    assert not hidden.events("crashed")
    open_ = perform(scenario(**base, fault=[sly | {"oracle": True}]), tmp_path)
    assert open_.events("crashed")


def test_lose_all_forgets_what_was_said_and_volatile_does_not(tmp_path: Path) -> None:
    for lose, resends in (("volatile", True), ("all", False), ("nothing", True)):
        faults = [
            {"at": 5.5, "for": 1.0, "crash": [0], "lose": lose},
            {"at": 5.6, "for": 1.2, "leave": [1]},
        ]
        made = ran(tmp_path, *faults)
        again = [e for e in made.events("sent") if e["node"] == 0 and e.get("resent")]
        assert bool(again) is resends


@pytest.mark.parametrize(("lose", "read"), [("volatile", []), ("nothing", [1, 5])])
def test_what_was_not_read_before_a_crash_is_lost_with_the_memory(
    tmp_path: Path, lose: str, read: list[int]
) -> None:
    """Messages of 4 s arrive at 4.5 s; a crash at 4.7 s takes what was not read, unless it takes nothing."""
    network = {"topology": "ring", "latency": "500ms"}
    fault = {"at": 4.7, "for": 0.2, "crash": [0], "lose": lose}
    made = ran(tmp_path, fault, network=network)
    merged = [
        e["senders"] for e in made.events("merged") if e["node"] == 0 and e["t"] == 5 * SECOND
    ]
    assert (merged[0] if merged else []) == read


def test_a_twin_learns_from_its_own_state(tmp_path: Path) -> None:
    twin = {"at": 3.5, "privacy": {"on": [0], "kind": "twin"}}
    made = ran(tmp_path, twin, network={"topology": "ring", "latency": "300ms"})
    before = ran(
        tmp_path, run={"seed": 5, "horizon": 3.9}, network={"topology": "ring", "latency": "300ms"}
    )
    agent = made.run.agents[0]
    assert agent.fault_state.twin_state is not None
    model = agent.mechanism.model(agent.fault_state.twin_state)
    assert (model != before.theta[0]).any()


def test_ambushes_that_are_over_leave_nobody_listening(tmp_path: Path) -> None:
    """However often they were set: an observer that stays would be asked at every charge for ever."""
    ambush = {"on": [0], "kind": "crash-after-charge"}
    made = ran(tmp_path, {"every": 0.25, "until": 19.0, "for": 0.1, "privacy": ambush})
    plain = ran(tmp_path)
    assert len(made.run.log._routes[Charged]) == len(plain.run.log._routes[Charged])

"""Faults that meet: windows that touch or overlap, troubles that compose, runs that nobody can go on with."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenarios.api import check
from tests.support.builders import Ran, perform, private, scenario

SECOND = 10**9
SYNCHRONOUS = [{"name": "peers", "count": 6, "clock": "synchronous"}]


def ran(tmp_path: Path, *faults: dict[str, Any], **sections: Any) -> Ran:
    made = perform(scenario(**({"nodes": SYNCHRONOUS, "fault": list(faults)} | sections)), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def wakes(made: Ran, node: int = 0) -> list[float]:
    return [e["t"] / 1e9 for e in made.events("woke") if e["node"] == node]


def but(*away: range) -> list[int]:
    return [t for t in range(1, 21) if not any(t in span for span in away)]


AWAY: list[tuple[str, list[dict[str, Any]], list[int]]] = [
    ("back to back", [{"at": 2.0, "for": 2.0, "crash": [0]}, {"at": 4.0, "for": 2.0, "crash": [0]}], but(range(2, 6))),
    ("leaves back to back", [{"at": 4.0, "for": 2.0, "leave": [0]}, {"at": 2.0, "for": 2.0, "leave": [0]}], but(range(2, 6))),
    ("one in another", [{"at": 2.0, "for": 9.0, "crash": [0]}, {"at": 4.0, "for": 1.0, "crash": [0]}], but(range(2, 11))),
    ("one after another", [{"at": 2.0, "for": 4.0, "crash": [0]}, {"at": 4.0, "for": 10.0, "crash": [0]}], but(range(2, 14))),
    ("leaves that overlap", [{"at": 2.0, "for": 4.0, "leave": [0]}, {"at": 4.0, "for": 10.0, "leave": [0]}], but(range(2, 14))),
    ("one that lasts", [{"at": 1.5, "for": 3.0, "crash": [0]}, {"at": 3.5, "crash": [0]}], [1]),
    ("one that lasts after a restart", [{"at": 1.5, "for": 3.0, "crash": [0]}, {"at": 2.5, "restart": [0]}, {"at": 3.5, "crash": [0]}], [1, 3]),
    ("who is down cannot say goodbye", [{"at": 5.0, "for": 10.0, "crash": [0]}, {"at": 8.0, "for": 1.0, "leave": [0]}], but(range(5, 15))),
    ("churn revives nobody", [{"at": 1.5, "for": 18.0, "crash": [0]}, {"at": 0.0, "churn": {"on": [0], "session": 3.0, "downtime": 1.0}}], [1, 20]),
    ("an ambush in a crash", [{"at": 1.5, "for": 3.0, "crash": [0]}, {"at": 2.0, "for": 9.0, "privacy": {"on": [0], "kind": "crash-after-send"}}], [1, 5, *range(11, 21)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("faults", "wanted"), [case[1:] for case in AWAY], ids=[c[0] for c in AWAY]
)
def test_who_is_held_by_several_comes_back_with_the_last(
    tmp_path: Path, faults: list[dict[str, Any]], wanted: list[int]
) -> None:
    assert wakes(ran(tmp_path, *faults)) == wanted


def test_undoing_a_leave_or_a_join_touches_only_whom_it_moved(tmp_path: Path) -> None:
    nodes = [*SYNCHRONOUS, {"name": "late", "present": False, "clock": "synchronous"}]
    faults = [{"at": 2.0, "leave": [1]}, {"at": 3.0, "for": 4.0, "leave": [0, 1]}, {"at": 5.0, "for": 4.0, "join": "late"}]  # fmt: skip
    made = perform(scenario(nodes=nodes, fault=faults), tmp_path)
    assert wakes(made, 0) == but(range(3, 7))
    assert wakes(made, 1) == [1]  # it was gone before, for good
    assert wakes(made, 6) == [5, 6, 7, 8]


def test_twins_end_with_the_last_window_and_learn_for_themselves(tmp_path: Path) -> None:
    fault = [{"at": 1.5, "for": 3.0, "privacy": {"on": [0], "kind": "twin"}}, {"at": 2.5, "for": 5.0, "privacy": {"on": [0], "kind": "twin"}}]  # fmt: skip
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
    faults = [{"at": 2.2, "for": 1.0, "leave": [0]}, {"at": 3.1, "privacy": {"on": [1], "kind": "crash-after-send"}}]  # fmt: skip
    assert [e["t"] / 1e9 for e in ran(tmp_path, *faults).events("crashed")] == [4]


def test_slowness_ends_by_parts(tmp_path: Path) -> None:
    nodes = [SYNCHRONOUS[0] | {"compute": "100ms"}]
    faults = [{"at": 1.5, "for": 10.0, "slow": {"on": [0], "factor": 2.0}}, {"at": 2.5, "for": 2.0, "slow": {"on": [0], "factor": 3.0}}]  # fmt: skip
    made = ran(tmp_path, *faults, nodes=nodes)
    late = {e["t"] // SECOND: e["t"] % SECOND / 1e9 for e in made.events("sent") if e["node"] == 0}
    assert [late[t] for t in (1, 2, 3, 4, 5, 11, 12)] == [0.1, 0.2, 0.6, 0.6, 0.2, 0.2, 0.1]


def test_until_is_included_and_so_is_after(tmp_path: Path) -> None:
    made = ran(tmp_path, {"every": 3.0, "until": 9.0, "for": 1.0, "pause": [0]})
    assert [e["t"] / 1e9 for e in made.events("fault_began")] == [3, 6, 9]
    by_event = {"when": 'kind == "woke" and node == 0', "after": 4.0, "until": 6.0, "times": 9, "for": 0.1, "hold": [1]}  # fmt: skip
    assert [e["t"] / 1e9 for e in ran(tmp_path, by_event).events("fault_began")] == [4, 5, 6]


def test_times_counts_what_happened_whatever_the_chance(tmp_path: Path) -> None:
    timings: list[dict[str, Any]] = [{"every": 0.5}, {"when": 'kind == "woke"'}]
    for timing in timings:
        fault = timing | {"probability": 0.3, "times": 4, "for": 0.1, "hold": [1]}
        assert len(ran(tmp_path, fault).events("fault_began")) == 4


# links


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
    faults = [{"at": 0.0, "for": 4.5, "corrupt": {"on": "all", "p": 1.0}}, {"at": 0.0, "for": 4.5, "hold": "all"}]  # fmt: skip
    made = pair(tmp_path, *faults)
    assert {e["reason"] for e in made.events("rejected")} == {"corrupt"}
    assert len(made.events("rejected")) == 8


def test_nobody_is_overtaken_into_haste(tmp_path: Path) -> None:
    """Eight seconds late and waiting for the next one: it arrives when both have passed."""
    faults = [{"at": 0.0, "for": 1.5, "delay": {"on": "all", "latency": 7.0}}, {"at": 0.0, "for": 1.5, "reorder": {"on": "all", "p": 1.0}}]  # fmt: skip
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
    tree = scenario(nodes=TWO, network=NETWORK, fault=[{"at": 0.0, "delay": {"on": [[0, 1]], "latency": law}, "direction": "to"}])  # fmt: skip
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


# who comes and goes


def test_a_joiner_by_the_rule_forgets_the_edges_it_chose_once(tmp_path: Path) -> None:
    nodes = [{"count": 5, "clock": "synchronous"}, {"name": "late", "present": False, "clock": "synchronous"}]  # fmt: skip
    faults = [{"at": 3.0, "join": [5], "edges": [1, 2]}, {"at": 8.5, "leave": [5]}, {"at": 10.5, "join": [5], "edges": "rule"}]  # fmt: skip
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
    faults: list[dict[str, Any]] = [{"when": 'kind == "woke" and node == 2 and t > 2500000000', "leave": "event"}, {"when": 'kind == "left"', "join": [2]}]  # fmt: skip
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
    base: dict[str, Any] = {"mechanism": mechanism, "task": {"loss": "squared"}, "run": {"seed": 1, "rounds": 6}}  # fmt: skip
    sly = {"when": '"div" in kind', "crash": [0]}
    hidden = perform(scenario(**base, fault=[sly]), tmp_path)
    assert hidden.outcome.summary["epsilon"]["covered"]
    assert hidden.events("diverged")
    assert not hidden.events("crashed")
    open_ = perform(scenario(**base, fault=[sly | {"oracle": True}]), tmp_path)
    assert open_.events("crashed")


def test_lose_all_forgets_what_was_said_and_volatile_does_not(tmp_path: Path) -> None:
    for lose, resends in (("volatile", True), ("all", False), ("nothing", True)):
        faults = [{"at": 5.5, "for": 1.0, "crash": [0], "lose": lose}, {"at": 5.6, "for": 1.2, "leave": [1]}]  # fmt: skip
        made = ran(tmp_path, *faults)
        again = [e for e in made.events("sent") if e["node"] == 0 and e.get("resent")]
        assert bool(again) is resends


# runs that nobody can go on with


ENDLESS: dict[str, dict[str, Any]] = {
    "everybody stands still": {"run": {"seed": 1, "updates": 100}, "fault": [{"at": 3.0, "pause": "all"}]},
    "everybody crashed": {"run": {"seed": 1, "updates": 100}, "fault": [{"at": 3.0, "crash": "all"}]},
    "half stand still, half are gone": {"run": {"seed": 1, "updates": 100}, "fault": [{"at": 3.0, "pause": [0, 1, 2]}, {"at": 4.0, "crash": [3, 4, 5]}]},
    "still, until spent": {"run": {"seed": 1, "horizon": 1e5, "stop": "spent"}, "fault": [{"at": 3.0, "pause": "all"}]},
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("clock", ["poisson", "synchronous"])
def test_a_run_ends_when_no_wake_can_come(tmp_path: Path, name: str, clock: str) -> None:
    nodes = [{"name": "peers", "count": 6, "clock": clock, "budget": {"epsilon": 4.0}}]
    made = perform(private(nodes=nodes, **ENDLESS[name]), tmp_path)
    assert made.outcome.code == 0
    assert made.outcome.summary["ended_by"] == "no wake can come"
    assert made.outcome.summary["ended_s"] <= 4.0


@pytest.mark.parametrize("clock", ["poisson", {"kind": "barrier", "timeout": 5.0}])
@pytest.mark.parametrize("fault", ["crash", "pause", "leave"])
def test_without_its_server_a_run_of_rounds_ends(tmp_path: Path, clock: Any, fault: str) -> None:
    tree = scenario(
        mechanism={"kind": "fedavg"}, run={"seed": 1, "rounds": 15}, nodes=[{"count": 3, "clock": clock}],
        network={"latency": 0.1}, server={"deadline": 2.0}, fault=[{"at": 0.3, fault: "server"}],
    )  # fmt: skip
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    assert made.outcome.summary["ended_by"] == "no round can be opened"


def test_a_round_that_a_crash_of_the_server_cuts_off_is_aborted(tmp_path: Path) -> None:
    faults = [
        {"at": 0.3, "for": 1.0, "crash": "server"},
        {"at": 4.0, "for": 6.0, "pause": "server"},
    ]
    tree = scenario(
        mechanism={"kind": "fedavg"}, run={"seed": 1, "rounds": 15}, network={"latency": 0.2},
        nodes=[{"count": 3, "clock": {"kind": "barrier", "timeout": 5.0}}], server={"deadline": 2.0}, fault=faults,
    )  # fmt: skip
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    ended = len(made.events("round_closed")) + len(made.events("round_aborted"))
    assert len(made.events("round_opened")) == ended


def test_a_paused_client_that_crashes_and_comes_back_still_stands_still(tmp_path: Path) -> None:
    faults = [{"at": 0.05, "pause": [0], "for": 9.0}, {"at": 1.0, "crash": [0], "lose": "nothing", "for": 1.0}]  # fmt: skip
    tree = scenario(
        mechanism={"kind": "fedavg"}, run={"seed": 1, "rounds": 5}, network={"latency": 0.1},
        nodes=[{"count": 3, "clock": {"kind": "barrier", "timeout": 5.0}}],
        server={"deadline": 4.0, "quorum": 0.5}, fault=faults,
    )  # fmt: skip
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message


def test_who_is_alone_at_a_barrier_goes_on_at_the_pace_of_its_patience(tmp_path: Path) -> None:
    nodes = [{"count": 2, "clock": "barrier"}]
    network = {"topology": "path", "latency": 0.1, "silence": 2.0}
    fault = [{"at": 1.05, "for": 9.0, "crash": [0]}]
    made = ran(tmp_path, *fault, nodes=nodes, network=network, run={"seed": 1, "rounds": 60})
    alone = [t for t in wakes(made, 1) if 4 < t < 10]
    assert [round(b - a, 6) for a, b in pairwise(alone)] == [2.0] * (len(alone) - 1)
    lossy = scenario(nodes=nodes, network=network | {"loss": 0.1}, run={"seed": 1, "rounds": 60})
    assert any(
        "a barrier needs a timeout where messages can be lost" in p for p in check(lossy).problems
    )


@pytest.mark.parametrize("lasts", [1e-10, 1e-9])
def test_the_shortest_window_is_a_nanosecond(tmp_path: Path, lasts: float) -> None:
    made = ran(tmp_path, {"at": 1.0, "for": lasts, "crash": [0]})
    assert [e["t"] for e in made.events("fault_ended")] == [SECOND + 1]


@pytest.mark.parametrize(
    "fault",
    [
        {"every": 1e-6, "crash": [0]},
        {"every": {"kind": "uniform", "min": 0, "max": 0}, "crash": [0]},
        {"at": 0.0, "churn": {"on": "all", "session": "1ms", "downtime": "1ns"}},
    ],
)
def test_faults_that_come_too_often_are_refused(fault: dict[str, Any]) -> None:
    assert any(
        "needs --allow-large" in problem for problem in check(scenario(fault=[fault])).problems
    )


def test_windows_of_random_length_on_one_link_end_each_by_itself(tmp_path: Path) -> None:
    lasts = {"kind": "uniform", "min": 0, "max": 6}
    made = ran(
        tmp_path, {"every": 1.25, "until": 10.0, "for": lasts, "rate": {"on": "all", "bytes": 1000}}
    )
    assert all(not agent.outbox.links.troubles for agent in made.run.agents)

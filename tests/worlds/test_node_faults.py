"""Agents under faults, in whole runs: pauses, stragglers, churn, wrong clocks, who is noticed and who is joined to whom."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.planning.forecast import forecast
from tests.support.builders import Ran, perform, scenario

SECOND = 10**9


def ran(
    tmp_path: Path, *faults: dict[str, Any], node: dict[str, Any] | None = None, **sections: Any
) -> Ran:
    nodes = [{"name": "peers", "count": 6, "clock": "synchronous"} | (node or {})]
    made = perform(scenario(**({"nodes": nodes, "fault": list(faults)} | sections)), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def wakes(made: Ran, node: int) -> list[float]:
    return [e["t"] / 1e9 for e in made.events("woke") if e["node"] == node]


def test_who_stands_still_misses_its_wakes_and_nothing_else(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 4.0, "for": 5.0, "pause": [2]})
    assert wakes(made, 2) == [t for t in range(1, 21) if not 4 <= t < 9]
    assert wakes(made, 3) == list(range(1, 21))
    assert made.outcome.summary["messages"]["rejected"] == 0
    merged = [e for e in made.events("merged") if e["node"] == 2 and e["t"] == 9 * SECOND]
    assert merged[0]["senders"] == [1, 3]
    assert [e["kind"] for e in made.events("paused", "resumed")] == ["paused", "resumed"]


def test_pauses_that_overlap_end_with_the_last(tmp_path: Path) -> None:
    made = ran(
        tmp_path, {"at": 3.5, "for": 4.0, "pause": [2]}, {"at": 5.5, "for": 4.0, "pause": "all"}
    )
    assert wakes(made, 2) == [1, 2, 3, *range(10, 21)]


def test_a_computation_that_ends_in_a_pause_ends_with_it(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 4.1, "for": 2.0, "pause": [2]}, node={"compute": "300ms"})
    sent = [e["t"] / 1e9 for e in made.events("sent") if e["node"] == 2]
    assert [t for t in sent if 4 < t < 8] == [6.1, 7.3]


def test_a_straggler_computes_so_many_times_as_long(tmp_path: Path) -> None:
    faults = (
        {"at": 5.0, "for": 5.0, "slow": {"on": [1], "factor": 3.0}},
        {"at": 5.0, "for": 5.0, "slow": {"on": [1], "factor": 2.0}},
    )
    made = ran(tmp_path, *faults, node={"compute": "100ms"})
    for e in made.events("sent"):
        t = e["t"] / 1e9
        late = 0.6 if e["node"] == 1 and 5 <= t < 10 else 0.1
        assert t % 1 == pytest.approx(late)


def test_faults_come_every_so_often_and_so_many_times(tmp_path: Path) -> None:
    made = ran(tmp_path, {"every": 3.0, "after": 2.0, "until": 15.0, "for": 1.0, "crash": [0]})
    assert [e["t"] / 1e9 for e in made.events("fault_began")] == [5, 8, 11, 14]
    assert [e["t"] / 1e9 for e in made.events("fault_ended")] == [6, 9, 12, 15]
    thrice = ran(tmp_path, {"every": 3.0, "times": 3, "for": 1.0, "crash": [0]})
    assert [e["t"] / 1e9 for e in thrice.events("crashed")] == [3, 6, 9]


def test_what_comes_every_so_often_comes_first_where_it_says(tmp_path: Path) -> None:
    hour = 3600.0
    run = {"seed": 5, "horizon": 72 * hour, "sample_every": 6 * hour}
    node = {"clock": {"kind": "synchronous", "period": hour}}
    daily = {"every": "24h", "from": "21h", "for": "1h", "crash": [0]}
    made = ran(tmp_path, daily, run=run, node=node)
    assert [e["t"] / hour / SECOND for e in made.events("fault_began")] == [21, 45, 69]
    assert [e["t"] / hour / SECOND for e in made.events("fault_ended")] == [22, 46, 70]
    late = {"every": "24h", "after": "21h", "for": "1h", "crash": [0]}
    made = ran(tmp_path, late, run=run, node=node)
    assert [e["t"] / hour / SECOND for e in made.events("fault_began")] == [45, 69]
    for from_, times, wanted in ((0.0, 3, [0, 6, 12]), (4.0, None, [4, 10, 16])):
        more = {} if times is None else {"times": times}
        made = ran(tmp_path, {"every": 6.0, "from": from_, "for": 1.0, "crash": [0]} | more)
        assert [e["t"] / SECOND for e in made.events("fault_began")] == wanted


OFTEN = {"kind": "exponential", "mean": 4.0}
WHEN: dict[str, dict[str, Any]] = {
    "at": {"at": 3.5},
    "at, later": {"at": 3.5, "later": 2.0},
    "by chance": {"at": 3.5, "probability": 0.5},
    "every": {"every": 3.0},
    "after": {"every": 3.0, "after": 2.0},
    "from": {"every": 3.0, "from": 2.0},
    "from the beginning": {"every": 3.0, "from": 0.0, "times": 2},
    "drawn": {"every": OFTEN},
    "drawn from": {"every": OFTEN, "from": 2.0, "later": 0.5},
    "until": {"every": OFTEN, "until": 2.0},
    "rarely": {"every": OFTEN, "from": 1.0, "probability": 0.2},
    "never": {"every": 1.0, "probability": 0.0},
}


@pytest.mark.parametrize("seed", range(4))
def test_check_says_when_each_fault_first_comes(tmp_path: Path, seed: int) -> None:
    fault = [timing | {"name": name, "pause": [0], "for": 0.1} for name, timing in WHEN.items()]
    told = forecast(make_plan(scenario(run={"seed": seed, "horizon": 20.0}, fault=fault)))
    made = ran(tmp_path, *fault, run={"seed": seed, "horizon": 20.0})
    began = made.events("fault_began")
    for number, first in enumerate(told["fault_first_s"]):
        came = [e["t"] / SECOND for e in began if e["fault"] == number]
        assert came[:1] == ([] if first is None else [first]), fault[number]
        assert (f"{first:.6g} s" if came else "never") in told["fault_list"][number]
    one = forecast(make_plan(scenario(fault=[{"when": "node == 3", "crash": [0]}])))
    assert one["fault_first_s"] == [None]
    assert "never" not in one["fault_list"][0]


@pytest.mark.parametrize("topology", ["star", "path", {"kind": "scale-free", "attach": 2}])
def test_a_degree_is_that_of_the_declared_graph(tmp_path: Path, topology: Any) -> None:
    """A star's hub has five edges; who leaves takes no degree along, and nothing is read that ε does not cover."""
    faults = (
        {"at": 4.0, "leave": [5]},
        {"at": 6.5, "for": 2.0, "crash": {"highest": "degree"}},
        {"at": 9.5, "for": 2.0, "crash": {"lowest": "degree", "count": 2}},
    )
    expect = [{"metric": "degree.max", "above": 0.0}]
    made = ran(tmp_path, *faults, network={"topology": topology}, expect=expect)
    ends = [i for edge in made.run.facts.edges for i in edge]
    degrees = [ends.count(i) for i in range(6)]
    *_, last = made.result.samples()
    assert last["values"]["degree"] == degrees
    if topology == "star":
        assert degrees == [5, 1, 1, 1, 1, 1]
    hub = max(range(6), key=lambda i: (degrees[i], -i))
    low = sorted(range(6), key=lambda i: (degrees[i], i))[:2]
    hit = [e["targets"] for e in made.events("fault_began")]
    assert hit == [[5], [hub], sorted(low)]
    assert made.outcome.summary["epsilon"]["covered"]


def test_chance_decides_each_firing(tmp_path: Path) -> None:
    """300 firings at 0.3: outside of 90 ± 44 with a probability below 2 exp(−2·300·0.147²) = 5e-6."""
    fault = {
        "every": 0.05,
        "until": 15.0,
        "probability": 0.3,
        "for": 0.01,
        "loss": {"on": [0], "p": 1.0},
    }
    made = ran(tmp_path, fault)
    assert 46 <= len(made.events("fault_began")) <= 134


def test_an_event_triggers_at_its_own_instant_the_nth_time_and_later(tmp_path: Path) -> None:
    fault = {
        "when": 'kind == "woke" and node == 3',
        "nth": 4,
        "later": 0.25,
        "for": 2.0,
        "crash": "event",
    }
    made = ran(tmp_path, fault)
    began = made.events("fault_began")
    assert [(e["t"] / 1e9, e["targets"]) for e in began] == [(4.25, [3])]
    cause = next(e for e in made.events("woke") if e["seq"] == began[0]["cause"])
    assert (cause["node"], cause["t"]) == (3, 4 * SECOND)
    at_once = ran(tmp_path, fault | {"later": 0.0, "times": 2, "nth": 1})
    # down from 1; back at 3, before the wake of that instant, which triggers it again
    assert [e["t"] / 1e9 for e in at_once.events("crashed")] == [1, 3]


def test_a_metric_can_trigger_and_an_oracles_must_be_owned_up_to(tmp_path: Path) -> None:
    made = ran(tmp_path, {"when": "updates.mean >= 7", "crash": [0]})
    assert [e["t"] / 1e9 for e in made.events("crashed")] == [7]
    assert made.outcome.summary["epsilon"]["covered"]
    told = ran(tmp_path, {"when": "loss.mean < 100", "oracle": True, "crash": {"highest": "loss"}})
    assert not told.outcome.summary["epsilon"]["covered"]
    first = next(e for e in told.events("sampled"))["values"]["loss"]
    assert told.events("crashed")[0]["node"] == int(np.argmax(first))


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("all", 6),
        ("one", 1),
        ("minority", 2),
        ("majority", 4),
        ([1, 1, 4], 2),
        ("peers", 6),
        ({"count": 3}, 3),
        ({"percent": 50}, 3),
        ({"neighbours_of": 0}, 2),
        ({"degree_above": 1}, 6),
        ({"degree_above": 2}, 0),
        ({"highest": "updates", "count": 2}, 2),
    ],
)
def test_targets_are_as_many_as_they_say(tmp_path: Path, target: Any, wanted: int) -> None:
    made = ran(tmp_path, {"at": 2.0, "crash": target})
    assert len(made.events("crashed")) == wanted
    assert len(made.events("fault_began")[0]["targets"]) == wanted


def test_a_choice_stands_unless_it_is_drawn_again(tmp_path: Path) -> None:
    def chosen(*, redraw: bool) -> set[tuple[int, ...]]:
        target = {"count": 2, "redraw": redraw}
        made = ran(tmp_path, {"every": 1.0, "until": 19.0, "for": 0.5, "crash": target})
        return {tuple(e["targets"]) for e in made.events("fault_began")}

    assert len(chosen(redraw=False)) == 1
    assert len(chosen(redraw=True)) > 5


def test_sessions_and_downtimes_alternate(tmp_path: Path) -> None:
    churn = {"on": [0, 1], "session": "3s", "downtime": "2s"}
    made = ran(tmp_path, {"at": 0.0, "for": 14.5, "churn": churn})
    for node in (0, 1):
        gone = [e["t"] / 1e9 for e in made.events("left") if e["node"] == node]
        back = [e["t"] / 1e9 for e in made.events("joined") if e["node"] == node]
        assert gone == [3, 8, 13]
        assert back == [5, 10, 14.5]  # the fault ends: everybody comes back


def test_lifetime_classes_are_each_agents_own(tmp_path: Path) -> None:
    churn = {"on": "all", "session": "1s", "downtime": "1s", "per_node": [1.0, 4.0], "by": "crash"}
    made = ran(tmp_path, {"at": 0.0, "churn": churn})
    first = {e["node"]: e["t"] for e in reversed(made.events("crashed"))}
    assert set(first.values()) == {SECOND, 4 * SECOND}


def test_a_trace_of_sessions_is_followed_to_the_nanosecond(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "phones.csv").write_text(
        "# id, from, to\n0, 0, 4.5\n0, 7.25, 12\n1, 2, 30\n0, 12, 13\n"
    )
    fault = {"at": 0.0, "churn": {"on": "all", "path": "phones.csv"}}
    plan = scenario(fault=[fault], nodes=[{"count": 6, "clock": "synchronous"}])
    made = perform(plan, tmp_path / "runs", folders=(data,))
    turns = [(e["t"] / 1e9, e["kind"], e["node"]) for e in made.events("left", "joined")]
    assert turns == [
        (0, "left", 1),
        (2, "joined", 1),
        (4.5, "left", 0),
        (7.25, "joined", 0),
        (13, "left", 0),
    ]


@pytest.mark.parametrize(
    ("fault", "wanted"),
    [
        ({"drift": 1.0}, [1, 2, 3, 4, *np.arange(4.5, 8, 0.5), 8, *range(9, 21)]),
        ({"drift": -0.5}, [1, 2, 3, 4, 6, 8, *range(9, 23)]),
        ({"offset": "500ms"}, [1, 2, 3, 4.5, 5.5, 6.5, 7.5, 9, *range(10, 21)]),
        ({"offset": "-500ms"}, [1, 2, 3, 4.5, 5.5, 6.5, 7.5, 8, *range(9, 21)]),
        ({"freeze": True}, [1, 2, 3, 8, *range(9, 25)]),
    ],
)
def test_a_wrong_clock_ticks_wrongly_and_right_again(
    tmp_path: Path, fault: dict[str, Any], wanted: list[float]
) -> None:
    """From 4 s to 8 s, a wake every second of the agent's own time."""
    made = ran(tmp_path, {"at": 4.0, "for": 4.0, "clock": {"on": [0], **fault}})
    assert wakes(made, 0) == [t for t in wanted if t <= 20]
    assert wakes(made, 1) == list(range(1, 21))


def test_a_clock_that_jumps_skips_what_it_jumps_over_or_waits_for_it_again(tmp_path: Path) -> None:
    ahead = ran(tmp_path, {"at": 4.5, "clock": {"on": [0], "jump": "3s"}})
    assert wakes(ahead, 0) == [1, 2, 3, 4, *range(5, 21)]  # it shows 7.5 at once; 8 comes at 5
    assert len(wakes(ahead, 0)) == 20
    back = ran(tmp_path, {"at": 4.5, "clock": {"on": [0], "jump": "-3s"}})
    assert wakes(back, 0) == [1, 2, 3, 4, *range(8, 21)]


def test_a_joiner_takes_the_edges_it_names(tmp_path: Path) -> None:
    nodes = [
        {"count": 5, "clock": "synchronous"},
        {"name": "late", "present": False, "clock": "synchronous"},
    ]
    fault = {"at": 3.0, "join": [5], "edges": [1, 2]}
    expect = [{"metric": "degree.max", "above": 0.0}]
    world = scenario(nodes=nodes, network={"topology": "path"}, fault=[fault], expect=expect)
    made = perform(world, tmp_path)
    assert made.outcome.code == 0
    to = {j for e in made.events("sent") if e["node"] == 5 for j in e["to"]}
    heard = {e["node"] for e in made.events("sent") if 5 in e["to"]}
    assert to == heard == {1, 2}  # and not 4, which the path would give it
    assert made.run.agents[4].neighbours_present == [3]
    *_, last = made.result.samples()
    assert last["values"]["degree"] == [1, 2, 2, 2, 2, 1], "of the path: a metric that is constant"


def test_a_crash_is_noticed_by_its_silence_and_forgotten_at_the_next_word(tmp_path: Path) -> None:
    network = {"topology": "ring", "silence": "2500ms"}
    made = ran(tmp_path, {"at": 5.5, "for": 6.0, "crash": [0], "lose": "nothing"}, network=network)
    present: dict[int, list[int]] = {}
    again = ran(tmp_path, {"at": 5.5, "crash": [0]}, network=network)
    for agent in made.run.agents:
        present[agent.id] = agent.neighbours_present
    assert present[1] == [0, 2]  # it came back and spoke
    assert again.run.agents[1].neighbours_present == [2]
    assert again.run.agents[5].neighbours_present == [4]
    assert again.run.agents[3].neighbours_present == [2, 4]


def test_who_comes_back_counts_the_silence_of_others_from_then_on(tmp_path: Path) -> None:
    """It was away for six seconds; at its first wake nobody has been silent for 2.5 s yet, and it releases."""
    network = {"topology": "ring", "silence": "2500ms", "latency": "300ms"}
    fault = {"at": 5.5, "for": 6.4, "crash": [0], "lose": "nothing"}
    made = ran(tmp_path, fault, network=network)
    assert 12.0 in [e["t"] / 1e9 for e in made.events("released") if e["node"] == 0]


def test_without_a_detector_a_crash_is_not_noticed(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 5.5, "crash": [0]})
    assert made.run.agents[1].neighbours_present == [0, 2]


def test_suspicion_on_both_sides_of_a_partition_heals(tmp_path: Path) -> None:
    network = {"topology": "path", "silence": "2s"}
    fault = {"at": 3.5, "for": 9.0, "partition": {"isolate": [0]}}
    made = ran(tmp_path, fault, node={"count": 2}, network=network)
    assert made.run.agents[0].neighbours_present == [1]
    assert made.run.agents[1].neighbours_present == [0]
    assert made.outcome.summary["gap"] < 1e-2


def test_a_barrier_goes_on_without_who_is_silent(tmp_path: Path) -> None:
    """No timeout: the detector is what ends the wait, once; afterwards rounds are quick again."""
    node = {"clock": "barrier"}
    network = {"topology": "complete", "latency": "100ms", "silence": "3s"}
    run = {"seed": 1, "rounds": 30}
    made = ran(tmp_path, {"at": 1.05, "crash": [0]}, node=node, network=network, run=run)
    assert {a.rounds for a in made.run.agents[1:]} == {30}
    assert made.outcome.summary["ended_s"] < 10


def test_what_is_done_to_agents_is_the_same_on_both_engines(tmp_path: Path) -> None:
    faults = [
        {
            "at": 0.0,
            "for": 15.0,
            "churn": {
                "on": {"count": 2},
                "session": {"kind": "exponential", "mean": "2s"},
                "downtime": "1s",
            },
        },
        {
            "every": {"kind": "exponential", "mean": "3s"},
            "until": 18.0,
            "for": {"kind": "uniform", "min": 0, "max": 2},
            "pause": "one",
        },
        {"at": 3.0, "clock": {"on": [1], "drift": 0.3}},
        {"when": 'kind == "woke" and node == 4', "nth": 3, "for": 2.0, "crash": "event"},
    ]
    world = scenario(fault=faults, nodes=[{"count": 6, "compute": "100ms"}])
    one, other = (perform(world, tmp_path, engine=engine) for engine in ("virtual", "wall"))
    assert one.outcome.code == other.outcome.code == 0
    assert one.digests == other.digests

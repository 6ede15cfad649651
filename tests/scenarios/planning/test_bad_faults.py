"""What is wrong with a fault or a condition is told with its place, its rule, its value and the nearest name."""

from typing import Any

import pytest

from scenarios.api.runs import check
from tests.support.builders import scenario

AT: dict[str, Any] = {"at": 1.0}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"crash": [0]}, "fault.0: needs exactly one of at, every, when; got none"),
    (
        {"at": 1.0, "every": 2.0, "crash": [0]},
        "needs exactly one of at, every, when; got at and every",
    ),
    (AT, "fault.0: needs exactly one action of crash, restart"),
    (AT | {"crash": [0], "hold": "all"}, "got crash and hold"),
    (AT | {"crash": [9]}, "fault.0.crash.0: no agent 9: ids run from 0 to 5"),
    (AT | {"crash": "pears"}, "fault.0.crash: no group 'pears'; did you mean 'peers'?"),
    (AT | {"crash": "event"}, '"event" is the node of what triggered it: it belongs to when'),
    (AT | {"crash": "server"}, "this kind has no server"),
    (
        AT | {"crash": {"count": 1, "percent": 5}},
        "needs exactly one of count, percent, neighbours_of, degree_above, highest, lowest; got count and percent",
    ),
    (
        AT | {"crash": {"count": 1, "of": "pears"}},
        "fault.0.crash.of: no group 'pears'; did you mean 'peers'?",
    ),
    (AT | {"crash": {"highest": "los"}}, "'los' is no metric of each node"),
    (
        AT | {"crash": {"highest": "loss"}},
        "reads what only an oracle sees: participation would depend on data; say oracle = true",
    ),
    (AT | {"crash": {"neighbours_of": 7}}, "fault.0.crash.neighbours_of: no agent 7"),
    (
        AT | {"times": 3, "crash": [0]},
        "fault.0.times: times belongs to every and when: at is one instant",
    ),
    (
        {"every": 1.0, "nth": 3, "crash": [0]},
        "fault.0.nth: nth counts the events that a condition holds of: it belongs to when",
    ),
    ({"every": 1.0, "after": 5.0, "until": 2.0, "crash": [0]}, "fault.0.until: is before after"),
    ({"every": 1.0, "from": 5.0, "until": 2.0, "crash": [0]}, "fault.0.until: is before from"),
    (
        {"every": 1.0, "from": 5.0, "after": 2.0, "crash": [0]},
        "fault.0.after: every comes first at from, or one gap later than after: give one of them",
    ),
    (
        {"at": 1.0, "from": 1.0, "crash": [0]},
        "fault.0.from: from is the first instant of every: at has none",
    ),
    (
        {"when": "node == 3", "from": 1.0, "crash": [0]},
        "fault.0.from: from is the first instant of every: when has none",
    ),
    (
        {"every": 1.0, "from": 21.0, "crash": [0]},
        "fault.0.from: is after the end of the run at 20 s",
    ),
    ({"every": 1.0, "from": -1.0, "crash": [0]}, "fault.0.from: must be >= 0 and finite, got -1.0"),
    ({"at": 21.0, "crash": [0]}, "fault.0.at: is after the end of the run at 20 s"),
    ({"every": -1, "crash": [0]}, "fault.0.every: must be > 0 and finite, got -1"),
    (AT | {"for": 0, "crash": [0]}, "fault.0.for: must be > 0 and finite, got 0"),
    (
        AT | {"for": 1.0, "restart": [0]},
        "fault.0.for: restart is done once: there is nothing to undo",
    ),
    (AT | {"lose": "all", "leave": [0]}, "fault.0.lose: only a crash loses anything, not leave"),
    (AT | {"edges": [1], "leave": [0]}, "fault.0.edges: only a join has edges, not leave"),
    (AT | {"edges": [8], "join": [0]}, "fault.0.edges.0: no agent 8"),
    (
        AT | {"direction": "to", "crash": [0]},
        "fault.0.direction: links have a direction, crash has none",
    ),
    (
        AT | {"probability": 1.5, "crash": [0]},
        "fault.0.probability: must be a number from 0 to 1, got 1.5",
    ),
    (AT | {"loss": {"on": "all"}}, 'fault.0.loss: needs p, or kind = "gilbert-elliott"'),
    (
        AT | {"loss": {"on": "all", "p": 0.1, "enter": 0.2}},
        'fault.0.loss.enter: enter belongs to kind = "gilbert-elliott"',
    ),
    (
        AT | {"loss": {"on": "all", "kind": "gilbert-elliott", "enter": 0.2}},
        "gilbert-elliott needs enter and leave",
    ),
    (AT | {"loss": {"p": 0.1}}, "fault.0.loss: needs 'on'"),
    (AT | {"loss": {"on": [[0, 9]], "p": 0.1}}, "fault.0.loss.on.0: no agent 9"),
    (
        AT | {"delay": {"on": "all", "latency": "1s", "correlation": 1.0}},
        "fault.0.delay.correlation: must be a number >= 0 and < 1, got 1.0",
    ),
    (
        AT | {"rate": {"on": "all", "bytes": "5kg"}},
        "fault.0.rate.bytes: must be a size, bytes or a text such as",
    ),
    (
        AT | {"partition": {"mode": "cut"}},
        "fault.0.partition: needs exactly one of groups, isolate, bridge; got none",
    ),
    (
        AT | {"partition": {"groups": [[0], [0, 1]]}},
        "fault.0.partition.groups.1: agent 0 is named twice",
    ),
    (
        AT | {"partition": {"isolate": [0], "mode": "slow"}},
        'fault.0.partition.mode: mode = "slow" and latency go together',
    ),
    (
        AT | {"partition": {"isolate": [0], "mode": "cutt"}},
        "fault.0.partition.mode: must be one of its names, got \"cutt\"; did you mean 'cut'?",
    ),
    (
        AT | {"clock": {"on": [0]}},
        "fault.0.clock: needs exactly one of offset, drift, jump, freeze; got none",
    ),
    (
        AT | {"clock": {"on": [0], "drift": -1.0}},
        "fault.0.clock.drift: must be a number > -1 and <= 10, got -1.0",
    ),
    (AT | {"for": 1.0, "clock": {"on": [0], "jump": 1.0}}, "fault.0.for: a jump is done once"),
    (
        AT | {"churn": {"on": [0]}},
        "fault.0.churn: needs session and downtime, or the path of a trace",
    ),
    (AT | {"churn": {"on": [0], "session": 1.0}}, "fault.0.churn: needs session and downtime"),
    (AT | {"churn": {"on": [0], "path": "no.csv"}}, "no.csv"),
    (
        AT | {"slow": {"on": [0], "factor": 2}},
        "fault.0.slow: changes nothing: no group has a nodes.compute",
    ),
    (
        AT | {"storage": {"on": [0], "kind": "tron"}},
        "fault.0.storage.kind: must be one of its names, got \"tron\"; did you mean 'torn'?",
    ),
    (
        AT | {"privacy": {"on": [0], "kind": "duplicate-request"}},
        "nobody asks anything in this kind: it broadcasts",
    ),
    (
        AT | {"privacy": {"on": [0], "kind": "twin", "factor": 2}},
        "fault.0.privacy.factor: belongs to poison",
    ),
    (
        {"when": "node = 3", "crash": [0]},
        "fault.0.when: not a condition: cannot be read at character 6",
    ),
    (
        {"when": "nod == 3", "crash": [0]},
        "no field of events and no metric: 'nod'; did you mean 'node'?",
    ),
    ({"when": 'kind == "lots"', "crash": [0]}, "did you mean 'lost'?"),
    ({"when": "loss.mean > 1", "crash": [0]}, "fault.0.when: reads what only an oracle sees"),
    ({"when": 'kind == "diverged"', "crash": [0]}, "fault.0.when: reads what only an oracle sees"),
]


@pytest.mark.parametrize(("fault", "message"), BAD, ids=[message[:60] for _, message in BAD])
def test_a_bad_fault_says_what_is_wrong(fault: dict[str, Any], message: str) -> None:
    problems = check(scenario(fault=[fault])).problems
    assert any(message in problem for problem in problems), problems


EXPECT: list[tuple[dict[str, Any], str]] = [
    ({"above": 1.0}, "expect.0: needs 'metric', or sometimes = a condition"),
    ({"sometimes": "node =="}, "expect.0.sometimes: not a condition: ends too early"),
    (
        {"sometimes": 'kind == "lost"', "above": 1.0},
        "expect.0.above: belongs to a metric: name one",
    ),
    (
        {"metric": "loss.mean", "above": 1.0, "confidence": 0.9},
        'expect.0.confidence: belongs to over = "seeds"',
    ),
    (
        {"metric": "loss.mean", "above": 1.0, "over": "seeds", "when": "always"},
        'expect.0.over: what is judged over seeds is judged at the "end"',
    ),
    (
        {"metric": "loss.mean", "above": 1.0, "over": "seed"},
        "expect.0.over: must be one of its names, got \"seed\"; did you mean 'seeds'?",
    ),
]


@pytest.mark.parametrize(("expect", "message"), EXPECT)
def test_a_bad_expectation_says_what_is_wrong(expect: dict[str, Any], message: str) -> None:
    problems = check(scenario(expect=[expect])).problems
    assert any(message in problem for problem in problems), problems


def test_a_run_without_an_end_of_its_own_needs_faults_that_end() -> None:
    run = {"seed": 1, "updates": 50}
    endless = scenario(run=run, fault=[{"every": 1.0, "for": 0.5, "pause": [0]}])
    assert "never ends: without run.horizon give times or until" in check(endless).problems[0]
    churn = {"at": 0.0, "churn": {"on": [0], "session": 1.0, "downtime": 1.0}}
    assert (
        "never ends: without run.horizon give for"
        in check(scenario(run=run, fault=[churn])).problems[0]
    )
    assert check(scenario(run=run, fault=[churn | {"for": 9.0}])).ok


def test_clocks_that_show_no_time_cannot_be_wrong() -> None:
    nodes = [{"count": 3, "clock": {"kind": "barrier", "timeout": 1.0}}]
    network = {"topology": "ring", "latency": 0.1}
    fault = [{"at": 1.0, "clock": {"on": [0], "drift": 0.1}}]
    problems = check(scenario(nodes=nodes, network=network, fault=fault)).problems
    assert any("needs clocks that show a time" in problem for problem in problems)


@pytest.mark.parametrize("kind", ["twin", "poison"])
def test_what_is_for_broadcasts_is_refused_with_a_server(kind: str) -> None:
    tree = scenario(
        mechanism={"kind": "fedavg"},
        run={"seed": 1, "rounds": 3},
        fault=[{"at": 0.0, "privacy": {"on": [0], "kind": kind}}],
    )
    assert any("is simulated where models are broadcast" in p for p in check(tree).problems)


def test_a_detector_is_refused_where_a_server_has_its_deadline() -> None:
    tree = scenario(
        mechanism={"kind": "fedavg"}, run={"seed": 1, "rounds": 3}, network={"silence": 2.0}
    )
    assert any("a server has its deadline" in problem for problem in check(tree).problems)


def test_a_server_can_be_named_where_there_is_one() -> None:
    for fault in (
        {"at": 1.0, "for": 2.0, "hold": "server"},
        {"at": 1.0, "for": 2.0, "pause": "server"},
    ):
        tree = scenario(mechanism={"kind": "fedavg"}, run={"seed": 1, "rounds": 3}, fault=[fault])
        assert check(tree).ok

"""One agent at an instant, and one of its messages: laws that tie both to the run's own counts and to the live screen."""

import json
import math
from pathlib import Path

import pytest

from actors.agent import DOWN
from scenarios.console.sources.recording import Recording
from scenarios.records.agent_moment import (
    DONE,
    SPENT,
    AgentFold,
    fault_names,
    moment_of,
)
from scenarios.records.agent_text import Teller
from scenarios.records.reader import RunRecord
from scenarios.records.sent_messages import ARRIVED, Fate
from tests.support.builders import perform, private, scenario
from tests.support.command import hush

_LOSSY = {"topology": "complete", "latency": {"kind": "exponential", "mean": 0.3}, "loss": 0.1}
_SERVER = scenario(
    run={"seed": 3, "rounds": 6},
    nodes=[{"name": "parties", "count": 5, "clock": "barrier"}],
    mechanism={"kind": "fedavg", "learning_rate": 0.1},
    network={"latency": 0.05, "loss": 0.1},
)
WORLDS = {
    "crash and pause": private(
        network=_LOSSY,
        nodes=[
            {
                "name": "peers",
                "count": 6,
                "compute": "10ms",
                "budget": {"epsilon": 4.0, "delta": 1e-5},
            }
        ],
        fault=[
            {"name": "dies", "at": 5.0, "for": 4.0, "crash": [2]},
            {"at": 3.0, "for": 6.0, "pause": [1]},
            {"at": 2.0, "for": 9.0, "slow": {"on": [0], "factor": 3}},
            {"at": 4.0, "for": 3.0, "leave": [3]},
            {"at": 6.0, "for": 2.0, "partition": {"isolate": [4], "mode": "jam"}},
            {"at": 1.0, "for": 9.0, "duplicate": {"on": "all", "p": 0.3}},
        ],
    ),
    "a cap that refuses": private(
        network=_LOSSY,
        mechanism={"kind": "cd", "mu": 1.0, "noise": "norm-gamma", "alpha": 0.7},
        fault=[{"at": 5.0, "for": 2.0, "corrupt": {"on": "all", "p": 0.4}}],
    ),
    "a server": _SERVER,
    "without noise": scenario(network=_LOSSY),
}


@pytest.fixture(scope="module", params=WORLDS, ids=list(WORLDS))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform(WORLDS[request.param], tmp_path_factory.mktemp("runs")).outcome.folder


def test_an_agent_at_an_instant_is_what_a_replay_shows(run: Path) -> None:
    record, shown = RunRecord(run), Recording(RunRecord(run))
    size, seats = record.facts.size, record.facts.seats
    for tenths in range(0, 11, 2):
        instant = record.length * tenths // 10
        shown.seek(instant)
        for agent in range(seats):
            moment = moment_of(record, agent, instant)
            word = SPENT if moment.state == DONE else moment.state  # a screen may call both spent
            screen = shown.run_state.state(agent)
            assert word == (SPENT if screen == DONE else screen)
            assert moment.seq == shown.seq
            assert moment.coming == shown.inbox(agent)
            if agent < size:
                assert moment.accounts is not None
                assert moment.accounts.epsilon == pytest.approx(shown.budget.epsilon_of(agent))
                assert moment.counts["charged"] == len(shown.ledger_of(agent).spends)


def test_what_became_of_copies_adds_up_to_what_the_run_counted(run: Path) -> None:
    record = RunRecord(run)
    counted = record.summary["messages"]
    told = dict.fromkeys(("copies", "doubled", "arrived", "lost", "rejected", "on", "gone"), 0)
    for agent in range(record.facts.seats):
        copies = list(moment_of(record, agent).sent.copies())
        told["copies"] += sum(not copy.doubled for copy in copies)
        told["doubled"] += sum(copy.doubled for copy in copies)
        told["arrived"] += sum(copy.fate in ARRIVED for copy in copies)
        told["lost"] += sum(copy.fate is Fate.LOST for copy in copies)
        told["rejected"] += sum(copy.fate is Fate.REJECTED for copy in copies)
        told["on"] += sum(copy.fate is Fate.ON_THE_WAY for copy in copies)
        told["gone"] += sum(copy.fate is Fate.SUPERSEDED for copy in copies)
    assert told["copies"] == counted["sent"]
    assert told["doubled"] == counted["duplicated"]
    assert told["arrived"] == counted["delivered"]
    assert told["lost"] == counted["lost"]
    assert told["rejected"] == counted["rejected"]
    assert told["on"] == counted["in_flight"]
    assert told["gone"] == counted["superseded"]


def test_the_end_of_an_agent_is_its_row_of_the_summary(run: Path) -> None:
    record = RunRecord(run)
    for row in record.summary["nodes"]:
        moment = moment_of(record, row["id"])
        assert moment.accounts is not None
        said = math.inf if row["epsilon"] == "inf" else row["epsilon"]
        assert moment.accounts.epsilon == pytest.approx(said)
        assert moment.counts["charged"] == row["releases"]
        assert moment.counts["refused"] == row["refused"]


def test_the_ledger_before_one_release_is_that_after_the_one_before(run: Path) -> None:
    record = RunRecord(run)
    teller = Teller(record, fault_names(record))
    for agent in (0, record.facts.size - 1):
        fold = AgentFold(record, agent)
        fold.until(None)
        after = 0.0
        sent = [message for message in fold.sent.messages if message.release is not None]
        for message in sent:
            cost = teller.cost_of(fold, message)
            assert cost is not None
            assert cost["before"] == pytest.approx(after)
            after = math.inf if cost["after"] == "inf" else cost["after"]
            assert after >= (math.inf if cost["alone"] == "inf" else cost["alone"]) * (1 - 1e-9)
            if cost["after"] == "inf":
                break


def test_every_message_of_every_agent_is_told_in_full(run: Path) -> None:
    record = RunRecord(run)
    teller = Teller(record, fault_names(record))
    for agent in range(record.facts.seats):
        fold = AgentFold(record, agent)
        fold.until(None)
        for number in range(1, len(fold.sent.messages) + 1, 7):
            message = teller.message_of(fold, number)
            lines = teller.message_in_words(fold, message)
            assert not any("…" in line or " more" in line for line in lines)
            named = [
                line for line in lines if line.startswith("    agent") or "the server " in line
            ]
            assert len(named) >= len(message.event.to)
            assert sum("because" in line for line in lines) >= 1
            json.dumps(teller.message_tree(fold, message))


def test_a_crash_is_told_with_its_fault_and_both_events(tmp_path: Path) -> None:
    folder = perform(WORLDS["crash and pause"], tmp_path).outcome.folder
    events = [
        json.loads(line) for piece in RunRecord(folder).event_lines() for line in piece.splitlines()
    ]
    crashed = next(event for event in events if event["kind"] == "crashed")
    told = hush("show", str(folder), "--agent", "2", "--at", "6s")
    assert told.returncode == 0, told.stderr
    state = next(line for line in told.stdout.splitlines() if line.startswith("  state"))
    assert f"crashed, since 5 s (event {crashed['seq']}, lost volatile)" in state
    assert f"fault 0, dies, began at 5 s (event {crashed['cause']}), until 9 s" in state
    as_json = json.loads(hush("show", str(folder), "--agent", "2", "--at", "6s", "--json").stdout)
    assert as_json["state"] == DOWN
    assert as_json["states"][0]["event"]["seq"] == crashed["seq"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "RUN", "--agent", "2", "--at", "21s"), "ends at 20 s: there is no instant 21 s"),
        (("show", "RUN", "--agent", "6"), "has no agent 6: ids run from 0 to 5"),
        (("show", "RUN", "--agent", "server"), "has no server: agents run from 0 to 5"),
        (("show", "RUN", "--at", "3s"), "--at needs --agent"),
        (("show", "cd", "--agent", "1"), "--agent needs the folder of a run"),
        (("show", "RUN", "--agent", "1", "--at", "soon"), "--at: must be a duration"),
        (("explain", "RUN"), "say which"),
        (("explain", "RUN", "3", "--agent", "1"), "not both at once"),
        (("explain", "RUN", "--message", "1"), "--agent I and one of --message N, --release K"),
        (("explain", "RUN", "--agent", "0", "--message", "0"), "there is no message 0"),
        (("explain", "RUN", "--agent", "0", "--release", "99"), "there is no release 99"),
    ],
)
def test_what_cannot_be_told_is_said(
    words: tuple[str, ...], said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = _ended(tmp_path_factory)
    done = hush(*(word.replace("RUN", str(folder)) for word in words))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


_FOLDERS: list[Path] = []


def _ended(factory: pytest.TempPathFactory) -> Path:
    """Return one run for all wrong words."""
    if not _FOLDERS:
        _FOLDERS.append(perform(private(network=_LOSSY), factory.mktemp("ended")).outcome.folder)
    return _FOLDERS[0]

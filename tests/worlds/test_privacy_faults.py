"""Privacy's own faults: whatever is done to disks, counters and identities, the ledger is whole and no noise comes twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import Ran, perform, private
from tests.support.catalogue import world

BUDGET = {"epsilon": 4.0, "delta": 1e-5}


def ran(tmp_path: Path, *faults: dict[str, Any], releases: int = 12, **sections: Any) -> Ran:
    nodes = [{"name": "peers", "count": 5, "clock": "synchronous", "budget": BUDGET}]
    mechanism = {"kind": "cd", "noise": "norm-gamma", "releases": releases}
    base = {"nodes": nodes, "mechanism": mechanism, "fault": list(faults)}
    made = perform(private(**(base | sections)), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def told(made: Ran, kind: str, node: int) -> list[int]:
    return [e["k"] for e in made.events(kind) if e["node"] == node]


def whole(made: Ran) -> None:
    """Every charge is in the ledger, in order; every cap is kept, recomposed."""
    for agent in made.run.agents:
        assert told(made, "charged", agent.id) == list(range(len(agent.store.ledger)))
        cap = agent.settings.cap
        assert cap is None or cap.holds(agent.store.ledger.tally)


@pytest.mark.parametrize("kind", ["torn", "unsynced", "stale"])
def test_a_disk_that_lost_a_charge_is_not_trusted_again(tmp_path: Path, kind: str) -> None:
    """It misbehaves from 3.5 s; charges at 4 and 5 s; a crash at 5.5 s shows it: nothing is released any more."""
    storage = {"at": 3.5, "storage": {"on": [1], "kind": kind}}
    made = ran(tmp_path, storage, {"at": 5.5, "for": 2.0, "crash": [1]})
    assert told(made, "released", 1) == [0, 1, 2, 3, 4]
    assert [e["reason"] for e in made.events("spent") if e["node"] == 1] == ["storage"]
    assert told(made, "released", 2) == list(range(12))
    whole(made)


@pytest.mark.parametrize("kind", ["torn", "unsynced", "stale"])
def test_a_disk_that_lost_nothing_is_trusted(tmp_path: Path, kind: str) -> None:
    """Nothing was charged while it misbehaved, or it was mended before the crash: the agent goes on."""
    idle = {"at": 5.2, "storage": {"on": [1], "kind": kind}}
    mended = {"at": 1.5, "for": 2.0, "storage": {"on": [2], "kind": kind}}
    made = ran(tmp_path, idle, mended, {"at": 5.5, "for": 2.0, "crash": [1, 2]})
    for node in (1, 2):
        assert told(made, "released", node) == list(range(12))
    whole(made)


def test_a_disk_alone_does_nothing(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 0.0, "storage": {"on": "all", "kind": "stale"}})
    assert told(made, "released", 0) == list(range(12))


@pytest.mark.parametrize("name", ["cd gaussian", "dvp", "wddp rounds", "propagation output"])
def test_a_crash_after_the_charge_costs_the_release(tmp_path: Path, name: str) -> None:
    """Paid for; its noise is never drawn, nothing of it leaves, and the next release has the next number."""
    tree = world(
        name, {"kind": "barrier", "timeout": 1.5} if name.startswith("wddp") else "poisson"
    )
    fault = {"at": 0.0, "for": 2.5, "privacy": {"on": [2], "kind": "crash-after-charge"}}
    made = perform(tree | {"fault": [fault]}, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    charged, released = told(made, "charged", 2), told(made, "released", 2)
    assert charged == list(range(len(charged)))
    assert set(charged) - set(released) == {0}
    crash = made.events("crashed")[0]
    paid = next(e for e in made.events("charged") if e["node"] == 2)
    assert (crash["t"], crash["seq"]) == (paid["t"], paid["seq"] + 1)
    whole(made)


@pytest.mark.parametrize("name", ["cd gaussian", "dvp", "pvp", "local-dp pairs"])
def test_a_crash_after_the_send_loses_nothing_that_left(tmp_path: Path, name: str) -> None:
    fault = {"at": 2.5, "for": 2.0, "privacy": {"on": [2], "kind": "crash-after-send"}}
    made = perform(world(name, fault=[fault]), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    assert told(made, "released", 2) == told(made, "charged", 2)
    crash = made.events("crashed")[0]
    sent = [e for e in made.events("sent") if e["node"] == 2 and e["seq"] < crash["seq"]][-1]
    assert sent["t"] == crash["t"]
    whole(made)


@pytest.mark.parametrize("name", ["wddp rounds", "jayaraman-gradient", "fedavg", "local-dp fedavg"])
def test_a_question_that_comes_twice_is_answered_once(tmp_path: Path, name: str) -> None:
    """The copy is superseded, or answered with the same bits: the ledgers are those of a run without it."""
    clock = {"kind": "barrier", "timeout": 1.5}
    fault = {"at": 0.0, "privacy": {"on": "all", "kind": "duplicate-request"}}
    twice = perform(world(name, clock, fault=[fault]), tmp_path)
    once = perform(world(name, clock), tmp_path)
    assert twice.outcome.code == 0
    assert twice.outcome.summary["messages"]["duplicated"] > 0
    assert len(twice.events("charged")) == len(once.events("charged"))
    assert (twice.theta == once.theta).all()
    whole(twice)


def test_what_is_played_again_is_not_read_again(tmp_path: Path) -> None:
    fault = {"every": 2.0, "until": 18.0, "privacy": {"on": "all", "kind": "replay"}}
    again, plain = ran(tmp_path, fault), ran(tmp_path)
    assert again.outcome.summary["messages"]["duplicated"] > 0
    assert (again.theta == plain.theta).all()
    assert again.outcome.summary["epsilon"]["max"] == plain.outcome.summary["epsilon"]["max"]


def test_a_counter_that_is_set_back_reuses_no_noise(tmp_path: Path) -> None:
    """The ledger knows better; neighbours read nothing of who numbers its messages anew until it has caught up."""
    made = ran(tmp_path, {"at": 6.5, "privacy": {"on": [1], "kind": "counter-rollback"}})
    assert told(made, "released", 1) == list(range(12))
    versions = [e["version"] for e in made.events("sent") if e["node"] == 1]
    assert versions[:9] == [0, 1, 2, 3, 4, 5, 3, 4, 5]
    read = [e for e in made.events("merged") if 1 in e["senders"] and 7 <= e["t"] / 1e9 <= 10]
    assert (
        len({e["t"] for e in read}) == 1
    )  # what was sent before 6.5 s is read at 7 s; then nothing until 10 s
    whole(made)


def test_two_instances_share_one_budget(tmp_path: Path) -> None:
    """Both release at every wake from 3.5 s on: the promised releases are gone in half the time, the cap is kept."""
    made = ran(tmp_path, {"at": 3.5, "privacy": {"on": [1], "kind": "twin"}})
    times = [e["t"] / 1e9 for e in made.events("released") if e["node"] == 1]
    assert times == [1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8]
    assert told(made, "released", 1) == list(range(12))
    whole(made)


def test_poison_costs_nobody_any_privacy(tmp_path: Path) -> None:
    """Models suffer; what is charged, and when, is as without it, bit for bit."""
    fault = {"at": 2.5, "privacy": {"on": [1], "kind": "poison", "factor": 50.0}}
    poisoned, plain = ran(tmp_path, fault), ran(tmp_path)

    def charges(made: Ran) -> list[tuple[int, int, int, float]]:
        return [(e["t"], e["node"], e["k"], e["charged"]) for e in made.events("charged")]

    assert charges(poisoned) == charges(plain)
    assert not (poisoned.theta == plain.theta).all()
    assert poisoned.outcome.summary["loss"]["max"] > plain.outcome.summary["loss"]["max"]
    whole(poisoned)


@pytest.mark.parametrize("lose", ["volatile", "all", "nothing"])
def test_ambushed_agents_lose_what_is_said(tmp_path: Path, lose: str) -> None:
    fault = {
        "at": 2.5,
        "for": 2.0,
        "lose": lose,
        "privacy": {"on": [2], "kind": "crash-after-send"},
    }
    made = ran(tmp_path, fault)
    assert made.events("crashed")[0]["lost"] == lose
    whole(made)

"""`explain` walks the causes of an event back to a wake; `diff` finds the first event where two runs part."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.records.causes import Causes, as_tree, in_words
from scenarios.records.divergence import differences, parts, samples
from scenarios.records.reader import RunRecord
from tests.support.builders import Ran, perform, private, scenario
from tests.support.command import hush

NETWORK = {"topology": "ring", "latency": "200ms"}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    faults = [
        {"at": 5.0, "for": 3.0, "crash": [2]},
        {"at": 0.0, "loss": {"on": [[0, 1]], "p": 0.5}},
    ]
    return perform(private(network=NETWORK, fault=faults), tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def causes(ran: Ran) -> Causes:
    return Causes(
        RunRecord(ran.outcome.folder).events(), list(RunRecord(ran.outcome.folder).ledger_lines())
    )


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [event["kind"] for event in found]


@pytest.mark.slow
def test_a_delivery_goes_back_to_a_wake(causes: Causes) -> None:
    """Deliver ← send ← release ← charge ← propose ← wake, and the numbers fall."""
    carried = [
        chain
        for event in causes.by_seq.values()
        if event["kind"] == "delivered" and "released" in kinds(chain := causes.chain(event["seq"]))
    ]
    assert carried
    for chain in carried:
        assert kinds(chain) == ["delivered", "sent", "released", "charged", "proposed", "woke"]
        seqs = [event["seq"] for event in chain]
        assert seqs == sorted(seqs, reverse=True)
        assert len({event["node"] for event in chain[1:]}) == 1


def test_what_was_merged_before_a_release_is_among_its_causes(causes: Causes) -> None:
    merged = next(e for e in causes.by_seq.values() if e["kind"] == "merged")
    heard = causes.heard(merged["seq"])
    assert [(e["node"], e["version"]) for e in heard] == list(
        zip(merged["senders"], merged["versions"], strict=True)
    )


def test_every_event_can_be_explained(causes: Causes) -> None:
    for seq, event in causes.by_seq.items():
        told = in_words(causes, seq)
        assert f"{seq:>7}" in told[0]
        assert as_tree(causes, seq)["event"] == event
        assert all(after["cause"] == seq for after in causes.after(seq))


def test_a_crash_is_explained_by_its_fault_and_a_loss_names_it(causes: Causes) -> None:
    crash = next(e for e in causes.by_seq.values() if e["kind"] == "crashed")
    assert kinds(causes.chain(crash["seq"])) == ["crashed", "fault_began"]
    lost = next(e for e in causes.by_seq.values() if e["kind"] == "lost")
    assert "by fault 1" in in_words(causes, lost["seq"])[0]


def test_a_charge_is_told_with_its_noise(causes: Causes, ran: Ran) -> None:
    charge = next(e for e in causes.by_seq.values() if e["kind"] == "charged")
    spend = ran.run.agents[charge["node"]].store.ledger.at(charge["k"])
    assert f"norm-gamma noise of scale {spend.scale:.4g}" in causes.words(charge)


def test_the_command_explains_and_says_what_there_is(ran: Ran, causes: Causes) -> None:
    folder = str(ran.outcome.folder)
    told = hush("explain", folder, "20")
    assert told.returncode == 0
    assert told.stdout.splitlines() == in_words(causes, 20)
    tree = json.loads(hush("explain", folder, "20", "--json").stdout)
    assert tree["event"]["seq"] == 20
    wrong = hush("explain", folder, "999999")
    assert wrong.returncode == 2
    assert "they run from 1 to" in wrong.stderr
    assert hush("explain", "nowhere", "1").returncode == 2


def test_equal_runs_do_not_part_and_different_ones_part_where_they_differ(tmp_path: Path) -> None:
    """One fault at 7 s: up to 7 s the runs are one, and no metric differs before it."""
    plain, same = (perform(private(network=NETWORK), tmp_path) for _ in range(2))
    crash = perform(private(network=NETWORK, fault=[{"at": 7.0, "crash": [0]}]), tmp_path)
    one, two, other = (r.outcome.folder for r in (plain, same, crash))
    assert parts(RunRecord(one).events(), RunRecord(two).events()) is None
    found = parts(RunRecord(one).events(), RunRecord(other).events())
    assert found is not None
    assert found[1] is not None
    assert (found[1]["kind"], found[1]["t"]) == ("fault_began", 7 * 10**9)
    rows = differences(samples(RunRecord(one).events()), samples(RunRecord(other).events()), 0)
    assert {"nodes.down", "availability"} <= {row["metric"] for row in rows}
    assert min(row["first"] for row in rows) >= 7 * 10**9
    assert differences(samples(RunRecord(one).events()), samples(RunRecord(two).events()), 0) == []


@pytest.mark.slow
def test_the_command_tells_where_runs_part(tmp_path: Path) -> None:
    plain, same = (perform(private(network=NETWORK), tmp_path) for _ in range(2))
    crash = perform(private(network=NETWORK, fault=[{"at": 7.0, "crash": [0]}]), tmp_path)
    one, two, other = (str(r.outcome.folder) for r in (plain, same, crash))
    equal = hush("diff", one, two)
    assert equal.returncode == 0
    assert equal.stdout.splitlines() == [
        "the same events, one by one",
        "  schedule digests: equal",
        "  value digests: equal",
    ]
    told = hush("diff", one, other)
    assert told.returncode == 5  # the same scenario and seed
    assert "fault 0 (crash) began for [0]" in told.stdout
    assert "nodes.down" in told.stdout
    tree = json.loads(hush("diff", one, other, "--json").stdout)
    assert [event["kind"] for event in tree["parts"]][1] == "fault_began"


@pytest.mark.slow
def test_events_are_told_in_words(tmp_path: Path) -> None:
    """No dictionaries, names of faults, the server by its name, what an oracle saw."""
    faults = [{"name": "dusk", "at": 0.5, "for": 1.0, "pause": "server"}]
    tree = scenario(
        mechanism={"kind": "fedavg"},
        run={"seed": 1, "rounds": 3},
        server={"deadline": 2.0},
        fault=faults,
    )
    made = perform(tree, tmp_path)
    folder = str(made.outcome.folder)

    def told(kind: str) -> str:
        seq = made.events(kind)[0]["seq"]
        return hush("explain", folder, str(seq)).stdout

    assert "the server round_opened (round 1, asked [0, 1, 2, 3, 4, 5])" in told("round_opened")
    assert "fault 0 (dusk) began for [6]" in told("fault_began")
    assert "fault 0 (dusk) is undone: resume for [6]" in told("fault_ended")
    assert "an oracle looked: loss " in told("sampled")
    assert "got version" in told("delivered")


@pytest.mark.slow
def test_damage_is_told(tmp_path: Path) -> None:
    one, other = (perform(private(), tmp_path) for _ in range(2))
    folder = one.outcome.folder
    for manifest in ("{}", "[]"):
        (folder / "manifest.json").write_text(manifest)
        told = hush("diff", str(folder), str(other.outcome.folder))
        assert told.returncode == 2
        assert "Traceback" not in told.stderr
    cut = other.outcome.folder / "record-00000.hush"
    cut.write_bytes(cut.read_bytes()[:3000])
    told = hush("explain", str(other.outcome.folder), "3")
    assert "checksums do not match" in told.stderr
    cut.write_bytes(b"")
    assert "has no events" in hush("explain", str(other.outcome.folder), "3").stderr


@pytest.mark.slow
def test_the_difference_of_what_is_no_number_is_still_json(tmp_path: Path) -> None:
    crash = [{"at": 3.0, "crash": "all"}]
    runs = [perform(private(network=NETWORK, **more), tmp_path) for more in ({}, {"fault": crash})]
    told = hush("diff", "--json", *(str(r.outcome.folder) for r in runs))
    json.loads(told.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

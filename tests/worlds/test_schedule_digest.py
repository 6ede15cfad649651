"""The schedule digest: integers alone, every one of them counts, and nothing else does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.events import (
    Charged,
    Crashed,
    Delivered,
    Duplicated,
    FaultBegan,
    FaultEnded,
    Joined,
    Proposed,
    Rejected,
    Released,
    Restarted,
    RoundAborted,
    RoundClosed,
    Sampled,
    Sent,
    Woke,
)
from actors.log import Batch
from actors.turns import Spends
from scenarios.records.reader import RunRecord
from scenarios.running.observers.schedule_rows import Schedule, digest_of, rows_of, units
from tests.support import schedule
from tests.support.builders import Ran, perform, private, scenario
from tests.support.catalogue import world
from tests.support.command import hush
from tests.support.federation import world as federation
from tests.support.records import lived

LINKS = {
    "topology": "complete",
    "loss": 0.1,
    "latency": {"kind": "lognormal", "median": 0.1, "sigma": 1.0},
}
FAULTS = [
    {"at": 2.0, "for": 3.0, "crash": [1]},
    {"at": 2.5, "for": 2.0, "leave": [3]},
    {"at": 3.0, "for": 2.0, "pause": [4]},
    {"at": 1.0, "for": 4.0, "hold": [[0, 5]]},
    {"at": 1.0, "for": 9.0, "corrupt": {"on": [[2, 5]], "p": 0.5}},
    {"at": 1.0, "for": 9.0, "duplicate": {"on": [[4, 5]], "p": 0.5}},
    {"at": 6.0, "privacy": {"on": [0], "kind": "crash-after-charge"}},
    {"at": 6.0, "privacy": {"on": [5], "kind": "twin"}},
    {"at": 2.0, "storage": {"on": [2], "kind": "stale"}},
    {"at": 7.5, "for": 0.5, "crash": [2]},
]
WORLDS: dict[str, dict[str, Any]] = {
    "faults": private(network=LINKS, fault=FAULTS, run={"seed": 5, "horizon": 12.0}),
    "computing": private(
        network=LINKS,
        fault=FAULTS[:3],
        run={"seed": 5, "horizon": 8.0},
        nodes=[{"count": 6, "compute": "300ms", "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    ),
    "refused": private(
        run={"seed": 5, "horizon": 60.0},
        privacy={"filter": "basic"},
        nodes=[{"count": 6, "budget": {"epsilon": 1.0, "delta": 1e-4}}],
        mechanism={"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 100},
    ),
    "barrier": world("dvp", "barrier"),
    "pairs": world("collaborative-admm"),
    "server": federation(
        {"kind": "wddp", "noise": "none", "synchronise": "every-round", "learning_rate": 0.8},
        8,
        network={"latency": 0.2},
        server={"deadline": 1.0, "quorum": 1.0},
        fault=[{"at": 1.5, "for": 2.0, "crash": [1]}],
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    folder = tmp_path_factory.mktemp("runs")
    return {name: perform(tree, folder) for name, tree in WORLDS.items()}


@pytest.mark.parametrize("name", WORLDS)
def test_a_second_implementation_finds_the_same_digest(made: dict[str, Ran], name: str) -> None:
    ran = made[name]
    digests: dict[str, Any] = dict(ran.digests)
    assert digests["version"] == 2
    assert schedule.digest(ran.events()) == ran.digests["schedule"]
    told = rows_of(RunRecord(ran.outcome.folder).typed_events())
    assert [list(row) for row in told] == schedule.rows(ran.events())


def test_every_kind_of_row_and_every_act_is_there(made: dict[str, Ran]) -> None:
    rows = [
        row
        for ran in made.values()
        for row in rows_of(RunRecord(ran.outcome.folder).typed_events())
    ]
    assert {row[0] for row in rows} == {1, 2, 3, 4, 5, 6, 7}
    turns = [row for row in rows if row[0] == 1]
    assert {row[3] for row in turns} == {0, 1}
    assert {row[6] for row in turns} == {0, 1, 2, 3, 4}
    assert {verdict for row in turns for verdict in row[10::3]} == {0, 1, 2, 4}
    assert {row[3] for row in rows if row[0] == 4} >= {0, 1, 2, 3, 4, 6}
    assert {row[4] for row in rows if row[0] == 5} == {0, 1}
    assert {row[4] for row in rows if row[0] == 6} >= {0, 2}
    for ran in made.values():
        wakes = [
            row
            for row in rows_of(RunRecord(ran.outcome.folder).typed_events())
            if row[0] == 1 and row[3]
        ]
        assert len(wakes) == len(ran.events("woke", "round_opened")), "one row for each wake"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_do_not_matter(made: dict[str, Ran], size: int) -> None:
    ran = made["faults"]
    events = list(RunRecord(ran.outcome.folder).typed_events())
    digest = Schedule()
    for first in range(0, len(events), size):
        digest.fold(events[first : first + size])
        assert digest.hexdigest() == digest.hexdigest()
    assert digest.hexdigest() == ran.digests["schedule"]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("name", WORLDS)
def test_rows_and_columns_give_the_same_digest(made: dict[str, Ran], name: str, size: int) -> None:
    """However events are cut into batches, and these into rows: in the middle of a turn, too."""
    events, spends, digest = lived(made[name].outcome.folder), Spends(), Schedule()
    for first in range(0, len(events), size):
        digest.fold(Batch(events[first : first + size], spends))
        assert digest.hexdigest() == digest.hexdigest()
    assert digest.hexdigest() == digest_of(events) == made[name].digests["schedule"]


Events = list[Any]


def first(events: Events, kind: type, fits: Callable[[Any], bool] = lambda _: True) -> int:
    return next(i for i, event in enumerate(events) if type(event) is kind and fits(event))


def with_field(
    kind: type, fits: Callable[[Any], bool], **change: Any
) -> Callable[[Events], Events]:
    """Change fields of the first event of a kind: each is a function of the event."""

    def changed(events: Events) -> Events:
        at = first(events, kind, fits)
        event = events[at]
        new = replace(event, **{field: how(event) for field, how in change.items()})
        return [*events[:at], new, *events[at + 1 :]]

    return changed


def as_kind(kind: type, other: type) -> Callable[[Events], Events]:
    """Let another kind of event stand in place of the first of one."""

    def changed(events: Events) -> Events:
        at = first(events, kind)
        e = events[at]
        return [*events[:at], other(e.seq, e.t, e.node, e.cause), *events[at + 1 :]]

    return changed


def without(kind: type, fits: Callable[[Any], bool] = lambda _: True) -> Callable[[Events], Events]:
    def changed(events: Events) -> Events:
        at = first(events, kind, fits)
        return [*events[:at], *events[at + 1 :]]

    return changed


def turned(change: Callable[[Any], dict[str, Any]]) -> Callable[[Events], Events]:
    """Change every event of the first turn that releases something."""

    def changed(events: Events) -> Events:
        released = events[first(events, Released)]
        mine = [e for e in events if e.node == released.node and e.t == released.t]
        return [replace(e, **change(e)) if e in mine else e for e in events]

    return changed


def bumped(values: Any, by: int = 1) -> list[int]:
    return [values[0] + by, *values[1:]]


def always(_: Any) -> bool:
    return True


def arrives(event: Any) -> bool:
    return bool(min(event.arrives) >= 0)


def _later(events: Events) -> Events:
    """Let a message that a fault held arrive a nanosecond later."""
    held = {
        (e.seq, to)
        for e in events
        if isinstance(e, Sent)
        for to, arrival in zip(e.to, e.arrives, strict=True)
        if arrival == -2
    }
    return with_field(
        Delivered,
        lambda e: (e.cause, e.node) in held,
        arrived=lambda e: e.arrived + 1,
    )(events)


def _aborted(events: Events) -> Events:
    at = first(events, RoundClosed)
    e = events[at]
    new = RoundAborted(e.seq, e.t, e.node, e.cause, e.round, e.survivors, "")
    return [*events[:at], new, *events[at + 1 :]]


MUTANTS: dict[str, tuple[str, Callable[[Events], Events]]] = {
    "turn: t": ("faults", turned(lambda e: {"t": e.t + 1})),
    "turn: agent": ("faults", turned(lambda e: {"node": (e.node + 1) % 6})),
    "turn: woke": ("faults", without(Woke)),
    "turn: k": ("faults", with_field(Released, always, k=lambda e: e.k + 1)),
    "turn: charge": ("faults", with_field(Charged, always, charged=lambda e: e.charged + 1e-9)),
    "turn: charge ∞": ("faults", with_field(Charged, always, charged=lambda _: "inf")),
    "turn: act": ("faults", without(Released)),
    "turn: receiver": ("faults", with_field(Sent, always, to=lambda e: bumped(e.to))),
    "turn: arrival": ("faults", with_field(Sent, arrives, arrives=lambda e: bumped(e.arrives))),
    "turn: lost": ("faults", with_field(Sent, arrives, arrives=lambda e: [-1, *e.arrives[1:]])),
    "turn: held, not lost": (
        "faults",
        with_field(
            Sent,
            lambda e: -1 in e.arrives,
            arrives=lambda e: [-2 if a == -1 else a for a in e.arrives],
        ),
    ),
    "turn: copy": ("faults", without(Duplicated)),
    "turn: copy's arrival": (
        "faults",
        with_field(Duplicated, always, arrives=lambda e: e.arrives + 1),
    ),
    "turn: proposed": ("faults", without(Proposed, lambda e: e.node == 2 and e.t > 8.5e9)),
    "fault: t": ("faults", with_field(FaultBegan, always, t=lambda e: e.t + 1)),
    "fault: number": ("faults", with_field(FaultBegan, always, fault=lambda e: e.fault + 1)),
    "fault: targets": (
        "faults",
        with_field(FaultBegan, always, targets=lambda e: bumped(e.targets)),
    ),
    "fault: end": ("faults", with_field(FaultEnded, always, t=lambda e: e.t + 1)),
    "fault: end's number": ("faults", with_field(FaultEnded, always, fault=lambda e: e.fault + 1)),
    "fault: end's targets": (
        "faults",
        with_field(FaultEnded, always, targets=lambda e: bumped(e.targets)),
    ),
    "member: t": ("faults", with_field(Crashed, always, t=lambda e: e.t + 1)),
    "member: agent": ("faults", with_field(Crashed, always, node=lambda e: e.node + 1)),
    "member: change": ("faults", as_kind(Restarted, Joined)),
    "member: what it lost": ("faults", with_field(Crashed, always, lost=lambda _: "all")),
    "round: t": ("server", with_field(RoundClosed, always, t=lambda e: e.t + 1)),
    "round: server": ("server", with_field(RoundClosed, always, node=lambda e: e.node + 1)),
    "round: number": ("server", with_field(RoundClosed, always, round=lambda e: e.round + 1)),
    "round: verdict": ("server", _aborted),
    "round: survivors": (
        "server",
        with_field(RoundClosed, always, survivors=lambda e: list(e.survivors)[1:]),
    ),
    "arrival of what was held": ("faults", _later),
    "arrival: receiver": (
        "faults",
        with_field(Rejected, lambda e: e.reason == "corrupt", node=lambda e: e.node + 1),
    ),
    "arrival: sender": (
        "faults",
        with_field(Rejected, lambda e: e.reason == "corrupt", sender=lambda e: e.sender + 1),
    ),
    "arrival: damage": (
        "faults",
        with_field(Rejected, lambda e: e.reason == "corrupt", reason=lambda _: ""),
    ),
    "sample: t": ("faults", with_field(Sampled, always, t=lambda e: e.t + 1)),
    "sample": ("faults", without(Sampled)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_every_column_counts(made: dict[str, Ran], name: str) -> None:
    where, mutate = MUTANTS[name]
    events = list(RunRecord(made[where].outcome.folder).typed_events())
    assert digest_of(events) == made[where].digests["schedule"]
    changed = mutate(list(events))
    assert changed != events
    assert digest_of(changed) != digest_of(events)
    rows, other = rows_of(events), rows_of(changed)
    if len(rows) == len(other):
        assert sum(one != two for one, two in zip(rows, other, strict=True)) <= 2


def test_nothing_else_counts(made: dict[str, Ran]) -> None:
    """Neither numbers of events nor lateness, words, sizes, values and engines."""
    events = list(RunRecord(made["faults"].outcome.folder).typed_events())
    other: Events = []
    for event in events:
        more: dict[str, Any] = {"seq": event.seq + 100, "late_ns": 7}
        more["cause"] = None if event.cause is None else event.cause + 100
        if isinstance(event, Sent):
            more["bytes"] = 1
        if isinstance(event, FaultBegan):
            more |= {"until": -1, "action": "another word"}
        if isinstance(event, Sampled):
            more["values"] = {}
        other.append(replace(event, **more))
    assert digest_of(other) == digest_of(events)


@pytest.mark.parametrize(
    ("charge", "wanted"),
    [
        (0.0, 0),
        (1e-9, 1),
        (0.3, 300_000_000),
        (2.0, 2 * 10**9),
        (999_999.999999999, 999_999_999_999_999),
        ("inf", -2),
        (1e300, 2**62),
        (5e9, 2**62),
    ],
)
def test_charges_are_integers(charge: float | str, wanted: int) -> None:
    assert units(charge) == wanted
    assert schedule.charge_of(charge) == wanted


@pytest.mark.slow
def test_a_run_that_diverged_says_that_its_digest_is_conditional(tmp_path: Path) -> None:
    hot = scenario(
        run={"seed": 5, "rounds": 12},
        task={"l2": 0.1, "loss": "squared"},
        nodes=[{"count": 6, "clock": "synchronous"}],
        server={"deadline": 2.0, "quorum": 0.5},
        mechanism={"kind": "fedavg", "learning_rate": 1e200, "epochs": 3},
    )
    ran = perform(hot, tmp_path)
    told = ran.events("diverged")
    agents = {e["node"] for e in told}
    assert agents
    digests: dict[str, Any] = dict(ran.digests)
    assert digests["conditional"] == {
        "on": "divergence",
        "agents": len(agents),
        "first": told[0]["node"],
        "t": told[0]["t"],
    }
    shown = hush("show", str(ran.outcome.folder))
    assert "conditional on divergence" in shown.stdout
    calm = perform(private(), tmp_path)
    assert "conditional" not in calm.digests
    assert "conditional" not in hush("show", str(calm.outcome.folder)).stdout
    manifest = json.loads((calm.outcome.folder / "manifest.json").read_text())
    assert set(manifest["digests"]) == {"version", "schedule", "value"}

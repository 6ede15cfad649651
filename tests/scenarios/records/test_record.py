"""The record on disk: it gives back what happened, however it was cut, torn, edited or made up."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from actors.events import Charged, Event
from actors.log import Batch
from actors.turns import CAUSE, HEAD, RELEASED, SPEND, TURN, Spends
from scenarios.api.runs import make_plan
from scenarios.language.json_numbers import number
from scenarios.records import record_writer
from scenarios.records.file_guard import FolderError, event_of
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import epsilon_of
from scenarios.records.record_file import BEGIN_BYTES, EVENT, HEAD_BYTES
from scenarios.records.record_file import SPEND as SPEND_KIND
from scenarios.records.record_writer import RecordWriter
from scenarios.records.stream import DiskFull
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import perform, private
from tests.support.catalogue import EVERY, world
from tests.support.command import hush
from tests.support.federation import world as federation
from tests.support.frames import edit_frames, frames_of, payload, put_together
from tests.support.records import RECORD, edit_record, events_of, lived, say_running, write_record

FAULTS: list[dict[str, Any]] = [
    {"at": 2.0, "for": 3.0, "crash": [1]},
    {"at": 2.5, "for": 2.0, "leave": [3]},
    {"at": 3.0, "for": 2.0, "pause": [4]},
    {"at": 1.0, "for": 4.0, "hold": [[0, 5]]},
    {"at": 1.0, "for": 9.0, "corrupt": {"on": [[2, 5]], "p": 0.5}},
    {"at": 1.0, "for": 9.0, "duplicate": {"on": [[4, 5]], "p": 0.5}},
    {"at": 6.0, "privacy": {"on": [0], "kind": "crash-after-charge"}},
    {"at": 6.0, "privacy": {"on": [5], "kind": "twin"}},
]
LINKS: dict[str, Any] = {
    "topology": "complete",
    "loss": 0.1,
    "latency": {"kind": "lognormal", "median": 0.1, "sigma": 1.0},
}
WORLDS: dict[str, dict[str, Any]] = {
    "lost": private(network=LINKS, run={"seed": 5, "horizon": 6.0}),
    "faults": private(network=LINKS, fault=FAULTS, run={"seed": 5, "horizon": 12.0}),
    "growing": world("dvp growing"),
    "computing": private(
        network=LINKS,
        run={"seed": 5, "horizon": 8.0},
        nodes=[{"count": 6, "compute": "300ms", "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    ),
    "late": private(network=LINKS, run={"seed": 5, "horizon": 4.0, "engine": "wall"}),
    "server": federation(
        {"kind": "wddp", "noise": "none", "synchronise": "every-round", "learning_rate": 0.8},
        8,
        network={"latency": 0.2},
        server={"deadline": 1.0, "quorum": 1.0},
        fault=[{"at": 1.5, "for": 2.0, "crash": [1]}],
    ),
}


class Kept:
    """Keeps all batches of a run."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def fold(self, batch: Batch) -> None:
        self.batches.append(batch)

    def events(self) -> list[Event]:
        """Everything that happened, as it is recorded."""
        every = (event for batch in self.batches for event in batch)
        return [e.as_recorded if isinstance(e, Charged) else e for e in every]


def kept(tree: dict[str, Any], folder: Path, speed: float = 1e12) -> tuple[Run, Kept]:
    """Run a world, and keep what its observers were told."""
    run = Run(make_plan(tree), folder, RunGovernor(), speed)
    batches = Kept()
    run.log.subscribe(batches)
    assert asyncio.run(run.perform()).status == "finished"
    return run, batches


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with lost messages."""
    return perform(WORLDS["lost"], tmp_path_factory.mktemp("runs")).outcome.folder


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of it, free to be edited, as if the run had been killed at its end."""
    there = tmp_path / "run"
    shutil.copytree(folder, there)
    (there / "ledger.jsonl").unlink()
    say_running(there)
    return there


# what was written is what happened


def gives_back(tree: dict[str, Any], folder: Path, speed: float = 1e12) -> None:
    run, batches = kept(tree, folder, speed)
    record, happened = RunRecord(folder), batches.events()
    encoded = msgspec.json.Encoder().encode_lines(happened)
    assert list(record.typed_events()) == [event_of(line, "") for line in encoded.splitlines()]
    assert b"".join(record.event_lines()) == encoded
    assert [json.dumps(e) for e in record.events()] == [
        json.dumps(json.loads(line)) for line in encoded.splitlines()
    ]
    assert record.length == max(event.t for event in happened)
    spends = [e.spend for batch in batches.batches for e in batch if isinstance(e, Charged)]
    assert len(spends) == len(list(record.ledger_lines())) == run.recorder.record.releases
    assert record.proof.words == ()
    assert record.flaws == ()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "lost" else pytest.mark.slow) for n in WORLDS]
)
def test_a_record_gives_back_what_happened(name: str, tmp_path: Path) -> None:
    """With faults, lateness, computing times and a server, too."""
    gives_back(WORLDS[name], tmp_path / "run", 200.0 if name == "late" else 1e12)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_so_does_that_of_every_kind(name: str, tmp_path: Path) -> None:
    gives_back(world(name), tmp_path / "run")


def test_lateness_of_wall_time_is_recorded(tmp_path: Path) -> None:
    _, batches = kept(WORLDS["late"], tmp_path / "run", 200.0)
    assert any(event.late_ns for event in batches.events()), "else the law above says nothing of it"  # type: ignore[attr-defined]


# however it was cut


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("name", WORLDS)
def test_batches_do_not_matter(name: str, size: int, tmp_path: Path) -> None:
    """Cut anywhere, in the middle of a turn, too: the events and the ledger are the same."""
    whole = perform(WORLDS[name], tmp_path, speed=200.0).outcome.folder
    (tmp_path / "other").mkdir()
    shutil.copy(whole / "manifest.json", tmp_path / "other")
    events, ledger = events_of(whole), list(RunRecord(whole).ledger_lines())
    write_record(tmp_path / "other", events, ledger, size)
    assert events_of(tmp_path / "other") == events
    told = list(RunRecord(tmp_path / "other").ledger_lines())
    for one, other in zip(told, ledger, strict=True):
        charged = number(one["charged"]), number(other["charged"])
        assert charged[0] == pytest.approx(charged[1], rel=1e-8)  # rounded up once more
        assert one | {"charged": 0} == other | {"charged": 0}


@pytest.mark.parametrize("name", ["lost", pytest.param("growing", marks=pytest.mark.slow)])
def test_records_are_the_same_bytes_wherever_frames_begin(name: str, tmp_path: Path) -> None:
    """One batch or many, between turns: the words of all frames together are the same."""
    run, batches = kept(WORLDS[name], tmp_path / "run")
    events = [event for batch in batches.batches for event in batch]
    cuts = [0, *range(1, len(events), 37), len(events)]
    ends = [0]
    for cut in cuts[1:]:  # the next place where another agent, or another instant, begins
        while cut < len(events) and _one_turn(events[cut - 1], events[cut]):
            cut += 1  # noqa: PLW2901
        ends.append(cut)
    (tmp_path / "cut").mkdir()
    writer = RecordWriter(tmp_path / "cut")
    for first, end in pairwise(ends):
        writer.add(Batch(events[first:end], run.log.spends))
    cut, own = tmp_path / "cut" / RECORD, tmp_path / "run" / RECORD
    assert payload(cut) == payload(own)
    assert len(frames_of(cut)) > len(frames_of(own))


def _one_turn(one: Event, other: Event) -> bool:
    return (one.t, one.node) == (other.t, other.node)


def test_frames_and_files_have_limits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small ones, here: what they hold together stays the same, and none may be missing or in another's place."""
    monkeypatch.setattr(record_writer, "MOST_WORDS", 300)
    monkeypatch.setattr(record_writer, "SEGMENT_BYTES", 5000)
    there = tmp_path / "run"
    shutil.copytree(folder, there)
    edit_record(there, events_of(there))
    files = sorted(there.glob("record-*.hush"))
    assert len(files) > 3
    assert events_of(there) == events_of(folder)
    assert [word for file in files for word in payload(file)] == payload(folder / RECORD)
    most = max(
        int(word) >> 16 for file in files for _, words in frames_of(file) for word in words[:1]
    )
    assert all(len(words) <= 600 + most for file in files for _, words in frames_of(file))
    files[1].rename(tmp_path / "aside")
    with pytest.raises(FolderError, match=r"is not file 1 of a record|stands after event"):
        events_of(there)
    (tmp_path / "aside").rename(files[1])
    torn = files[0].read_bytes()
    files[0].write_bytes(torn[:-8])
    with pytest.raises(FolderError, match="and more files follow"):
        events_of(there)


def test_a_record_does_not_depend_on_the_order_of_the_spends_of_a_run(tmp_path: Path) -> None:
    """Spends are numbered as the record needs them: a path may have met them in another order."""
    run, batches = kept(WORLDS["growing"], tmp_path / "run")
    events = [event for batch in batches.batches for event in batch]
    spends = Spends()
    for spend in reversed(run.log.spends.table):
        spends.place(spend)
    assert len(spends.table) > 3
    (tmp_path / "other").mkdir()
    writer = RecordWriter(tmp_path / "other")
    writer.add(Batch(events, spends))
    assert payload(tmp_path / "other" / RECORD) == payload(tmp_path / "run" / RECORD)


# torn


def test_a_torn_record_is_read_up_to_its_last_whole_record(copied: Path) -> None:
    """Wherever it ends: what is read is a first part of what was there, charges and messages alike."""
    whole, ledger = events_of(copied), list(RunRecord(copied).ledger_lines())
    data, longest = (copied / RECORD).read_bytes(), -1
    dice = np.random.Generator(np.random.PCG64(3))
    last = len(data) - len(frames_of(copied / RECORD)[-1][1]) * 8
    places = {
        *dice.integers(0, len(data), 40).tolist(),
        *dice.integers(last, len(data), 60).tolist(),
    }
    for at in sorted(places):
        (copied / RECORD).write_bytes(data[:at])
        events = events_of(copied)
        assert events == whole[: len(events)]
        assert len(events) >= longest
        longest = len(events)
        charged = {(e["node"], e["k"]) for e in events if e["kind"] == "charged"}
        assert list(RunRecord(copied).ledger_lines()) == ledger[: len(charged)]
        record = RunRecord(copied)
        assert record.length == max((e["t"] for e in events), default=0)
        assert record.proof.words == ()
        released = {e["seq"] for e in events if e["kind"] == "released"}
        sent = [e for e in events if e["kind"] == "sent"]
        assert all(e["cause"] in released for e in sent), "no message without its release"
    assert 0 < longest < len(whole)


class FullAt:
    """A disk that takes so many bytes more, with short writes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._write = os.write

    def __call__(self, file: int, data: bytes) -> int:
        if self.room == 0:
            raise OSError(28, "No space left on device")
        taken = self._write(file, data[: min(self.room, 1 + len(data) // 2)])
        self.room -= taken
        return taken


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.6, 0.97])
def test_a_full_disk_keeps_whole_records(
    folder: Path, copied: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    events = lived(folder)
    size = (folder / RECORD).stat().st_size
    (copied / RECORD).unlink()
    writer = RecordWriter(copied)
    monkeypatch.setattr(os, "write", FullAt(int(size * share)))
    with pytest.raises(DiskFull):
        writer.add(Batch(events, Spends()))
    monkeypatch.undo()
    kept_events, stream = events_of(copied), writer.streams[-1]
    assert stream.size == (copied / RECORD).stat().st_size
    data, at = (copied / RECORD).read_bytes(), BEGIN_BYTES
    if len(data) > at:  # the frame that was cut ends where a record ends
        words = np.frombuffer(data[at + HEAD_BYTES :], "<i8").tolist()
        assert list(records_of(words))
        assert sum(length for _, _, length in records_of(words)) == len(words)
    assert kept_events == events_of(folder)[: len(kept_events)]
    assert (len(kept_events) > 0) == (share > 0.1)


# edited


def noticed(copied: Path, data: bytes, whole: list[dict[str, Any]]) -> bool:
    """Read a record that was edited; it says so, or says what it said before."""
    (copied / RECORD).write_bytes(data)
    try:
        events = events_of(copied)
    except FolderError as error:
        return RECORD in str(error) and "\n" not in str(error)
    assert events == whole
    return False


def every_byte(copied: Path, places: Iterator[int] | range) -> None:
    whole, data = events_of(copied), (copied / RECORD).read_bytes()
    seen = 0
    for at in places:
        for flip in (1, 128):
            edited = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
            seen += noticed(copied, edited, whole)
    assert seen


def test_an_edited_byte_is_noticed(copied: Path) -> None:
    size = (copied / RECORD).stat().st_size
    heads = range(BEGIN_BYTES + HEAD_BYTES + 8)
    every_byte(copied, iter([*heads, *range(heads.stop, size, 997), size - 1]))


@pytest.mark.slow
def test_every_edited_byte_is_noticed(copied: Path) -> None:
    edit_record(copied, events_of(copied)[:90])
    every_byte(copied, range((copied / RECORD).stat().st_size))


def test_a_head_that_says_otherwise_is_noticed(copied: Path) -> None:
    """A head with a right checksum and other facts does not fit what follows it."""
    whole = frames_of(copied / RECORD)
    events = events_of(copied)
    last = len(whole) - 1  # how many there are depends on the wall clock
    for number_, place, change in product({0, last}, range(4), (-1, 1, 1 << 40)):
        frames = [([*head], words) for head, words in whole]
        frames[number_][0][place] += change
        if frames[number_][0][place] < 0:
            continue  # no head can say that
        put_together(copied / RECORD, frames)
        if (number_, place) == (last, 0) and change > 0:  # so it would stand if it were torn
            assert events_of(copied) == events
            continue
        with pytest.raises(FolderError, match=RECORD):
            events_of(copied)


ODD = (-(1 << 63), -1, 0, 1, 2, 3, 7, 1 << 31, 1 << 42, (1 << 63) - 1)


def records_of(words: list[int]) -> Iterator[tuple[int, int, int]]:
    at = 0
    while at < len(words):
        yield words[at] & 0xFF, at, words[at] >> 16
        at += words[at] >> 16


def judged(copied: Path, honest: float) -> None:
    """Whatever a record says, readers end with an answer or a `FolderError`, and ε is none the smaller."""
    for ask in (
        lambda r: list(r.typed_events()),
        lambda r: b"".join(r.event_lines()),
        lambda r: list(r.samples()),
        lambda r: r.length,
        lambda r: r.last_sample,
        lambda r: b"".join(r.ledger_text()),
    ):
        try:
            ask(RunRecord(copied))
        except FolderError:
            continue
    try:
        told = number(epsilon_of(RunRecord(copied))["max"])
    except FolderError:
        return
    assert told >= honest * (1 - 1e-9)


def edits(words: list[int], dice: np.random.Generator, share: float) -> Iterator[tuple[int, int]]:
    """Yield words to be changed, with what to put there: all of heads at least once, others by chance."""
    for kind, at, length in records_of(words):
        for place in range(at, at + min(length, HEAD if kind == TURN else 4)):
            if dice.random() < share:
                yield place, int(dice.choice(ODD))
                yield place, words[place] + int(dice.integers(-2, 3))
                yield place, words[place] ^ 1 << int(dice.integers(0, 63))
        if kind == TURN and length > HEAD and dice.random() < share:
            place = int(dice.integers(at + HEAD, at + length))
            yield place, int(dice.choice(ODD))
            yield place, words[place] ^ 1 << int(dice.integers(0, 63))


def every_word(copied: Path, share: float) -> None:
    whole = frames_of(copied / RECORD)
    honest = number(epsilon_of(RunRecord(copied))["max"])
    dice = np.random.Generator(np.random.PCG64(8))
    for number_, (_, words) in enumerate(whole):
        for place, value in edits(words, dice, share):
            if not -(1 << 63) <= value < 1 << 63:
                continue
            frames = [([*head], [*old]) for head, old in whole]
            frames[number_][1][place] = value
            put_together(copied / RECORD, frames)
            judged(copied, honest)


@pytest.mark.slow
def test_an_edited_word_with_its_checksum_makes_no_traceback_and_no_smaller_epsilon(
    copied: Path,
) -> None:
    edit_record(copied, events_of(copied)[:250])
    every_word(copied, 0.5)


def spend_edit(copied: Path, change: dict[str, Any]) -> None:
    """Change fields of every spend in a record, with right checksums."""

    def edit(frames: list[tuple[list[int], list[int]]]) -> None:
        for _, words in frames:
            edited = list[int]()
            for kind, at, length in records_of(words):
                record = words[at : at + length]
                if kind == SPEND_KIND:
                    text = np.array(record[2:], "<i8").tobytes()
                    new = json.dumps(json.loads(text) | change).encode()
                    new += b" " * (-len(new) % 8)
                    body = np.frombuffer(new, "<i8").tolist()
                    record = [SPEND_KIND | len(body) + 2 << 16, record[1], *body]
                edited += record
            words[:] = edited

    edit_frames(copied / RECORD, edit)


MILDER: list[dict[str, Any]] = [
    {"charged": 0.0},
    {"charged": 1e-9},
    {"charged": 0.1, "claimed": 0.1},
    {"law": "gaussian"},
    {"law": "laplace", "d": 1},
    {"law": "none"},
    {"d": 1},
    {"d": 10**6},
    {"summed": 0.0},
    {"hidden": 0.0, "contraction": 0.0},
]


@pytest.mark.parametrize("place", range(len(MILDER)))
def test_no_spend_tells_a_milder_noise_than_was_planned(copied: Path, place: int) -> None:
    """A spend stands once in the record, for many releases: `world.json` knows what each was to cost."""
    honest = number(epsilon_of(RunRecord(copied))["max"])
    spend_edit(copied, MILDER[place])
    record = RunRecord(copied)
    assert number(epsilon_of(record)["max"]) >= honest * (1 - 1e-9)
    words = " ".join(record.proof.words)
    assert any(said in words for said in ("otherwise", "world.json", "their own scale"))


@pytest.mark.parametrize(
    ("factors", "milder"),
    [((0.99, 1.0), True), ((1.0, 0.99), True), ((0.99, 0.99), True), ((1.0, 1.0), False)],
)
def test_no_hidden_step_is_told_milder_than_was_planned(
    tmp_path: Path, factors: tuple[float, float], *, milder: bool
) -> None:
    """An outsider pays for the last of hidden steps: a smaller μ of one step, or a stronger contraction, is made up."""
    tree = world("central-gradient", "barrier", rounds=6, privacy={"views": ["outsider"]})
    there = perform(tree, tmp_path).outcome.folder
    honest = number(epsilon_of(RunRecord(there))["max"])
    line = next(iter(RunRecord(there).ledger_lines()))
    told = {"hidden": line["hidden"] * factors[0], "contraction": line["contraction"] * factors[1]}
    spend_edit(there, told)
    record = RunRecord(there)
    found = number(epsilon_of(record)["max"])
    assert found >= honest * (1 - 1e-12)
    assert ("world.json" in " ".join(record.proof.words)) is milder
    assert milder or found == honest


@pytest.mark.parametrize(
    "change", [{"charged": -1.0}, {"charged": "free"}, {"law": "magic"}, {"d": -1}, {"scale": "x"}]
)
def test_a_spend_that_cannot_be_is_damage(copied: Path, change: dict[str, Any]) -> None:
    spend_edit(copied, change)
    with pytest.raises(FolderError, match=r"frame \d, spend 0 is damaged"):
        events_of(copied)


def test_releases_cut_out_of_a_record_are_missed(copied: Path) -> None:
    """An agent has releases 0, 1, 2 … once each: without its first ones, its ε would be smaller."""
    events, hidden = events_of(copied), {"proposed", "charged", "released", "sent", "lost"}
    ledger = list(RunRecord(copied).ledger_lines())
    left = [e for e in events if e["node"] != 2 or e["kind"] not in hidden or e.get("k", 1) > 0]
    write_record(copied, left, ledger)
    with pytest.raises(FolderError, match=r"event \d+ stands after event \d+"):
        epsilon_of(RunRecord(copied))
    write_record(copied, [e | {"seq": seq} for seq, e in enumerate(left, 1)], ledger)
    with pytest.raises(FolderError, match="has release 1 and no release 0"):
        epsilon_of(RunRecord(copied))


def test_an_event_that_charges_otherwise_than_its_spend_costs_the_dearer(tmp_path: Path) -> None:
    """A release that was charged and never made is an event of its own, beside the spend."""
    fault = [{"at": 1.0, "privacy": {"on": [2], "kind": "crash-after-charge"}}]
    ran = perform(private(fault=fault, run={"seed": 5, "horizon": 6.0}), tmp_path)
    there, ledger = ran.outcome.folder, list(RunRecord(ran.outcome.folder).ledger_lines())
    events = events_of(there)
    released = {e["cause"] for e in events if e["kind"] == "released"}
    (vain,) = [e for e in events if e["kind"] == "charged" and e["seq"] not in released]
    honest = number(epsilon_of(RunRecord(there))["max"])
    for charged, said in ((0.001, None), (9.5, "charges less than the events for 1 release")):
        vain["charged"] = charged
        write_record(there, events, ledger)
        proof = RunRecord(there).proof
        cost = max(line["charged"] for line in proof.lines)
        assert number(epsilon_of(RunRecord(there))["max"]) >= honest * (1 - 1e-9)
        assert cost == pytest.approx(max(charged, ledger[0]["charged"]))
        assert said is None or said in " ".join(proof.words)


def test_an_exported_ledger_that_tells_less_is_noticed(folder: Path, tmp_path: Path) -> None:
    """The record and its export are compared; the dearer of the two counts."""
    there = tmp_path / "run"
    shutil.copytree(folder, there)
    assert RunRecord(there).proof.words == ()
    honest = number(epsilon_of(RunRecord(there))["max"])
    lines = [json.loads(line) for line in (there / "ledger.jsonl").read_text().splitlines()]
    for made, said in (
        ([line | {"charged": 0.1} for line in lines], "otherwise than the record"),
        ([line for line in lines if line["node"] != 2], "lacks 5 releases of agent 2 that the"),
        ([line | {"law": "gaussian"} for line in lines], "otherwise than the record"),
    ):
        (there / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))
        record = RunRecord(there)
        assert said in " ".join(record.proof.words)
        assert number(epsilon_of(record)["max"]) >= honest * (1 - 1e-9)


def first_release(frames: list[tuple[list[int], list[int]]]) -> tuple[int, int]:
    """Return in which frame the first row with a release stands, and where in it."""
    return next(
        (number_, at)
        for number_, (_, words) in enumerate(frames)
        for kind, at, _ in records_of(words)
        if kind == TURN and words[at] >> 8 & RELEASED
    )


BROKEN: dict[str, Any] = {
    "a spend that is not there": (SPEND, lambda _: 999, "release, version or spend cannot be"),
    "an agent without a seat": (3, lambda _: 77, "does not fit its world.json"),
    "more receivers than words": (9, lambda word: word + 1, "do not fit its length"),
    "huge counts": (5, lambda _: (1 << 62) - 1, "do not fit its length"),
    "a negative count": (5, lambda _: -1, "do not fit its length"),
    "more superseded than settled": (5, lambda word: word + (1 << 42), "counts than its row"),
    "more lost than sent": (9, lambda word: word + (1 << 21), "counts than its row"),
    "another number": (1, lambda word: word + 1, "stands after event"),
    "a negative instant": (2, lambda _: -1, "out of range"),
    "a cause before the first": (CAUSE, lambda _: -1, "out of range"),
    "a flag that is none": (0, lambda word: word | 128 << 8, "flags that cannot be together"),
    "another kind": (0, lambda word: word & ~0xFF | 9, "begins no record"),
    "a record without an end": (0, lambda word: word | 1 << 60, "longer than the frame"),
    "no words at all": (0, lambda word: word & 0xFFFF, "begins no record"),
    "too few words": (0, lambda word: word & 0xFFFF | 3 << 16, "too short"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_no_run_can_have_written_is_named(copied: Path, name: str) -> None:
    place, change, said = BROKEN[name]

    number_, at = first_release(frames_of(copied / RECORD))

    def edit(frames: list[tuple[list[int], list[int]]]) -> None:
        words = frames[number_][1]
        words[at + place] = change(words[at + place])

    edit_frames(copied / RECORD, edit)
    with pytest.raises(FolderError, match=said) as told:
        events_of(copied)
    assert f"{RECORD}, frame {number_ + 1} is damaged" in str(told.value)


def test_an_event_that_says_another_number_is_damage(copied: Path) -> None:
    def edit(frames: list[tuple[list[int], list[int]]]) -> None:
        words = frames[0][1]
        at = next(at for kind, at, _ in records_of(words) if kind == EVENT)
        text = np.array(words[at + 4 : at + (words[at] >> 16)], "<i8").tobytes()
        new = text.replace(b'"seq":1,', b'"seq":2,')
        assert new != text
        words[at + 4 : at + (words[at] >> 16)] = np.frombuffer(new, "<i8").tolist()

    edit_frames(copied / RECORD, edit)
    with pytest.raises(FolderError, match="event 1 says that it is another"):
        events_of(copied)


def test_a_head_that_promises_gigabytes_costs_nothing(copied: Path) -> None:
    """The only frame of a file seems torn; what is there of it is read, and no more is asked of the memory."""
    import tracemalloc

    edit_record(copied, events_of(copied), 10**6)
    whole, frames = events_of(copied), frames_of(copied / RECORD)
    assert len(frames) == 1
    frames[0][0][0] = 1 << 55
    put_together(copied / RECORD, frames)
    size = (copied / RECORD).stat().st_size
    tracemalloc.start()
    counted = sum(1 for _ in RunRecord(copied).typed_events())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counted == len(whole)
    assert peak < 12 * size + (4 << 20)


# what is written for other programs


def test_events_and_ledger_are_written_as_lines(folder: Path) -> None:
    told = hush("show", str(folder), "--events", "jsonl")
    assert told.returncode == 0, told.stderr
    assert [json.loads(line) for line in told.stdout.splitlines()] == events_of(folder)
    told = hush("show", str(folder), "--ledger", "jsonl")
    assert told.stdout.encode() == (folder / "ledger.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quickstart", "--events", "jsonl"), "--events needs the folder of a run"),
        (("RUN", "--events", "jsonl", "--ledger", "csv"), "written one at a time"),
        (("RUN", "--events", "csv"), "must be one of its names"),
    ],
)
def test_what_cannot_be_written_is_said(folder: Path, words: tuple[str, ...], said: str) -> None:
    told = hush("show", *(word.replace("RUN", str(folder)) for word in words))
    assert told.returncode == 2
    assert said in told.stderr
    assert not told.stdout


def test_texts_of_a_record_reach_no_terminal_raw(copied: Path) -> None:
    events = events_of(copied)
    events[0]["scenario"] = "\x1b]0;x\x07\x7f\u202e\u0085"
    edit_record(copied, events)
    told = hush("show", str(copied), "--events", "jsonl").stdout
    assert told.isascii()
    assert not set(told) & {chr(c) for c in (*range(10), *range(11, 32), 127)}
    assert "]0;x" in told.splitlines()[0]


def test_a_ledger_of_very_many_releases_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than three, here. The manifest says so, nothing is missing, and it can be written at any time."""
    monkeypatch.setattr(record_writer, "MOST_RELEASES", 3)
    folder = perform(private(run={"seed": 5, "horizon": 3.0}), tmp_path).outcome.folder
    record = RunRecord(folder)
    assert not (folder / "ledger.jsonl").exists()
    note = json.loads((folder / "manifest.json").read_text())["ledger"]
    assert "hush show RUN --ledger jsonl" in note
    assert (record.flaws, record.proof.words) == ((), ())
    told = hush("show", str(folder), "--ledger", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in told] == list(record.proof.lines)
    assert len(told) > 3

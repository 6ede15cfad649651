"""Reads the record of a run, frame by frame: checked by its sums and its structure before anything of it is used.

What a file says is never believed: a frame that is longer than its file, a count that does not fit a row, an agent beyond
the seats, or a gap in the numbers of events is a `FolderError` that names file and frame. Only the last frame of all may be
torn: a run that is killed leaves it so.
"""

import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from actors.events import Charged, Event, Finished, Sampled
from actors.turns import HEAD, SEQ, TURN, Turns, Words, expand
from scenarios.records.event_counts import Counts
from scenarios.records.file_guard import FolderError, Spent, decoded, event_of, guarded, opened
from scenarios.records.ledger_file import charge_in_events, spend_of
from scenarios.records.proven_releases import ReleaseFact, of_releases
from scenarios.records.record_file import (
    BEGIN_BYTES,
    EVENT,
    EVENT_WORDS,
    HEAD_BYTES,
    SPEND,
    SPEND_WORDS,
    WORD,
    Head,
    begin,
    head_of,
    records,
)
from scenarios.records.release_columns import ReleaseColumns, charges_of, end_of_line, text_of
from scenarios.records.row_guard import misfit

_SHORTEST = {TURN: HEAD, EVENT: EVENT_WORDS + 1, SPEND: SPEND_WORDS + 1}
"""The kinds of records, and how many words each has at least."""


_encode = msgspec.json.Encoder().encode


class Single(NamedTuple):
    """An event that is in no row, as it stands in the file."""

    seq: int
    t: int
    spend: int
    """The place of what it charges in the table of spends; -1 where it charges nothing."""
    text: bytes


@dataclass(slots=True)
class SpendTable:
    """The spends of a record, as far as it was read."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    """Each as a line of a ledger has it."""
    ends: list[bytes] = field(default_factory=list)
    """Each as the end of a line of a ledger file, from behind the brace on: in JSON without a line break."""
    charged: list[float | str] = field(default_factory=list)
    """What each charges as events carry it."""
    table: list[None] = field(default_factory=list)
    """An event that was read has no spend."""

    def add(self, line: dict[str, Any]) -> None:
        """Add the next entry."""
        self.lines.append(line)
        self.ends.append(end_of_line(_encode(line)))
        self.charged.append(charge_in_events(line))
        self.table.append(None)


class _Place(NamedTuple):
    """Where a frame stands."""

    file: Path
    number: int
    """Which frame of its file it is, counted from 1."""
    at: int
    """The byte after its head."""
    words: int
    """The words that follow its head, as many as are there."""
    head: Head

    @property
    def is_torn(self) -> bool:
        return self.words < self.head.words

    def __str__(self) -> str:
        return f"{self.file}, frame {self.number}"


class Frame:
    """The records of a frame, in order."""

    def __init__(self, parts: Sequence[Turns | Single], name: str) -> None:
        self.parts = parts
        self.name = name

    @property
    def last(self) -> int:
        """The latest instant; 0 where it has no whole record."""
        return max(
            (int(part.t.max()) if isinstance(part, Turns) else part.t for part in self.parts),
            default=0,
        )


class Record:
    """The record of one run."""

    def __init__(self, files: Sequence[Path], seats: Callable[[], int]) -> None:
        """Take the files in their order; `seats` returns how many agents there can be."""
        self._files = files
        self._seats = seats

    # events

    def typed(self) -> Iterator[Event]:
        """Yield every whole event."""
        spends = SpendTable()
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Single):
                    yield _event(part, frame.name)
                    continue
                for row in part.rows():
                    yield from _expanded(row, spends, frame.name)

    def plain(self) -> Iterator[dict[str, Any]]:
        """Yield every whole event as plain values."""
        spends, plain = SpendTable(), msgspec.to_builtins
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Single):
                    _event(part, frame.name)
                    yield msgspec.json.decode(part.text)
                    continue
                for row in part.rows():
                    for event in _expanded(row, spends, frame.name):
                        yield plain(event)

    def lines(self) -> Iterator[bytes]:
        """Yield every whole event as a line of JSON, many lines at a time."""
        spends, encode = SpendTable(), msgspec.json.Encoder().encode_lines
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Single):
                    _event(part, frame.name)
                    yield _encode(msgspec.json.decode(part.text)) + b"\n"
                    continue
                for row in part.rows():
                    yield encode(_expanded(row, spends, frame.name))

    def counts(self) -> Counts:
        """Count what happened; rows are not expanded."""
        counts, spends = Counts(), SpendTable()
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Single):
                    counts.add(_event(part, frame.name))
                else:
                    counts.add_turns(part)
        return counts

    def sampled(self) -> Iterator[Sampled]:
        """Yield every sample; frames without one are not read, and of the others only the samples."""
        for place in self._places():
            if place.head.holds:
                yield from self._samples_of(place)

    @cached_property
    def last_sample(self) -> Sampled | None:
        """The last sample: read from the end on; None where there is none."""
        for place in reversed(list(self._places())):
            if place.head.holds:
                found = list(self._samples_of(place))
                if found:
                    return found[-1]
        return None

    @cached_property
    def ending(self) -> Finished | None:
        """The `finished` event, where it is the last of all; None where the record does not hold the end of its run."""
        places = deque(self._places(), maxlen=1)
        if not places or places[0].is_torn:
            return None
        frame = self._frame(places[0], None)
        part = frame.parts[-1]
        event = _event(part, frame.name) if isinstance(part, Single) else None
        return event if isinstance(event, Finished) else None

    @property
    def length(self) -> int:
        """The latest instant of a whole event, in nanoseconds; only heads are read."""
        latest = 0
        for place in self._places():
            last = self._frame(place, None).last if place.is_torn else place.head.last
            latest = max(latest, last)
        return latest

    # releases

    def releases(self) -> Iterator[ReleaseFact]:
        """Yield what the events say of releases: rows are not expanded."""
        spends = SpendTable()
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Turns):
                    for seq, t, node, k, place in charges_of(part).T.tolist():
                        yield ReleaseFact("charged", seq, t, node, k, spends.charged[place])
                else:
                    yield from of_releases(part.text, frame.name)

    def ledger(self) -> Iterator[dict[str, Any]]:
        """Yield the ledger's line of every release."""
        yield from self.charges()[0]

    def charges(self) -> tuple[ReleaseColumns, list[ReleaseFact]]:
        """Return the ledger as columns, and what events that are in no row say of releases."""
        spends, columns, facts = SpendTable(), list[Words](), list[ReleaseFact]()
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Turns):
                    columns.append(charges_of(part))
                    continue
                facts += of_releases(part.text, frame.name)
                if part.spend >= 0:
                    event = _charged(part, frame.name)
                    row = [event.seq, event.t, event.node, event.k, part.spend]
                    columns.append(np.array(row, np.int64).reshape(-1, 1))
        found = np.concatenate([np.zeros((5, 0), np.int64), *columns], axis=1)
        seq, t, node, k, place = found
        return ReleaseColumns(seq, t, node, k, place, spends.lines), facts

    def ledger_text(self) -> Iterator[bytes]:
        """Yield the same as lines of JSON, one or many at a time."""
        spends = SpendTable()
        for frame in self.frames(spends):
            for part in frame.parts:
                if isinstance(part, Turns):
                    yield text_of(charges_of(part), spends.ends)
                elif part.spend >= 0:
                    event = _charged(part, frame.name)
                    row = [event.seq, event.t, event.node, event.k, part.spend]
                    yield text_of(np.array(row, np.int64).reshape(-1, 1), spends.ends)

    # frames

    def frames(self, spends: SpendTable) -> Iterator[Frame]:
        """Yield every frame, in order; what each holds is added to the table of spends before it is yielded."""
        for place in self._places():
            yield self._frame(place, spends)

    def _places(self) -> Iterator[_Place]:
        """Yield where each frame stands: only heads are read. Raises `FolderError` where one does not follow the other."""
        last = 0
        for number, path in enumerate(self._files):
            is_last = number == len(self._files) - 1
            with opened(path) as file:
                for place in _places_of(file, path, number, is_last=is_last):
                    if place.head.seq != last + 1:
                        after = f"stands after event {last}" if last else "is the first"
                        raise FolderError(f"{place} is damaged: event {place.head.seq} {after}")
                    last += place.head.events
                    yield place

    def _frame(self, place: _Place, spends: SpendTable | None) -> Frame:
        """Read one frame. Without a table of spends, it is not checked whether spends are there."""
        words = self._words(place)
        return Frame(_Reading(place, words, self._seats(), spends).parts, str(place))

    def _samples_of(self, place: _Place) -> Iterator[Sampled]:
        """Yield the samples of one frame; nothing else of it is looked at."""
        words = self._words(place)
        for kind, at, length in _records(place, words):
            if kind != EVENT:
                continue
            single = _single(words, at, length)
            event = _event(single, str(place)) if b'"sampled"' in single.text else None
            if isinstance(event, Sampled):
                yield event

    def _words(self, place: _Place) -> Words:
        """Return the words of one frame, which are what its checksum says."""
        with opened(place.file) as file:
            file.seek(place.at)
            data = file.read(place.words * WORD)
        if len(data) < place.words * WORD:
            raise FolderError(f"{place} is damaged: it became shorter while it was read")
        if not place.is_torn and zlib.crc32(data) != place.head.check:
            raise FolderError(f"{place} is damaged: its words are not what its checksum says")
        words: Words = np.frombuffer(data, "<i8").astype(np.int64, copy=False)
        return words


def _places_of(file: Any, path: Path, number: int, *, is_last: bool) -> Iterator[_Place]:
    size = os.fstat(file.fileno()).st_size
    first = file.read(BEGIN_BYTES)
    if first != begin(number)[: len(first)] or (len(first) < BEGIN_BYTES and not is_last):
        raise FolderError(f"{path} is damaged: it is not file {number} of a record that hush reads")
    at, frames = len(first), 0
    while at < size:
        frames += 1
        file.seek(at)
        data = file.read(HEAD_BYTES)
        whole = len(data) == HEAD_BYTES
        head = head_of(data) if whole else None
        if whole and head is None:
            raise FolderError(f"{path} is damaged: frame {frames} has a head that cannot be")
        at += HEAD_BYTES
        there = max(0, size - at) // WORD
        if (head is None or head.words > there) and not is_last:
            raise FolderError(
                f"{path} is damaged: it ends in frame {frames}, and more files follow"
            )
        if head is None:
            return
        yield _Place(path, frames, at, min(head.words, there), head)
        at += head.words * WORD


class _Reading:
    """Checks the records of one frame: their places first, then all rows at once, then one after the other."""

    def __init__(self, place: _Place, words: Words, seats: int, spends: SpendTable | None) -> None:
        self._place, self._words, self._spends = place, words, spends
        self._known = None if spends is None else len(spends.lines)
        self._found = list(_records(place, words))
        starts = [at for kind, at, _ in self._found if kind == TURN]
        before = self._spends_before()
        turns = Turns(words, np.array(starts, np.int64))
        why = misfit(turns, seats, before)
        if why:
            raise self._error(why)
        self._check_numbers(turns)
        self.parts = list(self._parts())
        if not place.is_torn:
            self._compare()

    def _error(self, why: str) -> FolderError:
        return FolderError(f"{self._place} is damaged: {why}")

    def _spends_before(self) -> Words | None:
        """Return how many spends stand before each row; None where that is not known."""
        if self._known is None:
            return None
        kinds = np.array([kind for kind, _, _ in self._found], np.int64)
        before: Words = (self._known + np.cumsum(kinds == SPEND))[kinds == TURN]
        return before

    def _check_numbers(self, turns: Turns) -> None:
        """Refuse events that do not follow each other."""
        kinds = np.array([kind for kind, _, _ in self._found], np.int64)
        starts = np.array([at for _, at, _ in self._found], np.int64)
        counts = (kinds == EVENT).astype(np.int64)
        counts[kinds == TURN] = turns.events
        told = kinds != SPEND
        numbers, counts = self._words[starts[told] + SEQ], counts[told]
        expected = self._place.head.seq + np.cumsum(counts) - counts
        wrong = np.flatnonzero(numbers != expected)
        if len(wrong):
            found, before = int(numbers[wrong[0]]), int(expected[wrong[0]]) - 1
            raise self._error(f"event {found} stands after event {before}")
        self._events = int(counts.sum())

    def _parts(self) -> Iterator[Turns | Single]:
        rows, first = list[int](), 0
        for kind, at, length in self._found:
            if kind == TURN:
                first = first if rows else at
                rows.append(at - first)
                end = at + length
                continue
            if rows:
                yield Turns(self._words[first:end], np.array(rows, np.int64))
                rows = []
            if kind == EVENT:
                yield self._event(at, length)
            else:
                self._spend(at, length)
        if rows:
            yield Turns(self._words[first:end], np.array(rows, np.int64))

    def _event(self, at: int, length: int) -> Single:
        single = _single(self._words, at, length)
        spends = None if self._spends is None else len(self._spends.lines)
        if single.t < 0 or single.spend < -1 or (spends is not None and single.spend >= spends):
            raise self._error(f"event {single.seq}: its instant or its spend cannot be")
        return single

    def _spend(self, at: int, length: int) -> None:
        if self._spends is None:
            return
        place = int(self._words[at + 1])
        if place != len(self._spends.lines):
            raise self._error(f"spend {place} stands after {len(self._spends.lines)} others")
        text, what = (
            _text(self._words, at + SPEND_WORDS, at + length),
            f"{self._place}, spend {place}",
        )
        line = decoded(text, what, Spent)
        with guarded(what):
            spend_of(line)
        self._spends.add(line)

    def _compare(self) -> None:
        """Refuse a frame that does not hold what its head says."""
        head, (_, at, length) = self._place.head, self._found[-1]
        if at + length != len(self._words):
            raise self._error("its last record is longer than the frame")
        if self._events != head.events:
            raise self._error(f"it has {self._events} events and not {head.events}")
        last = Frame(self.parts, "").last
        if last != head.last:
            raise self._error(f"its latest instant is {last} and not {head.last}")


def _records(place: _Place, words: Words) -> Iterator[tuple[int, int, int]]:
    """Yield kind, place and length of each whole record of a frame; none is shorter than its kind must be."""
    view = memoryview(words)  # type: ignore[arg-type] # an array is one
    try:
        for kind, at, length in records(view.__getitem__, len(words)):
            if length < _SHORTEST[kind]:
                raise FolderError(
                    f"{place} is damaged: word {at} begins a record that is too short"
                )
            yield kind, at, length
    except FolderError:
        raise
    except ValueError as error:
        raise FolderError(f"{place} is damaged: {error}") from None


def _single(words: Words, at: int, length: int) -> Single:
    seq, t, spend = words[at + 1 : at + EVENT_WORDS].tolist()
    return Single(seq, t, spend, _text(words, at + EVENT_WORDS, at + length))


def _text(words: Words, at: int, end: int) -> bytes:
    return words[at:end].astype("<i8", copy=False).tobytes()


def _event(single: Single, name: str) -> Event:
    """Return the event that a record holds; raise `FolderError` where it is none, or another."""
    event = event_of(single.text, name)
    if (event.seq, event.t) != (single.seq, single.t):
        raise FolderError(f"{name} is damaged: event {single.seq} says that it is another")
    return event


def _charged(single: Single, name: str) -> Charged:
    """Return the event of a charge; raise `FolderError` where a spend stands with another event."""
    event = _event(single, name)
    if not isinstance(event, Charged) or event.node is None:
        raise FolderError(f"{name} is damaged: event {single.seq} is no charge, and has a spend")
    return event


def _expanded(row: Sequence[int], spends: SpendTable, name: str) -> list[Event]:
    try:
        return expand(row, spends)
    except KeyError:
        seq = row[1]
        raise FolderError(
            f"{name} is damaged: event {seq} supersedes what was never read"
        ) from None

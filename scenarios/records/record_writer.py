"""The one writer of a run's record on disk: batches of rows and events become frames."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from actors.events import Charged, Event, Sampled
from actors.log import Batch
from actors.turns import SPEND, Spends, Turns, Words
from scenarios.records.ledger_file import line_of
from scenarios.records.record_file import (
    MOST_WORDS,
    WORD,
    begin,
    event_record,
    frame,
    spend_record,
    whole_records,
)
from scenarios.records.release_columns import charges_of, end_of_line, text_of
from scenarios.records.run_folder import record_segment
from scenarios.records.stream import Stream

SEGMENT_BYTES = 64 << 20
MOST_RELEASES = 1_000_000
"""The ledger of a run with more releases is not exported at its end: it would be a quarter of a gigabyte or more."""
_NONE = -1


class RecordWriter:
    """Appends batches to the files of a record, a write for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._encoder = msgspec.json.Encoder()
        self.streams = [self._open(0)]
        """The files, of which only the last one grows."""
        self._live: Spends | None = None
        self._places = np.zeros(0, np.int64)
        """For each place in the table of the run, the place in that of the file; -1 where it has none yet."""
        self._known: dict[bytes, int] = {}
        """For each spend in the file, as it stands there, its place."""
        self._ledger = _Ledger()
        self._empty()

    def _open(self, number: int) -> Stream:
        stream = Stream(self._folder / record_segment(number), whole_records)
        stream.write(begin(number))
        return stream

    def _empty(self) -> None:
        self._pieces: list[bytes | tuple[int, int]] = []
        """Records, or from where to where the words of the batch's rows are meant."""
        self._words = self._events = self._first = self._last = 0
        self._has_sample = False

    def add(self, batch: Batch) -> None:
        """Append a batch; what is written survives SIGKILL. Raises `DiskFull` where the disk takes no more."""
        if batch.spends is not self._live:
            self._live, self._places = batch.spends, np.zeros(0, np.int64)
        rows = _BatchRows(batch.turns)
        new = rows.needing(self._grown(rows.most_spends))
        at = 0
        for part in batch.parts:
            if not isinstance(part, Turns):
                self._add_event(part, rows)
                continue
            first, at = at, at + len(part)
            while first < at:
                end = rows.end_of_frame(first, at)
                self._add_turns(rows, first, end, new)
                first = end
        self._write(rows)
        self._ledger.add(rows.charges(self._places))

    @property
    def releases(self) -> int:
        """How many releases were charged."""
        return self._ledger.releases

    def ledger_text(self) -> Iterator[bytes]:
        """Yield the ledger's lines, many at a time. Raises `ValueError` where there are more than `MOST_RELEASES`."""
        return self._ledger.text([*map(end_of_line, self._known)])

    def _add_event(self, event: Event, rows: "_BatchRows") -> None:
        self._note(event.seq, 1, event.t, rows)
        place = _NONE
        if isinstance(event, Charged):
            assert event.spend is not None, "a live event has its spend"  # noqa: S101
            assert self._live is not None, "it is there since the batch is"  # noqa: S101
            live = self._live.place(event.spend)
            self._grown(live + 1)
            self._tell(live)
            place = int(self._places[live])
            self._ledger.add_single(event, place)
            event = event.as_recorded
        self._has_sample |= isinstance(event, Sampled)
        self._append(event_record(event.seq, event.t, place, self._encoder.encode(event)))

    def _add_turns(
        self, rows: "_BatchRows", first: int, end: int, new: deque[tuple[int, int]]
    ) -> None:
        """Append some rows of a batch, and new spends right before the rows that need them.

        `new` are the places of rows that may be the first to need a spend, with this; those that were passed are taken out.
        """
        seq, events, last = rows.facts(first, end)
        self._note(seq, events, last, rows)
        at = first
        while new and new[0][0] < end:
            row, live = new.popleft()
            if self._places[live] == _NONE:
                self._append_rows(rows, at, row)
                self._tell(live)
                at = row
        self._append_rows(rows, at, end)

    def _append_rows(self, rows: "_BatchRows", first: int, end: int) -> None:
        start, stop = rows.words_between(first, end)
        if start < stop:
            self._pieces.append((start, stop))
            self._words += stop - start

    def _append(self, record: bytes) -> None:
        self._pieces.append(record)
        self._words += len(record) // WORD

    def _grown(self, size: int) -> Words:
        """Return the table of places, for so many spends at least."""
        missing = size - len(self._places)
        if missing > 0:
            more = np.full(max(missing, len(self._places)), _NONE, np.int64)
            self._places = np.concatenate([self._places, more])
        return self._places

    def _tell(self, live: int) -> None:
        """Give a spend of the run its place in the file; it is written where the file does not have it yet."""
        if self._places[live] != _NONE:
            return
        assert self._live is not None, "it is there since the batch is"  # noqa: S101
        text = self._encoder.encode(line_of(self._live.table[live]))
        place = self._known.get(text)
        if place is None:
            place = self._known[text] = len(self._known)
            self._append(spend_record(place, text))
        self._places[live] = place

    def _note(self, seq: int, events: int, last: int, rows: "_BatchRows") -> None:
        if self._words > MOST_WORDS:
            self._write(rows)
        self._first = self._first or seq
        self._events += events
        self._last = max(self._last, last)

    def _write(self, rows: "_BatchRows") -> None:
        """Write what was collected as one frame, into a new file where the last one is full."""
        if not self._events:
            return
        words = rows.as_bytes(self._places)
        pieces = [
            piece if isinstance(piece, bytes) else words[piece[0] * WORD : piece[1] * WORD]
            for piece in self._pieces
        ]
        facts = self._first, self._events, self._last
        data = frame(b"".join(pieces), *facts, holds_sample=self._has_sample)
        self._empty()
        if self.streams[-1].size > SEGMENT_BYTES:
            self.streams[-1].synchronise()
            self.streams[-1].close()
            self.streams.append(self._open(len(self.streams)))
        self.streams[-1].write(data)


class _Ledger:
    """All charges of a run as numbers, for the export at its end; beyond `MOST_RELEASES` they are only counted."""

    def __init__(self) -> None:
        self.releases = 0
        self._parts: list[Words] = []
        self._singles: list[list[int]] = []
        """Charges of the batch that are in no row."""

    def add_single(self, event: Charged, place: int) -> None:
        assert event.node is not None, "an agent is charged"  # noqa: S101
        self._singles.append([event.seq, event.t, event.node, event.k, place])

    def add(self, charges: Words) -> None:
        """Take the charges in the rows of a batch, after those of its single events."""
        if self._singles:
            charges = np.concatenate([charges, np.array(self._singles, np.int64).T], axis=1)
            charges = charges[:, np.argsort(charges[0])]
            self._singles = []
        self.releases += charges.shape[1]
        if self.releases > MOST_RELEASES:
            self._parts = []
        elif charges.shape[1]:
            self._parts.append(charges)

    def text(self, ends: Sequence[bytes]) -> Iterator[bytes]:
        if self.releases > MOST_RELEASES:
            raise ValueError(f"{self.releases} releases are more than are kept")
        return (text_of(charges, ends) for charges in self._parts)


class _BatchRows:
    """All rows of a batch, and which spends they need."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        released = np.flatnonzero(turns.released)
        self._released = released
        self.spends = turns.spend[released]
        """The places in the table of the run that rows refer to, in order."""
        self.most_spends = int(self.spends.max(initial=_NONE)) + 1
        self._events = turns.events
        self._ends = np.append(turns.starts, len(turns.words))

    def needing(self, places: Words) -> deque[tuple[int, int]]:
        """Return, in order, the rows that are the first to need a spend without a place, with this."""
        new = np.flatnonzero(places[self.spends] == _NONE)
        if not len(new):
            return deque()
        firsts = new[np.sort(np.unique(self.spends[new], return_index=True)[1])]
        return deque(
            zip(self._released[firsts].tolist(), self.spends[firsts].tolist(), strict=True)
        )

    def end_of_frame(self, first: int, end: int) -> int:
        """Return where rows that begin at one place fill a frame, if they do before the `end`: at least one stands in it."""
        start, stop = self.words_between(first, end)
        if stop - start <= MOST_WORDS:
            return end
        return max(first + 1, int(np.searchsorted(self._ends, start + MOST_WORDS)))

    def charges(self, places: Words) -> Words:
        """Return all charges, with the places of spends in the file."""
        charges = charges_of(self._turns)
        charges[-1] = places[self.spends]
        return charges

    def facts(self, first: int, end: int) -> tuple[int, int, int]:
        """Return the first number, the number of events and the latest instant of some rows."""
        turns = self._turns
        last, events = int(turns.t[first:end].max()), int(self._events[first:end].sum())
        return int(turns.seq[first]), events, last

    def words_between(self, first: int, end: int) -> tuple[int, int]:
        """Return from where to where the words of some rows stand."""
        return int(self._ends[first]), int(self._ends[end])

    def as_bytes(self, places: Words) -> memoryview:
        """Return all words, with the places of spends in the file."""
        words, told = self._turns.words, places[self.spends]
        if not np.array_equal(told, self.spends):
            words = words.copy()
            words[self._turns.starts[self._released] + SPEND] = told
        return memoryview(np.ascontiguousarray(words, "<i8")).cast("B")  # type: ignore[arg-type] # an array is one

"""Reads the events of a folder of before hush 0.9: JSON lines, `events-00000.jsonl` …, beside a ledger file."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from actors.events import Event, Sampled
from scenarios.records.event_counts import Counts
from scenarios.records.file_guard import Charge, FolderError, decoded, event_of
from scenarios.records.proven_releases import ReleaseFact, of_releases

_TAIL = 1 << 20
"""So many bytes of the end of a file are read first to find its last event."""


class EventLines:
    """The events of one run, and its ledger file."""

    def __init__(self, files: Sequence[Path], ledger: Path) -> None:
        self._files = files
        self._ledger = ledger

    def typed(self) -> Iterator[Event]:
        """Yield every whole event."""
        return (event for _, event in self._events())

    def plain(self) -> Iterator[dict[str, Any]]:
        """Yield every whole event as plain values."""
        return (msgspec.json.decode(line) for line, _ in self._events())

    def singles(self) -> Iterator[Event]:
        """Yield every whole event: none of them is in a row."""
        return self.typed()

    def counts(self) -> Counts:
        """Count what happened."""
        counts = Counts()
        for event in self.typed():
            counts.add(event)
        return counts

    def lines(self) -> Iterator[bytes]:
        """Yield every whole event as a line of JSON."""
        return (line for line, _ in self._events())

    def _events(self) -> Iterator[tuple[bytes, Event]]:
        """Yield every whole line, and the event that it holds.

        Raises `FolderError` where an event is missing: events are numbered from 1 without a gap, so that what was cut out
        of a record (releases, say) is not counted as if it had never been.
        """
        last = 0
        for file, line in self._whole_lines():
            event = event_of(line, file)
            if event.seq != last + 1:
                after = f"stands after event {last}" if last else "is the first"
                raise FolderError(f"{file} is damaged: event {event.seq} {after}")
            last = event.seq
            yield line, event

    def _whole_lines(self) -> Iterator[tuple[Path, bytes]]:
        for path in self._files:
            with path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    yield path, line

    def sampled(self) -> Iterator[Sampled]:
        """Yield every sample; no other event is decoded."""
        for path, line in self._whole_lines():
            if b'"sampled"' in line:
                event = event_of(line, path)
                if isinstance(event, Sampled):
                    yield event

    @cached_property
    def last_sample(self) -> Sampled | None:
        """The last sample: read from the end on, as far back as it takes; None where there is none."""
        for path, lines in self._tails():
            for line in reversed(lines):
                event = event_of(line, path) if b'"sampled"' in line else None
                if isinstance(event, Sampled):
                    return event
        return None

    @property
    def length(self) -> int:
        """The instant of the last whole event, in nanoseconds: read from the end on, as far back as it takes."""
        for path, lines in self._tails():
            instants = [event_of(line, path).t for line in lines]
            if instants:
                return max(instants)
        return 0

    def _tails(self) -> Iterator[tuple[Path, list[bytes]]]:
        """Yield the whole lines at the end of each file, the last file first, and again with more before them."""
        for path in reversed(self._files):
            with path.open("rb") as file:
                size, tail = path.stat().st_size, _TAIL
                while True:
                    file.seek(max(0, size - tail))
                    if tail < size:
                        file.readline()
                    yield path, list(_until_cut(file))
                    if tail >= size:
                        break
                    tail *= 8

    def releases(self) -> Iterator[ReleaseFact]:
        """Yield what the whole events say of releases; most say nothing, and are not decoded."""
        for path, line in self._whole_lines():
            yield from of_releases(line, str(path))

    def ledger(self) -> Iterator[dict[str, Any]]:
        """Yield the whole lines of the ledger file; none where it is missing."""
        yield from lines_of_ledger(self._ledger)

    def ledger_text(self) -> Iterator[bytes]:
        """Yield the whole lines of the ledger file as they stand in it."""
        yield from text_of_ledger(self._ledger)


def text_of_ledger(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a ledger file as they stand in it; none where it is missing."""
    if not path.exists():
        return
    with path.open("rb") as file:
        yield from _until_cut(file)


def lines_of_ledger(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a ledger file; none where it is missing."""
    return (decoded(line, path, Charge) for line in text_of_ledger(path))


def _until_cut(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines up to one that was cut off."""
    for line in lines:
        if not line.endswith(b"\n"):
            return
        yield line

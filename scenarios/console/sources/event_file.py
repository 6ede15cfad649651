"""The events of a recording as they stand in its files: whole ones, in their order."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from actors.events import Event
from scenarios.records.file_guard import event_of
from scenarios.records.run_folder import segments, whole

_TAIL = 1 << 20


def length(path: Path) -> int:
    """Return the instant of the last whole event: read from the end on, as far back as it takes."""
    for segment in reversed(segments(path)):
        with segment.open("rb") as file:
            size, tail = segment.stat().st_size, _TAIL
            while True:
                file.seek(max(0, size - tail))
                if tail < size:
                    file.readline()
                found = [e.t for e in _whole(file, segment)]
                if found:
                    return max(found)
                if tail >= size:
                    break
                tail *= 8
    return 0


def read(path: Path) -> Iterator[Event]:
    """Yield every whole event."""
    for _, event in whole(path):
        yield event


def _whole(lines: Iterable[bytes], segment: Path) -> Iterator[Event]:
    """Yield the events of lines, up to one that was cut off."""
    for line in lines:
        if not line.endswith(b"\n"):
            return
        yield event_of(line, segment)

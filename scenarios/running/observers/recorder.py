"""Writes what happens: events in segments, ledger lines, metrics; and the two digests."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from actors.events import Charged, Diverged, Event, Sampled
from mechanisms.accounting.spend import Spend
from scenarios.language.json_numbers import exact_seconds
from scenarios.records.ledger_file import line_of
from scenarios.records.run_folder import INPUTS, LEDGER, METRICS, segment
from scenarios.running.observers.schedule_rows import VERSION, Schedule

_OBSERVED = frozenset((Sampled, Diverged))
SEGMENT_BYTES = 64 << 20


class DiskFull(OSError):
    """The disk took no more; what is there is whole."""


Mark = tuple[int, Any]
"""A place in a stream: its length in bytes, and the checksum of what stands before it."""


class Stream:
    """An append-only file of whole lines. Short writes do not raise: they are noticed here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.digest = hashlib.sha256()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)

    def write(self, data: bytes) -> None:
        """Append lines; on a full disk keep the whole ones and say so."""
        at = 0
        try:
            while at < len(data):
                at += os.write(self._file, data[at:])
        except OSError as error:
            kept = data.rfind(b"\n", 0, at) + 1
            os.ftruncate(self._file, self.size + kept)
            self._note(data[:kept])
            raise DiskFull(error.errno, f"{error.strerror}: {self.path.name}") from None
        self._note(data)

    def _note(self, data: bytes) -> None:
        self.size += len(data)
        self.digest.update(data)

    def mark(self) -> Mark:
        """Return where the file ends now: `cut` takes it back to there."""
        return self.size, self.digest.copy()

    def cut(self, mark: Mark) -> None:
        """Take back what was written since a mark, from the file and from its checksum."""
        size, digest = mark
        os.ftruncate(self._file, size)
        self.size, self.digest = size, digest.copy()

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Recorder:
    """Folds batches; what it was handed survives SIGKILL."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._encoder = msgspec.json.Encoder()
        self._spends: dict[int, tuple[Spend, bytes]] = {}
        self._segments = [Stream(folder / segment(0))]
        self._ledger = Stream(folder / LEDGER)
        self._metrics = Stream(folder / METRICS)
        self._inputs = Stream(folder / INPUTS)
        self._metrics.write(b"t,node,metric,value\n")
        self._sampled: tuple[int, Mark] | None = None
        """The instant of the newest rows of metrics.csv, and where they begin."""
        self._schedule = Schedule()
        self._diverged: dict[int, int] = {}
        """The agents that diverged, in their order, and when each first did."""
        self._values = hashlib.sha256()

    def fold(self, batch: list[Event]) -> None:
        """Take a batch of events, in order.

        Ledger lines are written first: wherever the process is killed, or the disk takes no more, no event stands in
        the files without the charge that it rests on. A write counts as durable when the operating system has taken it.
        """
        charges = [event for event in batch if type(event) is Charged]
        if charges:
            self._ledger.write(b"".join(map(self._ledger_line, charges)))
        recorded = [event.as_recorded if type(event) is Charged else event for event in batch]
        self._write(self._encoder.encode_lines(recorded))
        self._schedule.fold(batch)
        for event in batch:
            if type(event) in _OBSERVED:
                self._observe(event)

    def _write(self, data: bytes) -> None:
        """Write lines of events, into a new segment where the last one is full."""
        if self._segments[-1].size > SEGMENT_BYTES:
            self._segments[-1].close()
            self._segments.append(Stream(self._folder / segment(len(self._segments))))
        self._segments[-1].write(data)

    def _observe(self, event: Event) -> None:
        """Record the metrics of a sample, and the agents that diverge."""
        if isinstance(event, Sampled):
            self._measured(event)
            self._values.update(self._encoder.encode(event.values))
        elif isinstance(event, Diverged) and event.node is not None:
            self._diverged.setdefault(event.node, event.t)

    def _ledger_line(self, event: Charged) -> bytes:
        spend = event.spend
        assert spend is not None, "a live event has its spend"  # noqa: S101
        known = self._spends.get(id(spend))
        if known is None or known[0] is not spend:
            text = self._encoder.encode(line_of(spend))[1:] + b"\n"
            known = self._spends[id(spend)] = spend, text
        head = f'{{"seq":{event.seq},"t":{event.t},"node":{event.node},"k":{event.k},'
        return head.encode() + known[1]

    def _measured(self, event: Sampled) -> None:
        """Write a sample's rows: an instant, an agent and a metric name one of them.

        The end of a run has a sample of its own. Where it comes at the instant of an ordinary one
        it holds all that the other does, and more: it takes the other's place.
        """
        if self._sampled is not None and self._sampled[0] == event.t:
            self._metrics.cut(self._sampled[1])
        self._sampled = event.t, self._metrics.mark()
        self._metrics.write(_rows(event))

    def note(self, inputs: Sequence[dict[str, Any]]) -> None:
        """Write down what a person did."""
        self._inputs.write(self._encoder.encode_lines(inputs))

    def values(self, array: Any) -> None:
        """Add the bits of an array to the value digest."""
        self._values.update(np.ascontiguousarray(array).tobytes())

    def digests(self) -> dict[str, Any]:
        """Return both digests of what was recorded so far, and their version.

        `conditional` is there where an agent diverged: float bits decided when, and with that the schedule.
        """
        digests = {
            "version": VERSION,
            "schedule": self._schedule.hexdigest(),
            "value": self._values.hexdigest(),
        }
        if not self._diverged:
            return digests
        first, t = next(iter(self._diverged.items()))
        agents = len(self._diverged)
        return {
            **digests,
            "conditional": {"on": "divergence", "agents": agents, "first": first, "t": t},
        }

    def hashes(self) -> dict[str, str]:
        """Return the sha256 of every stream."""
        return {stream.path.name: stream.digest.hexdigest() for stream in self._streams()}

    def close(self) -> None:
        """Close every stream."""
        for stream in self._streams():
            stream.close()

    @property
    def bytes_written(self) -> int:
        """How much is on the disk."""
        return sum(stream.size for stream in self._streams())

    def _streams(self) -> list[Stream]:
        return [*self._segments, self._ledger, self._metrics, self._inputs]


def _rows(event: Sampled) -> bytes:
    """Return a sample as rows of metrics.csv; the node is empty for the network."""
    t = exact_seconds(event.t)
    rows = []
    for name, value in event.values.items():
        if isinstance(value, list):
            rows += [f"{t},{i},{name},{'' if v is None else v}" for i, v in enumerate(value)]
        else:
            rows.append(f"{t},,{name},{'' if value is None else value}")
    return ("\n".join(rows) + "\n").encode()

"""Writes what happens: events in segments, ledger lines, metrics; and the two digests."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from actors.events import Diverged, Event, Sampled
from actors.log import Batch
from scenarios.records.metric_rows import HEADER, rows_of
from scenarios.records.record_writer import RecordWriter
from scenarios.records.run_folder import INPUTS, METRICS
from scenarios.records.stream import Mark, Stream
from scenarios.running.observers.schedule_rows import VERSION, Schedule

_OBSERVED = frozenset((Sampled, Diverged))


class Recorder:
    """Folds batches; what it was handed survives SIGKILL."""

    def __init__(self, folder: Path) -> None:
        self._encoder = msgspec.json.Encoder()
        self.record = RecordWriter(folder)
        self._metrics = Stream(folder / METRICS)
        self._inputs = Stream(folder / INPUTS)
        self._metrics.write(HEADER)
        self._sampled: tuple[int, Mark] | None = None
        """The instant of the newest rows of metrics.csv, and where they begin."""
        self._schedule = Schedule()
        self._diverged: dict[int, int] = {}
        """The agents that diverged, in their order, and when each first did."""
        self._values = hashlib.sha256()

    def fold(self, batch: Batch) -> None:
        """Take a batch, in order.

        A write counts as durable when the operating system has taken it. Wherever the process is killed, or the disk takes
        no more, no event stands in the files without the charge that it rests on.
        """
        self.record.add(batch)
        self._schedule.fold(batch)
        for event in batch.singles:
            if type(event) in _OBSERVED:
                self._observe(event)

    def _observe(self, event: Event) -> None:
        """Record the metrics of a sample, and the agents that diverge."""
        if isinstance(event, Sampled):
            self._measured(event)
            self._values.update(self._encoder.encode(event.values))
        elif isinstance(event, Diverged) and event.node is not None:
            self._diverged.setdefault(event.node, event.t)

    def _measured(self, event: Sampled) -> None:
        """Write a sample's rows: an instant, an agent and a metric name one of them.

        The end of a run has a sample of its own. Where it comes at the instant of an ordinary one
        it holds all that the other does, and more: it takes the other's place.
        """
        if self._sampled is not None and self._sampled[0] == event.t:
            self._metrics.cut(self._sampled[1])
        self._sampled = event.t, self._metrics.mark()
        for rows in rows_of(event.t, event.values):
            self._metrics.write(rows)

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

    def synchronise(self) -> None:
        """Wait until the record is on the disk: what is written at the end of a run rests on it."""
        self.record.streams[-1].synchronise()

    def close(self) -> None:
        """Close every stream."""
        for stream in self._streams():
            stream.close()

    @property
    def bytes_written(self) -> int:
        """How much is on the disk."""
        return sum(stream.size for stream in self._streams())

    def _streams(self) -> list[Stream]:
        return [*self.record.streams, self._metrics, self._inputs]

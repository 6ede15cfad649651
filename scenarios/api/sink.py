"""What a program that tracks experiments is told of a run: one protocol, and one frozen record for each program.

The records stand in `scenarios/api/sinks/`. A sink is told plain numbers and texts, and knows nothing of records of hush.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenarios.planning.kinds import Family
from scenarios.records.whole_file import writing

Setting = str | float | int | bool


@dataclass(frozen=True, slots=True)
class Header:
    """What a run is called, and what it was run with."""

    name: str
    group: str
    """The sweep that it belongs to; empty for a run alone."""
    settings: Mapping[str, Setting]
    """Every key of the resolved scenario, dotted."""
    tags: Mapping[str, str]
    """How it ended, the terms of its ε, digests and versions."""


class Sink(Protocol):
    """One run that is being written. `begin` comes first, then `log` for each sample, then `end`, also where `log` raised."""

    def begin(self, header: Header) -> None:
        """Open the run."""
        ...

    def log(self, step: int, t: float, values: Mapping[str, float]) -> None:
        """Write the metrics of one sample, the first of which has step 0; t is simulated time in seconds.

        A value may be infinite; one that is not there has no entry.
        """
        ...

    def end(self, summary: Mapping[str, Setting], files: Sequence[Path]) -> None:
        """Write the figures of the end and some small files of text, and close the run."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """Where runs are written to."""

    place: str
    """A folder; with `online` what the program takes for a server."""
    project: str
    online: bool
    """Whether the user said that something may leave this machine."""

    @property
    def folder(self) -> Path:
        """The folder, which is made if need be. Raises `FolderError` where it cannot be."""
        path = Path(self.place)
        with writing(path, "made"):
            path.mkdir(parents=True, exist_ok=True)
        return path


@dataclass(frozen=True, slots=True)
class SinkKind:
    """A program that tracks experiments."""

    name: str
    words: str
    """What is written, for the documentation."""
    open: Callable[[Target], Sink]
    """Raises `MissingPackage` where the program's package is not installed."""
    can_be_online: bool


SINKS: Family[SinkKind] = Family("scenarios.api.sinks", SinkKind)
"""Every program by its name."""

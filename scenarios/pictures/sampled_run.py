"""What pictures need of a run's events: its samples, the windows of its faults, and when agents were exhausted."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median_high
from typing import Any

import numpy as np

from actors.events import (
    FaultBegan,
    FaultEnded,
    Refused,
    RoundAborted,
    RoundClosed,
    Sampled,
    Spent,
    Woke,
)
from mechanisms.vectors import Vector
from scenarios.language.json_numbers import number
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord

_MOST = 1e150
AXES = ("time", "rounds", "updates", "releases", "bytes", "epsilon")
"""What a metric of a run may be drawn against."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The metrics of one instant, and what was counted until then."""

    time: float
    """In seconds of simulated time."""
    values: dict[str, Any]
    updates: int
    served: int
    """Rounds that a server ended."""
    woken: int
    """Wakes of the median agent, the higher one of two."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant between samples: in seconds, and the place of the first sample that shows it."""

    time: float
    sample: int


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when a fault lasted; it lasts to the end of the run where `ends` is None."""

    fault: int
    action: str
    begins: Mark
    ends: Mark | None


class SampledRun:
    """The samples of a run in their order, with marks between them. Events are read once, when first asked for.

    Of two samples between which nothing happened the later stands for both. Raises `FolderError` where the run has none.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record

    @cached_property
    def _read(self) -> tuple[list[Sample], list[Window], list[Mark]]:
        with guarded(self.record.path):
            return self._scan()

    def _scan(self) -> tuple[list[Sample], list[Window], list[Mark]]:
        samples: list[Sample] = []
        wakes: Counter[int | None] = Counter()
        opened: dict[int, FaultBegan] = {}
        began: dict[int, Mark] = {}
        windows: list[Window] = []
        exhausted: dict[int | None, Mark] = {}
        rounds, former = 0, (-1, -1, -1)
        for event in self.record.typed_events():
            match event:
                case Woke():
                    wakes[event.node] += 1
                case RoundClosed() | RoundAborted():
                    rounds += 1
                case Sampled():
                    state = event.t, wakes.total(), rounds
                    if state == former:
                        samples.pop()
                    woken = median_high(wakes.values()) if wakes else 0
                    values = dict(event.values)
                    samples.append(Sample(event.t / 1e9, values, state[1], rounds, woken))
                    former = state
                case FaultBegan():
                    opened[event.seq] = event
                    began[event.seq] = Mark(event.t / 1e9, len(samples))
                case FaultEnded():
                    if event.cause in opened:
                        start = opened.pop(event.cause)
                        end = Mark(event.t / 1e9, len(samples))
                        first = began[event.cause]
                        windows.append(Window(start.fault, start.action, first, end))
                case Spent() | Refused():
                    exhausted.setdefault(event.node, Mark(event.t / 1e9, len(samples)))
        windows += [Window(e.fault, e.action, began[seq], None) for seq, e in opened.items()]
        samples += self._unsampled_end(wakes, rounds)
        if not samples:
            raise FolderError(f"{self.record.path} holds no samples to draw")
        _settle(samples)
        return samples, sorted(windows, key=lambda w: w.begins.time), list(exhausted.values())

    def _unsampled_end(self, wakes: "Counter[int | None]", rounds: int) -> Iterator[Sample]:
        """Yield what is known of the last instant of a run without an end: ε, releases and messages, and no model."""
        end = self.record.unsampled_end
        if end is not None:
            woken = median_high(wakes.values()) if wakes else 0
            yield Sample(end.t / 1e9, dict(end.values), wakes.total(), rounds, woken)

    @property
    def samples(self) -> list[Sample]:
        """The samples, at least one."""
        return self._read[0]

    @property
    def windows(self) -> list[Window]:
        """The windows of faults, by their beginnings."""
        return self._read[1]

    @property
    def exhausted(self) -> list[Mark]:
        """For each agent that made its last release, the first instant at which it was spent or refused."""
        return self._read[2]

    @property
    def last(self) -> dict[str, Any]:
        """The values of the last sample; of a run without an end, with what its record proves of its last instant."""
        return self.record.last_sample if self.record.unsampled_end else self.samples[-1].values

    def axis(self, x: str) -> Vector:
        """Return where each sample stands on an axis; raise `FolderError` where the run has no such axis."""
        match x:
            case "time":
                return np.array([s.time for s in self.samples])
            case "updates":
                return np.array([s.updates for s in self.samples], dtype=float)
            case "rounds":
                return self._rounds()
            case "releases":
                return np.array([sum(s.values["releases"]) for s in self.samples], dtype=float)
            case "bytes":
                return np.concatenate([numbers(s.values.get("bytes.sent")) for s in self.samples])
            case "epsilon":
                return np.array([max(numbers(s.values["epsilon"])) for s in self.samples])
            case _:
                raise NotImplementedError(f"nothing is drawn against {x!r}")

    def place(self, mark: Mark, x: str) -> float:
        """Return where a mark stands on an axis: its instant, or else the first sample that shows it."""
        if x == "time":
            return mark.time
        return float(self.axis(x)[min(mark.sample, len(self.samples) - 1)])

    @property
    def has_rounds(self) -> bool:
        """Whether rounds can be counted: a server ends them, or every clock is synchronous or a barrier."""
        clocks = self.record.clocks
        return bool(self.samples[-1].served) or (
            bool(clocks) and clocks <= {"synchronous", "barrier"}
        )

    def _rounds(self) -> Vector:
        """Return how many rounds were over: those that a server ended, else the wakes of the median agent."""
        if self.samples[-1].served:
            return np.array([s.served for s in self.samples], dtype=float)
        if not self.has_rounds:
            known = self.record.clocks
            clocks = (
                f"s of the kind {', '.join(sorted(known))}" if known else "s that are not known"
            )
            raise FolderError(
                f"rounds are of synchronous and barrier clocks and of servers, and agents here have clock{clocks}; "
                "--x updates counts wakes"
            )
        return np.array([s.woken for s in self.samples], dtype=float)

    def hint(self, x: str, samples: int) -> str:
        """Return what could be tried where an axis makes no line, for a message; of `samples` samples of a metric."""
        if samples < 2:
            return "it was sampled once, at the end"
        ways = ("rounds", "time", "updates") if self.has_rounds else ("time", "updates")
        moving = [way for way in ways if way != x and len(set(self.axis(way))) > 1]
        return f"try --x {moving[0]}" if moving else "a smaller run.sample_every makes more"


def numbers(values: Any) -> Vector:
    """Return a sampled value as numbers, one for each agent or one of the network; NaN where there is none.

    What is larger than 1e150 is infinite: its square is no number, and no axis can hold it.
    """
    each = [number(v) for v in (values if isinstance(values, list) else [values])]
    return np.array([drawable(v) for v in each])


def drawable(value: float) -> float:
    """Return a number as a picture can hold it: ∞ for what is larger than 1e150."""
    return value if math.isnan(value) or abs(value) <= _MOST else math.copysign(math.inf, value)


def _settle(samples: list[Sample]) -> None:
    """Let no ε fall from sample to sample: what a later sample proves of the releases so far holds for an earlier one, too.

    The last sample composes numerically what others bound in closed form, and may be smaller.
    """
    least: Vector | None = None
    for sample in reversed(samples):
        values = numbers(sample.values.get("epsilon", []))
        least = values if least is None or least.shape != values.shape else np.fmin(values, least)
        sample.values["epsilon"] = [None if math.isnan(e) else e for e in least.tolist()]

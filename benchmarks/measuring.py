"""How things are measured: processor time, interleaved, the best of several, and their ratios."""

import gc
import os
import platform
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.report import Machine, Row


class Skip(Exception):
    """A case that cannot be measured here, with the reason."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What every comparison is told: whether a look is enough, how often to repeat, and where a peer is installed."""

    quick: bool = False
    repeat: int = 3
    gossipy: str = ""
    """The Python of an environment that has gossipy-dfl; empty where there is none."""


Case = Callable[[], float]
"""It does some work, and returns the seconds of processor time per unit of it."""


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of some work and what it returned, with the collector as hush sets it."""
    gc.collect()
    gc.freeze()
    begun = time.process_time()
    result = work()
    spent = time.process_time() - begun
    gc.unfreeze()
    return spent, result


class Times(NamedTuple):
    """Seconds of each repetition of a case; or the reason why there are none."""

    seconds: tuple[float, ...]
    skipped: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)


def interleaved(cases: Mapping[str, Case], repeat: int) -> dict[str, Times]:
    """Measure cases in turns, so that what disturbs one disturbs all; a case that raises `Skip` is left out."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    reasons: dict[str, str] = {}
    for _ in range(repeat):
        for name, case in cases.items():
            if name in reasons:
                continue
            try:
                seconds[name].append(case())
            except Skip as reason:
                reasons[name] = str(reason)
    return {name: Times(tuple(times), reasons.get(name, "")) for name, times in seconds.items()}


def ratio(
    name: str,
    what: str,
    over: Times,
    under: Times,
    *,
    unit: str = "×",
    turned: bool = False,
    detail: Mapping[str, float] = MappingProxyType({}),
) -> Row:
    """Return best over best, with the range over the pairs of one turn; `turned` gives its inverse."""
    if over.skipped or under.skipped:
        return Row(name, what, unit, skipped=over.skipped or under.skipped)
    value = over.best / under.best
    pairs = [a / b for a, b in zip(over.seconds, under.seconds, strict=True)]
    if turned:
        value, pairs = 1.0 / value, [1.0 / pair for pair in pairs]
    return Row(name, what, unit, value, min(pairs), max(pairs), detail=dict(detail))


def absolute(
    name: str,
    what: str,
    times: Times,
    unit: str,
    scale: float,
    detail: Mapping[str, float] = MappingProxyType({}),
) -> Row:
    """Return the best time in a unit, with the range of all repetitions."""
    if times.skipped:
        return Row(name, what, unit, skipped=times.skipped)
    scaled = [scale * second for second in times.seconds]
    return Row(name, what, unit, min(scaled), min(scaled), max(scaled), detail=dict(detail))


def micros(times: Times) -> float:
    """Return the best time in µs; 0 where there is none."""
    return 1e6 * times.best if times.seconds else 0.0


def resident_mb() -> float:
    """Return the memory that this process holds now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mb() -> float:
    """Return the most memory that this process held, in MB."""
    for line in _lines("/proc/self/status"):
        if line.startswith("VmHWM:"):  # getrusage would tell of the parent before exec
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def available_gb() -> float:
    """Return how much memory a new process could have; infinite where the system does not say."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 2**20
    return float("inf")


def _lines(path: str) -> Iterator[str]:
    try:
        yield from Path(path).read_text("utf-8").splitlines()
    except OSError:
        return


_LIBRARIES = ("numpy", "scipy", "simpy", "rich", "networkx", "dp-accounting")


def machine() -> Machine:
    """Describe this machine."""
    names = [
        line.partition(":")[2].strip()
        for line in _lines("/proc/cpuinfo")
        if line.startswith("model name")
    ]
    total = [line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal:")]
    return Machine(
        names[0] if names else platform.machine(),
        len(os.sched_getaffinity(0)),
        round(int(total[0]) / 2**20, 1) if total else 0.0,
        f"{platform.system()} {platform.release()}",
        platform.python_version(),
        {name: installed for name in _LIBRARIES if (installed := _version(name))},
        round(os.getloadavg()[0], 1),
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

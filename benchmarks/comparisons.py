"""All comparisons, by world: each runs in a process of its own."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.measuring import Setting
from benchmarks.report import Row

WORLDS = {
    "A": "asynchronous private coordinate descent: bare loop, each path",
    "B": "ADMM on Adult",
    "C": "ticks and messages alone",
    "D": "WD-DP with a server, every round",
    "E": "the live screen",
    "F": "start-up",
    "G": "sweeps",
    "gossipy": "world A beside gossipy-dfl",
    "plan": "planning",
    "growth": "an update among 1,000 and among 100,000 agents",
    "memory": "memory per agent",
    "samples": "a sample of all agents",
    "PP": "30,000 releases that all differ",
    "penalty": "30,000 releases of a penalty that grows",
    "rooms": "where the time of world A goes",
    "troubles": "world A with losses, delays, cuts, churn, samples and conditions",
    "faults": "invariants, and faults that do nothing",
    "accounting": "accountants beside a library called naively",
    "paths": "`auto` beside the cheaper path, over random worlds and the library (only where it is named)",
    "million": "a million agents (minutes, and 14 GB; only where it is named)",
}
ONLY_NAMED = ("million", "paths")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison: the world that it belongs to, its name, and the function that measures it."""

    world: str
    name: str
    place: str
    """A module of this package and a function in it."""
    arguments: tuple[Any, ...] = ()

    def measure(self, setting: Setting) -> Iterator[Row]:
        """Measure it here and now."""
        module, function = self.place.split(":")
        work = getattr(importlib.import_module(f"benchmarks.{module}"), function)
        yield from work(setting, self.name, *self.arguments)


COMPARISONS: tuple[Comparison, ...] = (
    *(
        Comparison("A", f"A/{n}/{d}", "asynchronous:measure", (n, d, ticks))
        for n, d, ticks in (
            (100, 100, 100),
            (1000, 100, 10),
            (10_000, 100, 3),
            (100, 20, 100),
            (1000, 20, 10),
            (10_000, 20, 3),
        )
    ),
    *(
        Comparison("B", f"B/{n}/{weight:g}", "admm:measure", (n, weight))
        for n in (5, 100)
        for weight in (1.0, 400.0)
    ),
    Comparison("C", "C", "messages:measure", (1000, 10)),
    Comparison("D", "D", "server_rounds:measure", (32, 1000)),
    *(Comparison("E", f"E/{n}", "screen:measure", (n,)) for n in (100, 1000, 10_000)),
    Comparison("F", "F", "start_up:measure"),
    Comparison("G", "G/long", "sweep:long_cells", (16,)),
    Comparison("G", "G/tiny", "sweep:tiny_cells", (100,)),
    Comparison("gossipy", "gossipy", "gossipy_peer:measure", (100, 100, 50)),
    *(
        Comparison("plan", f"plan/{n}", "scale:planning", (n,))
        for n in (1000, 2000, 10_000, 100_000)
    ),
    Comparison("growth", "growth", "scale:growth", (1000, 100_000)),
    *(
        Comparison("memory", f"memory/{n}/{path}", "scale:memory", (n, path))
        for n in (1000, 10_000, 100_000)
        for path in ("events", "columns")
        if (n, path) != (100_000, "events")  # minutes, and no goal
    ),
    *(
        Comparison("samples", f"samples/{n}", "samples:measure", (n,))
        for n in (100, 1000, 10_000)
    ),
    Comparison("PP", "PP", "accounting:growing_noise", (1000,)),
    Comparison("penalty", "penalty", "accounting:growing_penalty", (300,)),
    Comparison("rooms", "rooms/1000/100", "rooms:measure", (1000, 100, 20)),
    Comparison("troubles", "troubles", "troubles:measure", (100, 20)),
    Comparison("faults", "faults", "faults:measure", (200, 20)),
    *(
        Comparison("accounting", f"accounting/{releases}", "accounting:bags_of_releases", (releases,))
        for releases in (100, 10_000)
    ),
    Comparison("paths", "paths", "paths:measure", (200,)),
    Comparison("million", "million", "scale:million", (1_000_000,)),
)  # fmt: skip


def chosen(words: list[str]) -> tuple[Comparison, ...]:
    """Return the comparisons of the worlds and comparisons that are named; all but the longest where none is.

    Raises LookupError with a name that is neither.
    """
    if not words:
        return tuple(one for one in COMPARISONS if one.world not in ONLY_NAMED)
    named = {one.name for one in COMPARISONS}
    for word in words:
        if word not in WORLDS and word not in named:
            raise LookupError(word)
    return tuple(one for one in COMPARISONS if one.world in words or one.name in words)

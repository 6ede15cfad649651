"""Which agents a fault hits: named ones, or a choice that is made when it fires."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from actors.events import Event
from clocks.durations import Bits, Draws

Measure = Callable[[str], Sequence[float]]
"""A metric of every agent as of now."""
Around = Callable[[int], Sequence[int]]
"""The neighbours of an agent."""


@dataclass(frozen=True, slots=True)
class Target:
    """Named agents, or how to choose some of `among`.

    A choice by chance is made once and kept, unless it is to be drawn again at each firing.
    """

    how: str
    among: tuple[int, ...]
    count: int = 0
    degree: int = 0
    near: tuple[int, ...] = ()
    metric: str = ""
    redraw: bool = False

    @property
    def reads_metric(self) -> bool:
        """Whether the choice looks at a metric."""
        return self.how in {"highest", "lowest"}


@dataclass(slots=True)
class Chooser:
    """Makes the choices of one fault, and remembers those that stand."""

    target: Target
    draws: Draws
    around: Around
    measure: Measure
    _kept: tuple[int, ...] | None = field(default=None)

    def choose(self, firing: int, event: Event | None) -> tuple[int, ...]:
        """Return the agents that this firing hits; `event` is what triggered it."""
        target = self.target
        match target.how:
            case "named":
                return target.among
            case "event":
                node = None if event is None else event.node
                return (node,) if node is not None and node in target.among else ()
            case "drawn":
                if self._kept is None or target.redraw:
                    self._kept = drawn(
                        target.among, target.count, self.draws(firing << 20, len(target.among))
                    )
                return self._kept
            case "neighbours":
                return self._neighbours()
            case "degree":
                return tuple(i for i in target.among if len(self.around(i)) > target.degree)
            case "highest" | "lowest":
                return self._extreme()
            case how:
                raise NotImplementedError(f"no choice is written for targets by {how!r}")

    def _neighbours(self) -> tuple[int, ...]:
        near = {j for i in self.target.near for j in self.around(i)}
        return tuple(i for i in self.target.among if i in near)

    def _extreme(self) -> tuple[int, ...]:
        """Return those with the highest or lowest values; of equals, those of lower ids."""
        values = self.measure(self.target.metric)
        sign = -1 if self.target.how == "highest" else 1
        known = [i for i in self.target.among if i < len(values) and not np.isnan(values[i])]
        return tuple(
            sorted(sorted(known, key=lambda i: (sign * values[i], i))[: self.target.count])
        )


def drawn(among: Sequence[int], count: int, luck: Bits) -> tuple[int, ...]:
    """Choose so many by lot, every subset alike."""
    ranked = sorted(range(len(among)), key=lambda at: int(luck[at]))
    return tuple(sorted(among[at] for at in ranked[:count]))

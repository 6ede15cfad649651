"""What does not change about an agent: its clock, its budget, its manners."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from clocks.activation import Activation, Barrier
from clocks.durations import Duration
from mechanisms.accounting.filter import Cap
from mechanisms.vectors import Vector


class Address(NamedTuple):
    """To which neighbour a message goes that is not for all, what it answers, and whether it asks."""

    slot: int
    round: int
    asks: bool


@dataclass(frozen=True, slots=True)
class Hall:
    """How a server holds a round: how long, with how many, and whom it asks."""

    deadline_ns: int
    quorum: float = 1.0
    sample: float = 1.0

    def short(self, survivors: int, asked: int) -> str | None:
        """Say why so few answers are none."""
        wanted = max(1, ceil(self.quorum * asked - 1e-9))
        return None if survivors >= wanted else f"{survivors} of {asked} answered, {wanted} needed"


@dataclass(frozen=True, slots=True)
class Habits:
    """What does not change about an agent."""

    activation: Activation | Barrier
    start: Vector
    compute: Duration | None = None
    cap: Cap | None = None
    on_exhausted: str = "listen"
    adopt_neighbours: bool = False
    rounds: int | None = None
    hall: Hall | None = None
    silence: int | None = None
    """After so many nanoseconds without a word a neighbour is suspected; None: never."""

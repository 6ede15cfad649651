"""The settings of one agent, which do not change during a run: its clock, its budget, its rules."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from clocks.activation import Activation, Barrier
from clocks.durations import Duration
from mechanisms.accounting.filter import Cap
from mechanisms.vectors import Vector


class Address(NamedTuple):
    """The one neighbour that a message is for, the round that it answers, and whether it asks."""

    slot: int
    round: int
    asks: bool


@dataclass(frozen=True, slots=True)
class RoundRules:
    """How a server holds a round: how long it waits, how many answers it needs, how many clients it asks."""

    deadline_ns: int
    quorum: float = 1.0
    """The share of the asked clients that must answer."""
    sample: float = 1.0
    """The share of the clients that are asked."""

    def shortfall(self, survivors: int, asked: int) -> str | None:
        """Return why this many answers miss the quorum, or None if they suffice."""
        wanted = max(1, ceil(self.quorum * asked - 1e-9))
        return None if survivors >= wanted else f"{survivors} of {asked} answered, {wanted} needed"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one agent."""

    activation: Activation | Barrier
    start: Vector
    compute: Duration | None = None
    cap: Cap | None = None
    on_exhausted: str = "listen"
    adopt_neighbours: bool = False
    rounds: int | None = None
    round_rules: RoundRules | None = None
    silence: int | None = None
    """After so many nanoseconds without a message a neighbour is suspected; None: never."""

    @property
    def has_barrier(self) -> bool:
        """Whether the agent wakes by messages, not by a clock of its own."""
        return isinstance(self.activation, Barrier)

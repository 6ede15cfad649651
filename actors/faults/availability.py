"""Availability with a daily cycle: an agent is online while a draw of its own lies below a curve that rises and falls.

All of it is whole numbers: a share is so many parts of 2^40, an instant so many nanoseconds. So the instants at which an
agent goes and comes are exact, and alike on every machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from actors.faults.absences import Absences
from actors.faults.context import FaultContext, Firing, Undo
from clocks.clock import FAULT, NANOSECONDS
from clocks.durations import Draws, Duration

UNIT = 1 << 40
"""A share of 1."""
_BIAS, _PHASE, _FIRST = 0, 1, 2
"""Which draws of an agent's stream decide its bias, its phase, and from where on when it is online."""


@dataclass(frozen=True, slots=True)
class DailyCurve:
    """A share that rises in a straight line from `low` at `phase` to `low` + `rise` half a period later, and falls back."""

    low: int
    rise: int
    period: int
    phase: int = 0

    def at(self, instant: int) -> int:
        """Return the share at an instant, in parts of `UNIT`."""
        into = (instant - self.phase) % self.period
        return self.low + 2 * self.rise * min(into, self.period - into) // self.period

    def lowest_after(self, instant: int) -> int:
        """Return the next instant after this one at which the share is lowest."""
        return instant + self.period - (instant - self.phase) % self.period

    def crosses_after(self, instant: int, luck: int) -> int | None:
        """Return the next instant after this one from which the share is above `luck`, or no more; None where it never changes."""
        above = luck - self.low + 1
        if above <= 0 or above > self.at(self.phase + self.period // 2) - self.low:
            return None
        rises = -(-above * self.period // (2 * self.rise))  # the first nanosecond of a period
        falls = self.period - rises + 1
        into = (instant - self.phase) % self.period
        return (
            instant
            - into
            + next(edge for edge in (rises, falls, self.period + rises) if edge > into)
        )


@dataclass(frozen=True, slots=True)
class Availability:
    """Lets agents be online as often as a curve says.

    `curve` is that of an agent without bias. `phases` holds when the share of an agent is lowest; an agent that is not
    there draws it. `bias` draws which part of the rise an agent has, a second standing for 1; None for all of it.
    `session` is how long a draw stands; None for a period, from one lowest point of the agent to the next.
    """

    curve: DailyCurve
    phases: Mapping[int, int]
    bias: Duration | None = None
    session: Duration | None = None
    crashes: bool = False

    def curve_of(self, node: int, draws: Draws) -> DailyCurve:
        """Return the curve of one agent, from its own stream."""
        curve, rise = self.curve, self.curve.rise
        if self.bias is not None:
            share = int(self.bias.draw(draws(_BIAS, 1), _BIAS)[0])
            rise = rise * share // NANOSECONDS
        phase = self.phases.get(node)
        if phase is None:
            phase = int(draws(_PHASE, 1)[0]) * curve.period >> 64
        return DailyCurve(curve.low, rise, curve.period, phase)

    def begin(self, firing: Firing) -> Undo:
        """Let each agent that is hit go and come back, until this is undone."""
        absences, context = Absences(firing, crashes=self.crashes), firing.context
        for node in firing.hit:
            draws = context.stream(f"{firing.path}/{node}")
            context.clock.spawn(partial(self._live, node, context, draws, absences))
        return absences.end

    async def _live(
        self, node: int, context: FaultContext, draws: Draws, absences: Absences
    ) -> None:
        clock, curve, number = context.clock, self.curve_of(node, draws), _FIRST
        online, stands, luck = True, clock.now, 0
        while not absences.over:
            if clock.now >= stands:
                luck = int(draws(number, 1)[0]) * UNIT >> 64
                stands = self._stands(curve, draws, number + 1, clock.now)
                number += 2
            wanted = curve.at(clock.now) > luck
            if wanted != online:
                online = wanted
                absences.turn(node, on=online)
            change = curve.crosses_after(clock.now, luck)
            await clock.sleep_until(stands if change is None else min(change, stands), FAULT)

    def _stands(self, curve: DailyCurve, draws: Draws, number: int, now: int) -> int:
        """Return until when a draw of this instant stands."""
        if self.session is None:
            return curve.lowest_after(now)
        return now + max(1, int(self.session.draw(draws(number, 1), number)[0]))

"""What a fault does to agents: their life, their pace, their clocks.

Each function takes a firing, does something to the agents that it hits, and returns what undoes it; None where nothing is
to be undone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, assert_never

from actors.fault_state import LocalClock
from actors.faults.absences import Absences
from actors.faults.context import FaultContext, Firing, Undo
from actors.faults.overlapping_absences import (
    crash_for,
    edges_of_topology,
    leave_for,
    rejoin_after,
    restart_after,
)
from clocks.clock import FAULT
from clocks.durations import Draws, Duration

_FIRST_SESSION = 1


def crash(firing: Firing, lose: str) -> Undo:
    """Crash without a word; `lose` says which memory is lost, the ledger never is."""
    members, fault = firing.context.members, firing.cause
    return firing.each(
        lambda i: crash_for(members, i, lose, fault),
        lambda i, ended: restart_after(members, i, ended, fault),
    )


def restart(firing: Firing) -> None:
    """Restart the agents that are down."""
    for i in firing.hit:
        firing.context.members.restart(i, firing.cause)


def leave(firing: Firing) -> Undo:
    """Leave gracefully: neighbours learn of it at once."""
    members, fault = firing.context.members, firing.cause
    return firing.each(
        lambda i: leave_for(members, i, fault),
        lambda i, ended: rejoin_after(members, i, ended, fault),
    )


def join(firing: Firing, edges: frozenset[int] | None) -> Undo:
    """Join by some edges; by those of the topology where they are None."""
    members = firing.context.members
    return firing.each(
        lambda i: members.join(
            i, firing.cause, edges_of_topology(members, i) if edges is None else edges
        ),
        members.leave,
    )


def pause(firing: Firing) -> Undo:
    """Stand still: memory is kept, what arrives waits, wakes are missed."""
    members = firing.context.members
    return firing.each(lambda i: members.pause(i, firing.cause), members.resume)


def slow(firing: Firing, factor: float) -> Undo:
    """Compute `factor` times as long."""
    slowed = [agent.fault_state for agent in firing.context.agents(firing.hit)]
    for fault_state in slowed:
        fault_state.slow(factor, on=True)

    def undo(_: int) -> None:
        for fault_state in slowed:
            fault_state.slow(factor, on=False)

    return undo


@dataclass(frozen=True, slots=True)
class Churn:
    """Each agent goes and comes back by itself: sessions and downtimes by turns, or as a trace says.

    `classes` are lifetime classes: each agent draws one, and all its sessions are so many times as long. `trace` holds
    (agent, instants): at the first it goes, at the second it comes back, and so on.
    """

    session: Duration | None
    downtime: Duration | None
    classes: tuple[float, ...] = (1.0,)
    trace: tuple[tuple[int, tuple[int, ...]], ...] = ()
    crashes: bool = False

    def begin(self, firing: Firing) -> Undo:
        """Let each agent that is hit go and come back, until this is undone."""
        absences = Absences(firing, crashes=self.crashes)
        written, context = dict(self.trace), firing.context
        for node in firing.hit:
            if self.session is None or self.downtime is None:
                _follow(written.get(node, ()), node, context, absences.turn)
            else:
                draws = context.stream(f"{firing.path}/{node}")
                context.clock.spawn(
                    partial(
                        self._alternate, node, context, draws, self.session, self.downtime, absences
                    )
                )
        return absences.end

    async def _alternate(
        self,
        node: int,
        context: FaultContext,
        draws: Draws,
        session: Duration,
        downtime: Duration,
        absences: Absences,
    ) -> None:
        luck = int(draws(0, 1)[0] >> 32)
        factor = self.classes[luck * len(self.classes) >> 32]
        number, clock = _FIRST_SESSION, context.clock
        while not absences.over:
            here = int(session.draw(draws(number, 1), number)[0])
            gone = int(downtime.draw(draws(number + 1, 1), number + 1)[0])
            await clock.sleep_until(clock.now + max(1, round(here * factor)), FAULT)
            absences.turn(node, on=False)
            await clock.sleep_until(clock.now + max(1, gone), FAULT)
            absences.turn(node, on=True)
            number += 2


def _follow(
    turns: tuple[int, ...], node: int, context: FaultContext, turn: Callable[..., None]
) -> None:
    """Go and come at the instants of a trace: it alternates, and begins with going."""
    now, past = context.clock.now, 0
    for number, instant in enumerate(turns):
        if instant > now:
            context.clock.at(instant, FAULT, partial(turn, node, on=bool(number % 2)))
        else:
            past += 1
    if past % 2:
        turn(node, on=False)


ClockChange = Literal["offset", "jump", "drift", "freeze"]


def change_clock(firing: Firing, kind: ClockChange, amount: Fraction) -> Undo:
    """Let the clocks of agents be off, drift or stand still; they need an `OWN_CLOCK`.

    `amount` is in nanoseconds for an offset and a jump, a share for a drift, and not read for a freeze.
    """
    local_clocks = [agent.fault_state.local_clock for agent in firing.context.agents(firing.hit)]

    def turn(local_clock: LocalClock, *, on: bool) -> None:
        match kind:
            case "drift":
                local_clock.drift(amount, on=on)
            case "freeze":
                local_clock.freeze(on=on)
            case "offset" | "jump":
                local_clock.step(int(amount) if on else -int(amount))
            case _:
                assert_never(kind)

    def turn_all(*, on: bool) -> None:
        for local_clock in local_clocks:
            if local_clock is not None:
                turn(local_clock, on=on)

    turn_all(on=True)
    return lambda _: turn_all(on=False)

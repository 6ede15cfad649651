"""One world on its clock, from its first instant to its last: what runs and audits share."""

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from actors.conditions import Metrics
from actors.events import Started
from actors.faults.schedule import FaultSchedule
from actors.faults.targets import Measure
from actors.log import Log
from clocks.clock import LAST, Engine
from mechanisms.own_mechanism import OwnCodeError
from scenarios.planning.plan import Plan
from scenarios.running import world
from scenarios.running.control import RunGovernor

_PATIENCE_S = 0.02
"""Events wait at most so long for the record: a run that is killed loses no more."""


class Simulation:
    """The agents, links and faults of a plan on a clock, and a log that tells observers what happens.

    Observers subscribe to `log` before `open` is called. `governor` may hold, pace and end the simulation; without one
    it runs as fast as it can.
    """

    def __init__(self, plan: Plan, clock: Engine, governor: RunGovernor | None = None) -> None:
        self.plan = plan
        self.clock = clock
        self.governor = RunGovernor() if governor is None else governor
        self.log = Log(clock)
        self.governor.count, self.governor.served = lambda: self.log.seq, lambda: clock.now
        self.members = world.build(plan, clock, self.log, self.end)
        self.agents = self.members.agents[: plan.size]
        """The agents with data; the server, where there is one, comes behind them in `members.agents`."""
        self.server = self.members.agents[plan.size] if plan.server is not None else None
        self.script: FaultSchedule | None = None
        """The faults, once the world is open."""
        self.reason = "horizon"
        """Why it ended, or will end as far as is known."""
        self.between: list[Callable[[], object]] = [self.hand_over]
        """What is called between slices of the engine (see `Engine.run`)."""
        self._handed_over = time.monotonic()

    def open(
        self,
        measure: Measure = world.unmeasured,
        metrics: Metrics = world.unsampled,
        *,
        steerable: bool = False,
    ) -> None:
        """Let faults and agents begin.

        `measure` returns a metric of every agent, for faults that choose agents by it; `metrics` returns one as of the
        last sample, for conditions. With `steerable`, agents are prepared for faults that a person may add.
        """
        self.log.emit(Started, None, None, self.plan.name, self.plan.size)
        self.script = world.open_world(
            self.plan, self.members, self.clock, self.log, measure, metrics, steerable=steerable
        )
        if self.plan.horizon is not None:
            self.clock.at(self.plan.horizon, LAST, lambda: self.end("horizon"))

    async def advance(self) -> None:
        """Let time pass until the plan's end, or until the governor ends it."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                await self.clock.run(self.plan.horizon, self.governor, self._between_slices)
        except OwnCodeError as error:
            error.when = f"at {self.clock.now / 1e9:.6g} s, after event {self.log.seq}"
            raise

    def complete(self) -> None:
        """Open the world and let all of its time pass at once, without an event loop: nothing may pace it."""
        self.open()
        passing = self.advance()
        with suppress(StopIteration):
            while True:
                passing.send(None)

    def end(self, reason: str) -> None:
        """End the simulation when this instant is over; the first reason holds."""
        if self.governor.stopped is None:
            self.reason = reason
            self.clock.at(self.clock.now, LAST, lambda: self.governor.stop(reason))

    def _between_slices(self) -> None:
        for act in self.between:
            act()

    def hand_over(self) -> None:
        """Hand what happened to all observers, where it is much or has waited for long."""
        if self.log.is_full or time.monotonic() - self._handed_over > _PATIENCE_S:
            self._handed_over = time.monotonic()
            self.log.hand_over()

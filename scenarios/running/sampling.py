"""When samples are taken: at intervals of time, and after rounds where rounds take no time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from actors.events import Event, RoundAborted, RoundClosed
from clocks.clock import LOOK, SAMPLE
from scenarios.planning.run_size import extent
from scenarios.running.simulation import Simulation

if TYPE_CHECKING:
    from scenarios.running.run_observers import RunObservers


def begin(simulation: Simulation, observers: RunObservers) -> None:
    """Take samples of a simulation from now on; the one at its end is the run's."""
    simulation.clock.spawn(partial(_by_time, simulation, observers))
    stride = extent(simulation.plan).stride
    if stride:
        RoundSamples(simulation, stride, lambda: observers.sample(settles=False)).begin()


async def _by_time(simulation: Simulation, observers: RunObservers) -> None:
    """Sample at every interval before the horizon; without one, until nothing is due any more, which ends the run."""
    plan, clock, instant = simulation.plan, simulation.clock, 0
    while plan.horizon is None or instant < plan.horizon:
        await clock.sleep_until(instant, SAMPLE)
        observers.sample()
        if plan.horizon is None and clock.idle:
            simulation.end("no wake can come")
            return
        instant += plan.sample_every


class RoundSamples:
    """Takes a sample whenever as many agents have woken as there are, or the server has ended a round.

    Without latency and computing time all rounds of barriers, and of a server, happen at one instant: samples by time
    would only see their end. Every `stride`-th round is sampled, between two wakes: messages that have arrived are for
    their receivers to notice.
    """

    def __init__(self, simulation: Simulation, stride: int, sample: Callable[[], None]) -> None:
        self._simulation = simulation
        self._stride = stride
        self._sample = sample
        self._ended = 0

    def begin(self) -> None:
        """Take samples from now on."""
        simulation, plan = self._simulation, self._simulation.plan
        if plan.server is None:
            present = sum(1 for node in plan.nodes if node.present)
            simulation.members.wakes.call_every(self._stride * max(1, present), self._look)
        else:
            simulation.log.watch(self._count_round, (RoundClosed, RoundAborted))
        simulation.clock.at(0, LOOK, self._sample)  # the start: faults of this instant come first

    def _count_round(self, _: Event) -> None:
        self._ended += 1
        if self._ended % self._stride == 0:
            self._look()

    def _look(self) -> None:
        clock = self._simulation.clock
        clock.at(clock.now, LOOK, self._sample)  # before the next wake

"""Samples of a run that takes no time: one at its start, and one at the end of each round."""

from collections.abc import Callable

from actors.events import Event, RoundAborted, RoundClosed, Woke
from clocks.clock import LOOK, Clock
from scenarios.planning.plan import Plan


class RoundSamples:
    """Asks for a sample whenever as many agents have woken as there are, or the server has ended a round.

    Without latency and computing time all rounds of barriers, and of a server, happen at one instant:
    samples by time see the end only. Every `stride`-th round is sampled.
    """

    def __init__(self, plan: Plan, stride: int, clock: Clock, sample: Callable[[], None]) -> None:
        self._clock, self._sample = clock, sample
        self.kinds = (Woke,) if plan.server is None else (RoundClosed, RoundAborted)
        here = sum(1 for node in plan.nodes if node.present)
        self._every = stride * (max(1, here) if plan.server is None else 1)
        self._count = 0
        clock.at(0, LOOK, sample)  # the start: faults of this instant come first

    def __call__(self, _: Event) -> None:
        self._count += 1
        if self._count % self._every == 0:
            self._clock.at(self._clock.now, LOOK, self._sample)  # before the next wake

"""What judges a run while it goes on: budgets, traffic, invariants, metrics and expectations."""

import math

from actors.events import Sampled
from scenarios.planning.expectations import Selection
from scenarios.planning.metric_names import per_agent, split_metric
from scenarios.planning.metric_needs import FATES, HOLDINGS
from scenarios.records.budget import Budget
from scenarios.records.release_fates import Fates
from scenarios.running.expectations import Expectations, value_of
from scenarios.running.metrics import Measurements
from scenarios.running.observers.checks import Checks
from scenarios.running.observers.traffic import Traffic
from scenarios.running.simulation import Simulation
from scenarios.running.snapshot import Rerun, WorldSnapshot


class RunObservers:
    """Folds over the events of one simulation; they change nothing in it.

    `rerun` holds the metrics that run the plan again. With `follow`, it is known at any time which version of its
    neighbours' models each agent holds.
    """

    def __init__(self, simulation: Simulation, rerun: Rerun, *, follow: bool) -> None:
        plan, members = simulation.plan, simulation.members
        self._plan, self._members = plan, members
        self._clock, self._log = simulation.clock, simulation.log
        self._hand_over = simulation.hand_over
        here = [node.present for node in plan.nodes] + [True] * (plan.seats - plan.size)
        self.traffic = Traffic(here, follow=follow or plan.has_need(HOLDINGS))
        self.budget = Budget(plan)
        self.checks = Checks(plan, members.agents, simulation.log, self.traffic, self.budget)
        self.fates = Fates(plan.size) if plan.has_need(FATES) else None
        """What became of each release; None where no metric of the scenario asks."""
        self.snapshot = WorldSnapshot(
            plan, members, simulation.clock, self.budget, self.traffic, self.fates, rerun
        )
        self.measurements = Measurements(self.snapshot)
        self.expectations = Expectations(plan, simulation.agents)
        self.last: Sampled | None = None
        """The last sample; None before the first."""

    def subscribe(self) -> None:
        """Ask the log for events: each observer declares whether it is told of each at once, or in batches."""
        log = self._log
        for observer in (self.traffic, self.fates, self.budget, self.checks):
            if observer is not None:
                log.subscribe(observer)
        log.watch(self._note_sample, (Sampled,))
        self.expectations.listen(self.metric)
        log.subscribe(self.expectations)

    def _note_sample(self, event: Sampled) -> None:
        self.last = event

    def metric(self, name: str, node: int | None) -> float:
        """Return a metric as of the last sample, of an agent where the metric is one of agents; NaN where it has no value."""
        if self.last is None:
            return math.nan
        agent = None if split_metric(name)[1] else node
        if per_agent(name) and (agent is None or agent >= self._plan.size):
            return math.nan
        return value_of(self._plan, Selection(name, agent), self.last.values)

    def measure(self, name: str) -> list[float]:
        """Return a metric of every agent as of now: everything that happened is folded first."""
        self._log.drain()
        return self.measurements.measure(name)

    def sample(self, *, settles: bool = True, last: bool = False) -> None:
        """Take a sample. With `settles`, agents first notice the messages that have arrived by now.

        The `last` sample of a run has metrics that are too costly for every sample.
        """
        if settles:
            self._members.settle(self._clock.now)
        if last:
            self._log.hand_over()  # the value digest takes the samples before this one, then models
        self._hand_over()
        self._log.drain()
        self._log.emit(Sampled, None, None, self.measurements.sample(last=last))

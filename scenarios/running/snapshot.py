"""A running world as metrics see it: every model and every point, which no agent sees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actors.agent import ABSENT, Agent
from actors.membership import Membership
from clocks.clock import Clock
from mechanisms.abilities import is_scored
from mechanisms.joint import local_models
from mechanisms.packed import PackedObjectives
from mechanisms.solve import NoMinimiser
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.metric import Need
from scenarios.planning.metric_names import metrics_of
from scenarios.planning.metric_needs import LOCAL_MODELS, OPTIMUM
from scenarios.planning.packed_points import PackedPoints
from scenarios.planning.plan import Plan
from scenarios.planning.scores import Scores
from scenarios.records.release_fates import Fates
from scenarios.running.observers.traffic import Traffic

if TYPE_CHECKING:
    from scenarios.records.budget import Budget


Rerun = Mapping[str, Callable[[Plan], float]]
"""How each metric is computed that runs the plan again: by the room `auditing`, which the caller hands in."""
_LARGE = 2e6
"""Beyond this effort an exact minimum is found only when an expectation or a target asks for it."""


class WorldSnapshot:
    """A running world at one instant: what formulas share is computed once. `look` moves it to the present instant."""

    def __init__(
        self,
        plan: Plan,
        members: Membership,
        clock: Clock,
        budget: Budget,
        traffic: Traffic,
        fates: Fates | None,
        rerun: Rerun,
    ) -> None:
        self.plan: Plan = (
            plan  # mypy asks for the type: metrics name this class, and plans name metrics
        )
        self.budget = budget
        self.traffic = traffic
        labels = PackedPoints.of(plan.shards.train).labels
        self._objectives = PackedObjectives(plan.objectives, labels)
        self.scores = Scores(plan.shards, self._objectives)
        self.with_server: Sequence[Agent] = members.agents
        """The agents, and the server where there is one: its id is the first after theirs."""
        self.agents: Sequence[Agent] = members.agents[: plan.size]
        self.theta: Matrix = np.zeros((plan.size, plan.dimension))
        """The models, a row for each agent; NaN where one diverged."""
        self.member = np.ones(plan.size, dtype=bool)
        """Which agents were ever members."""
        self._statuses = Counter[str]()
        self._objective: float | None = None
        """The objective at this instant, once it was asked for."""
        self._clock = clock
        self._fates = fates
        self._rerun = rerun
        self._asked = metrics_of(plan.wanted)
        self._minima: dict[tuple[int, ...], float] = {}

    def look(self) -> None:
        """Take the models and the members as they are now."""
        self.theta = type(self.agents[0]).models_of(self.agents)
        finite = np.isfinite(self.theta).all(axis=1)
        self.theta[~finite] = np.nan
        self._objective = None
        statuses = [agent.status for agent in self.agents]
        self._statuses = Counter(statuses)
        self.member[:] = True
        if self._statuses[ABSENT]:
            self.member = np.array([status != ABSENT for status in statuses])

    @property
    def now(self) -> int:
        """The instant, in nanoseconds."""
        return self._clock.now

    @property
    def fates(self) -> Fates:
        """What became of each release: followed where a metric that needs `FATES` is asked for."""
        assert self._fates is not None, "followed where a metric that needs FATES is asked for"  # noqa: S101
        return self._fates

    def affords(self, need: Need) -> bool:
        """Whether a costly need is met here: the world is small, or the scenario asks for a metric that has the need."""
        asked = any(need in metric.needs for metric in self._asked.values())
        return asked or self._effort <= _LARGE

    @cached_property
    def _effort(self) -> float:
        d = self.plan.dimension
        return self.plan.size * d * d + sum(self.plan.shards.sizes) * d

    def count(self, status: str) -> int:
        """Return how many agents are "up", "down", "left" or "absent"."""
        return self._statuses[status]

    def of_members(self, values: Vector) -> Vector:
        """Put NaN into `values` for agents that were never members, and return it."""
        values[~self.member] = np.nan
        return values

    def again(self, name: str) -> float:
        """Return a metric that takes further runs of the plan."""
        return self._rerun[name](self.plan)

    def unscored(self) -> int:
        """Return how many agents hold no model that the task scores, without having diverged."""
        lacking = np.isnan(self.theta).any(axis=1) & self.member
        agents = [self.agents[i] for i in np.flatnonzero(lacking).tolist()]
        return sum(not (a.diverged or is_scored(a.mechanism, a.state)) for a in agents)

    def why_diverged(self) -> str:
        """Return how many agents hold no numbers any more, or none that are scored, in words; empty where all do."""
        members = int(self.member.sum())
        gone = int(np.isnan(self.theta[self.member]).any(axis=1).sum())
        if not members:
            return "no agent was ever a member"
        if unscored := self.unscored():
            which = "every agent" if unscored == members else f"{unscored} of {members} agents"
            return f"not scored: {which} holds no model that the task scores (model(state) is None, or no numbers)"
        if not gone:
            served = self.plan.server is None or np.isfinite(self._judged()).all()
            return "" if served else "the server's model diverged: it holds no numbers any more"
        which = "every agent" if gone == members else f"{gone} of {members} agents"
        return f"{which} diverged: a model without numbers has no value"

    # what is known before time starts

    @cached_property
    def is_convex(self) -> bool:
        """Whether what the kind minimises is convex: false where it minimises nothing jointly."""
        return self.plan.joint is not None and self.plan.joint.convex

    @cached_property
    def optimum_theta(self) -> Matrix | None:
        """The exact minimiser of what the kind minimises; None where it has none, or is too costly."""
        joint = self.plan.joint
        if joint is None or not self.is_convex or not self.affords(OPTIMUM):
            return None
        try:
            return joint.minimum()
        except NoMinimiser:
            return None

    @cached_property
    def optimum(self) -> float | None:
        """The minimum itself; None as above."""
        if self.optimum_theta is None or self.plan.joint is None:
            return None
        return self.plan.joint.value(self.optimum_theta)

    @cached_property
    def gap_at_start(self) -> float:
        """The gap of the public start; NaN without an optimum."""
        if self.optimum is None or self.plan.joint is None:
            return math.nan
        starts = self.plan.starts()
        if self.plan.server is not None:
            starts = np.tile(self.plan.server.start, (self.plan.size, 1))
        return self.plan.joint.value(starts) - self.optimum

    @cached_property
    def local(self) -> Matrix | None:
        """The exact model of every agent alone; None where there is none, or it is too costly."""
        return local_models(self.plan.objectives) if self.affords(LOCAL_MODELS) else None

    @cached_property
    def local_score(self) -> Vector:
        """The test score of each local model."""
        assert self.local is not None, "asked only where LOCAL_MODELS is met"  # noqa: S101
        return self.scores.score(self.local, "test")

    def judged(self, theta: Matrix) -> dict[str, float]:
        """Return the mean loss and the mean test score of models, one for each agent, by the names of a summary."""
        tested = float(self.scores.score(theta, "test").mean())
        return {self.scores.name: tested, "loss": float(self.scores.loss(theta).mean())}

    # objectives

    def _judged(self) -> Matrix:
        """Return the models that the objective is taken at: the agents' own, or the server's for all."""
        if self.plan.server is None:
            return self.theta
        return np.tile(self.with_server[self.plan.size].model, (self.plan.size, 1))

    def objective(self) -> float:
        """Return what the kind minimises, at the models; NaN without a joint objective."""
        if self._objective is None:
            self._objective = math.nan
            if self.plan.joint is not None:
                theta = self._judged()
                self._objective = self.plan.joint.value(theta, self._objectives.values(theta))
        return self._objective

    def gap_among(self, ids: Sequence[int]) -> float:
        """Return the gap of some agents, on the edges between them; NaN where their objective has no minimum."""
        if self.plan.joint is None:
            return math.nan
        among, key = self.plan.joint.among(np.array(ids)), tuple(ids)
        if key not in self._minima:
            try:
                self._minima[key] = among.value(among.minimum())
            except NoMinimiser:
                self._minima[key] = math.nan
        theta = self._judged()
        local = self._objectives.values(theta)[ids]
        return among.value(theta[ids], local) - self._minima[key]

"""What an oracle sees: losses, scores, gaps and budgets, by the names of reference.md, section 5.

Nothing here is a release: it looks at every model and every point, as nobody in the world can.
"""

import math
from collections.abc import Callable
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from actors.agent import ABSENT, DOWN, LEFT, UP
from actors.membership import Membership
from clocks.clock import Clock
from mechanisms.joint import local_models
from mechanisms.solve import NoMinimiser
from mechanisms.vectors import Matrix, Vector
from scenarios.language.json_numbers import plain, share_below_zero
from scenarios.planning.metric_names import (
    AT_END,
    HARMLESS,
    NETWORK,
    PER_NODE,
    needs_tests,
    split_metric,
)
from scenarios.planning.plan import Plan
from scenarios.planning.scores import Scores, dual_health, why_untested
from scenarios.records.budget import Budget
from scenarios.records.release_fates import Fates
from scenarios.running.observers.traffic import Traffic
from scenarios.running.privacy_metrics import AtEnd, routes

_LARGE = 2e6
"""Beyond this effort an exact minimum is found only when an expectation or a target asks for it."""
_OF_OPTIMUM = {"optimum", "gap", "gap.relative", "bias", "distance"}
_OF_LOCAL = {"gain", "harmed"}
_WHY_NOT = {
    "noise.ratio": "no noise enters a step, or no step was made",
    "staleness": "no live neighbour was heard",
    "lag": "no live neighbour was heard",
    "epsilon.left": "no budget was given: there is no cap",
    "epsilon.basic": "basic composition has no claim for this noise",
    "epsilon.audited": "this plan cannot be audited: hush audit says why",
    "attack.kkt": "this plan cannot be attacked so: hush attack kkt says why",
    "attack.kkt.secret": "this plan cannot be attacked so: hush attack kkt says why",
    "duals.sum": "no agent that is up holds duals",
    "duals.antisymmetry": "no agent that is up holds duals",
}
_ALWAYS = (
    "loss", "epsilon", "epsilon.left", "releases", "releases.refused", "derived", "updates",
    "objective", "consensus", "messages.sent", "messages.delivered", "messages.superseded",
    "messages.lost", "messages.rejected", "messages.duplicated", "messages.in_flight",
    "bytes.sent", "nodes.up", "nodes.down", "nodes.left", "nodes.spent",
)  # fmt: skip


class Oracle:
    """Computes metrics of a running world, all nodes at once."""

    def __init__(
        self,
        plan: Plan,
        members: Membership,
        clock: Clock,
        budget: Budget,
        traffic: Traffic,
        fates: Fates | None = None,
        at_end: AtEnd = MappingProxyType({}),
    ) -> None:
        self.plan = plan
        self._members = members
        self._nodes = members.agents[: plan.size]
        self._clock = clock
        self._budget = budget
        self._traffic = traffic
        self._fates = fates
        self._at_end = at_end
        self.scores = Scores(plan.shards, plan.loss)
        self._theta: Matrix = np.zeros((plan.size, plan.dimension))
        self._member = np.ones(plan.size, dtype=bool)
        self._minima: dict[tuple[int, ...], float] = {}
        self.asked = {split_metric(e["metric"])[0] for e in plan.expects if e.get("metric")}
        self.asked |= {split_metric(name)[0] for c in plan.conditions for name in c.metrics}
        self.asked |= {split_metric(g["metric"])[0] for g in plan.targets.values()}
        self.asked |= {"gain"} if "harmed" in self.asked else set()  # a group's share is made of it
        self._routes: dict[str, Callable[[], Any]] = self._make_routes()

    def names(self, *, last: bool) -> list[str]:
        """Return what is computed at a sample: cheap ones always, others when asked for."""
        score = self.scores.name
        names = [*_ALWAYS, f"{score}.train", *([f"{score}.test"] if self.scores.has_test else [])]
        if self.optimum is not None:
            names += ["gap", "optimum"] + (["gap.relative", "bias", "distance"] if last else [])
        if last and self.local is not None and self.scores.has_test:
            names += ["gain", "harmed"]
        if last:
            names += ["epsilon.claimed", "epsilon.basic", "availability", "releases.planned"]
            names += ["duals.sum", "duals.antisymmetry"] if self.plan.family == "consensus" else []
            names += ["rounds", "rounds.aborted"] if self.plan.server is not None else []
        asked = [name for name in (*PER_NODE, *NETWORK) if name in self.asked and name not in names]
        return names + [name for name in asked if last or name not in AT_END]

    def sample(self, *, last: bool = False) -> dict[str, Any]:
        """Return metric → list of per-node values, or a number, at this instant."""
        self._look()
        values: dict[str, Any] = {}
        self._budget.last = last
        with np.errstate(invalid="ignore", over="ignore"):
            for name in self.names(last=last):
                found = self._routes[name]()
                if isinstance(found, np.ndarray):
                    values[name] = [plain(v) for v in found.tolist()]
                else:
                    values[name] = plain(found)
        return values

    def _look(self) -> None:
        self._theta = np.array([agent.model for agent in self._nodes])
        finite = np.isfinite(self._theta).all(axis=1)
        self._theta[~finite] = np.nan
        self._member = np.array([agent.status != ABSENT for agent in self._nodes])

    def measure(self, name: str) -> list[float]:
        """Return one metric of every node as of now, for faults that choose by it."""
        self._look()
        with np.errstate(invalid="ignore", over="ignore"):
            return [float(value) for value in self._routes[name]()]

    @property
    def theta(self) -> Matrix:
        """The models of the last sample."""
        return self._theta

    def why(self, name: str) -> str:
        """Say why a metric has no value at the last sample; empty where nothing stands in its way."""
        base = split_metric(name)[0]
        if needs_tests(base):
            said = self._why_no_score(base)
        elif base in _OF_OPTIMUM or base in {"objective", "gap.present"}:
            said = self._why_no_optimum(base)
        else:
            said = self._why_not(base)
        return said or ("" if base in HARMLESS else self._who_diverged())

    def _why_no_score(self, base: str) -> str:
        if not self.scores.has_test:
            return why_untested(self.plan.shards)
        if base not in _OF_LOCAL:
            return self._why_not(base)
        if self._skips_local:
            return f"finding every local model is costly here: ask for {base} in an [[expect]]"
        if self.local is None:
            return "an agent alone has no best model to compare with: set task.l2 above 0"
        return ""

    def _why_no_optimum(self, base: str) -> str:
        joint = self.plan.joint
        if joint is None:
            return f"{self.plan.kind} has no joint objective"
        if base == "objective":
            return ""
        if not joint.convex:
            return "the objective is not convex: no exact minimum is known"
        if base == "gap.present":
            return "" if self._status(UP) + self._status(DOWN) else "no agent is present"
        if self._skips_optimum:
            return f"the exact minimum is costly here: ask for {base} in an [[expect]]"
        if self.optimum is None:
            return "the objective has no minimum: set task.l2 above 0"
        return (
            "the start is the optimum" if base == "gap.relative" and self.gap_at_start <= 0 else ""
        )

    def _why_not(self, base: str) -> str:
        """Say why a metric that needs no minimum has no value."""
        score = self.scores.name
        if base.startswith(("accuracy", "rmse")) and not base.startswith(score):
            return f"this loss is judged by its {score}"
        if base == "rounds.survivors" and self.plan.server is None:
            return f"{self.plan.kind} has no server"
        return _WHY_NOT.get(base, "")

    def _who_diverged(self) -> str:
        """Say how many agents hold no numbers any more; empty where all do."""
        members = int(self._member.sum())
        gone = int(np.isnan(self._theta[self._member]).any(axis=1).sum())
        if not members:
            return "no agent was ever a member"
        if not gone:
            served = self.plan.server is None or np.isfinite(self._judged()).all()
            return "" if served else "the server's model diverged: it holds no numbers any more"
        who = "every agent" if gone == members else f"{gone} of {members} agents"
        return f"{who} diverged: a model without numbers has no value"

    # what is known before time starts

    @property
    def _too_large(self) -> bool:
        d = self.plan.dimension
        return self.plan.size * d * d + sum(self.plan.shards.sizes) * d > _LARGE

    @property
    def _skips_optimum(self) -> bool:
        return self._too_large and not self.asked & _OF_OPTIMUM

    @property
    def _skips_local(self) -> bool:
        return self._too_large and not self.asked & _OF_LOCAL

    @cached_property
    def optimum_theta(self) -> Matrix | None:
        """The exact minimiser of what the kind minimises; None where it is too large or not convex."""
        joint = self.plan.joint
        if joint is None or not joint.convex:
            return None
        if self._skips_optimum:
            return None
        try:
            return joint.minimum()
        except NoMinimiser:
            return None

    @cached_property
    def optimum(self) -> float | None:
        """The minimum itself."""
        if self.optimum_theta is None or self.plan.joint is None:
            return None
        return self.plan.joint.value(self.optimum_theta)

    @cached_property
    def local(self) -> Matrix | None:
        """Everybody's purely local model, by the exact solver."""
        if self._skips_local:
            return None
        return local_models(self.plan.objectives)

    # formulas

    def _score(self, name: str, *, test: bool) -> Vector:
        """Labels have an accuracy, numbers an error; where there are no test points, neither."""
        if name != self.scores.name or (test and not self.scores.has_test):
            return np.full(self.plan.size, np.nan)
        return self._of_members(self.scores.score(self._theta, test=test))

    def _of_members(self, values: Vector) -> Vector:
        """Leave out who was never a member."""
        values[~self._member] = np.nan
        return values

    def _gain(self) -> Vector:
        if self.local is None or not self.scores.has_test:
            return np.full(self.plan.size, np.nan)
        sign = 1.0 if self.plan.loss.margin else -1.0
        own = self.scores.score(self._theta, test=True)
        return self._of_members(sign * (own - self._local_score))

    def _harmed(self) -> float:
        return share_below_zero(self._gain())

    @cached_property
    def _local_score(self) -> Vector:
        assert self.local is not None, "asked only where everybody has one"  # noqa: S101
        return self.scores.score(self.local, test=True)

    def _objective(self) -> float:
        return math.nan if self.plan.joint is None else self.plan.joint.value(self._judged())

    def _judged(self) -> Matrix:
        """The models that the objective is taken at: the nodes' own, or the server's for all."""
        if self.plan.server is None:
            return self._theta
        return np.tile(self._members.agents[self.plan.size].model, (self.plan.size, 1))

    @cached_property
    def gap_at_start(self) -> float:
        """The gap of the public start."""
        if self.optimum is None or self.plan.joint is None:
            return math.nan
        starts = self.plan.starts()
        if self.plan.server is not None:
            starts = np.tile(self.plan.server.start, (self.plan.size, 1))
        return self.plan.joint.value(starts) - self.optimum

    def _gap(self) -> float:
        return math.nan if self.optimum is None else self._objective() - self.optimum

    def _relative_gap(self) -> float:
        return self._gap() / self.gap_at_start if self.gap_at_start > 0 else math.nan

    def _present_gap(self) -> float:
        """The gap of the nodes present now, on the edges between them."""
        joint, here = (
            self.plan.joint,
            [a.id for a in self._nodes if a.status in {UP, DOWN}],
        )
        if joint is None or not joint.convex or not here:
            return math.nan
        among = joint.among(np.array(here))
        key = tuple(here)
        if key not in self._minima:
            try:
                self._minima[key] = among.value(among.minimum())
            except NoMinimiser:
                self._minima[key] = math.nan
        return among.value(self._judged()[here]) - self._minima[key]

    def _bias(self) -> float:
        if self.optimum_theta is None or not self._member.any():
            return math.nan
        theta, optimum = self._theta[self._member], self.optimum_theta[self._member]
        return float(np.linalg.norm(theta.mean(axis=0) - optimum.mean(axis=0)))

    def _distance(self) -> float:
        if self.optimum_theta is None:
            return math.nan
        gaps = (self._theta - self.optimum_theta)[self._member]
        return float(np.linalg.norm(gaps)) / math.sqrt(max(1, len(gaps)))

    def _consensus(self) -> float:
        theta = self._theta[self._member]
        if not len(theta):
            return math.nan
        spread = theta - theta.mean(axis=0)
        return math.sqrt(float((spread * spread).sum()) / max(1, len(theta)))

    def _degrees(self) -> Vector:
        """How many neighbours the declared graph gives each agent; edges that joins bring are no part of it."""
        apart = self.plan.apart
        return np.array(
            [
                sum((min(node.id, j), max(node.id, j)) not in apart for j in node.neighbours)
                for node in self.plan.nodes
            ]
        )

    def _status(self, status: str) -> int:
        return sum(1 for agent in self._nodes if agent.status == status)

    def _noise_ratio(self) -> Vector:
        found = []
        for agent in self._nodes:
            ratio = getattr(agent.mechanism, "noise_to_step", None)
            made = len(agent.store.ledger)
            told = None if ratio is None else ratio(agent.state, agent.look(), made)
            found.append(math.nan if told is None else told)
        return np.array(found)

    def _make_routes(self) -> dict[str, Callable[[], Any]]:
        agents, traffic = self._nodes, self._traffic
        everybody, n = self._members.agents, self.plan.size
        count: dict[str, Callable[[], Any]] = {
            f"messages.{name}": partial(traffic.count, name)
            for name in ("sent", "delivered", "superseded", "lost", "rejected", "duplicated")
        }
        return (
            count
            | routes(self.plan, self._budget, self._fates, self._at_end)
            | {
                "messages.in_flight": lambda: traffic.in_flight,
                "bytes.sent": lambda: traffic.bytes_sent,
                "loss": lambda: self._of_members(self.scores.loss(self._theta)),
                "loss.pooled": lambda: self._of_members(self.scores.pooled(self._theta)),
                "accuracy.train": lambda: self._score("accuracy", test=False),
                "accuracy.test": lambda: self._score("accuracy", test=True),
                "rmse.train": lambda: self._score("rmse", test=False),
                "rmse.test": lambda: self._score("rmse", test=True),
                "gain": self._gain,
                "harmed": self._harmed,
                "noise.ratio": self._noise_ratio,
                "staleness": lambda: traffic.staleness(everybody, self._clock.now)[:n],
                "lag": lambda: traffic.lag(everybody)[:n],
                "releases": lambda: np.array([len(a.store.ledger) for a in agents]),
                "releases.refused": lambda: np.array([a.refused for a in agents]),
                "releases.planned": lambda: np.array([a.mechanism.planned or 0 for a in agents]),
                "derived": traffic.derived[:n].copy,
                "degree": self._degrees,
                "updates": lambda: np.array([a.updates for a in agents]),
                "availability": lambda: traffic.availability(self._clock.now)[:n],
                "objective": self._objective,
                "optimum": lambda: math.nan if self.optimum is None else self.optimum,
                "gap": self._gap,
                "gap.relative": self._relative_gap,
                "gap.present": self._present_gap,
                "consensus": self._consensus,
                "bias": self._bias,
                "distance": self._distance,
                "nodes.up": lambda: self._status(UP),
                "nodes.down": lambda: self._status(DOWN),
                "nodes.left": lambda: self._status(LEFT),
                "nodes.spent": lambda: sum(1 for a in agents if a.spent),
                "rounds": lambda: max(a.rounds for a in everybody),
                "rounds.aborted": lambda: sum(a.aborted for a in everybody),
                "rounds.survivors": lambda: (
                    math.nan if len(everybody) == n else everybody[n].survivors
                ),
                "duals.sum": lambda: dual_health(everybody)[0],
                "duals.antisymmetry": lambda: dual_health(everybody)[1],
            }
        )

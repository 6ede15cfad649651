"""What a metric is: one frozen record, and the snapshot of a running world that its formula reads.

The records stand in `scenarios/planning/metrics/`. Names, checks, samples, reasons and menus fold over them. Nothing here
loads NumPy: names of metrics are needed before it. Formulas import it when they are called.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from actors.agent import Agent
    from mechanisms.vectors import Matrix, Vector
    from scenarios.planning.plan import Plan
    from scenarios.planning.scenario_tables import ScenarioTable
    from scenarios.planning.scores import Scores

Value: TypeAlias = "float | NDArray[Any]"
"""A number of the network, or a vector with one number for each agent; NaN stands for no value."""
UNPLACED = 1000


class Taken(Enum):
    """When a metric is computed."""

    ALWAYS = auto()
    """At every sample."""
    AT_END = auto()
    """At the last sample; at every sample where the scenario asks for it."""
    ASKED = auto()
    """At every sample, where an expectation, a target or a condition asks for it."""
    AGAIN = auto()
    """At the last sample, where an expectation asks for it: the plan runs again, many times."""


ALWAYS, AT_END, ASKED, AGAIN = Taken


class Ledgers(Protocol):
    """Every agent's ε, from the charges so far."""

    def headline(self) -> "Vector": ...
    def by(self, accountant: str) -> "Vector": ...
    def claimed(self) -> "Vector": ...
    def left(self) -> "Vector": ...
    def without(self, gone: Sequence[Sequence[int]]) -> "Vector":
        """Return, of each agent, ε of its ledger minus ε of its ledger without some releases."""


class Counts(Protocol):
    """What the network did, and how long each agent was up."""

    @property
    def bytes_sent(self) -> int: ...
    @property
    def derived(self) -> "NDArray[np.int64]":
        """Return the derived messages of each agent, and of the server."""

    @property
    def in_flight(self) -> int: ...
    def count(self, name: str) -> int:
        """Return how many messages were `sent`, `delivered`, `superseded`, `lost`, `rejected` or `duplicated`."""

    def staleness(self, agents: "Sequence[Agent]", now: int) -> "Vector": ...
    def lag(self, agents: "Sequence[Agent]") -> "Vector": ...
    def availability(self, now: int) -> "Vector": ...


class Fates(Protocol):
    """The numbers of each agent's releases that were in vain."""

    def unsent(self) -> list[list[int]]: ...
    def unheard(self) -> list[list[int]]: ...
    def unread(self) -> list[list[int]]: ...


class Snapshot(Protocol):
    """A running world at one instant: what is shared by formulas is computed once."""

    @property
    def plan(self) -> "Plan": ...
    @property
    def scores(self) -> "Scores": ...
    @property
    def budget(self) -> Ledgers: ...
    @property
    def traffic(self) -> Counts: ...
    @property
    def agents(self) -> "Sequence[Agent]":
        """The agents, without the server."""

    @property
    def with_server(self) -> "Sequence[Agent]":
        """The agents, and the server where there is one: its id is the first after theirs."""

    @property
    def now(self) -> int:
        """The instant, in nanoseconds."""

    @property
    def theta(self) -> "Matrix":
        """The models, a row for each agent; NaN where one diverged."""

    @property
    def member(self) -> "NDArray[np.bool_]":
        """Which agents were ever members."""

    @property
    def fates(self) -> Fates:
        """What became of each release: followed where a metric that needs `FATES` is asked for."""

    @property
    def optimum_theta(self) -> "Matrix | None":
        """The exact minimiser of what the kind minimises; None where it has none, or is too costly."""

    @property
    def optimum(self) -> float | None:
        """The minimum itself; None as above."""

    @property
    def gap_at_start(self) -> float:
        """The gap of the public start; NaN without an optimum."""

    @property
    def local(self) -> "Matrix | None":
        """The exact model of every agent alone; None where there is none, or it is too costly."""

    @property
    def local_score(self) -> "Vector":
        """The test score of each local model."""

    def affords(self, need: "Need") -> bool:
        """Whether a costly need is met here: the world is small, or the scenario asks for a metric that has the need."""

    def count(self, status: str) -> int:
        """Return how many agents are "up", "down", "left" or "absent"."""

    def of_members(self, values: "Vector") -> "Vector":
        """Return values with NaN for agents that were never members."""

    def objective(self) -> float:
        """Return what the kind minimises, at the models; NaN without a joint objective."""

    def gap_among(self, ids: Sequence[int]) -> float:
        """Return the gap of some agents, on the edges between them; NaN where their objective has no minimum."""

    def again(self, name: str) -> float:
        """Return a metric that is found by running the plan again."""


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """What a metric needs to have a value.

    `lack` takes a snapshot and the metric's name and returns why the need is not met; empty where it is. `before` does
    so for a plan, where that is known before the run.
    """

    lack: Callable[[Snapshot, str], str]
    before: "Callable[[Plan], str]" = lambda _: ""


@dataclass(frozen=True, slots=True)
class Share:
    """A number of the network that folds a metric of its agents, so that a group has one, too."""

    of: str
    fold: "Callable[[Vector], float]"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it is called, when it is taken, and its formula."""

    name: str
    words: str
    """What it is, for the documentation."""
    compute: Callable[[Snapshot], Value]
    """Asked only where every need is met. Returns a number, or a vector where `per_agent`; NaN for no value."""
    _: KW_ONLY
    reads_models: bool
    """Whether it reads models or data, so that participation may not depend on it. There is no default."""
    per_agent: bool = False
    taken: Taken = Taken.ASKED
    where: Callable[[Snapshot], bool] = lambda _: True
    """Where it is taken unasked, beyond its needs."""
    needs: tuple[Need, ...] = ()
    missing: str | Callable[[Snapshot], str] = ""
    """Why it may have no value where every need is met."""
    share: Share | None = None
    refuse: "Callable[[ScenarioTable, str], str]" = lambda _read, _name: ""
    """Why a scenario, as it was read, cannot have it under a name (with its aggregate); empty where it can."""
    column: int = UNPLACED
    """Its place among the values of a sample; metrics of one place stand by their names."""
    column_if_asked: int | None = None
    """Its place where it is computed only because it is asked for; None if that is its column, too.

    Samples keep the order of version 0.5.0: the digest of values depends on it.
    """

    def why_missing(self, at: Snapshot) -> str:
        """Return why it has no value in a snapshot; empty where nothing stands in its way."""
        lacks = (need.lack(at, self.name) for need in self.needs)
        message = self.missing if isinstance(self.missing, str) else self.missing(at)
        return next(filter(None, lacks), message)

    def is_possible(self, at: Snapshot) -> bool:
        """Whether every need is met."""
        return not any(need.lack(at, self.name) for need in self.needs)

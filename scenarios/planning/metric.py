"""What a metric is: one frozen record. Its formula reads a snapshot of a running world.

The records stand in `scenarios/planning/metrics/`. Names, checks, samples, reasons and menus fold over them. Nothing here
loads NumPy: names of metrics are needed before it. Formulas import it when they are called.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Vector
    from scenarios.planning.plan import Plan
    from scenarios.planning.scenario_tables import ScenarioTable
    from scenarios.running.snapshot import WorldSnapshot

Value: TypeAlias = "float | NDArray[Any]"
"""A number of the network, or a vector with one number for each agent; NaN stands for no value."""
Snapshot: TypeAlias = "WorldSnapshot"
"""A running world at one instant, which formulas read. A type only: planning imports nothing from `running` when it runs."""


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
    taken: Taken = Taken.ASKED
    _: KW_ONLY
    reads_models: bool
    """Whether it reads models or data, so that participation may not depend on it. There is no default."""
    unit: str
    """What it counts or measures: `ε`, `seconds`, `a share from 0 to 1`. There is no default."""
    detail: str = ""
    """More of its definition than fits a line of a table, in sentences, for its card."""
    per_agent: bool = False
    where: Callable[[Snapshot], bool] = lambda _: True
    """Where it is taken unasked, beyond its needs."""
    needs: tuple[Need, ...] = ()
    missing: str | Callable[[Snapshot], str] = ""
    """Why it may have no value where every need is met."""
    share: Share | None = None
    refuse: "Callable[[ScenarioTable, str], str]" = lambda _read, _name: ""
    """Why a scenario, as it was read, cannot have it under a name (with its aggregate); empty where it can."""

    def why_missing(self, at: Snapshot) -> str:
        """Return why it has no value in a snapshot; empty where nothing stands in its way."""
        lacks = (need.lack(at, self.name) for need in self.needs)
        message = self.missing if isinstance(self.missing, str) else self.missing(at)
        return next(filter(None, lacks), message)

    def is_possible(self, at: Snapshot) -> bool:
        """Whether every need is met."""
        return not any(need.lack(at, self.name) for need in self.needs)

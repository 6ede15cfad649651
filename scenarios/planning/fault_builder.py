"""What the records of faults build actions with: targets, links, distributions, files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from actors.faults.context import Link
from actors.faults.link_actions import Direction, LinkTarget, MakeEffect, affect_links
from actors.faults.schedule import Action
from actors.faults.targets import Target
from clocks.durations import Constant, Duration
from scenarios.planning.durations import DurationTable
from scenarios.planning.fault_kinds import DIRECTION, FaultTable
from scenarios.planning.fault_tables import OnAgents, OnLinks
from scenarios.planning.files import Folders
from scenarios.planning.regions import cities_of, regions_of

if TYPE_CHECKING:
    from mechanisms.vectors import Vector
    from scenarios.planning.cities import City
    from scenarios.planning.context import PlanningContext
    from scenarios.planning.datasets import Shards
    from scenarios.planning.fault_targets import Targets


def _pairs(on: OnLinks) -> tuple[Link, ...]:
    """Return the pairs that name links; none where agents name them."""
    entries = on if isinstance(on, list) else []
    return tuple((pair[0], pair[1]) for pair in entries if isinstance(pair, list))


class FaultBuilder:
    """Builds parts of actions for one scenario; `shards` are the points of its agents, None before they are known."""

    def __init__(self, at: PlanningContext, targets: Targets, shards: Shards | None) -> None:
        self._at = at
        self._targets = targets
        self._shards = shards

    @property
    def dimension(self) -> int:
        """How many numbers a model has; 0 before that is known."""
        return 0 if self._shards is None else self._shards.dimension

    @property
    def labels(self) -> tuple[Vector, ...]:
        """The labels of each agent's training points; none before they are known."""
        return () if self._shards is None else tuple(self._shards.labels)

    @property
    def cities(self) -> tuple[City, ...] | None:
        """The city of each agent, and last that of a server; None where latency is not by cities. Raises BadData."""
        return cities_of(self._at)

    @property
    def regions(self) -> dict[str, tuple[int, ...]]:
        """The ids of each region: by cities where latency is, else the groups. Raises BadData."""
        return regions_of(self._at)

    @property
    def folders(self) -> Folders:
        """The folders in which files are looked for."""
        return self._at.folders

    @property
    def everybody(self) -> tuple[int, ...]:
        """The ids of all agents but the server."""
        return self._targets.everybody

    def target(self, on: OnAgents) -> Target:
        """Return the agents that a target names, or how they are chosen."""
        return self._targets.target(on)

    def on_links(self, fault: FaultTable, on: OnLinks, make: MakeEffect) -> Action:
        """Return the action that lays an effect on links, in the direction that the fault gives."""
        return self.affect(on, make, fault.get_beside(DIRECTION))

    def affect(self, on: OnLinks, make: MakeEffect, direction: Direction) -> Action:
        """Return the action that lays an effect on the links of a target, or on pairs."""
        pairs = _pairs(on)
        ends = dict.fromkeys(i for pair in pairs for i in pair)
        target = Target("named", tuple(ends)) if pairs else self._targets.target(on)
        links = LinkTarget(target, pairs, direction)
        return Action(target, partial(affect_links, target=links, make=make), pairs=pairs)

    def distribution(self, table: DurationTable | None) -> Duration | None:
        """Return the distribution of a table; None without one, or where it is reported to be wrong."""
        if table is None:
            return None
        law: Duration | None = self._at.attempt(table.place, lambda: table.law(self.folders))
        return law

    def needed_distribution(self, table: DurationTable | None) -> Duration:
        """Return the distribution of a table that must be there; constantly 0 where it is reported to be wrong."""
        return self.distribution(table) or Constant(0.0)

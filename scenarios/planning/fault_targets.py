"""From the targets that a scenario names to agents, or to how they are chosen when a fault fires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.faults.targets import Target
from scenarios.planning.fault_tables import ChoiceTable, OnAgents, OnLinks
from scenarios.planning.mechanism import family_of

if TYPE_CHECKING:
    from scenarios.planning.context import PlanningContext


class Targets:
    """The targets of one scenario: its groups, its agents and its server."""

    def __init__(self, at: PlanningContext) -> None:
        self.everybody = tuple(range(at.size))
        self.server = at.size if family_of(at.read) == "server" else None
        self.groups: dict[str, tuple[int, ...]] = {}
        first = 0
        for g, group in enumerate(at.groups):
            ids = tuple(range(first, first + group.count))
            self.groups[group.name or f"group{g}"] = ids
            first += group.count

    def target(self, target: OnAgents | OnLinks) -> Target:
        """Return the agents that a target names, or how they are chosen."""
        everybody = self.everybody
        if isinstance(target, list):
            ids = tuple(dict.fromkeys(entry for entry in target if isinstance(entry, int)))
            return Target("named", ids)
        if not isinstance(target, str):
            return self._choice(target)
        if target in self.groups:  # no group has the name of a word
            return Target("named", self.groups[target])
        n = len(everybody)
        match target:
            case "all":
                return Target("named", everybody)
            case "server":
                return Target("named", () if self.server is None else (self.server,))
            case "event":
                seats = everybody if self.server is None else (*everybody, self.server)
                return Target("event", seats)
            case "one" | "minority" | "majority":
                count = {"one": 1, "minority": (n - 1) // 2, "majority": n // 2 + 1}[target]
                return Target("drawn", everybody, count=count)
            case _:
                raise NotImplementedError(f"no agents are known for target {target!r}")

    def _choice(self, choice: ChoiceTable) -> Target:
        among = self.everybody if choice.of is None else self.groups[choice.of]
        count = choice.count
        for how, metric in (("highest", choice.highest), ("lowest", choice.lowest)):
            if metric is not None:
                return Target(how, among, count=1 if count is None else count, metric=metric)
        near = choice.neighbours_of
        if near is not None:
            return Target(
                "neighbours", among, near=tuple(near if isinstance(near, list) else [near])
            )
        if choice.degree_above is not None:
            return Target("degree", among, degree=choice.degree_above)
        if choice.percent is not None:
            count = round(len(among) * choice.percent / 100)
        if count is None:
            raise NotImplementedError(f"no agents are known for {choice!r}")
        return Target("drawn", among, count=min(count, len(among)), redraw=choice.redraw)

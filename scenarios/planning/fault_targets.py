"""Whom a fault names: ids, groups, words, or a choice to be made when it strikes."""

from typing import Any

from actors.faults.targets import Target
from scenarios.planning.context import Settling, Table
from scenarios.planning.mechanism_tables import family_of


class Aims:
    """Turns the targets of one scenario into ids, or into how they are chosen."""

    def __init__(self, at: Settling) -> None:
        serves = family_of(at.read) == "server"
        self.everybody = tuple(range(at.size))
        self.server = at.size if serves else None
        self.groups: dict[str, tuple[int, ...]] = {}
        first = 0
        for g, group in enumerate(at.groups):
            ids = tuple(range(first, first + group["count"]))
            self.groups[group.get("name") or f"group{g}"] = ids
            first += group["count"]

    def target(self, target: Any) -> Target:
        """Return whom a target names, or how they are chosen."""
        everybody = self.everybody
        if isinstance(target, list):
            return Target("named", tuple(dict.fromkeys(target)))
        if isinstance(target, str):
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
        return self._choice(target)

    def _choice(self, table: Table) -> Target:
        among = self.groups[table["of"]] if "of" in table else self.everybody
        redraw = table["redraw"]
        if "highest" in table or "lowest" in table:
            how = "highest" if "highest" in table else "lowest"
            return Target(how, among, count=table.get("count", 1), metric=table[how])
        if "neighbours_of" in table:
            near = table["neighbours_of"]
            return Target(
                "neighbours", among, near=tuple(near if isinstance(near, list) else [near])
            )
        if "degree_above" in table:
            return Target("degree", among, degree=table["degree_above"])
        count = table.get("count")
        if count is None:
            count = round(len(among) * table["percent"] / 100)
        return Target("drawn", among, count=min(count, len(among)), redraw=redraw)

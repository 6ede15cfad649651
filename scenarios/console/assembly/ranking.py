"""In which order agents are listed, and which of them."""

import math
from collections.abc import Sequence
from typing import Any

from mechanisms.vectors import Vector
from scenarios.console.assembly.survey import Survey
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import ViewState, read_agents

_SURVEYED = {
    "loss": "losses",
    "releases": "releases",
    "inbox": "inbox",
    "stale": "stale",
    "state": "states",
}
"""What agents are sorted by, as a survey calls it."""


class Ranking:
    """Sorts and filters, and remembers the order while nothing changes."""

    def __init__(self, source: Source, caps: Vector) -> None:
        self._source = source
        self._facts = source.facts
        self._caps = caps
        self._order: tuple[Any, list[int]] = (None, [])

    def order(self, view: ViewState, epsilons: Vector, seen: Survey | None) -> list[int]:
        """Sort and filter the agents: as of a survey where there is one, else anew at each event."""
        stamp = self._source.seq if seen is None else seen.seq
        key = (view.sort, view.descending, view.filter, stamp)
        if self._order[0] != key:
            self._order = key, self._now(view, epsilons, seen)
        return self._order[1]

    def _now(self, view: ViewState, epsilons: Vector, seen: Survey | None) -> list[int]:
        chosen = read_agents(view.filter, self._facts) if view.filter else None
        run_state = self._source.run_state
        state = run_state.state if seen is None else seen.states.__getitem__
        ids = list(range(self._facts.size))
        if chosen is not None:
            states, listed = chosen
            ids = [i for i in ids if i in listed or (states and state(i) in states)]
        if view.sort == "id":
            return ids[::-1] if view.descending else ids
        values = self._values(view.sort, epsilons, seen)
        sign = -1 if view.descending else 1

        def rank(i: int) -> tuple[bool, Any, int]:
            value = values[i]
            if isinstance(value, str):
                return False, value, i
            return math.isnan(value), sign * value, i

        ranked = sorted(ids, key=rank)
        return ranked[::-1] if view.sort == "state" and view.descending else ranked

    def _values(self, sort: str, epsilons: Vector, seen: Survey | None) -> Sequence[Any]:
        if seen is not None and sort in _SURVEYED:
            return list(getattr(seen, _SURVEYED[sort]))
        source, size = self._source, self._facts.size
        match sort:
            case "epsilon":
                return [float(e) for e in epsilons]
            case "left":
                return [float(left) for left in self._caps - epsilons]
            case "loss":
                return source.run_state.losses()
            case "releases":
                return [source.releases(i) for i in range(size)]
            case "inbox":
                return [source.inbox(i) for i in range(size)]
            case "stale":
                return [source.stale(i) for i in range(size)]
            case "state":
                return [source.run_state.state(i) for i in range(size)]
            case _:
                raise NotImplementedError(f"nothing is known of agents to sort them by {sort!r}")

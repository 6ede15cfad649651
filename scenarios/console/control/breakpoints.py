"""Breakpoints: a condition that an event satisfies, or that metrics come to satisfy."""

from collections.abc import Callable

from actors.conditions import FIELDS, Condition
from actors.events import Event, Sampled
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import CommandError
from scenarios.planning.metric_names import nearest_metric, per_agent, split_metric


class Breakpoint:
    """Holds a run at every event that satisfies it; where it asks for metrics alone, when they come to satisfy it."""

    def __init__(self, condition: Condition, source: Source, *, once: bool) -> None:
        """Watch the events of a source; one that holds `once` is the goal of a command, and is not listed."""
        self.text = condition.text
        self.once = once
        self._condition = condition
        self._source = source
        self._becomes = bool(condition.names) and not condition.names & FIELDS
        self._of_agents = any(_of_an_agent(name) for name in condition.metrics)
        self._held: dict[int | None, bool] = {}
        self.kinds = condition.kinds
        if self._becomes and not self._of_agents:  # only samples change what it asks for
            self.kinds = (Sampled,)

    def hits(self, event: Event) -> bool:
        """Whether the run is to hold here."""
        holds = self._source.holds(self._condition, event)
        if not self._becomes:
            return holds
        agent = event.node if self._of_agents else None
        held, self._held[agent] = self._held.get(agent, False), holds
        return holds and not held


OnHit = Callable[[Breakpoint, Event], None]


def _of_an_agent(name: str) -> bool:
    return per_agent(name) and split_metric(name)[1] is None


def check_measured(condition: Condition, source: Source) -> None:
    """Raise `CommandError` for a condition that can never hold: on a metric that this run does not measure as it goes."""
    last = source.run_state.last
    if last is None:
        return
    known = sorted(name for name, value in last.values.items() if value is not None)
    for name in sorted(condition.metrics):
        base = split_metric(name)[0]
        if base not in known:
            raise CommandError(
                f"{base} is not measured while this run goes on; {nearest_metric(name, known)}"
            )

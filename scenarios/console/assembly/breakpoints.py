"""Breakpoints: a condition that an event satisfies, or that metrics come to satisfy."""

from actors.conditions import FIELDS, Condition
from actors.events import Event, Sampled
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import NotThere
from scenarios.language.problems import nearest
from scenarios.planning.metric_names import per_agent, split_metric


class Breakpoint:
    """Holds a run at every event that satisfies it; where it asks for metrics alone, when they come to satisfy it."""

    def __init__(self, condition: Condition, source: Source, *, once: bool) -> None:
        self.text = condition.text
        self.once = once
        self._condition = condition
        self._source = source
        self._becomes = bool(condition.names) and not condition.names & FIELDS
        self._of_nodes = any(_of_a_node(name) for name in condition.metrics)
        self._held: dict[int | None, bool] = {}
        self.kinds = condition.kinds
        if self._becomes and not self._of_nodes:  # only samples change what it asks for
            self.kinds = (Sampled,)

    def hits(self, event: Event) -> bool:
        """Whether the run is to hold here."""
        holds = self._source.holds(self._condition, event)
        if not self._becomes:
            return holds
        whose = event.node if self._of_nodes else None
        held, self._held[whose] = self._held.get(whose, False), holds
        return holds and not held


def _of_a_node(name: str) -> bool:
    return per_agent(name) and split_metric(name)[1] is None


def judge(condition: Condition, source: Source) -> None:
    """Refuse what can never hold: a metric that this run does not measure while it goes on."""
    last = source.scene.last
    if last is None:
        return
    known = sorted(name for name, value in last.values.items() if value is not None)
    for name in sorted(condition.metrics):
        base = split_metric(name)[0]
        if base not in known:
            raise NotThere(f"{base} is not measured while this run goes on; {nearest(base, known)}")

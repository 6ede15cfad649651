"""From the faults that a scenario names to faults that can act: which agents, when, and by which chance."""

import hashlib
import json
import math
from collections.abc import Callable

from actors.conditions import read_condition
from actors.faults.schedule import Action, Fault, Timing
from clocks.clock import nanoseconds
from scenarios.planning.context import MOST, PlanningContext
from scenarios.planning.datasets import Shards
from scenarios.planning.fault_builder import FaultBuilder
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable
from scenarios.planning.fault_targets import Targets
from scenarios.planning.metric_names import reads_models


class FaultPlanner:
    """Plans the faults of one scenario."""

    def __init__(self, at: PlanningContext) -> None:
        self.at = at
        self._targets = Targets(at)
        self._seen: dict[str, int] = {}

    @property
    def _tables(self) -> list[FaultTable]:
        return self.at.read.fault

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return the edges that joins bring along, each with the lower id first."""
        builder, edges = FaultBuilder(self.at, self._targets, None), set[tuple[int, int]]()
        for table in self._tables:
            if table.kind is not None and table.kind.edges is not None:
                edges |= table.kind.edges(builder, table, table.argument)
        return tuple(sorted(edges))

    def faults(self, shards: Shards) -> tuple[Fault, ...]:
        """Return every fault of the scenario, whose agents hold these points.

        A fault that cannot be planned is missing, and its problem is in the report.
        """
        builder = FaultBuilder(self.at, self._targets, shards)
        faults = (self._fault(builder, n, table) for n, table in enumerate(self._tables))
        return tuple(fault for fault in faults if fault is not None)

    def _fault(self, builder: FaultBuilder, number: int, table: FaultTable) -> Fault | None:
        kind, timing = table.kind, _timing(builder, table)
        if kind is None:
            return None
        action: Action | None = self.at.attempt(
            table.path_to(kind.name), lambda: kind.build(builder, table, table.argument)
        )
        if action is None:
            return None
        asks = bool(table.oracle) or (
            action.target.reads_metric and reads_models([action.target.metric])
        )
        brings = kind.brings in {Brings.AT_ONCE, Brings.BY_ITSELF} or (
            kind.brings is Brings.AT_END and timing.lasts is not None
        )
        return Fault(
            number,
            kind.name,
            action,
            timing,
            self._path(kind, table),
            brings=brings,
            waits=kind.brings is Brings.BY_ITSELF,
            stalls=kind.stalls,
            oracle=asks,
        )

    def check(self, faults: tuple[Fault, ...], is_link: Callable[[int, int], bool]) -> None:
        """Report faults that come too often, and pairs that no edge joins.

        `is_link` says whether an agent has a link to another.
        """
        for fault in faults:
            self._check_firings(fault)
            for a, b in fault.action.pairs:
                if not is_link(a, b):
                    path = ("fault", fault.number, fault.name)
                    self.at.report.value(path, f"no edge joins {a} and {b}")

    def _check_firings(self, fault: Fault) -> None:
        run, timing, per_s = self.at.read.run, fault.timing, fault.action.comes_per_s
        ends = run.horizon or (None if run.rounds or run.updates else 60.0)
        if self.at.until is not None:
            ends = self.at.until
        path, firings = ("fault", fault.number, "every"), 0.0
        if timing.every is not None:
            until = min(t for t in (ends, (timing.until or 0) / 1e9 or None, 9e9) if t is not None)
            lasts_s, gap_s = max(0.0, until - timing.after / 1e9), timing.every.mean_s
            firings = (lasts_s / gap_s if gap_s > 0 else math.inf) + timing.prompt
            firings = min(firings, timing.times or firings)
        elif per_s:
            path = ("fault", fault.number, fault.name)
            firings = per_s * (timing.lasts.mean_s if timing.lasts is not None else ends or 9e9)
        if firings > MOST["firings"] and not self.at.options.allow_large:
            said = f"comes about {firings:.3g} times; above {MOST['firings']:,} needs --allow-large"
            self.at.report.value(path, said)

    def _path(self, kind: FaultKind[object], table: FaultTable) -> str:
        """Name a fault's chance by its name or by what it does: other faults come and go without touching it."""
        text = json.dumps(table.values_written(), sort_keys=True, default=str)
        name = table.name or f"{kind.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        self._seen[name] = self._seen.get(name, 0) + 1
        return f"fault/{name}/{self._seen[name]}"


def _timing(builder: FaultBuilder, table: FaultTable) -> Timing:
    def instant(seconds: float | None) -> int | None:
        return None if seconds is None else nanoseconds(seconds)

    return Timing(
        at=instant(table.at),
        every=builder.distribution(table.every),
        when=None if table.when is None else read_condition(table.when),
        times=table.times,
        nth=1 if table.nth is None else table.nth,
        later=instant(table.later) or 0,
        after=instant(table.after) or instant(table.from_) or 0,
        until=instant(table.until),
        probability=1.0 if table.probability is None else table.probability,
        lasts=builder.distribution(table.for_),
        prompt=table.from_ is not None,
    )

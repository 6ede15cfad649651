"""Other scenarios that expectations compare a run with: run beside it, with the same seed."""

import math
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from actors.events import Sampled
from scenarios.language.reader import beside
from scenarios.planning.context import Options
from scenarios.planning.expectations import Bound, Expectation, Selection
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.running.expectations import value_of

Perform = Callable[[Plan, Path], Awaitable[Sampled | None]]


def other_plan(plan: Plan, name: str, selections: list[Selection]) -> Plan:
    """Resolve the scenario that a run is compared with: a file beside it, or one of the library."""
    named = tuple(Path(p) for p in os.environ.get("HUSH_DATA", "").split(os.pathsep) if p)
    found = beside(plan.folder, name)
    options = Options(seed=plan.seed, folders=(plan.folder, *named), nested=True)
    made = resolve(load(name if found is None else str(found), named=found is None), options)
    any_value = Bound("at_least", -math.inf)
    asked = tuple(Expectation(selection=one, bound=any_value) for one in selections)
    return replace(made, expects=asked, targets={})


async def others(plan: Plan, perform: Perform) -> dict[int, float]:
    """Return, for each expectation that compares, the metric's value in the other run."""
    by_name: dict[str, dict[int, Selection]] = {}
    for number, expect in enumerate(plan.expects):
        if expect.compared is not None and expect.selection is not None:
            by_name.setdefault(expect.compared.scenario, {})[number] = expect.selection
    values: dict[int, float] = {}
    for name, selections in by_name.items():
        other = other_plan(plan, name, list(selections.values()))
        with tempfile.TemporaryDirectory(prefix="hush-compared-") as folder:
            last = await perform(other, Path(folder) / "run")
        if last is not None:
            for number, selection in selections.items():
                values[number] = value_of(other, selection, last.values)
    return values

"""The other scenarios that expectations compare a run with: each is run after it, with the same seed."""

import math
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from actors.events import Sampled
from scenarios.language.reader import beside
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options
from scenarios.planning.expectations import Bound, Expectation, Selection
from scenarios.planning.files import data_folders
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.running.expectations import value_of

Perform = Callable[[Plan, Path], Awaitable[Sampled | None]]


def other_plan(plan: Plan, name: str, selections: list[Selection]) -> Plan:
    """Return the plan of a scenario that a run is compared with: of a file beside it, or of one of the library."""
    file = beside(plan.folder, name)
    folders = (plan.folder, *data_folders())
    options = Options(seed=plan.seed, folders=folders, path=plan.path, nested=True)
    scenario = load(name if file is None else str(file), named=file is None)
    other = resolve(checked(scenario), options)
    any_value = Bound("at_least", -math.inf)
    asked = tuple(Expectation(selection=one, bound=any_value) for one in selections)
    return replace(other, expects=asked, targets={})


async def others(plan: Plan, perform: Perform) -> dict[int, float]:
    """Return, for each expectation that compares (by its number), the metric's value in the other run.

    `perform` runs a plan in a folder and returns its last sample, None where it was cut off: then the value is missing.
    """
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

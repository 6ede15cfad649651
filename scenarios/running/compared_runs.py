"""Other scenarios that expectations compare a run with: run beside it, with the same seed."""

import math
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from actors.events import Sampled
from scenarios.language.reader import beside
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.running.expectations import value_of

Perform = Callable[[Plan, Path], Awaitable[Sampled | None]]


def other_plan(plan: Plan, name: str, expects: list[dict[str, Any]]) -> Plan:
    """Resolve the scenario that a run is compared with: a file beside it, or one of the library."""
    named = tuple(Path(p) for p in os.environ.get("HUSH_DATA", "").split(os.pathsep) if p)
    found = beside(plan.folder, name)
    options = Options(seed=plan.seed, folders=(plan.folder, *named), nested=True)
    made = resolve(load(name if found is None else str(found), named=found is None), options)
    asked = tuple({"metric": e["metric"], "when": "end", "at_least": -math.inf} for e in expects)
    return replace(made, expects=asked, targets={})


async def others(plan: Plan, perform: Perform) -> dict[int, float]:
    """Return, for each expectation that compares, the metric's value in the other run."""
    by_name: dict[str, list[int]] = {}
    for number, expect in enumerate(plan.expects):
        if expect.get("compared_to"):
            by_name.setdefault(expect["compared_to"], []).append(number)
    found: dict[int, float] = {}
    for name, numbers in by_name.items():
        other = other_plan(plan, name, [plan.expects[n] for n in numbers])
        with tempfile.TemporaryDirectory(prefix="hush-compared-") as folder:
            last = await perform(other, Path(folder) / "run")
        for number in numbers:
            if last is not None:
                found[number] = value_of(other, plan.expects[number], last.values)
    return found

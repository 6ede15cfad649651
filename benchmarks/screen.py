"""World E: what the live screen takes of the processor, at full speed.

The screen's share is that of the room `console` in hush's own profile of one run that is watched; the median of several. Beside
it stands what a watched run takes over a quiet one, in turns, which is less sure: both are known to some per cent.
"""

import asyncio
import math
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.measuring import Case, Setting, Skip, interleaved, ratio
from benchmarks.report import Row
from benchmarks.rooms import new_profile
from scenarios.api.runs import make_plan
from scenarios.console.screens.screen import Screen
from scenarios.console.screens.viewer import viewer_of
from scenarios.planning.plan import Plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run

SIZE = (100, 30)


def world(nodes: int, horizon: float) -> dict[str, Any]:
    """Return the world: ten neighbours, twenty dimensions, Gaussian noise, a sample every second."""
    return {
        "schema": 1,
        "name": f"console-{nodes}",
        "run": {"seed": 1, "horizon": horizon, "sample_every": 1.0},
        "data": {"source": "separators", "dimension": 20, "points": 10, "test_points": 0},
        "task": {"l2": "1/m"},
        "network": {
            "topology": {"kind": "regular", "degree": 10} if nodes > 10 else {"kind": "complete"},
            "latency": {"kind": "exponential", "mean": 0.05},
            "loss": 0.02,
        },
        "nodes": [{"count": nodes, "budget": {"epsilon": 10.0, "delta": 1e-5}}],
        "mechanism": {"kind": "cd", "noise": "gaussian", "releases": math.ceil(2 * horizon)},
    }


def forgetful() -> Console:
    """Return a terminal that writes into nothing."""
    sink = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    return Console(
        file=sink, force_terminal=True, color_system="truecolor", width=SIZE[0], height=SIZE[1]
    )


def once(plan: Plan, profile: Any = None, *, watched: bool) -> float:
    """Run a plan as fast as can be, and return its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(plan, Path(folder) / "run", RunGovernor(watched=watched, looks=watched), 1.0)
        viewer = viewer_of(run) if watched else None
        if profile is not None:
            profile.start()
        begun = time.process_time()

        async def work() -> None:
            if viewer is None:
                await run.perform()
            else:
                await Screen(viewer, forgetful()).watch(run.perform())

        asyncio.run(work())
        spent = time.process_time() - begun
        if profile is not None:
            profile.stop()
        return spent


def measure(setting: Setting, name: str, n: int) -> Iterator[Row]:
    """Yield the screen's share of a run that is watched, and what watching adds."""
    horizon = max(4.0, 20_000 / n)
    if setting.quick:
        n, horizon = 20, 3.0
    plan = make_plan(world(n, horizon), allow_large=True)
    once(plan, watched=True)  # what is imported
    what = f"the screen's share of a run of {n:,} agents that is watched at full speed"
    try:
        shares = [share_of_screen(plan) for _ in range(setting.repeat)]
        yield Row(name, what, "%", statistics.median(shares), min(shares), max(shares))
    except Skip as reason:
        yield Row(name, what, "%", skipped=str(reason))
    cases: dict[str, Case] = {
        "quiet": lambda: once(plan, watched=False),
        "watched": lambda: once(plan, watched=True),
    }
    times = interleaved(cases, setting.repeat)
    what = f"a watched run of {n:,} agents over a quiet one"
    detail = {"watched s": times["watched"].best, "quiet s": times["quiet"].best}
    yield ratio(f"{name}/watched", what, times["watched"], times["quiet"], detail=detail)


def share_of_screen(plan: Plan) -> float:
    """Return the console's share of one watched run, from its world's beginning to its report, in per cent."""
    profile = new_profile()
    once(plan, profile, watched=True)
    return float(sum(100 * room.share for room in profile.rooms() if room.name == "console"))

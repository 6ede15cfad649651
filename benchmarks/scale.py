"""How cost grows with the number of agents: planning, an update, memory, and a million agents."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.asynchronous import LATENCY_S, LOSS, world
from benchmarks.measuring import (
    Case,
    Setting,
    Skip,
    absolute,
    available_gb,
    cpu,
    interleaved,
    micros,
    peak_mb,
    ratio,
    resident_mb,
)
from benchmarks.report import Row
from scenarios.planning.plan import Plan

DIMENSION = 20
_POINTS = (10, 30)
_QUADRATIC = 20_000
"""A version whose planning is quadratic takes minutes beyond so many agents."""


def refuse_quadratic(n: int) -> None:
    """Raise `Skip` for a version that plans many agents in quadratic time: 20 minutes for 100,000."""
    from benchmarks import hush_runs

    if n > _QUADRATIC and not hush_runs.HAS_PATHS:
        raise Skip("this version plans in quadratic time")


def planning(setting: Setting, name: str, n: int) -> Iterator[Row]:
    """Yield the CPU of planning, per agent."""
    from benchmarks import hush_runs

    size = max(20, n // 1000) if setting.quick else n
    what = "planning, CPU per agent (d = 20, 10–30 points, degree 10)"

    def case() -> float:
        refuse_quadratic(size)
        spent, _ = cpu(lambda: hush_runs.plan_of(world(size, DIMENSION, 10, _POINTS)))
        return spent / size

    hush_runs.plan_of(world(20, DIMENSION, 10))  # what is imported
    repeat = 1 if size > _QUADRATIC else setting.repeat
    yield absolute(name, what, interleaved({"plan": case}, repeat)["plan"], "µs", 1e6)


def growth(setting: Setting, name: str, few: int, many: int) -> Iterator[Row]:
    """Yield how much dearer an update is among many agents than among few."""
    from benchmarks import bare_loops, hush_runs
    from benchmarks.problem import Problem, problem

    ticks = 4
    if setting.quick:
        few, many, ticks = 20, 60, 2
    cases: dict[str, Case] = {}
    for n in (few, many):
        try:
            refuse_quadratic(n)
            plan = hush_runs.plan_of(world(n, DIMENSION, ticks))
        except Skip as reason:
            yield from (
                Row(f"{name}/{path}", "growth of CPU per update", "×", skipped=str(reason))
                for path in (*hush_runs.PATHS, "bare")
            )
            return
        arrays = problem(plan)

        def hush(path: str, plan: Plan = plan) -> Case:
            def case() -> float:
                ran = hush_runs.execute(hush_runs.on_path(plan, path))
                return ran.loop / ran.run.members.updates

            return case

        def bare(arrays: Problem = arrays) -> float:
            spent, ended = cpu(lambda: bare_loops.descent(arrays, ticks, LATENCY_S, LOSS))
            return spent / float(ended.updates)

        cases |= {f"{path}/{n}": hush(path) for path in hush_runs.PATHS}
        cases[f"bare/{n}"] = bare
    if not setting.quick:  # a minute and a half, and no goal
        cases = {key: case for key, case in cases.items() if not key.startswith("events")}
    times = interleaved(cases, max(1, setting.repeat - 1))
    for path in (*hush_runs.PATHS, "bare"):
        short, long = times.get(f"{path}/{few}"), times.get(f"{path}/{many}")
        what = f"{path}: CPU per update at n = {many:,} over n = {few:,}, d = {DIMENSION}"
        if short is None or long is None:
            yield Row(f"{name}/{path}", what, "×", skipped="it takes minutes, and has no goal")
        else:
            detail = {f"µs at {few:,}": micros(short), f"µs at {many:,}": micros(long)}
            yield ratio(f"{name}/{path}", what, long, short, detail=detail)


def memory(setting: Setting, name: str, n: int, path: str) -> Iterator[Row]:
    """Yield the memory of an agent at the end of time, without its data (once) and its model."""
    from benchmarks import hush_runs

    size = max(20, n // 1000) if setting.quick else n
    what = f"{path}: memory per agent at the end of time, beyond data (once) and model"
    try:
        refuse_quadratic(size)
        before = resident_mb()
        plan = hush_runs.plan_of(world(size, DIMENSION, 4), path)
        planned = resident_mb()
        held: list[float] = []
        ran = hush_runs.execute(plan, at_end=lambda: held.append(resident_mb()))
    except Skip as reason:
        yield Row(name, what, "kB", skipped=str(reason))
        return
    points = sum(plan.shards.sizes)
    data = (points * (DIMENSION + 1) + size * DIMENSION) * 8 / 2**20
    kb = 1e-3 * 2**20 / size
    yield Row(
        name,
        what,
        "kB",
        kb * (held[0] - before - data),
        detail={
            "data and model kB": kb * data,
            "plan kB": kb * (planned - before - data),
            "peak MB": peak_mb(),
            "updates": float(ran.run.members.updates),
        },
    )


_MILLION = """
schema = 1
name = "million"
run = {{ seed = 1, horizon = 10.0, sample_every = 10.0 }}
data = {{ source = "separators", dimension = 20, points = {{ min = 10, max = 30 }}, test_points = 0 }}
task = {{ l2 = "1/m" }}
mechanism = {{ kind = "cd", noise = "norm-gamma", releases = 40, mu = 1.0 }}
[network]
topology = {{ kind = "regular", degree = 10 }}
latency = {{ kind = "exponential", mean = 0.05 }}
loss = 0.05
[[nodes]]
count = {count}
clock = {{ kind = "poisson", rate = 1.0 }}
budget = {{ epsilon = 10.0, delta = 1e-6 }}
"""


def million(setting: Setting, name: str, n: int) -> Iterator[Row]:
    """Yield what a million agents take: planning, the event loop, the whole command, memory."""
    from benchmarks import hush_runs

    size = 60 if setting.quick else n
    words = {
        "plan": ("planning, CPU per agent", "µs"),
        "loop": ("ten ticks each: the event loop, CPU", "s"),
        "command": ("hush run, CPU of the whole command", "min"),
        "memory": ("the most memory that the command held", "GB"),
    }
    try:
        if not hush_runs.HAS_PATHS:
            raise Skip("this version has one path only")
        if not setting.quick and available_gb() < 16:
            raise Skip(f"it needs 16 GB, {available_gb():.1f} GB are available")
        figures = _command(size)
        begun = time.process_time()
        plan = hush_runs.plan_of(world(size, DIMENSION, 10, _POINTS), "columns")
        figures["plan"] = (time.process_time() - begun) * 1e6 / size
        ran = hush_runs.execute(plan)
        figures["loop"] = ran.loop
        detail = {"µs per update": 1e6 * ran.loop / ran.run.members.updates}
    except Skip as reason:
        for key, (what, unit) in words.items():
            yield Row(f"{name}/{key}", what, unit, skipped=str(reason))
        return
    for key, (what, unit) in words.items():
        yield Row(
            f"{name}/{key}",
            what,
            unit,
            figures[key],
            detail=detail if key == "loop" else {},
        )


def _command(size: int) -> dict[str, float]:
    """Run the command itself; return minutes of CPU and GB."""
    with tempfile.TemporaryDirectory(prefix="hush-bench-") as folder:
        (Path(folder) / "million.toml").write_text(_MILLION.format(count=size), "utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = ("run", "./million.toml", "--allow-large", "-q", "-o", "out")
        subprocess.run(
            [sys.executable, "-m", "hush", *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"command": spent / 60, "memory": after.ru_maxrss / 2**20}

"""World A: asynchronous private coordinate descent. hush by each path, and the bare SimPy + NumPy loop."""

from collections.abc import Iterator
from typing import Any

from benchmarks.measuring import Case, Setting, Times, cpu, interleaved, micros, ratio
from benchmarks.report import Row

LATENCY_S, LOSS, DEGREE = 0.05, 0.05, 10


def world(n: int, d: int, ticks: float, points: tuple[int, int] = (10, 100)) -> dict[str, Any]:
    """Return the world: ten neighbours, Poisson clocks of rate 1, norm-gamma noise, exponential latency, 5 % loss."""
    return {
        "schema": 1,
        "name": "wakeups",
        "run": {"seed": 1, "horizon": float(ticks), "sample_every": float(ticks)},
        "data": {
            "source": "separators",
            "dimension": d,
            "points": {"min": points[0], "max": points[1]},
            "test_points": 0,
        },
        "task": {"l2": "1/m"},
        "network": {
            "topology": {"kind": "regular", "degree": DEGREE},
            "latency": {"kind": "exponential", "mean": LATENCY_S},
            "loss": LOSS,
        },
        "nodes": [
            {
                "count": n,
                "clock": {"kind": "poisson", "rate": 1.0},
                "budget": {"epsilon": 10.0, "delta": 1e-6},
            }
        ],
        "mechanism": {
            "kind": "cd",
            "noise": "norm-gamma",
            "releases": 4 * max(1, round(ticks)),
            "mu": 1.0,
        },
    }


def measure(setting: Setting, name: str, n: int, d: int, ticks: int) -> Iterator[Row]:
    """Yield each path against the bare loop."""
    from benchmarks import bare_loops, hush_runs
    from benchmarks.problem import problem

    if setting.quick:
        n, ticks = max(20, n // 100), 2
    plan = hush_runs.plan_of(world(n, d, ticks))
    arrays = problem(plan)
    wholes: dict[str, list[float]] = {}

    def hush(path: str) -> Case:
        def case() -> float:
            ran = hush_runs.execute(hush_runs.on_path(plan, path))
            updates = ran.run.members.updates
            wholes.setdefault(path, []).append(ran.whole / updates)
            return ran.loop / updates

        return case

    def bare() -> float:
        spent, ended = cpu(lambda: bare_loops.descent(arrays, ticks, LATENCY_S, LOSS))
        return spent / float(ended.updates)

    cases: dict[str, Case] = {"bare": bare}
    cases |= {path: hush(path) for path in hush_runs.PATHS}
    times = interleaved(cases, setting.repeat)
    yield from rows(name, times, wholes)


def rows(prefix: str, times: dict[str, Times], wholes: dict[str, list[float]]) -> Iterator[Row]:
    """Yield the rows of what was measured in turns."""
    from benchmarks import hush_runs

    bare = times["bare"]
    for path in hush_runs.PATHS:
        took = times[path]
        detail = {"hush µs": micros(took), "bare µs": micros(bare)}
        what = f"hush, {path}: event loop, CPU per update against the bare SimPy + NumPy loop"
        yield ratio(f"{prefix}/{path}", what, took, bare, detail=detail)
        whole = Times(tuple(wholes.get(path, ())), took.skipped)
        what = f"hush, {path}: the run with its folder, samples and report, against the bare loop"
        yield ratio(f"{prefix}/{path}:whole", what, whole, bare, detail={"hush µs": micros(whole)})

"""World C: ticks and messages alone, `cd` in one dimension without noise, against bare SimPy processes."""

from collections.abc import Iterator
from typing import Any

from benchmarks import asynchronous
from benchmarks.asynchronous import LATENCY_S, LOSS
from benchmarks.measuring import Case, Setting, cpu, interleaved, micros, ratio
from benchmarks.report import Row


def world(n: int, ticks: float) -> dict[str, Any]:
    """Return the world: ten messages a wake, which say one number."""
    made = asynchronous.world(n, 1, ticks, (10, 10))
    made["nodes"][0].pop("budget")
    made["mechanism"] = {"kind": "cd", "noise": "none", "mu": 1.0}
    return made


def measure(setting: Setting, name: str, n: int, ticks: int) -> Iterator[Row]:
    """Yield wakes per second of each path over those of bare processes."""
    from benchmarks import bare_loops, hush_runs

    if setting.quick:
        n, ticks = 30, 2
    plan = hush_runs.plan_of(world(n, ticks))

    def hush(path: str) -> Case:
        def case() -> float:
            ran = hush_runs.execute(hush_runs.on_path(plan, path))
            return ran.loop / ran.run.members.updates

        return case

    def bare() -> float:
        spent, ended = cpu(lambda: bare_loops.messages(plan, ticks, LATENCY_S, LOSS))
        return spent / float(ended.updates)

    cases: dict[str, Case] = {"bare": bare} | {path: hush(path) for path in hush_runs.PATHS}
    times = interleaved(cases, setting.repeat)
    for path in hush_runs.PATHS:
        detail = {"hush µs": micros(times[path]), "bare µs": micros(times["bare"])}
        what = f"{path}: wakes per second over those of bare SimPy processes with the same messages"
        yield ratio(f"{name}/{path}", what, times[path], times["bare"], turned=True, detail=detail)

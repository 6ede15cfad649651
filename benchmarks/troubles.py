"""World A where things go wrong: the same agents with samples, losses, delays, cuts, churn and conditions, beside its bare loop.

The bare loop is that of the world without trouble: it has none of this, so a ratio says what a trouble costs in hush.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks import asynchronous
from benchmarks.measuring import Case, Setting, cpu, interleaved, micros, ratio
from benchmarks.report import Row

_PATHS = ("auto", "events")


def worlds(n: int, ticks: int) -> dict[str, dict[str, Any]]:
    """Return the sections of each world that differ from world A."""
    end, cut = float(ticks), [0, 1, 2, 3, 4]
    away = {"session": {"kind": "exponential", "mean": 5.0}}
    away |= {"downtime": {"kind": "exponential", "mean": 1.0}}
    faults: dict[str, dict[str, Any]] = {
        "loss on all links": {"at": 1.0, "loss": {"on": "all", "p": 0.2}},
        "delay on all links": {"at": 1.0, "delay": {"on": "all", "latency": 0.01}},
        "a partition of five": {"at": 1.0, "partition": {"isolate": cut}},
        "churn of all": {"at": 0.0, "churn": {"on": "all", **away}},
        "when an event": {"when": 'kind == "lost"', "nth": 50, "for": 3.0, "crash": [1]},
        "when a metric": {"when": "epsilon.max > 5", "for": 3.0, "crash": [1]},
    }
    network = asynchronous.world(n, 20, ticks)["network"]
    return {
        "nothing": {},
        "sampled every second": {"run": {"seed": 1, "horizon": end, "sample_every": 1.0}},
        "a rate on all links": {"network": network | {"rate": "1MB"}},
        "sometimes": {"expect": [{"sometimes": 'kind == "lost"'}]},
        **{name: {"fault": [fault]} for name, fault in faults.items()},
    }


def measure(setting: Setting, name: str, n: int, ticks: int) -> Iterator[Row]:
    """Yield each world by `auto` and by `events` over the bare loop of the world without trouble."""
    from benchmarks import bare_loops, hush_runs
    from benchmarks.problem import problem

    if setting.quick:
        n, ticks = 20, 6
    world = asynchronous.world(n, 20, ticks)
    arrays = problem(hush_runs.plan_of(world))
    loss, latency = asynchronous.LOSS, asynchronous.LATENCY_S

    def bare() -> float:
        spent, ended = cpu(lambda: bare_loops.descent(arrays, ticks, latency, loss))
        return spent / float(ended.updates)

    def hush(sections: dict[str, Any], path: str) -> Case:
        plan = hush_runs.plan_of(world | sections, path)

        def case() -> float:
            ran = hush_runs.execute(plan)
            return ran.loop / ran.run.members.updates

        return case

    cases: dict[str, Case] = {"bare": bare}
    for key, sections in worlds(n, ticks).items():
        cases |= {f"{key}/{path}": hush(sections, path) for path in _PATHS}
    times = interleaved(cases, setting.repeat)
    for key in worlds(n, ticks):
        for path in _PATHS:
            took = times[f"{key}/{path}"]
            what = f"{key}, by {path}: event loop, CPU per update over the bare loop without it"
            detail = {"hush µs": micros(took), "bare µs": micros(times["bare"])}
            label = f"{name}/{key.replace(' ', '-')}/{path}"
            yield ratio(label, what, took, times["bare"], detail=detail)

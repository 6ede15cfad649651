"""World D: WD-DP with a server, every round, against a vectorised NumPy loop over all parties at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measuring import Case, Setting, cpu, interleaved, micros, ratio
from benchmarks.report import Row
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.plan import Plan

POINTS, DIMENSION, RATE = 100, 50, 0.1


def world(parties: int, rounds: int, noise: str = "local") -> dict[str, Any]:
    """Return the world: every party answers every round with a noisy gradient."""
    made: dict[str, Any] = {
        "schema": 1,
        "name": "wddp",
        "run": {"seed": 1, "rounds": rounds, "sample_every": 1e6},
        "data": {
            "source": "blobs",
            "dimension": DIMENSION,
            "points": {"min": POINTS, "max": POINTS},
            "test_points": 0,
        },
        "task": {"l2": 0.01},
        "nodes": [{"count": parties, "clock": "synchronous"}],
        "mechanism": {
            "kind": "wddp",
            "synchronise": "every-round",
            "noise": noise,
            "learning_rate": RATE,
        },
    }
    if noise != "none":
        made["nodes"][0]["budget"] = {"epsilon": 10.0, "delta": 1e-5}
    return made


def arrays(plan: Plan) -> tuple[Matrix, Vector, Vector]:
    """Return points times labels of all parties, the spread of their noise, and what they weigh."""
    rows = np.array([x * y[:, None] for x, y in plan.shards.train])
    spends = [node.planned for node in plan.nodes]
    sigmas = np.array([planned[0].scale if planned else 0.0 for planned in spends])
    return rows, sigmas, np.ones(len(rows))


def measure(setting: Setting, name: str, parties: int, rounds: int) -> Iterator[Row]:
    """Yield hush over the loop, by each path."""
    from benchmarks import bare_loops, hush_runs

    if setting.quick:
        parties, rounds = 4, 20
    plan = hush_runs.plan_of(world(parties, rounds))
    rows, sigmas, weights = arrays(plan)

    def hush(path: str) -> Case:
        def case() -> float:
            ran = hush_runs.execute(hush_runs.on_path(plan, path))
            return ran.loop / (parties * rounds)

        return case

    def bare() -> float:
        spent, _ = cpu(lambda: bare_loops.rounds(rows, sigmas, weights, 0.01, RATE, rounds))
        return spent / (parties * rounds)

    cases: dict[str, Case] = {"bare": bare}
    cases |= {path: hush(path) for path in ("auto", "events")}
    times = interleaved(cases, setting.repeat)
    for path in ("auto", "events"):
        detail = {"hush µs": micros(times[path]), "bare µs": micros(times["bare"])}
        what = f"{path}: CPU per party and round against a vectorised NumPy loop"
        yield ratio(f"{name}/{path}", what, times[path], times["bare"], detail=detail)

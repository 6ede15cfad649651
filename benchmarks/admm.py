"""World B: synchronous ADMM on Adult, 100 iterations, against a bare NumPy loop with the same solver.

Both solve every local problem to 1e-11 of its linear term with mechanisms.warm on mechanisms.objectives; the bare loop has
no clock, no messages, no ledger, no records. Without the data set (HUSH_DATA, or ../shared/data) rows of the same shape are drawn.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import Case, Setting, cpu, interleaved, ratio
from benchmarks.report import Row
from mechanisms.objectives import LocalObjective, Logistic
from mechanisms.vectors import Matrix, Vector
from mechanisms.warm import Warm
from scenarios.planning.plan import Plan

RHO, ETA = 10**-2.5, 0.5
_NUMERIC = (0, 2, 4, 10, 11, 12)


def points() -> tuple[Matrix, Vector, bool]:
    """Return the rows, the labels, and whether they are those of the published set."""
    root = Path(os.environ.get("HUSH_DATA", "../shared/data").split(os.pathsep)[0]) / "adult"
    return (*_adult(root), True) if root.is_dir() else (*_drawn(), False)


def _adult(root: Path) -> tuple[Matrix, Vector]:
    """45,222 rows: 6 numeric columns, 98 indicators, a constant; rows scaled to norm 1."""
    lines = []
    for name in ("adult.data", "adult.test"):
        lines += (root / name).read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.rstrip(".").split(",")] for line in lines]
    rows = [row for row in rows if len(row) == 15 and "?" not in row]
    columns = []
    for k in range(14):
        values = [row[k] for row in rows]
        if k in _NUMERIC:
            column = np.array(values, dtype=np.float64)
            columns.append(column / column.max())
        else:
            columns += [
                np.array([v == kind for v in values], float) for kind in sorted(set(values))
            ]
    x = np.column_stack([*columns, np.ones(len(rows))])
    y = np.where([row[14].startswith(">") for row in rows], 1.0, -1.0)
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


def _drawn() -> tuple[Matrix, Vector]:
    """Rows of the same shape: six numbers, eight groups of indicators, a constant."""
    rng, m = np.random.Generator(np.random.PCG64(0)), 45_222
    sizes = (7, 16, 7, 14, 6, 5, 2, 41)
    parts = [rng.random((m, 6)), *(np.eye(size)[rng.integers(0, size, m)] for size in sizes)]
    x = np.column_stack([*parts, np.ones(m)])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.where(x @ rng.standard_normal(x.shape[1]) > 0, 1.0, -1.0)


def world(n: int, weight: float, iterations: int) -> dict[str, Any]:
    """Build the world as a plain dict; the points are handed over beside it."""
    topology = {"kind": "complete"} if n < 10 else {"kind": "regular", "degree": 4}
    return {
        "schema": 1,
        "name": "admm",
        "run": {"seed": 1, "rounds": iterations, "sample_every": 1e6},
        "network": {"topology": topology},
        "nodes": [{"count": n, "clock": "synchronous"}],
        "mechanism": {"kind": "admm", "C": weight, "rho": RHO, "eta": ETA},
    }


def bare(plan: Plan, weight: float, iterations: int) -> Matrix:
    """Return the models after the same iterations, as one loop over arrays."""
    n, d = plan.size, plan.dimension
    adjacency = np.zeros((n, n))
    adjacency[plan.graph.heads, plan.graph.tails] = 1.0
    adjacency += adjacency.T
    degrees = adjacency.sum(axis=1)
    objectives = [
        LocalObjective(x, y, Logistic(), 0.5 * RHO, weight=weight / len(y))
        for x, y in plan.shards.train
    ]
    solvers = [Warm(objective, np.zeros(d)) for objective in objectives]
    theta, dual = np.zeros((n, d)), np.zeros((n, d))
    for _ in range(iterations):
        tilt = 2.0 * dual - ETA * (degrees[:, None] * theta + adjacency @ theta)
        theta = np.array(
            [s.solve(tilt[i], 2.0 * ETA * degrees[i]).theta for i, s in enumerate(solvers)]
        )
        dual += 0.5 * ETA * (degrees[:, None] * theta - adjacency @ theta)
    return theta


def measure(setting: Setting, name: str, n: int, weight: float) -> Iterator[Row]:
    """Yield hush over the bare loop."""
    from benchmarks import hush_runs

    x, y, published = points()
    iterations = 100
    if setting.quick:
        iterations, x, y = 3, x[:2000], y[:2000]
        weight = min(weight, len(y) / n)  # C is at most the points of every agent
    order = np.random.Generator(np.random.PCG64(1)).permutation(len(y))
    data = {"nodes": [(x[hand], y[hand]) for hand in np.array_split(order, n)]}
    plan = hush_runs.plan_of(world(n, weight, iterations), data=data)
    models: dict[str, Matrix] = {}

    def hush() -> float:
        ran = hush_runs.execute(plan)
        models["hush"] = np.array([agent.model for agent in ran.run.agents])
        return ran.loop

    def loop() -> float:
        spent, models["bare"] = cpu(lambda: bare(plan, weight, iterations))
        return spent

    cases: dict[str, Case] = {"bare": loop, "hush": hush}
    times = interleaved(cases, setting.repeat)
    apart = float(np.abs(models["hush"] - models["bare"]).max())
    rows = "Adult" if published else "rows drawn in the shape of Adult (the data set is not here)"
    what = f"{rows}, {iterations} iterations, C = {weight:g}: event loop against the bare loop"
    yield ratio(
        name,
        what,
        times["hush"],
        times["bare"],
        detail={
            "hush s": times["hush"].best,
            "bare s": times["bare"].best,
            "largest difference": apart,
        },
    )

"""What hush adds to synchronous ADMM: 100 iterations on Adult, beside a bare NumPy loop with the same solver.

Both solve every local problem to 1e-11 of its linear term with mechanisms.warm on mechanisms.objectives; the bare
loop has no clock, no messages, no ledger, no records. Reports CPU time, best of a few, interleaved in one process;
read the ratios. Without the data set (HUSH_DATA, or ../shared/data) it draws rows of the same shape.

    python benchmarks/admm.py [--nodes 5 100] [--weights 1 1750] [--iterations 100] [--newton]
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import gc
import time
from pathlib import Path

import numpy as np
from measure import hush

from mechanisms.objectives import LocalObjective, Logistic
from mechanisms.solve import minimise
from mechanisms.warm import Warm
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan

RHO, ETA = 10**-2.5, 0.5
NUMERIC = (0, 2, 4, 10, 11, 12)


def adult() -> tuple[np.ndarray, np.ndarray]:
    """45,222 rows: 6 numeric columns, 98 indicators, a constant; rows scaled to norm 1."""
    root = Path(os.environ.get("HUSH_DATA", "../shared/data").split(os.pathsep)[0]) / "adult"
    if not root.is_dir():
        return drawn()
    lines = []
    for name in ("adult.data", "adult.test"):
        lines += (root / name).read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.rstrip(".").split(",")] for line in lines]
    rows = [row for row in rows if len(row) == 15 and "?" not in row]
    columns = []
    for k in range(14):
        values = [row[k] for row in rows]
        if k in NUMERIC:
            column = np.array(values, dtype=np.float64)
            columns.append(column / column.max())
        else:
            columns += [
                np.array([v == kind for v in values], float) for kind in sorted(set(values))
            ]
    x = np.column_stack([*columns, np.ones(len(rows))])
    y = np.where([row[14].startswith(">") for row in rows], 1.0, -1.0)
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


def drawn() -> tuple[np.ndarray, np.ndarray]:
    """Rows of the same shape: six numbers, eight groups of indicators, a constant."""
    print("no data set found: rows of the same shape are drawn")
    rng, m = np.random.Generator(np.random.PCG64(0)), 45_222
    sizes = (7, 16, 7, 14, 6, 5, 2, 41)
    parts = [rng.random((m, 6)), *(np.eye(size)[rng.integers(0, size, m)] for size in sizes)]
    x = np.column_stack([*parts, np.ones(m)])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.where(x @ rng.standard_normal(x.shape[1]) > 0, 1.0, -1.0)


def world(n: int, weight: float, iterations: int) -> dict[str, object]:
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


def bare(plan: Plan, weight: float, iterations: int, *, newton: bool) -> tuple[float, np.ndarray]:
    """The same iterations as one loop over arrays."""
    n, d = plan.size, plan.dimension
    adjacency = np.zeros((n, n))
    adjacency[plan.graph.heads, plan.graph.tails] = 1.0
    adjacency += adjacency.T
    degrees = adjacency.sum(axis=1)
    objectives = [
        LocalObjective(x, y, Logistic(), 0.5 * RHO, weight=weight / len(y))
        for x, y in plan.shards.train
    ]
    gc.collect()
    begun = time.process_time()
    solvers = [Warm(objective, np.zeros(d)) for objective in objectives]
    theta, dual = np.zeros((n, d)), np.zeros((n, d))
    for _ in range(iterations):
        tilt = 2.0 * dual - ETA * (degrees[:, None] * theta + adjacency @ theta)
        if newton:
            theta = np.array(
                [
                    minimise(o, start=theta[i], linear=tilt[i], ridge=2.0 * ETA * degrees[i]).theta
                    for i, o in enumerate(objectives)
                ]
            )
        else:
            theta = np.array(
                [s.solve(tilt[i], 2.0 * ETA * degrees[i]).theta for i, s in enumerate(solvers)]
            )
        dual += 0.5 * ETA * (degrees[:, None] * theta - adjacency @ theta)
    return time.process_time() - begun, theta


def main() -> None:
    """Measure, interleaved, and print ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[5, 100])
    parser.add_argument("--weights", type=float, nargs="+", default=[1.0, 400.0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--newton", action="store_true", help="also a loop with warm damped Newton")
    chosen = parser.parse_args()
    x, y = adult()
    order = np.random.Generator(np.random.PCG64(1)).permutation(len(y))
    for n in chosen.nodes:
        hands = np.array_split(order, n)
        data = {"nodes": [(x[hand], y[hand]) for hand in hands]}
        for weight in chosen.weights:
            plan = make_plan(world(n, weight, chosen.iterations), data=data, allow_large=True)
            ours, theirs = [], []
            for _ in range(chosen.repeat):
                spent, run = hush(plan)
                models = np.array([agent.model for agent in run.agents])
                took, expected = bare(plan, weight, chosen.iterations, newton=False)
                ours.append(spent)
                theirs.append(took)
            apart = float(np.abs(models - expected).max())
            line = (
                f"n {n:>4}  C {weight:>6g}  hush {min(ours):6.3f} s  bare loop {min(theirs):6.3f} s  "
                f"ratio {min(ours) / min(theirs):.2f}  largest difference {apart:.1e}"
            )
            if chosen.newton:
                slow, _ = bare(plan, weight, chosen.iterations, newton=True)
                line += f"  warm Newton loop {slow:6.2f} s ({slow / min(theirs):.1f} times the bare loop)"
            print(line, flush=True)


if __name__ == "__main__":
    main()

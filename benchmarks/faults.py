"""What invariants and faults cost: runs with and without them, interleaved in one process, CPU time, best of several.

(a) no invariants, no faults; (b) all invariants; (c) all invariants and a table of faults that never touch anything:
intervals longer than the run, conditions that never hold, faults at the very end;
(d) the same world with a trouble on every link. Read the ratios to (a).

    python benchmarks/faults.py [--nodes 200 1000] [--ticks 20] [--repeat 5]
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import hush

from scenarios.api.runs import make_plan
from scenarios.running import run_observers
from scenarios.running.observers.checks import Checks
from scenarios.running.observers.invariants import INVARIANTS, Verdict


class NoChecks:
    """Stands where the invariants stand, and looks at nothing."""

    def __init__(self, plan: Any, *_: Any) -> None:
        self.verdicts = {name: Verdict("unknown") for name in INVARIANTS}
        self.routes: dict[Any, Any] = {}
        self.declared = self
        self.faults = plan.faults
        self.fired = [0] * len(plan.faults)
        self.struck = [0] * len(plan.faults)

    def finish(self, *, complete: bool) -> None:
        del complete


def world(nodes: int, ticks: int, faults: list[dict[str, Any]]) -> dict[str, Any]:
    """Build the world of benchmarks/wakeups.py, with faults."""
    return {
        "schema": 1,
        "name": "faults",
        "run": {"seed": 1, "horizon": float(ticks), "sample_every": 1.0},
        "data": {
            "source": "separators",
            "dimension": 100,
            "points": {"min": 10, "max": 100},
            "test_points": 0,
        },
        "task": {"l2": "1/m"},
        "network": {
            "topology": {"kind": "regular", "degree": 10},
            "latency": {"kind": "exponential", "mean": 0.05},
            "loss": 0.05,
        },
        "nodes": [{"count": nodes, "budget": {"epsilon": 10.0, "delta": 1e-6}}],
        "mechanism": {"kind": "cd", "noise": "norm-gamma", "releases": 4 * ticks},
        "fault": faults,
    }


def idle(ticks: int) -> list[dict[str, Any]]:
    """Faults of every class that touch nothing."""
    end = float(ticks)
    return [
        {"every": 2 * end, "loss": {"on": "all", "p": 0.5}},
        {"every": 2 * end, "partition": {"isolate": "minority"}},
        {"at": end, "crash": "one"},
        {"at": end, "churn": {"on": "all", "session": "1h", "downtime": "1h"}},
        {"every": 2 * end, "pause": "one"},
        {"when": 'kind == "crashed" and node == 3', "for": 1.0, "crash": "event"},
        {"when": 'kind == "sampled" and epsilon.max > 1e9', "for": 1.0, "leave": "one"},
    ]


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--ticks", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    chosen = parser.parse_args()
    everywhere = [{"at": 0.0, "loss": {"on": "all", "p": 0.01}}]
    for nodes in chosen.nodes:
        plain = make_plan(world(nodes, chosen.ticks, []))
        table = make_plan(world(nodes, chosen.ticks, idle(chosen.ticks)))
        stormy = make_plan(world(nodes, chosen.ticks, everywhere))
        cases: list[tuple[str, Any, Callable[..., Any]]] = [
            ("bare", plain, NoChecks),
            ("invariants", plain, Checks),
            ("invariants and idle faults", table, Checks),
            ("invariants and a trouble on every link", stormy, Checks),
        ]
        spent: dict[str, list[float]] = {name: [] for name, _, _ in cases}
        for _ in range(chosen.repeat):
            for name, plan, checks in cases:
                run_observers.Checks = checks  # type: ignore[misc,assignment]
                seconds, run = hush(plan)
                spent[name].append(seconds / run.members.updates * 1e6)
        best = {name: min(times) for name, times in spent.items()}
        print(f"{nodes} nodes, {chosen.ticks} ticks, best of {chosen.repeat}")
        for name, micros in best.items():
            ratios = [b / a for a, b in zip(spent["bare"], spent[name], strict=True)]
            print(
                f"  {name:<40} {micros:7.1f} µs/update  {micros / best['bare']:.3f} of bare "
                f"(median of pairs {np.median(ratios):.3f})"
            )
    run_observers.Checks = Checks  # type: ignore[misc]


if __name__ == "__main__":
    main()

"""What one update costs in hush, beside two bare loops of the same mathematics, in one process.

(a) hush with ledger, recorder and invariants on; (b) SimPy and NumPy, no ledger, no records; (c) heapq and
NumPy. Coordinate descent with norm-gamma noise, Poisson clocks, exponential latency, 5 % loss, about ten
neighbours, 10–100 points. Reports CPU time; read the ratios, not the microseconds.

    python benchmarks/wakeups.py [--nodes 100 1000 10000] [--dimension 100] [--ticks 20]
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import gc
import heapq
import math
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import simpy
from measure import hush

from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan

LATENCY_S, LOSS = 0.05, 0.05


def scenario(n: int, d: int, ticks: int) -> dict[str, object]:
    """Build the world as a plain dict."""
    return {
        "schema": 1,
        "name": "wakeups",
        "run": {"seed": 1, "horizon": float(ticks), "sample_every": float(ticks)},
        "data": {
            "source": "separators",
            "dimension": d,
            "points": {"min": 10, "max": 100},
            "test_points": 0,
        },
        "task": {"l2": "1/m"},
        "network": {
            "topology": {"kind": "regular", "degree": 10},
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
        "mechanism": {"kind": "cd", "noise": "norm-gamma", "releases": 4 * ticks, "mu": 1.0},
    }


class Bare:
    """The same learning with nothing around it: lazy mailboxes, block draws, one generator."""

    def __init__(self, plan: Plan) -> None:
        self.rng = np.random.Generator(np.random.PCG64(1))
        self.theta = [np.zeros(plan.dimension) for _ in plan.nodes]
        self.coming: list[list[tuple[float, int, int, np.ndarray]]] = [[] for _ in plan.nodes]
        self.neighbours = [node.neighbours for node in plan.nodes]
        self.slot = [{j: k for k, j in enumerate(node.neighbours)} for node in plan.nodes]
        self.shares = [node.weights / node.weights.sum() for node in plan.nodes]
        self.heard = [np.zeros((len(node.neighbours), plan.dimension)) for node in plan.nodes]
        self.rows = [x * y[:, None] for x, y in plan.shards.train]
        self.mechanisms = [node.mechanism for node in plan.nodes]
        self.order = 0
        self.updates = 0

    def wake(self, i: int, now: float) -> None:
        """Merge, descend with noise, broadcast."""
        self.updates += 1
        coming, heard, slot = self.coming[i], self.heard[i], self.slot[i]
        while coming and coming[0][0] < now:
            _, _, sender, vector = heapq.heappop(coming)
            heard[slot[sender]] = vector
        m, theta, rows, rng = self.mechanisms[i], self.theta[i], self.rows[i], self.rng
        slopes = 0.5 * np.tanh(0.5 * (rows @ theta)) - 0.5
        gradient = slopes @ rows
        gradient /= len(rows)
        gradient += 2 * m.objective.l2 * theta
        noise = rng.standard_normal(len(theta))
        noise *= rng.standard_gamma(len(theta)) / m.spends[0].scale / math.sqrt(noise @ noise)
        gradient += noise
        pull = m.mu * m.confidence
        step = 1 / (1 + pull * m.smoothness)
        gradient *= -pull
        gradient += self.shares[i] @ heard
        gradient *= step
        gradient += (1 - step) * theta
        self.theta[i] = gradient
        targets = self.neighbours[i]
        delays = rng.exponential(LATENCY_S, len(targets)).tolist()
        kept = (rng.random(len(targets)) >= LOSS).tolist()
        for j, delay, keep in zip(targets, delays, kept, strict=True):
            if keep:
                self.order += 1
                heapq.heappush(self.coming[j], (now + delay, self.order, i, gradient))


def bare_simpy(plan: Plan, ticks: int) -> int:
    """A process an agent, a timeout a wake."""
    world, env = Bare(plan), simpy.Environment()

    def agent(i: int):
        while True:
            yield env.timeout(world.rng.exponential(1.0))
            world.wake(i, env.now)

    for i in range(plan.size):
        env.process(agent(i))
    env.run(until=ticks)
    return world.updates


def bare_heap(plan: Plan, ticks: int) -> int:
    """A heap of wake times."""
    world = Bare(plan)
    queue = [(world.rng.exponential(1.0), i) for i in range(plan.size)]
    heapq.heapify(queue)
    while queue[0][0] < ticks:
        now, i = queue[0]
        world.wake(i, now)
        heapq.heapreplace(queue, (now + world.rng.exponential(1.0), i))
    return world.updates


def cpu(work, *arguments) -> tuple[float, int]:
    """Measure CPU seconds of a bare loop, with the collector as hush sets it."""
    gc.collect()
    gc.freeze()
    begun = time.process_time()
    updates = work(*arguments)
    spent = time.process_time() - begun
    gc.unfreeze()
    return spent, updates


def start_up() -> None:
    """Wall time over a bare interpreter, best of five."""

    def best(command: list[str]) -> float:
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run(command, capture_output=True, check=False)
            times.append(time.perf_counter() - begun)
        return min(times)

    bare = best([sys.executable, "-c", "pass"])
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write("schema = 1\n[run]\nsed = 1\n")
        file.flush()
        for name, arguments in (
            ("--help", ["--help"]),
            ("check of a file with errors", ["check", file.name]),
            ("check with its plan", ["check", "quickstart"]),
        ):
            took = best([sys.executable, "-m", "scenarios", *arguments]) - bare
            print(f"start-up  {name:<30} {1e3 * took:6.0f} ms over a bare interpreter")


def main() -> None:
    """Measure, interleaved, and print ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--dimension", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    start_up()
    for n in chosen.nodes:
        begun = time.process_time()
        plan = make_plan(scenario(n, chosen.dimension, chosen.ticks), allow_large=True)
        made = time.process_time() - begun
        best = {"a": math.inf, "b": math.inf, "c": math.inf}
        events = 0.0
        for _ in range(chosen.repeat):
            spent, run = hush(plan)
            updates = run.members.updates
            if spent / updates < best["a"]:
                best["a"], events = spent / updates, run.log.seq / spent
            for key, work in (("b", bare_simpy), ("c", bare_heap)):
                took, count = cpu(work, plan, chosen.ticks)
                best[key] = min(best[key], took / count)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"n {n:>6}  hush {1e6 * best['a']:6.1f} us/update  simpy {1e6 * best['b']:6.1f}  heapq {1e6 * best['c']:6.1f}  "
            f"ratio to simpy {best['a'] / best['b']:.2f}, to heapq {best['a'] / best['c']:.2f}  "
            f"{events / 1e3:.0f}k events/s  plan {made:.2f} s  peak {peak:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()

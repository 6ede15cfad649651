"""What accounting costs: 100 and 10,000 heterogeneous releases of 1,000 agents, beside dp-accounting called naively.

    python benchmarks/accounting.py [--agents 1000] [--rounds 1000]

Every agent has a schedule of its own number of releases, from one schedule of growing charges: prefixes of one another,
as Poisson clocks make them. "naively" composes every agent's releases one by one with a PLDAccountant of the library
(Laplace noise, the nearest mechanism that it has), and is measured for a few agents and scaled up. CPU seconds, read as ratios.

Before that a whole run of `pp` with given noise that grows: 30 agents, 30,000 releases, each with a law of its own, and ε is
sampled after every round. It runs in a process of its own: CPU seconds and peak memory of all of it.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mechanisms.accounting import numerical, renyi
from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import Loss, Tally

DELTA = 1e-5
_NAIVE = 300
"""So many releases are composed naively; more are scaled up as if that were linear, which is kind."""


def bags(law: str, releases: int, agents: int) -> list[Tally]:
    """Prefixes of one growing schedule, about as many releases each."""
    charges = np.geomspace(0.02, 0.2, releases) / np.sqrt(releases / 100)
    rng = np.random.Generator(np.random.PCG64(1))
    lengths = np.clip(rng.poisson(releases * 0.9, agents), 1, releases)
    losses = [Loss(law, float(c), 20) for c in charges]
    return [Tally((loss, 1) for loss in losses[:length]) for length in lengths]


def forget() -> None:
    """Let every measurement begin with nothing cached."""
    for cached in (
        renyi.curve,
        renyi._block,
        numerical._at,
        numerical._composed,
        numerical._known_product,
        numerical._one,
        numerical._spread,
    ):
        cached.cache_clear()


def growing(rounds: int) -> dict[str, object]:
    """The world of `pp` as a plain dict."""
    return {
        "schema": 1,
        "name": "pp-growing",
        "run": {"seed": 1, "rounds": rounds, "sample_every": 1.0},
        "data": {"source": "blobs", "dimension": 10, "points": {"min": 20, "max": 60}},
        "network": {"topology": {"kind": "ring"}},
        "nodes": [{"count": 30, "clock": {"kind": "synchronous", "period": 1.0}}],
        "mechanism": {
            "kind": "pp",
            "eta": {"start": 0.5},
            "noise": {"start": 0.02, "growth": 1.002},
        },
    }


def whole_run(rounds: int) -> None:
    """Run the world of `pp`, and print what the process took."""
    from measure import hush

    from scenarios.api.runs import make_plan

    plan = make_plan(growing(rounds))
    begun = time.process_time()
    _, run = hush(plan)
    spent = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    epsilon = run.observers.budget.headline().max()
    print(
        f"{30 * rounds:>9} pp releases: {spent:.1f} s of CPU, {peak:.0f} MB at most, ε = {epsilon:.4g}"
    )


def timed(work: object) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - begun


def naively(bag: Tally) -> float:
    """One agent, one release at a time, as the library's first example does it."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for loss, _ in bag.key:
        accountant.compose(dp_accounting.LaplaceDpEvent(1 / loss.epsilon))
    return accountant.get_epsilon(DELTA)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1000, help="of the run of pp")
    parser.add_argument("--only-run", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only_run:
        whole_run(asked.rounds)
        return
    for rounds in (
        asked.rounds // 4,
        asked.rounds,
    ):  # first: a process begins with its parent's peak
        again = [sys.executable, __file__, "--only-run", "--rounds", str(rounds)]
        subprocess.run(again, check=True)
    agents = asked.agents
    print(
        f"\n{agents} agents, heterogeneous releases, δ = {DELTA:g}; CPU seconds for all of them\n"
    )
    print(
        f"{'releases':>9} {'law':>11} {'sums':>8} {'Rényi':>8} {'numerical':>10} {'once more':>10}   naive library (scaled)"
    )
    for releases in (100, 10_000):
        first = Tally(bags("laplace", releases, 1)[0].key[:_NAIVE])
        times = agents * max(1.0, releases / _NAIVE)
        naive = timed(lambda first=first: naively(first)) * times
        for law in ("laplace", "norm-gamma"):
            made = bags(law, releases, agents)
            forget()
            sums = timed(
                lambda made=made: [by("kov", bag, DELTA) + by("zcdp", bag, DELTA) for bag in made]
            )
            curves = timed(lambda made=made: [by("rdp", bag, DELTA) for bag in made])
            exact = timed(lambda made=made: [by("pld", bag, DELTA) for bag in made])
            again = timed(lambda made=made: [by("pld", bag, DELTA) for bag in made])
            beside = (
                f"{naive:8.1f} = {naive / exact:.0f} × ours"
                if law == "laplace"
                else "        it has no such law"
            )
            print(
                f"{releases:>9} {law:>11} {sums:8.3f} {curves:8.2f} {exact:10.2f} {again:10.2f}   {beside}"
            )


if __name__ == "__main__":
    main()

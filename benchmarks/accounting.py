"""What accounting costs: a run of `pp` with 30,000 releases, and bags of heterogeneous releases beside a library called naively.

`pp` with given noise that grows: 30 agents, 1,000 rounds, every release with a law of its own, ε sampled after every round. It
is CPU and peak memory of planning and run in a process of its own.

In the other comparison every agent has a schedule of its own number of releases, from one schedule of growing charges:
prefixes of one another, as Poisson clocks make them. "naively" composes an agent's releases one by one with a PLDAccountant of
dp-accounting (Laplace noise, the nearest mechanism that it has), is measured for one agent, and scaled up.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measuring import Setting, peak_mb
from benchmarks.report import Row
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


def growing(rounds: int) -> dict[str, Any]:
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


def _timed(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def naively(bag: Tally) -> float:
    """One agent, one release at a time, as the library's first example does it."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for loss, _ in bag.key:
        accountant.compose(dp_accounting.LaplaceDpEvent(1 / loss.epsilon))
    return float(accountant.get_epsilon(DELTA))


def growing_noise(setting: Setting, name: str, rounds: int) -> Iterator[Row]:
    """Yield the processor time and the memory of a run whose releases all differ."""
    from benchmarks import hush_runs

    rounds = 10 if setting.quick else rounds
    begun = time.process_time()
    ran = hush_runs.execute(hush_runs.plan_of(growing(rounds)))
    spent = time.process_time() - begun
    epsilon = float(ran.run.observers.budget.headline().max())
    what = f"pp, {30 * rounds:,} releases, each with a law of its own: plan and run"
    yield Row(f"{name}/cpu", what, "s", spent, detail={"ε": epsilon})
    yield Row(f"{name}/memory", f"{what}, the most memory", "GB", peak_mb() / 1024)


def bags_of_releases(setting: Setting, name: str, releases: int) -> Iterator[Row]:
    """Yield what a release costs to account, by law and accountant, over the naive library."""
    agents = 3 if setting.quick else 300
    releases = 20 if setting.quick else releases
    first = Tally(bags("laplace", releases, 1)[0].key[:_NAIVE])
    naive = _timed(lambda: naively(first)) * max(1.0, releases / _NAIVE)
    for law in ("laplace", "norm-gamma"):
        made = bags(law, releases, agents)
        forget()
        works: dict[str, Callable[[Tally], object]] = {
            "sums": lambda bag: by("kov", bag, DELTA) + by("zcdp", bag, DELTA),
            "Rényi": lambda bag: by("rdp", bag, DELTA),
            "numerical": lambda bag: by("pld", bag, DELTA),
        }
        for key, work in works.items():
            spent = _timed(lambda made=made, work=work: [work(bag) for bag in made]) / agents  # type: ignore[misc]
            what = f"{key}: {releases:,} {law} releases of an agent, of {agents} agents"
            detail = {"of the naive library": spent / naive} if law == "laplace" else {}
            yield Row(f"{name}/{law}/{key}", what, "ms", 1e3 * spent, detail=detail)

"""What accounting costs: runs of `pp` with 30,000 releases, and bags of heterogeneous releases beside a library called naively.

`pp` with given noise that grows: 30 agents, 1,000 rounds, every release with a law of its own, ε sampled after every round; and
with a penalty that grows under a cap that refuses nothing: 100 agents of very different size, 300 s of a Poisson clock, the hub
crashes, no two agents' releases are alike. It is CPU and peak memory of planning and run in a process of its own.

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
        renyi._at,
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


def growing_penalty_world(seconds: int) -> dict[str, Any]:
    """The world of `pp` whose hub crashes, as a plain dict."""
    return {
        "schema": 1,
        "name": "pp-hub-crash",
        "run": {"seed": 3, "horizon": seconds, "sample_every": 1.0},
        "data": {
            "source": "blobs",
            "dimension": 10,
            "points": 200,
            "split": {"kind": "uneven", "ratio": 50.0},
        },
        "network": {
            "topology": {"kind": "scale-free", "attach": 2},
            "latency": {"kind": "exponential", "mean": "300ms"},
            "loss": 0.05,
        },
        "nodes": [
            {
                "count": 100,
                "clock": {"kind": "poisson", "rate": 1.0},
                "budget": {"epsilon": 8.0, "delta": 1e-5, "on_exhausted": "listen"},
            }
        ],
        "mechanism": {
            "kind": "pp",
            "C": 1.0,
            "rho": 0.1,
            "theta": 0.5,
            "eta": {"start": 0.5, "growth": 1.01, "cap": 5.0},
            "noise": {"start": 2.0, "growth": 1.0},
        },
        "fault": [
            {
                "at": seconds / 5,
                "for": seconds / 5,
                "crash": {"highest": "updates"},
                "lose": "volatile",
            }
        ],
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
    """Yield the processor time and the memory of a run whose releases all differ, with noise that grows."""
    return _rows(growing(10 if setting.quick else rounds), name, "each with a law of its own")


def growing_penalty(setting: Setting, name: str, seconds: int) -> Iterator[Row]:
    """Yield the same of a run whose penalty grows: no agent's releases are those of another."""
    world = growing_penalty_world(10 if setting.quick else seconds)
    return _rows(world, name, "the penalty grows, the hub crashes")


def _rows(world: dict[str, Any], name: str, words: str) -> Iterator[Row]:
    from benchmarks import hush_runs

    begun = time.process_time()
    ran = hush_runs.execute(hush_runs.plan_of(world))
    spent = time.process_time() - begun
    budget = ran.run.observers.budget
    epsilon, releases = float(budget.headline().max()), int(budget.counts.sum())
    what = f"pp, {releases:,} releases, {words}: plan and run"
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

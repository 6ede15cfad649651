"""What a sample of all agents costs."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import asynchronous
from benchmarks.measuring import Setting, Times, absolute
from benchmarks.report import Row


def measure(setting: Setting, name: str, n: int) -> Iterator[Row]:
    """Yield the CPU of one sample with the usual metrics, over 100 µs and 5 µs for each agent."""
    from benchmarks import hush_runs
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    size = max(20, n // 100) if setting.quick else n
    ticks = 2
    world = asynchronous.world(size, 20, ticks)
    world["run"]["sample_every"] = ticks / 20
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run = Run(hush_runs.plan_of(world), Path(folder) / "run", RunGovernor(), 1.0)
        _ = run.observers.snapshot.optimum, run.observers.snapshot.local
        measurements = run.observers.measurements
        sample = measurements.sample

        def timed(*arguments: object, **named: object) -> object:
            begun = time.process_time()
            try:
                return sample(*arguments, **named)  # type: ignore[arg-type]
            finally:
                seconds.append(time.process_time() - begun)

        measurements.sample = timed  # type: ignore[method-assign,assignment]
        asyncio.run(run.perform())
    between = sorted(seconds[1:-1])  # the first has imports in it, the last one more
    middle = Times((between[len(between) // 2],))
    allowed = 100e-6 + 5e-6 * size
    what = f"the median of {len(between)} samples of {size:,} agents, over 100 µs + 5 µs per agent"
    detail = {"µs per agent": 1e6 * middle.best / size, "µs": 1e6 * middle.best}
    yield absolute(name, what, middle, "×", 1.0 / allowed, detail=detail)

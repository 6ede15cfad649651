"""World G: what a sweep adds to its runs. Long cells on two workers, and very many tiny cells.

The first figure is the time that cells took inside of two workers over twice the wall time of the command: the start of Python
and of the workers counts. It is wall time, and says nothing on a machine where other work runs. The second is what a sweep adds
to each of its tiny runs, against the same plans run one after the other in one process without a sweep: with many seeds of one
setting, and with as many settings as cells. It is processor time of all processes; the start of Python and of workers is taken
off, as a sweep of a few cells has it.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Setting
from benchmarks.report import Row

ROOT = Path(__file__).parent.parent

LONG = """
schema = 1
name = "long"
run = {{ horizon = {horizon}, sample_every = 10.0 }}
data = {{ source = "blobs", dimension = 10, points = 30 }}
task = {{ l2 = 0.1 }}
network = {{ topology = "ring" }}
nodes = [{{ count = 20 }}]
mechanism = {{ kind = "cd", mu = 1.0 }}
"""
TINY = """
schema = 1
name = "tiny"
run = { horizon = 3.0 }
data = { source = "blobs", dimension = 3, points = 20 }
task = { l2 = 0.1 }
network = { topology = "ring" }
nodes = [{ count = 4 }]
mechanism = { kind = "cd", mu = 1.0 }
"""


class Spent(NamedTuple):
    """Seconds of wall time, and of processor time of all processes."""

    wall: float
    processor: float


def command(*words: str, cwd: Path) -> Spent:
    """Run the command; return what it took."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "hush", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.perf_counter() - begun, used)


def manifest(folder: Path) -> dict[str, float]:
    """Return the figures of a sweep."""
    read: dict[str, float] = json.loads((folder / "sweep.json").read_text())
    return read


def alone(folder: Path, cells: int) -> float:
    """Return the processor seconds of a run that no sweep orders, its plan and its folder included."""
    from scenarios.api.runs import make_plan
    from scenarios.auditing.at_end_metrics import AT_END_METRICS
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    def run(seed: int) -> None:
        plan = make_plan(folder / "tiny.toml", seed=seed)
        path = folder / f"alone-{seed}"
        asyncio.run(Run(plan, path, RunGovernor(), 1e12, AT_END_METRICS).perform())

    run(10**6)  # what is loaded with the first run
    begun = time.process_time()
    for seed in range(cells):
        run(seed)
    return (time.process_time() - begun) / cells


def grid(name: str, cells: int) -> tuple[str, ...]:
    """Return the words that ask for so many cells."""
    if name == "seeds":
        return ("--seeds", f"0..{cells - 1}")
    values = ",".join(f"{i / 1000:.3f}" for i in range(1, cells + 1))
    return ("--seeds", "0", "--grid", f"mechanism.mu={values}")


def long_cells(setting: Setting, name: str, cells: int) -> Iterator[Row]:
    """Yield the share of two workers that long cells use."""
    seconds = 0.2 if setting.quick else 1.0
    cells = 2 if setting.quick else cells
    with tempfile.TemporaryDirectory(prefix="hush-bench-") as place:
        folder, horizon = Path(place), 100.0
        for turn in range(2):  # the pace of this machine, now
            (folder / "long.toml").write_text(LONG.format(horizon=horizon), "utf-8")
            out = f"trial-{turn}"
            command("sweep", "./long.toml", "--seeds", "0", "-j", "1", "-q", "-o", out, cwd=folder)
            horizon *= seconds / manifest(folder / out)["work_s"]
        (folder / "long.toml").write_text(LONG.format(horizon=horizon), "utf-8")
        words = ("--seeds", f"0..{cells - 1}", "-j", "2", "-q", "-o", "long")
        wall = command("sweep", "./long.toml", *words, cwd=folder).wall
        work = manifest(folder / "long")["work_s"]
    what = f"{cells} cells on two workers: time in cells over twice the wall time"
    detail = {"s a cell": work / cells, "wall s": wall}
    yield Row(name, what, "%", 100 * work / (2 * wall), detail=detail)


def tiny_cells(setting: Setting, name: str, cells: int) -> Iterator[Row]:
    """Yield what a sweep adds to a tiny run."""
    cells = 4 if setting.quick else cells
    with tempfile.TemporaryDirectory(prefix="hush-bench-") as place:
        folder = Path(place)
        (folder / "tiny.toml").write_text(TINY, "utf-8")
        own = alone(folder, cells)
        for kind in ("seeds", "settings"):

            def sweep(size: int, kind: str = kind) -> Spent:
                words = (*grid(kind, size), "-q", "-j", "2", "-o", f"{kind}-{size}")
                return command("sweep", "./tiny.toml", *words, cwd=folder)

            start, whole = sweep(20), sweep(20 + cells)
            added = (whole.processor - start.processor) / cells - own
            what = f"{cells} {kind}, two workers: added to the processor time of a tiny run"
            detail = {"ms of a run by itself": 1e3 * own}
            yield Row(f"{name}/{kind}", what, "ms", 1e3 * added, detail=detail)

"""What a sweep adds to its runs: 32 cells of about two seconds on two workers, and very many tiny cells.

    python benchmarks/sweep.py [--quick]

It prints two figures. The first is the wall time of the command over half of the time that cells took inside of the two
workers; the start of Python and of the workers counts. The second is what a sweep adds to each of its tiny runs, against the
same plans run one after the other in one process without a sweep: with many seeds of one setting, and with as many
settings as cells, which are all judged before the first one runs. It is processor time, of all processes, which other work
on the machine hardly changes; the start of Python and of workers is taken off, as a sweep of a few cells has it.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

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


def hush(*words: str, cwd: Path) -> Spent:
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


def long_cells(folder: Path, cells: int, seconds: float) -> None:
    """Print the share of two workers that a sweep of long cells leaves idle."""
    horizon = 100.0
    for _ in range(2):  # the pace of this machine, now
        (folder / "long.toml").write_text(LONG.format(horizon=horizon))
        out = f"trial-{horizon:g}"
        hush("sweep", "./long.toml", "--seeds", "0", "-j", "1", "-q", "-o", out, cwd=folder)
        horizon *= seconds / manifest(folder / out)["work_s"]
    (folder / "long.toml").write_text(LONG.format(horizon=horizon))
    words = ("--seeds", f"0..{cells - 1}", "-j", "2", "-q", "-o", "long")
    wall = hush("sweep", "./long.toml", *words, cwd=folder).wall
    work = manifest(folder / "long")["work_s"]
    print(f"{cells} cells of {work / cells:.2f} s on 2 workers: {wall:.2f} s", end="")
    print(f" = {wall / (work / 2):.3f} × Σ(time in workers)/2")


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


def tiny_cells(folder: Path, cells: int) -> None:
    """Print what a sweep adds to a tiny run."""
    (folder / "tiny.toml").write_text(TINY)
    own = alone(folder, cells)
    print(f"a tiny run by itself: {1e3 * own:.1f} ms of processor time")
    for name in ("seeds", "settings"):
        for jobs in (1, 2):
            few, many = 10 * jobs, 10 * jobs + cells

            def sweep(size: int, name: str = name, jobs: int = jobs) -> Spent:
                words = (*grid(name, size), "-q", "-j", str(jobs), "-o", f"{name}-{jobs}-{size}")
                return hush("sweep", "./tiny.toml", *words, cwd=folder)

            start, whole = sweep(few), sweep(many)
            added = (whole.processor - start.processor) / cells - own
            again = sweep(many)
            print(
                f"{many} {name}, {jobs} worker{'s' if jobs > 1 else ''}: {whole.wall:.2f} s, "
                f"{1e3 * added:.1f} ms added to each cell; all found again in {again.wall:.2f} s"
            )


def main() -> None:
    """Print both figures."""
    words = argparse.ArgumentParser()
    words.add_argument("--quick", action="store_true", help="few cells, for a look")
    quick = words.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="hush-bench-") as place:
        folder = Path(place)
        tiny_cells(folder, 60 if quick else 300)
        long_cells(folder, 4 if quick else 32, 2.0)


if __name__ == "__main__":
    main()

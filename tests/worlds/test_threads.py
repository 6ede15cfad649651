"""One seed, one value digest, from Python and from the command: BLAS has one thread in both."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from actors.events import Woke
from scenarios.api.runs import make_plan
from scenarios.command.diff import PARTED
from scenarios.language.writer import to_toml
from scenarios.planning.blas_threads import OneThread, blas_threads
from scenarios.records.divergence import compare_digests
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import scenario
from tests.support.command import hush
from tests.support.paths import ROOT

WIDE = scenario(
    run={"seed": 3, "horizon": 4.0, "sample_every": 2.0},
    data={"source": "blobs", "dimension": 64, "points": 300, "test_points": 0},
    task={},
    nodes=[{"count": 3, "budget": {"epsilon": 8.0, "delta": 1e-5}}],
    mechanism={"kind": "dvp", "releases": 5},
)
"""Hessians of 64 × 64 from 300 points: large enough for OpenBLAS to share out the work."""
SCRIPT = """
import sys
import numpy as np
from threadpoolctl import threadpool_info
np.ones((300, 300)) @ np.ones((300, 300))
from scenarios import run_sync
before = [(found["filepath"], found["num_threads"]) for found in threadpool_info()]
run_sync(sys.argv[1], out=sys.argv[2])
after = {found["filepath"]: found["num_threads"] for found in threadpool_info()}
assert all(after[path] == threads for path, threads in before), "the script's threads are its own"
"""


@pytest.mark.slow
def test_python_with_many_threads_and_the_command_have_one_value_digest(tmp_path: Path) -> None:
    """With two threads OpenBLAS sums a product in two parts, and the last bits of this world differ."""
    (tmp_path / "wide.toml").write_text(to_toml(WIDE))
    many = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    words = [sys.executable, "-c", SCRIPT, str(tmp_path / "wide.toml"), str(tmp_path / "python")]
    done = subprocess.run(
        words, env=os.environ | {"PYTHONPATH": str(ROOT)} | many, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    for name, environment in (("one", {}), ("many", many)):
        out = str(tmp_path / name)
        assert (
            hush(
                "run", "./wide.toml", "--quiet", "--out", out, cwd=tmp_path, **environment
            ).returncode
            == 0
        )
    python, one, many_threads = (
        RunRecord(tmp_path / n).manifest for n in ("python", "one", "many")
    )
    assert python["digests"] == one["digests"] == many_threads["digests"]
    assert {m["environment"]["blas_threads"] for m in (python, one, many_threads)} == {1}


def test_entries_may_overlap_and_the_last_one_restores() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        first, second = OneThread(), OneThread()
        first.__enter__()
        second.__enter__()
        first.__exit__()
        assert blas_threads() == 1
        second.__exit__()
        assert blas_threads() == before


LATE = """
import numpy
from threadpoolctl import threadpool_info
from scenarios.planning.blas_threads import OneThread
with OneThread():
    import scipy.linalg
    with OneThread():
        assert {found["num_threads"] for found in threadpool_info()} == {1}
print(*(found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"))
"""


@pytest.mark.slow
def test_a_library_that_is_loaded_between_two_entries_is_restored_too() -> None:
    """SciPy brings an OpenBLAS of its own, which here is loaded while NumPy's has one thread already."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", LATE], env=environment, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"2"}


@pytest.mark.slow
def test_blas_has_one_thread_wherever_a_plan_is_made_or_run(tmp_path: Path) -> None:
    """Seen from inside: while the points are taken, while a run is made, and at every wake."""
    seen: dict[str, set[int | None]] = {"resolve": set(), "wake": set()}

    class Points(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            seen["resolve"].add(blas_threads())
            return super().__getitem__(key)

    points = Points(nodes=[(np.full((4, 2), 0.1), np.ones(4))] * 6)
    with threadpool_limits(limits=2, user_api="blas"):
        run = Run(make_plan(scenario(), data=points), tmp_path / "run", RunGovernor(), 1e12)
        run.log.watch(lambda _: seen["wake"].add(blas_threads()), (Woke,))
        asyncio.run(run.perform())
        assert blas_threads() == 2
    assert seen == {"resolve": {1}, "wake": {1}}
    assert RunRecord(tmp_path / "run").manifest["environment"]["blas_threads"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, None])
def test_value_digests_of_other_thread_counts_are_not_called_equal(
    tmp_path: Path, threads: int | None
) -> None:
    world = str(tmp_path / "one")
    assert hush("run", "ring5-dropout", "--quiet", "--out", world).returncode == 0
    manifest = RunRecord(tmp_path / "one").manifest
    other = manifest | {"environment": manifest["environment"] | {"blas_threads": threads}}
    assert compare_digests(manifest, manifest) == {"schedule": "equal", "value": "equal"}
    found = compare_digests(manifest, other)
    assert found["schedule"] == "equal"
    assert found["value"].startswith("not compared: BLAS threads are 1 and ")
    assert hush("run", "ring5-dropout", "--quiet", "--out", str(tmp_path / "two")).returncode == 0
    (tmp_path / "two" / "manifest.json").write_text(json.dumps(other))
    told = hush("diff", world, str(tmp_path / "two"))
    assert told.returncode != PARTED
    assert "value digests: not compared" in told.stdout
    assert "value digests: equal" not in told.stdout

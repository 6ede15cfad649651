"""The same sweep on a Dask cluster of two workers: scheduler and workers are processes of this machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.api.sweep_result import open_sweep
from scenarios.experiments import cluster
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from tests.scenarios.experiments.test_sweeps import TINY, started, without_times
from tests.support.paths import ROOT

pytest.importorskip("distributed")
ENV = os.environ | {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s"}
GRID = ("--grid", "network.loss=0,0.1,0.2,0.3", "--seeds", "0..9", "-q", "-o")


class Dask:
    """A scheduler with workers, each a process of its own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        local = ("--host", "127.0.0.1", "--scheduler-file", str(self.file))
        self.scheduler = self._start("scheduler", *local, "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not (self.file.exists() and self.file.stat().st_size):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = str(json.loads(self.file.read_text())["address"])
        self.workers = [self._worker(i) for i in range(workers)]
        wait = f"import distributed; distributed.Client({self.address!r}).wait_for_workers({workers}, timeout=60)"
        subprocess.run([sys.executable, "-W", "ignore", "-c", wait], env=ENV, check=True)

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        place = self.folder / f"worker-{number}"
        place.mkdir()
        words = ("--no-nanny", "--nthreads", "2", "--no-dashboard", "--local-directory", str(place))
        return self._start("worker", self.address, *words, cwd=place)

    def _start(self, what: str, *words: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *words],
            cwd=cwd or self.folder,
            env=ENV,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    (tmp_path / "dask").mkdir()
    of_two = Dask(tmp_path / "dask", 2)
    try:
        yield of_two
    finally:
        of_two.close()


def begun(folder: Path, *words: str) -> subprocess.Popen[str]:
    (folder / "w.toml").write_text(to_toml(TINY))
    return subprocess.Popen(
        [sys.executable, "-m", "hush", "sweep", "w.toml", *words],
        cwd=folder,
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_a_cluster_gives_the_table_of_this_machine_also_where_a_worker_is_killed(
    dask: Dask, tmp_path: Path
) -> None:
    swept = begun(tmp_path, "--cluster", dask.address, *GRID, "a")
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "a").glob("cells/*/summary.json"))) < 8:
        assert time.monotonic() < deadline
        assert swept.poll() is None, swept.stderr and swept.stderr.read()
        time.sleep(0.01)
    dask.workers[0].send_signal(signal.SIGKILL)
    _, said = swept.communicate(timeout=120)
    assert (swept.returncode, said) == (0, "")
    assert len(started(tmp_path / "a")) == 40
    here = begun(tmp_path, "-j", "1", *GRID, "b")
    here.communicate(timeout=120)
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")
    assert open_sweep(tmp_path / "a").manifest.status == "finished"


@pytest.mark.slow
def test_a_folder_that_workers_do_not_see_is_refused(dask: Dask, tmp_path: Path) -> None:
    """/proc/self/cwd is another folder in each process."""
    code = (
        "from pathlib import Path\n"
        "from scenarios.experiments.cluster import Cluster\n"
        "from scenarios.language.problems import ScenarioError\n"
        "try:\n"
        f"    Cluster({dask.address!r}, None, Path('/proc/self/cwd'), heavy=False)\n"
        "except ScenarioError as error:\n"
        "    print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=ENV,
        text=True,
        capture_output=True,
        check=True,
    )
    assert (
        "does not see /proc/self/cwd: the folder of a sweep must be one that all workers share"
        in (told.stdout)
    )
    assert not list(tmp_path.glob(".token-*"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_sweep_whose_scheduler_is_lost_ends_and_goes_on_later(
    number: signal.Signals, dask: Dask, tmp_path: Path
) -> None:
    """A scheduler that is stopped answers as one whose machine has lost its power: not at all."""
    swept = begun(tmp_path, "--cluster", dask.address, *GRID, "a")
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "a").glob("cells/*/summary.json"))) < 8:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    dask.scheduler.send_signal(number)
    _, said = swept.communicate(timeout=30)
    assert swept.returncode == 2
    assert said == (
        f"--cluster {dask.address}: the scheduler is lost: it answers no more. Cells that finished are kept: "
        f"the same command with --out {(tmp_path / 'a').resolve()} goes on with the others\n"
    )
    assert open_sweep(tmp_path / "a").manifest.status == "failed"
    dask.close()
    before = {file: file.stat().st_mtime_ns for file in tmp_path.glob("a/cells/*/summary.json")}
    again = begun(tmp_path, "-j", "1", *GRID, "a")
    _, said = again.communicate(timeout=120)
    assert (again.returncode, said) == (0, "")
    assert {row.status for row in open_sweep(tmp_path / "a").rows} == {"finished"}
    assert len(before) >= 8
    assert {file: file.stat().st_mtime_ns for file in before} == before, "they were not run again"


@pytest.mark.slow
def test_an_address_that_is_silent_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """Something listens there and says nothing: a scheduler that hangs, or no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        told = begun(tmp_path, "--cluster", address, "--seeds", "0", "-o", "out")
        out, said = told.communicate(timeout=10)
    assert (told.returncode, out) == (2, "")
    assert said == f"--cluster {address}: no Dask scheduler answers there (TimeoutError)\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_worker_that_is_silent_is_refused_in_a_sentence(
    dask: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_WORKERS_S", 2.0)
    dask.workers[0].send_signal(signal.SIGSTOP)
    with pytest.raises(ScenarioError, match="some worker does not answer: not within 2 s"):
        cluster.Cluster(dask.address, None, tmp_path, heavy=False)
    assert not list(tmp_path.glob(".token-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:9", "OSError"),
        ("nonsense", "ValueError"),
        ("http://127.0.0.1:9", "ValueError"),
        ("", "ValueError"),
    ],
)
def test_an_address_without_a_scheduler_is_refused_in_a_sentence(
    tmp_path: Path, address: str, why: str
) -> None:
    told = begun(tmp_path, "--cluster", address, "--seeds", "0", "-o", "out")
    out, said = told.communicate(timeout=60)
    assert (told.returncode, out) == (2, "")
    assert said == f"--cluster {address}: no Dask scheduler answers there ({why})\n"
    assert not (tmp_path / "out").exists()

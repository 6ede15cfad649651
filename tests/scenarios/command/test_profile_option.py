"""`hush run --profile` as a person calls it: to a pipe, as JSON, interrupted, with what it does not go with."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.api.profiled import read_profile
from scenarios.api.result import open_run
from scenarios.language.writer import to_toml
from tests.support.builders import private
from tests.support.command import hush
from tests.support.paths import ROOT


def world(folder: Path, horizon: float) -> Path:
    file = folder / "x.toml"
    file.write_text(to_toml(private(run={"seed": 1, "horizon": horizon})))
    return file


@pytest.mark.slow
def test_a_run_says_where_its_time_went(tmp_path: Path) -> None:
    world(tmp_path, 20.0)
    told = hush("run", "./x.toml", "--profile", "--out", "r", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "of processor time went (" in told.stdout
    assert "loading modules, building the world" in told.stdout
    assert told.stdout.splitlines()[-1] == "  r/profile.svg"
    spent = read_profile(tmp_path / "r")
    assert spent["start-up"] > 0.03
    assert (tmp_path / "r" / "profile.svg").read_text().startswith("<svg ")
    assert open_run(tmp_path / "r").flaws == ()
    shown = hush("show", "r", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.slow
def test_as_json_a_profile_is_one_more_line(tmp_path: Path) -> None:
    world(tmp_path, 20.0)
    told = hush("run", "./x.toml", "--profile", "--live", "json", "--out", "r", cwd=tmp_path)
    last = json.loads(told.stdout.splitlines()[-1])
    assert last["kind"] == "profile"
    rooms = last["rooms"].values()
    assert sum(room["spent_s"] for room in rooms) == pytest.approx(last["spent_s"])
    assert sum(room["samples"] for room in rooms) == last["samples"]
    assert Path(tmp_path, last["picture"]).is_file()


@pytest.mark.slow
def test_a_run_that_is_interrupted_leaves_its_profile(tmp_path: Path) -> None:
    world(tmp_path, 100_000.0)
    words = ["run", "./x.toml", "--profile", "--quiet", "--allow-large", "--out", "r"]
    running = subprocess.Popen(
        [sys.executable, "-m", "scenarios", *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    events = tmp_path / "r" / "metrics.csv"
    ends = time.monotonic() + 60
    while not (events.exists() and events.stat().st_size > 1000) and time.monotonic() < ends:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "of processor time went (" in out
    assert read_profile(tmp_path / "r")["start-up"] > 0
    assert open_run(tmp_path / "r").status == "interrupted"


def test_a_profile_is_of_one_run(tmp_path: Path) -> None:
    world(tmp_path, 1.0)
    told = hush("run", "./x.toml", "./x.toml", "--profile", cwd=tmp_path)
    said = "hush: --profile: goes with one scenario: two runs share one process\n"
    assert (told.returncode, told.stdout, told.stderr) == (2, "", said.removeprefix("hush: "))
    assert not (tmp_path / "runs").exists()

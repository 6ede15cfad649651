"""What is left when a run is stopped, killed, or meets a full disk."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scenarios.api.result import open_run
from scenarios.api.runs import make_plan
from scenarios.running.control import Signals
from scenarios.running.run import last_sample
from tests.support.builders import private
from tests.support.paths import ROOT

LONG = ["run", "quickstart", "--quiet", "--until", "1d", "--set", "run.sample_every=100"]


def start(out: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start a run that would take an hour, and wait until it has written events."""
    command = [sys.executable, "-m", "scenarios", *LONG, "--out", str(out), *more]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begun = time.monotonic()
    while not any(p.stat().st_size > 100_000 for p in out.glob("record-*.hush")):
        assert process.poll() is None
        assert time.monotonic() - begun < 60
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_folder_that_says_interrupted(tmp_path: Path, number: int) -> None:
    process = start(tmp_path / "run")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    result = open_run(tmp_path / "run")
    assert result.status == "interrupted"
    assert result.summary["status"] == "interrupted"
    *_, last = result.events()
    assert last["kind"] == "finished"
    assert last["reason"] == "interrupted"
    messages = result.summary["messages"]
    assert messages["sent"] == sum(
        messages[k] for k in ("delivered", "lost", "rejected", "in_flight")
    )
    assert result.models.shape == (100, 10)


@pytest.mark.slow
def test_a_killed_run_is_readable_and_loses_at_most_a_second(tmp_path: Path) -> None:
    process = start(tmp_path / "run")
    time.sleep(1.5)
    before = sum(p.stat().st_size for p in (tmp_path / "run").glob("record-*.hush"))
    time.sleep(1.0)
    process.kill()
    process.communicate()
    after = sum(p.stat().st_size for p in (tmp_path / "run").glob("record-*.hush"))
    assert after > before, "what happened a second before the end is on the disk"
    result = open_run(tmp_path / "run")
    assert result.status == "running"
    events = list(result.events())
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    released = {(e["node"], e["k"]) for e in events if e["kind"] == "released"}
    assert result.summary["releases"] == len(released) > 0
    assert released <= {(line["node"], line["k"]) for line in result.ledger}, "charged before sent"
    done = subprocess.run(
        [sys.executable, "-m", "scenarios", "show", str(tmp_path / "run")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cut off" in done.stdout


@pytest.fixture
def tiny_disk(tmp_path: Path):  # type: ignore[no-untyped-def]
    mount = tmp_path / "disk"
    mount.mkdir()
    made = (
        shutil.which("mount")
        and os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    if not made:
        pytest.skip("a small tmpfs cannot be mounted here")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.slow
def test_a_full_disk_ends_with_74_and_a_readable_folder(tiny_disk: Path) -> None:
    command = [sys.executable, "-m", "scenarios", *LONG, "--out", str(tiny_disk / "run")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 74
    assert "the disk took no more" in done.stderr
    assert "Traceback" not in done.stderr
    manifest = json.loads((tiny_disk / "run" / "manifest.json").read_text())
    assert manifest["status"] == "failed"
    result = open_run(tiny_disk / "run")
    seqs = [e["seq"] for e in result.events()]
    assert len(seqs) > 1000
    assert seqs == list(range(1, len(seqs) + 1))


class FullAt:
    """A file descriptor that takes so many bytes and then no more: a real short write."""

    def __init__(self, room: int) -> None:
        self.room = room

    def __call__(self, file: int, data: bytes) -> int:
        import errno

        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = min(self.room, len(data))
        self.room -= taken
        return self.write(file, data[:taken])

    write = staticmethod(os.write)


def test_short_writes_are_noticed_and_only_whole_records_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scenarios.records.stream import DiskFull, Stream

    stream = Stream(tmp_path / "x.jsonl")
    stream.write(b"one\n")
    monkeypatch.setattr(os, "write", FullAt(9))
    with pytest.raises(DiskFull):
        stream.write(b"two\nthree\nfour\n")
    assert (tmp_path / "x.jsonl").read_bytes() == b"one\ntwo\n"
    assert stream.size == 8
    stream.close()


@pytest.mark.slow
def test_a_comparison_that_was_cut_off_is_no_comparison(tmp_path: Path) -> None:
    """What it is compared with is a value at the end: one of the middle is none."""
    plan = make_plan(private(run={"seed": 5, "horizon": 1e6}))

    def interrupt() -> None:
        Signals._open[-1].interrupt()

    threading.Timer(0.3, interrupt).start()  # as a signal would, in the middle
    assert asyncio.run(last_sample(plan, tmp_path / "cut")) is None
    whole = make_plan(private())
    assert asyncio.run(last_sample(whole, tmp_path / "whole")) is not None

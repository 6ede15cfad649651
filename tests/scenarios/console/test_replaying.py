"""`hush replay`: any recording, any moment, at any speed; on a pipe a frame of it, as a picture or as text."""

import asyncio
import json
import re
import shutil
import time
from pathlib import Path

import pytest

from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.sources.recording import Recording
from scenarios.records.reader import RunRecord
from tests.support.builders import perform, private
from tests.support.command import hush
from tests.support.records import RECORD, events_of, say_running, write_singles
from tests.support.terminal import DOWN, ENTER, ESCAPE, Terminal

WORLD = private(
    network={"topology": "complete", "latency": 0.2}, fault=[{"at": 5.0, "for": 4.0, "crash": [2]}]
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform(WORLD, tmp_path_factory.mktemp("runs")).outcome.folder


@pytest.mark.slow
def test_a_moment_as_text_and_as_a_picture(run: Path, tmp_path: Path) -> None:
    told = hush("replay", str(run), "--at", "7s")
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert len(lines) <= 30
    assert "t 00:07.000 / 00:20.000" in lines[0]
    assert "✕ down" in told.stdout
    file = tmp_path / "x.svg"
    drawn = hush(
        "replay", str(run), "--at", "7s", "--svg", str(file), "--size", "120x40", "--node", "2"
    )
    assert drawn.returncode == 0, drawn.stderr
    text = re.sub(r"<[^>]*>", "", file.read_text()).replace("\u00a0", " ")
    assert "agent 2" in text
    assert "✕ down" in text
    assert "t 00:07.000" in text
    assert hush("replay", str(run), "--at", "7s", "--ascii").stdout.isascii()


@pytest.mark.slow
def test_the_end_is_what_a_pipe_gets(run: Path) -> None:
    told = hush("replay", str(run)).stdout
    summary = json.loads((run / "summary.json").read_text())
    assert (
        f"messages {summary['messages']['sent']:,} = delivered {summary['messages']['delivered']:,}"
        in told
    )
    assert f"releases {summary['releases']:,} = charged" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "30s"), "is after the end"),
        (("--at", "soon"), "--at"),
        (("--size", "9x9"), "--size must be such as 100x30"),
        (("--node", "9"), "no agent 9: ids run from 0 to 5"),
        (("--speed", "0"), "must be a number > 0"),
        (("--svg", "/nowhere/at/all.svg"), "cannot be written"),
    ],
)
def test_what_cannot_be_shown_is_said(run: Path, words: tuple[str, ...], said: str) -> None:
    done = hush("replay", str(run), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_recordings_that_were_cut_off_or_damaged(run: Path, tmp_path: Path) -> None:
    """Whole records of a killed run are shown; a file that is missing or damaged is named."""
    cut = tmp_path / "cut"
    shutil.copytree(run, cut)
    record = cut / RECORD
    record.write_bytes(record.read_bytes()[: record.stat().st_size // 2])
    say_running(cut)
    told = hush("replay", str(cut))
    assert told.returncode == 2, "files of an end stand beside a record without one"
    assert "cut off: nothing was judged" in told.stdout
    assert "ledger.jsonl tells" in told.stderr
    assert "otherwise than the record: charged at the dearer of the two" in told.stderr
    for name, said in (("world.json", "world.json"), ("manifest.json", "manifest.json")):
        broken = tmp_path / name
        shutil.copytree(run, broken)
        (broken / name).unlink()
        done = hush("replay", str(broken))
        assert done.returncode == 2
        assert said in done.stderr
    empty = tmp_path / "empty"
    shutil.copytree(run, empty)
    (empty / RECORD).write_bytes(b"")
    assert "has no events" in hush("replay", str(empty)).stderr
    wrong = tmp_path / "wrong"
    shutil.copytree(run, wrong)
    (wrong / RECORD).write_bytes(b'{"kind": "nothing"}\n' * 9)
    done = hush("replay", str(wrong))
    assert done.returncode == 2
    assert "it is not file 0 of a record that hush reads" in done.stderr
    short = tmp_path / "short"
    shutil.copytree(run, short)
    (short / "ledger.jsonl").write_bytes(b"")
    done = hush("replay", str(short))
    assert done.returncode == 2, "what there is is shown all the same"
    assert "lacks 48 releases of 6 agents that the record proves" in done.stderr


def damaged(run: Path, folder: Path, file: str, old: bytes, new: bytes) -> Path:
    """Copy a run with something else in one of its files; of the record, in one of its events."""
    shutil.copytree(run, folder)
    path = folder / file
    if file == RECORD:
        lines = [json.dumps(event, separators=(",", ":")).encode() for event in events_of(folder)]
        place = next(i for i, line in enumerate(lines) if old in line)
        lines[place] = lines[place].replace(old, new, 1)
        write_singles(folder, map(json.loads, lines), RunRecord(run).ledger_lines())
        return folder
    text = path.read_bytes()
    assert old in text
    path.write_bytes(text.replace(old, new, 1))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (RECORD, b'"seq":7,', b'"seq":8,', "event 8 stands after event 6"),
        (RECORD, b'"node":2,', b'"node":77,', "does not fit its world.json"),
        ("world.json", b'"size":6', b'"size":"six"', "is damaged"),
        ("world.json", b'"plan":0', b'"plan":7', "world.json is damaged"),
        ("world.json", b'"law":', b'"lore":', "world.json is damaged"),
        ("world.json", b'"edges":[[0,', b'"edges":[[99,', "world.json is damaged"),
        (
            "manifest.json",
            b'"schema": 2',
            b'"schema": 1',
            "is of schema 1: this hush reads schema 2",
        ),
        ("manifest.json", b"{", b"[", "manifest.json is damaged"),
    ],
)
def test_what_is_damaged_is_said(
    run: Path, tmp_path: Path, file: str, old: bytes, new: bytes, said: str
) -> None:
    done = hush("replay", str(damaged(run, tmp_path / "run", file, old, new)))
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_recording_that_was_changed_says_so(run: Path, tmp_path: Path) -> None:
    folder = damaged(run, tmp_path / "run", RECORD, b'"lost":"volatile"', b'"lost":"all"')
    done = hush("replay", str(folder))
    assert done.returncode == 2
    assert "checksums do not match" in done.stderr
    assert "✕ FILES CHANGED" in done.stdout.splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "told"),
    [("running", "cut off"), ("interrupted", "interrupted"), ("failed", "failed")],
)
def test_a_replay_says_how_its_run_ended(run: Path, tmp_path: Path, status: str, told: str) -> None:
    folder = damaged(run, tmp_path / "run", "manifest.json", b'"finished"', f'"{status}"'.encode())
    if status == "running":
        say_running(folder)
    if status != "running":
        summary = folder / "summary.json"
        summary.write_text(summary.read_text().replace('"finished"', f'"{status}"', 1))
    head = hush("replay", str(folder)).stdout.splitlines()[0]
    assert f"replay, {told} t" in head
    assert ("? inv" in head) == (status == "running")


@pytest.mark.slow
def test_the_beginning_can_be_looked_at(run: Path) -> None:
    done = hush("replay", str(run), "--at", "0")
    assert "t 00:00.000 / 00:20.000" in done.stdout.splitlines()[0]
    assert hush("replay", str(run), "--at", "-1").returncode == 2


def test_a_player_keeps_its_pace(run: Path) -> None:
    """Twenty simulated seconds at forty per second take half a second, as near as a busy machine lets them."""
    recording = Recording(RunRecord(run))
    control = ReplayControl(recording, 40.0)
    begun = time.perf_counter()

    async def play() -> None:
        task = asyncio.ensure_future(control.perform())
        while not control.paused:  # noqa: ASYNC110 # nobody tells
            await asyncio.sleep(0.005)
        control.stop()
        await task

    asyncio.run(play())
    assert time.perf_counter() - begun >= 0.49
    assert recording.upcoming is None


def test_a_replay_in_the_screen_goes_anywhere(run: Path) -> None:
    with Terminal(100, 30, "replay", str(run), "--speed", "2") as terminal:
        terminal.wait_for("replay t")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.type("seek 15s")
        terminal.wait_for("t 00:15.000")
        terminal.type("seek 6s")
        terminal.wait_for("t 00:06.000")
        terminal.wait_for("✕ down")
        terminal.type("seek -2s")
        terminal.wait_for("t 00:04.000")
        terminal.type("next crashed")
        terminal.wait_for("reached at event")
        terminal.wait_for("t 00:05.000")
        terminal.press(DOWN, DOWN, ENTER)
        terminal.wait_for("agent 2")
        terminal.press(ESCAPE)
        terminal.press("f")
        terminal.wait_for("cannot be changed")
        terminal.type("crash 1")
        terminal.wait_for("cannot be changed")
        terminal.press(ESCAPE, "e")
        terminal.wait_for("cannot be changed")
        terminal.type("speed max")
        terminal.press(" ")
        terminal.wait_for("t 00:20.000 / 00:20.000")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()


@pytest.mark.slow
@pytest.mark.parametrize("speed", ["max", "1"])
def test_an_interrupted_replay_gives_the_terminal_back(run: Path, speed: str) -> None:
    import signal

    with Terminal(80, 24, "replay", str(run), "--speed", speed) as terminal:
        terminal.wait_for("replay t")
        terminal.send(signal.SIGINT)
        assert terminal.ends() == 130
        assert terminal.is_as_before()

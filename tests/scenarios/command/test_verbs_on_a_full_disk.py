"""The disk is full: 74, whichever verb meets it and whatever it writes. What another path would mend is 2."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.command.main import main
from scenarios.command.verbs import VERBS
from scenarios.language.writer import to_toml
from tests.support.builders import private
from tests.support.finished_runs import finished
from tests.support.full_disk import Disk
from tests.support.paths import ROOT
from tests.support.swept import written_sweep

ONE_FILE = {
    "new": "{out}/x.toml",
    "report": "{run} --out {out}/x.html",
    "plot": "{run} loss --out {out}/x.png",
    "replay": "{run} --ascii --svg {out}/x.svg",
    "trace": "import {table} --kind durations --out {out}/x.txt",
    "tradeoff": "{sweep} --axis epsilon --metric loss --out {out}/x.svg",
}
"""What each verb that writes a file is told."""
FOLDER = {
    "run": "ring5-dropout --quiet --out {out}/x",
    "tour": "--speed max --out {out}/x",
    "sweep": "ring5-dropout --seeds 0 -j 1 -q --out {out}/x",
    "audit": "{world} --runs 4 -j 1 --out {out}/x",
    "reproduce": "zhang-zhu-corollary-1-1 -q -j 1 --out {out}/x",
    "test": "quickstart --swarm 1 --out {out}/x",
}
"""What each verb that writes a folder is told."""
FULL = Path("/dev/full")


def test_every_verb_that_writes_is_here() -> None:
    writes = {
        name
        for name, verb in VERBS.items()
        if any(argument.dest in {"out", "svg"} for argument in verb.arguments)
    }
    assert writes | {"new"} == ONE_FILE.keys() | FOLDER.keys()


@pytest.fixture
def words(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "out").mkdir()
    (tmp_path / "w.toml").write_text(to_toml(private(run={"seed": 3, "horizon": 4.0})))
    (tmp_path / "table.csv").write_text("1\n2\n3\n")
    written_sweep(
        tmp_path / "sweep",
        {"epsilon": [0.5, 1.0, 2.0, 4.0]},
        [0],
        lambda settings, _: {"loss": 0.3 + 0.2 / float(settings["epsilon"])},
    )
    return {
        "run": str(finished(private()).outcome.folder),
        "world": str(tmp_path / "w.toml"),
        "table": str(tmp_path / "table.csv"),
        "sweep": str(tmp_path / "sweep"),
        "out": str(tmp_path / "out"),
    }


def called(verb: str, line: str, words: dict[str, str], room: int) -> int:
    with pytest.MonkeyPatch.context() as patch:
        Disk(room).mount(patch)
        return main([verb, *line.format(**words).split()])


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("verb", ONE_FILE)
def test_a_file_that_the_disk_does_not_take_is_74_and_is_not_left(
    verb: str, room: int, words: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    room = 0 if verb == "trace" else room  # its file is that short
    assert called(verb, ONE_FILE[verb], words, room) == 74
    of_table = f"hush: {words['sweep']}: "  # rows without runs, which this test does not ask about
    lines = [x for x in capsys.readouterr().err.splitlines() if not x.startswith(of_table)]
    assert len(lines) == 1
    assert lines[0].startswith(f"hush: No space left on device: {words['out']}/x.")
    assert list(Path(words["out"]).iterdir()) == []


@pytest.mark.parametrize("verb", ["report", "plot", "replay", "tradeoff"])
def test_a_file_that_was_there_stays_as_it_was(verb: str, words: dict[str, str]) -> None:
    file = Path(ONE_FILE[verb].format(**words).split()[-1])
    file.write_text("of before")
    assert called(verb, ONE_FILE[verb], words, 100) == 74
    assert file.read_text() == "of before"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("verb", FOLDER)
def test_a_folder_that_the_disk_does_not_take_is_74(
    verb: str, words: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(verb, FOLDER[verb], words, 100) == 74
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("verb", ONE_FILE)
def test_a_path_that_cannot_be_is_2(
    verb: str, words: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder of that name is there: another path would do."""
    line = ONE_FILE[verb].replace("{out}/", "{out}/nowhere/")
    assert main([verb, *line.format(**words).split()]) == 2
    said = capsys.readouterr().err
    assert f"{words['out']}/nowhere/x." in said
    assert "cannot be written: No such file or directory" in said


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("line", ["", "--help", "--version", "help run", "list", "schema"])
def test_standard_output_that_takes_nothing_is_74(line: str) -> None:
    with FULL.open("wb") as nowhere:
        done = subprocess.run(
            [sys.executable, "-m", "scenarios", *line.split()],
            cwd=ROOT,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (74, "hush: No space left on device\n")

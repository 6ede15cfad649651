"""`latest`, and beginnings of names: for every verb that takes the folder of a run, a sweep or an audit."""

import os
from pathlib import Path

import pytest

from scenarios.command.abbreviated_folders import sorts_of, spell_out
from scenarios.command.arguments import parse
from scenarios.command.main import main
from scenarios.command.verb import Takes, Verb
from scenarios.command.verbs import VERBS
from scenarios.records.audit_record import AUDIT
from scenarios.records.folder_error import FolderError
from scenarios.records.kept_folders import MARKS, kept
from scenarios.records.run_folder import MANIFEST, record_segment
from scenarios.records.sweep_record import SWEEP
from tests.support.command import hush

HAVE_FOLDERS = [
    verb for verb in VERBS.values() if any(sorts_of(argument.takes) for argument in verb.arguments)
]
FOLDERS = [
    ("run", "quickstart-7-1", 100),
    ("run", "quickstart-7-2", 300),
    ("run", "ring-7-1", 200),
    ("sweep", "ring-sweep-1", 50),
    ("sweep", "ring-sweep-2", 40),
    ("audit", "ring-audit-7-1", 20),
]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders as runs, sweeps and audits leave them, with the seconds at which each was written."""
    monkeypatch.chdir(tmp_path)
    for sort, name, written in FOLDERS:
        mark = tmp_path / "runs" / name / MARKS[sort]
        mark.parent.mkdir(parents=True)
        mark.touch()
        os.utime(mark, (written, written))
    (tmp_path / "runs" / "empty").mkdir()
    return tmp_path / "runs"


def spelled(*words: str) -> list[str]:
    """Return the folders that the words of a verb name."""
    chosen = parse(words)
    verb = VERBS[words[0]]
    spell_out(verb, chosen)
    values = [getattr(chosen, a.dest) for a in verb.arguments if sorts_of(a.takes)]
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


def needed(verb: Verb) -> list[str]:
    """Return what else a verb needs to be read."""
    return {"explain": ["3"], "diff": ["ring-7-1"]}.get(verb.name, [])


def test_marks_are_the_files_that_records_go_by() -> None:
    assert {"run": MANIFEST, "sweep": SWEEP, "audit": AUDIT} == MARKS


def test_the_verbs_that_take_folders_are_those_of_the_reference() -> None:
    assert {verb.name for verb in HAVE_FOLDERS} == {
        *("compare", "diff", "explain", "plot", "replay", "report", "show", "tradeoff", "verify")
    }


@pytest.mark.parametrize("verb", HAVE_FOLDERS, ids=lambda verb: verb.name)
@pytest.mark.usefixtures("runs")
def test_latest_is_the_newest_folder_that_the_verb_takes(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    takes = next(a.takes for a in verb.arguments if sorts_of(a.takes))
    newest = "runs/quickstart-7-2" if Takes.RUN in takes else "runs/ring-sweep-1"
    assert spelled(verb.name, "latest", *needed(verb))[0] == newest
    assert f"hush: latest is {newest}\n" in capsys.readouterr().err


@pytest.mark.parametrize("verb", HAVE_FOLDERS, ids=lambda verb: verb.name)
@pytest.mark.usefixtures("runs")
def test_a_beginning_that_only_one_folder_has_names_it(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    takes = next(a.takes for a in verb.arguments if sorts_of(a.takes))
    begins, name = ("ring-7", "ring-7-1") if Takes.RUN in takes else ("ring-sweep-2",) * 2
    for text in (begins, f"runs/{begins}"):
        if not Path(text).exists():
            assert spelled(verb.name, text, *needed(verb))[0] == f"runs/{name}"
            assert f"hush: {text} is runs/{name}\n" in capsys.readouterr().err


def test_a_run_that_goes_on_is_as_new_as_its_record(runs: Path) -> None:
    record = runs / "ring-7-1" / record_segment(0)
    record.touch()
    os.utime(record, (400, 400))
    assert spelled("replay", "latest") == ["runs/ring-7-1"]


@pytest.mark.usefixtures("runs")
def test_a_path_that_exists_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("latest", "ring-7"):
        Path(name).mkdir()
        assert spelled("replay", name) == [name]
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("runs")
def test_a_beginning_of_several_names_lists_them() -> None:
    with pytest.raises(FolderError) as raised:
        spelled("replay", "quick")
    assert str(raised.value) == (
        "quick is the beginning of 2 folders: runs/quickstart-7-1, runs/quickstart-7-2"
    )
    assert spelled("replay", "ring") == ["runs/ring-7-1"]  # a sweep cannot be replayed
    with pytest.raises(FolderError, match="4 folders"):
        spelled("plot", "ring")


def test_a_whole_name_comes_before_names_that_begin_so(runs: Path) -> None:
    (runs / "quickstart-7-1").rename(runs / "quickstart-7-20")
    assert spelled("replay", "quickstart-7-2") == ["runs/quickstart-7-2"]
    with pytest.raises(FolderError, match="2 folders"):
        spelled("replay", "quickstart-7")


@pytest.mark.usefixtures("runs")
def test_a_word_with_an_error_is_told_with_the_nearest_folder() -> None:
    with pytest.raises(FolderError, match="did you mean 'ring-7-1'"):
        spelled("replay", "rng-7-1")


def test_names_of_mechanisms_scenarios_pictures_and_metrics_come_before_beginnings(
    runs: Path,
) -> None:
    for name in ("cd-3-1", "quickstart", "loss-3-1", "network-1-1"):
        (runs / name).mkdir()
        (runs / name / MANIFEST).touch()
    assert spelled("show", "cd") == ["cd"]
    assert spelled("show", "quickstart") == ["quickstart"]
    assert spelled("plot", "latest", "loss", "network", "cd")[1:] == [
        *("loss", "network"),
        "runs/cd-3-1",
    ]


def test_without_any_run_latest_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert kept(MARKS) == []
    assert main(["replay", "latest"]) == 2
    assert capsys.readouterr().err == "latest: there is no run in runs/ of this folder\n"
    assert main(["show", "latest"]) == 2
    assert "there is no run or sweep in runs/" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["a\0b", "\x1b[2J", "", "runs/", "../x", "/", "latest/"])
@pytest.mark.usefixtures("runs")
def test_an_odd_word_is_no_folder(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", text, "3"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_json_stays_all_that_goes_to_standard_output(tmp_path: Path) -> None:
    import json

    assert hush("run", "ring5-dropout", "-q", cwd=tmp_path).returncode == 0
    done = hush("show", "latest", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["scenario"] == "ring5-dropout"
    assert done.stderr == "hush: latest is runs/ring5-dropout-7-1\n"
    again = hush("show", "ring5-dropout-7", "--ledger", "csv", cwd=tmp_path)
    assert again.returncode == 0

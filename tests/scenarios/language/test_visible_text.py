"""Text from files never reaches a terminal, or a picture, raw: one rule, one door, every verb."""

import ast
import json
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.command.main import main
from scenarios.language.problems import Problem, ScenarioError
from scenarios.language.visible_text import is_visible, visible
from scenarios.language.writer import to_toml
from scenarios.planning.check_scenario import check_scenario
from scenarios.planning.scenario import load
from scenarios.records.reader import RunRecord
from tests.support.builders import perform, private, scenario
from tests.support.records import edit_record, events_of, write_record
from tests.test_architecture import modules, name_of

TRICKS = {
    "a window's title": "\x1b]0;owned\x07",
    "the clipboard": "\x1b]52;c;cm0=\x07",
    "hidden text": "\x1b[8mhidden\x1b[0m",
    "the screen": "\x1b[2J\x1b[H",
    "CSI in one character": "\x9b31m",
    "OSC in one character": "\x9d0;owned\x9c",
    "reversed text": "\u202egnp.exe",
    "an isolate": "\u2066b\u2069",
    "NUL": "\x00",
    "DEL and backspace": "\x7f\x08",
    "a return to the line's begin": "\rfine",
    "a line of its own": "\n  13/13 hold",
    "nothing to see": "\u200b\ufeff",
}
HOSTILE = "".join(TRICKS.values())
ON_ONE_LINE = {name: trick for name, trick in TRICKS.items() if "\n" not in trick}


def raw(text: str) -> set[str]:
    """The control and format characters of a text, but for its ends of lines and tabs."""
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"}} - set("\n\t")


@given(st.text())
def test_what_is_spelled_out_is_visible_and_stays_as_it_is(text: str) -> None:
    spelled = visible(text)
    assert is_visible(spelled)
    assert not raw(spelled)
    assert visible(spelled) == spelled
    assert (spelled == text) == is_visible(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_file_that_hush_writes_holds_no_raw_control_and_reads_back(text: str) -> None:
    written = to_toml({"name": text})
    assert not raw(written)
    assert tomllib.loads(written) == {"name": text}


def test_an_escape_is_spelled_as_toml_spells_it() -> None:
    assert visible("a\x1b[8mb\x9b\u202e\U000e0041 é ε 名") == (
        "a\\u001b[8mb\\u009b\\u202e\\U000e0041 é ε 名"
    )


def test_a_problem_spells_out_its_line_and_its_caret_still_points() -> None:
    from scenarios.language.positions import Spot

    spot = Spot("a\x1bb.toml", 3, 12, 'name = "\u202e", x = 1')
    assert str(Problem("x", "must be 2\x07", spot)).split("\n") == [
        "a\\u001bb.toml:3:12: x: must be 2\\u0007",
        '    3 | name = "\\u202e", x = 1',
        "                        ^",
    ]


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "nodes.0.name": lambda name: {"nodes": [{"name": name, "count": 6}]},
    "fault.0.name": lambda name: {"fault": [{"name": name, "at": 1.0, "crash": [0]}]},
    "fault.0.crash": lambda name: {"fault": [{"at": 1.0, "crash": name}]},
    "expect.0.name": lambda name: {
        "expect": [{"name": name, "metric": "loss.mean", "at_most": 9.0}]
    },
    "expect.0.metric": lambda name: {"expect": [{"metric": name, "at_most": 9.0}]},
    "expect.0.group": lambda name: {
        "expect": [{"metric": "loss.mean", "at_most": 9.0, "group": name}]
    },
    "targets.": lambda name: {"targets": {name: {"metric": "loss.mean", "at_most": 9.0}}},
    "tags.0": lambda name: {"tags": [name]},
    "name": lambda name: {"name": name},
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("place", PLACES)
def test_a_name_of_a_scenario_is_printable_or_refused_with_its_place(
    place: str, trick: str, tmp_path: Path
) -> None:
    path = tmp_path / "named.toml"
    path.write_text(to_toml(scenario(**PLACES[place](f"x{TRICKS[trick]}"))), encoding="utf-8")
    found = load(path)
    if not found.report.problems:
        check_scenario(found.read, found.report)
    with pytest.raises(ScenarioError) as refused:
        found.report.stop_if_any()
    (problem,) = refused.value.problems
    assert problem.where.startswith(place)
    assert problem.spot is not None
    assert problem.spot.file == str(path)
    assert not raw(str(refused.value))


@pytest.mark.parametrize("name", ["phones", "früh", "名前", "with a space", "ε > 2"])
def test_printable_names_of_any_language_are_fine(name: str) -> None:
    made = scenario(
        nodes=[{"name": name, "count": 6}], targets={name: {"metric": "gap", "at_most": 1.0}}
    )
    load(made).report.stop_if_any()


def _hostile(tree: Any, keys: set[str]) -> Any:
    """Put escapes behind every text that stands under one of some keys."""
    if isinstance(tree, dict):
        return {
            k: v + HOSTILE if k in keys and isinstance(v, str) else _hostile(v, keys)
            for k, v in tree.items()
        }
    return [_hostile(item, keys) for item in tree] if isinstance(tree, list) else tree


_TEXTS = {
    "name",
    "scenario",
    "reason",
    "detail",
    "action",
    "view",
    "accountant",
    "mechanism",
    "wanted",
    "note",
    "ended_by",
    "invariant",
    "status",
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose every text has escapes in it, as a stranger may have sent it."""
    faults = [{"name": "trip", "at": 5.0, "for": 3.0, "crash": [2]}]
    groups = [
        {"name": name, "count": 3, "budget": {"epsilon": 4.0, "delta": 1e-5}} for name in ("a", "b")
    ]
    expects = [{"metric": "loss.mean", "at_most": 0.0}]
    made = perform(
        private(fault=faults, nodes=groups, expect=expects), tmp_path_factory.mktemp("runs")
    )
    folder = made.outcome.folder
    for path in folder.glob("*.json"):
        tree = json.loads(path.read_text("utf-8"))
        keys = _TEXTS - {"status"} if path.name == "manifest.json" else _TEXTS
        if path.name == "world.json":  # whose view and accountant decide what is computed
            keys = {"name", "kind"}
        tree = _hostile(tree, keys)
        if path.name == "world.json":
            tree["groups"] = [[name + HOSTILE, count] for name, count in tree["groups"]]
        path.write_text(json.dumps(tree), encoding="utf-8")
    ledger = [_hostile(line, _TEXTS) for line in RunRecord(folder).ledger_lines()]
    write_record(folder, [_hostile(event, _TEXTS) for event in events_of(folder)], ledger)
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in ledger))
    resolved = folder / "resolved.toml"
    tree = tomllib.loads(resolved.read_text("utf-8"))
    tree["fault"][0]["name"] += HOSTILE
    resolved.write_text(to_toml(tree), encoding="utf-8")
    return folder


LOOKS: dict[str, tuple[str, ...]] = {
    "show": ("show", "RUN"),
    "show as JSON": ("show", "RUN", "--json"),
    "show the ledger": ("show", "RUN", "--ledger", "csv"),
    "explain": ("explain", "RUN", "60"),
    "explain as JSON": ("explain", "RUN", "60", "--json"),
    "diff": ("diff", "RUN", "OTHER"),
    "replay": ("replay", "RUN"),
    "replay at an instant": ("replay", "RUN", "--at", "6"),
    "replay one agent": ("replay", "RUN", "--node", "2", "--at", "6"),
    "plot": ("plot", "RUN", "loss", "--out", "HERE/a.png"),
    "plot what is not there": ("plot", "RUN", "x" + TRICKS["the clipboard"]),
    "run what was resolved": ("run", "RUN/resolved.toml", "--quiet", "--out", "HERE/run"),
    "test what was resolved": ("test", "RUN/resolved.toml"),
}


@pytest.mark.parametrize("verb", LOOKS)
def test_no_verb_lets_a_text_of_a_recording_through(
    verb: str,
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    recwarn: pytest.WarningsRecorder,
) -> None:
    import shutil

    other = tmp_path / "other"
    shutil.copytree(recording, other)
    edit_record(other, events_of(other)[:40])
    named = {"RUN": str(recording), "OTHER": str(other), "HERE": str(tmp_path)}
    words = list(LOOKS[verb])
    for mark, path in named.items():
        words = [word.replace(mark, path) for word in words]
    code = main(words)
    out, err = capsys.readouterr()
    assert code in {0, 2, 5}, err
    assert out + err
    assert not raw(out), raw(out)
    assert not raw(err), raw(err)
    assert not [w for w in recwarn if raw(str(w.message))]


def test_a_picture_of_a_hostile_recording_is_well_formed(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "moment.svg"
    assert main(["replay", str(recording), "--at", "6", "--svg", str(picture)]) == 2, (
        "it was edited"
    )
    text = picture.read_text("utf-8")
    ET.fromstring(text)  # noqa: S314 # our own
    assert not raw(text)
    assert "\\u001b" in text
    assert not raw(capsys.readouterr().out)


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Scenario files that are hostile in every way a file can be: by name, in comments, in values, in broken lines."""
    good = to_toml(scenario())
    loud = f'# \x9b2J \u202e\n{good}summary = "{"".join(c for c in HOSTILE if c >= " ")}"\n'
    for what, name, text in (
        ("its name", "\x1b]0;owned\x07\u202e\x9b.toml", 'schema = "one"\n'),
        ("a comment", "comment.toml", loud.replace("schema = 1", "schema = 2")),
        ("a key", "key.toml", good + '"\\u001b]0;owned\\u0007" = 1\n'),
        ("a value", "value.toml", good.replace('"cd"', f'"{TRICKS["reversed text"]}"')),
        ("a broken line", "broken.toml", good + f"x = {TRICKS['hidden text']}\n"),
        ("a path", "path.toml", f'extends = "{TRICKS["OSC in one character"]}"\n' + good),
    ):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        yield what, path


@pytest.mark.parametrize("verb", ["check", "run", "show", "audit", "sweep", "test"])
def test_no_verb_lets_a_text_of_a_scenario_through(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for what, path in files(tmp_path):
        code = main([verb, str(path), *(["--seeds", "1"] if verb == "sweep" else [])])
        out, err = capsys.readouterr()
        assert code == (0 if verb == "show" else 2), (what, err)
        assert out + err
        assert not raw(out + err), (what, out, err)


@pytest.mark.parametrize("trick", ON_ONE_LINE.values(), ids=ON_ONE_LINE)
def test_a_word_of_the_command_line_is_spelled_out_too(
    trick: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["check", f"lib{trick}"],
        ["run", "--set", trick],
        ["show", trick],
        ["explain", "x", trick],
    ):
        try:
            code = main(words)
        except SystemExit as ended:  # argparse ends by itself
            code = int(ended.code or 0)
        assert code == 2
        out, err = capsys.readouterr()
        assert err
        assert not raw(out + err)


MAY_WRITE = {
    "scenarios.language.visible_text": "the door",
    "scenarios.console.screens.screen": "frames, whose every line went through `fit`",
    "scenarios.command.repeated_runs": "a bar of progress, which holds no text from elsewhere",
    "scenarios.command.sweep": "a line of progress: counts and times, no text from elsewhere",
    "hush.__main__": "one sentence, where the module of the door may be of another package",
}


@pytest.mark.slow
def test_there_is_one_door_to_the_terminal() -> None:
    """No other module prints, or writes to a standard stream; warnings are spelled out."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            writes = called == "print" or called.endswith(("stdout.write", "stderr.write"))
            assert not writes or name_of(path) in MAY_WRITE, f"{path}:{node.lineno}: {called}"
            if called == "warnings.warn":
                assert ast.unparse(node.args[0]).startswith("visible("), f"{path}:{node.lineno}"

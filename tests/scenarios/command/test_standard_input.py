"""A scenario from standard input, `-`: for every verb that reads one, with its errors, in this process and in workers."""

import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.command.main import main
from scenarios.command.verb import Takes, Verb
from scenarios.command.verbs import VERBS
from scenarios.console.screens.terminal import can_be_full
from scenarios.language.positions import LONGEST_FILE
from scenarios.language.reader import Piped, read_source
from scenarios.language.writer import to_toml
from tests.support.builders import scenario
from tests.support.command import hush
from tests.support.paths import ROOT

READ_SCENARIOS = [
    verb
    for verb in VERBS.values()
    if any(Takes.SCENARIO in argument.takes for argument in verb.arguments)
]
JUDGE = [verb for verb in READ_SCENARIOS if verb.name != "show"]
"""Verbs that read what the scenario says; `show` prints its text."""


def words_of(verb: Verb) -> list[str]:
    more = {"sweep": ["--seeds", "0..1"], "attack": []}
    return [verb.name, *(["kkt"] if verb.name == "attack" else []), "-", *more.get(verb.name, [])]


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def text_of_a_world() -> str:
    return to_toml(scenario(run={"seed": 5, "horizon": 1.0}, nodes=[{"count": 3}]))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", JUDGE, ids=lambda verb: verb.name)
def test_an_error_names_line_and_column_of_standard_input(
    verb: Verb, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = text_of_a_world().replace("schema = 1\n", "schema = 1\nnodez = 3\n")
    pipe(monkeypatch, text.encode())
    assert main(words_of(verb)) == 2
    both = capsys.readouterr()
    line = text.split("\n").index("nodez = 3") + 1
    said = f"<stdin>:{line}:1: nodez: unknown key 'nodez'; did you mean 'nodes'?"
    assert said in (both.out + both.err)


@pytest.mark.parametrize("verb", READ_SCENARIOS, ids=lambda verb: verb.name)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"#" * (LONGEST_FILE + 1), "<stdin>: a scenario file has at most 1 MiB"),
        (b"\xff", "<stdin>: must be UTF-8"),
    ],
    ids=["too long", "no text"],
)
def test_what_no_file_may_be_is_refused_from_standard_input_too(
    verb: Verb,
    data: bytes,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipe(monkeypatch, data)
    assert main(words_of(verb)) == 2
    assert said in capsys.readouterr().err


def test_a_file_of_the_largest_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of_a_world()
    pipe(monkeypatch, (text + "#" * (LONGEST_FILE - len(text.encode()))).encode())
    assert main(["check", "-"]) == 0


def test_a_closed_standard_input_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", "-"]) == 2
    assert capsys.readouterr().err == "<stdin>: cannot be read: standard input is closed\n"


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_closed_stream_is_no_terminal(monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    """A run, a tour and a replay ask for a terminal before they do anything: `hush run <&-` is a run in lines."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, stream, None)
    assert not can_be_full(asked=True)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["run ring5-dropout", "tour"])
def test_with_standard_input_closed_a_run_is_told_in_lines(tmp_path: Path, words: str) -> None:
    command = [sys.executable, "-m", "scenarios", *words.split(), "--out", str(tmp_path / "run")]
    closed = ["sh", "-c", 'exec "$0" "$@" <&-', *command]
    done = subprocess.run(closed, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_of_standard_input_is_the_run_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("stdin.toml").write_text(text_of_a_world())
    pipe(monkeypatch, text_of_a_world().encode())
    assert main(["run", "-", "-q", "-o", "a"]) == 0
    assert main(["run", "./stdin.toml", "-q", "-o", "b"]) == 0
    digests = [json.loads(Path(run, "manifest.json").read_text())["digests"] for run in ("a", "b")]
    assert digests[0] == digests[1]
    assert Path("a/scenario.toml").read_bytes() == Path("stdin.toml").read_bytes()
    assert main(["run", "a/resolved.toml", "-q", "-o", "c"]) == 0


def test_files_inside_are_relative_to_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("delays.txt").write_text("0.1\n0.2\n")
    latency = {"latency": {"kind": "trace", "path": "delays.txt"}}
    world = scenario(run={"seed": 5, "horizon": 1.0}, network={"topology": "ring"} | latency)
    pipe(monkeypatch, to_toml(world).encode())
    assert main(["check", "-"]) == 0
    Path("base.toml").write_text(text_of_a_world())
    pipe(monkeypatch, b'schema = 1\nextends = "base.toml"\n')
    assert main(["check", "-"]) == 0


def test_a_file_called_minus_is_a_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("-").write_text(text_of_a_world())
    pipe(monkeypatch, b"schema = 2\n")
    assert main(["check", "./-"]) == 0
    assert main(["check", "-"]) == 2
    assert "<stdin>:1:10" in capsys.readouterr().err


def test_what_was_piped_goes_into_another_process() -> None:
    piped = Piped(text_of_a_world())
    copy = pickle.loads(pickle.dumps(piped))  # noqa: S301 # it was written in the line above
    assert (copy, copy.text) == ("-", piped.text)
    assert read_source(copy).tree == read_source(piped).tree


def test_python_reads_no_standard_input() -> None:
    """`-` is a word of the command line: a script that names it gets an error, and no wait."""
    from scenarios import check

    assert "no scenario '-'" in str(check("-"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sweep - --seeds 0..3 --grid network.loss=0,0.5 -j 2", "8 of 8 cells finished"),
        ("test - --seeds 0..3 -j 2", "4 passed of 4"),
        ("run - --twice -q", "twice the same"),
    ],
)
def test_workers_and_second_runs_have_the_same_text(words: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scenarios", *words.split()],
        input=text_of_a_world(),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout + done.stderr


def test_a_failed_test_says_how_to_run_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = scenario(
        run={"seed": 5, "horizon": 1.0}, expect=[{"metric": "updates.mean", "above": 1e6}]
    )
    pipe(monkeypatch, to_toml(world).encode())
    assert main(["test", "-"]) == 1
    said = capsys.readouterr().out
    assert "hush run - --seed 5" in said
    assert "<stdin>:" in said


def test_new_writes_no_file_that_is_called_as_standard_input(tmp_path: Path) -> None:
    done = hush("new", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert "standard input" in done.stderr
    assert not (tmp_path / "-").exists()

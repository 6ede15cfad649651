"""Completion: what may stand next follows from the verbs' records, and real shells take it."""

import os
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.command.abbreviated_folders import sorts_of
from scenarios.command.completion_scripts import SCRIPTS
from scenarios.command.main import main
from scenarios.command.possible_keys import possible_keys
from scenarios.command.possible_words import _LISTS, possible_words
from scenarios.command.verb import Takes, Verb
from scenarios.command.verbs import VERBS
from scenarios.language.reader import library_names
from scenarios.language.table_rules import keys_of
from scenarios.planning.clocks import CLOCKS
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.metric_names import known_names
from scenarios.planning.scenario_tables import GroupTable, RunTable, ScenarioTable
from scenarios.planning.word_cards import all_names, families
from scenarios.records.run_folder import MANIFEST
from tests.scenarios.command.test_what_is_loaded import NUMBERS, RECORDS, SCIENCE, loaded_by
from tests.support.paths import ROOT

verbs = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)


def after(*typed: str) -> set[str]:
    """Return what the last word may become."""
    return {word for word, _ in possible_words(typed).words}


def test_verbs_come_first() -> None:
    assert after("") == set(VERBS)
    assert after("re") == {"replay", "report", "reproduce"}
    assert after("--") == {"--help", "--version"}
    assert after("nosuch", "") == set()


@verbs
def test_every_option_of_a_verb_is_possible_until_it_is_used(verb: Verb) -> None:
    options = {name for one in verb.arguments if one.is_option for name in one.names}
    assert after(verb.name, "-") == options | {"--help"}
    for argument in (one for one in verb.arguments if one.is_option):
        value = [] if argument.takes is Takes.NOTHING else [(*argument.choices, "1")[0]]
        again = after(verb.name, argument.names[-1], *value, "--")
        assert (argument.names[-1] in again) == (argument.settings.get("action") == "append")


@verbs
def test_every_choice_is_possible_in_both_forms(verb: Verb) -> None:
    for argument in (one for one in verb.arguments if one.is_option and one.choices):
        name = argument.names[-1]
        assert set(argument.choices) <= after(verb.name, name, "")
        assert after(verb.name, f"{name}=") == {f"{name}={word}" for word in argument.choices}
        assert after(verb.name, name, "=", "") == set(argument.choices)  # as bash takes it apart


@verbs
def test_words_are_possible_in_their_places(verb: Verb) -> None:
    before: list[str] = []
    for argument in (one for one in verb.arguments if not one.is_option):
        here = possible_words([verb.name, *before, ""])
        words = {word for word, _ in here.words}
        assert set(argument.choices) <= words
        assert (set(library_names()) <= words) == (Takes.SCENARIO in argument.takes)
        wants_files = bool({*argument.takes} & {Takes.FILE, Takes.SCENARIO})
        assert (here.files == "files") == wants_files
        before.append((*argument.choices, "x")[0])


def test_no_value_is_forgotten() -> None:
    """Every sort of value is listed, left to the shell, or one that no list holds."""
    by_shell = {Takes.FILE, Takes.FOLDER}
    elsewhere = {Takes.CHOICE, Takes.VERB, Takes.KEY}
    folders = {part for part in Takes if sorts_of(part)}
    unlisted = {Takes.VALUE, Takes.NOTHING}
    assert set(_LISTS) | by_shell | elsewhere | folders | unlisted == set(Takes)


def test_names_come_from_their_families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = {f"{family.name}:" for family in families()} | set(all_names())
    assert words | set(library_names()) == after("show", "")
    assert after("show", "metric", ":", "") == {""}
    assert set(known_names(())) <= after("compare", "a", "--metric", "")
    assert after("help", "ru") == {"run"}
    assert after("attack", "") == {"kkt", "membership"}
    assert after("attack", "kkt", "quicks") == {"quickstart"}


def test_folders_of_runs_are_possible_where_they_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert after("replay", "") == set()
    for name in ("quickstart-7-1", "quickstart-7-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / MANIFEST).touch()
    (tmp_path / "runs/a\x1b[2Jb").mkdir()
    (tmp_path / "runs/a\x1b[2Jb" / MANIFEST).touch()
    assert after("replay", "q") == {"quickstart-7-1", "quickstart-7-2"}
    assert after("explain", "la") == {"latest"}
    assert "latest" not in after("tradeoff", "")
    assert after("explain", "quickstart-7-1", "") == set()


def test_a_name_that_a_terminal_would_obey_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a\x1b[2Jb", "a\nb", "ab"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / MANIFEST).touch()
    assert main(["completion", "words", "--", "replay", "a"]) == 0
    assert capsys.readouterr().out == "ab\trun\n:folders\n"


def keys(current: str) -> set[str]:
    return {key for key, _ in possible_keys(current)}


def test_keys_are_completed_level_by_level() -> None:
    tops = {key.rstrip(".=") for key in keys("")}
    assert tops == set(keys_of(ScenarioTable))
    assert {"targets.", "sweep.", "tags=", "mechanism=", "mechanism."} <= keys("")
    assert not {"targets=", "sweep=", "run=", "nodes=", "fault="} & keys("")
    assert {key.rstrip("=") for key in keys("run.")} == {
        f"run.{name}" for name in keys_of(RunTable)
    }
    assert keys("nodes.") == {"nodes.0.", "nodes.all."}
    groups = {key.removeprefix("nodes.all.").rstrip(".=") for key in keys("nodes.all.")}
    assert groups == set(keys_of(GroupTable))
    assert keys("mechanism.kind=") >= {f"mechanism.kind={kind}" for kind in MECHANISMS}
    assert keys("nodes.0.clock.kind=") == {f"nodes.0.clock.kind={kind}" for kind in CLOCKS}
    assert "mechanism.mu=" in keys("mechanism.")
    assert "network.topology=ring" in keys("network.topology=")
    assert keys("nosuch.") == keys("run.seed.") == set()
    assert after("run", "--set", "network.lo") == {"network.loss="}
    assert after("run", "--set", "run.engine", "=", "v") == {"virtual"}


def test_completing_loads_no_numpy(tmp_path: Path) -> None:
    typed = (("run", ""), ("run", "--set", "mechanism."), ("plot", "x"), ("show", ""))
    for words in typed:
        loaded = loaded_by("completion", "words", "--", *words, cwd=tmp_path)
        assert "scenarios.command.possible_words" in loaded
        assert loaded & (SCIENCE | RECORDS | NUMBERS) <= {"msgspec"}  # records of events
        assert words[0] == "show" or "msgspec" not in loaded


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which `hush` is this repository's."""
    command = tmp_path / "bin" / "hush"
    command.parent.mkdir()
    words = shlex.join([sys.executable, "-m", "scenarios"])
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {words} "$@"\n')
    command.chmod(0o755)
    (tmp_path / "runs/quickstart-7-1").mkdir(parents=True)
    (tmp_path / "runs/quickstart-7-1" / MANIFEST).touch()
    (tmp_path / "my world.toml").touch()
    return f"{command.parent}:{os.environ['PATH']}"


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@needs_bash
@pytest.mark.parametrize(
    ("typed", "replies"),
    [
        (["hush", "repr"], ["reproduce"]),
        (["hush", "run", "--li"], ["--live"]),
        (["hush", "run", "--live", "=", "f"], ["full"]),
        (["hush", "run", "--set", "network.lo"], ["network.loss="]),
        (["hush", "run", "--set", "run.engine", "=", "w"], ["wall"]),
        (["hush", "replay", ""], ["latest", "quickstart-7-1", "bin", "runs"]),
        (["hush", "check", "my"], ["my world.toml"]),
        (["hush", "run", "$(touch broken)", "--li"], ["--live"]),
        (["hush", "nosuch", ""], []),
    ],
    ids=" ".join,
)
def test_bash_completes(typed: list[str], replies: list[str], path: str, tmp_path: Path) -> None:
    """The function of the script is called as bash calls it."""
    words = " ".join(map(shlex.quote, typed))
    script = (
        f'eval "$(hush completion bash)"; COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; '
        '_hush; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(line for line in done.stdout.split("\n") if line) == sorted(replies)
    assert not (tmp_path / "broken").exists()


@needs_bash
@pytest.mark.slow
def test_tab_completes_in_an_interactive_bash(path: str, tmp_path: Path) -> None:
    import pty  # not on Windows

    terminal, other = pty.openpty()
    plain = {"PATH": path, "TERM": "dumb", "PS1": "$ "}
    process = subprocess.Popen(
        ["bash", "--norc", "-i"],
        cwd=tmp_path,
        env=os.environ | plain,
        stdin=other,
        stdout=other,
        stderr=other,
    )
    try:
        os.write(terminal, b'eval "$(hush completion bash)"\n')
        os.write(terminal, b"echo hush replay quick\t | tr a-z A-Z\n")  # a word of echo: no help
        os.write(terminal, b"hush replay quick\t")
        said, ends = b"", time.monotonic() + 60
        while b"hush replay quickstart-7-1 " not in said and time.monotonic() < ends:
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 4096)
        assert b"hush replay quickstart-7-1 " in said
        assert b"HUSH REPLAY QUICK\r" in said
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(other)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_of_a_shell_is_one(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    assert script.read_text() == SCRIPTS[shell]
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here to read its script")
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_words_go_with_no_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash", "run"]) == 2
    assert "hush completion words --" in capsys.readouterr().err

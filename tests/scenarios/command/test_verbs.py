"""Laws over every verb: its group, help, examples, exit codes and short options; wrong words; one reading of each file."""

import re
import shlex
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scenarios import open_run, run_sync
from scenarios.command.arguments import help_of, parse, parser_of
from scenarios.command.exit_codes import EVERY
from scenarios.command.help_text import in_groups, overview
from scenarios.command.main import main
from scenarios.command.verb import Takes, Verb
from scenarios.command.verb_groups import GROUPS
from scenarios.command.verbs import VERBS
from scenarios.language import reader
from scenarios.language.writer import to_toml
from scenarios.planning import check_scenario
from tests.support.builders import scenario
from tests.support.command import hush
from tests.support.paths import ROOT
from tests.support.python import python
from tests.test_recipes import PACKAGES

verbs = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
SHORT = {"--seed": "-s", "--out": "-o", "--quiet": "-q", "--jobs": "-j", "--help": "-h"}


@verbs
def test_every_verb_has_a_module_that_carries_it_out(verb: Verb) -> None:
    assert callable(import_module(verb.performed_by).perform)


def test_every_module_that_performs_belongs_to_a_verb() -> None:
    paths = (ROOT / "scenarios/command").glob("*.py")
    performing = {p.stem for p in paths if "\ndef perform(" in p.read_text("utf-8")}
    assert {f"scenarios.command.{stem}" for stem in performing} == {
        verb.performed_by for verb in VERBS.values()
    }


def test_every_verb_stands_in_one_group_and_every_group_has_one() -> None:
    groups = in_groups()
    assert sorted(verb.name for verbs in groups.values() for verb in verbs) == sorted(VERBS)
    assert all(groups[group] for group in GROUPS)


@verbs
def test_a_rank_belongs_to_one_verb_of_a_group(verb: Verb) -> None:
    assert [v for v in VERBS.values() if (v.group, v.rank) == (verb.group, verb.rank)] == [verb]


@verbs
def test_every_verb_has_two_or_three_examples_that_parse(verb: Verb) -> None:
    assert 2 <= len(verb.examples) <= 3
    for example in verb.examples:
        ours = re.search(r"(?:^|[ (])(hush [^|>)]*)", example.command)
        assert ours is not None
        words = shlex.split(ours[1])
        assert words[:2] == ["hush", verb.name]
        assert parse(words[1:]).verb == verb.name


def test_an_example_with_a_wrong_option_would_not_parse() -> None:
    with pytest.raises(SystemExit):
        parse(["run", "quickstart", "--sed", "3"])


@verbs
def test_exit_codes_are_those_of_the_reference(verb: Verb) -> None:
    text = (ROOT / "docs/reference.md").read_text("utf-8")
    paragraph = next(line for line in text.split("\n") if line.startswith("**Exit codes.**"))
    codes = {int(code) for code in re.findall(r"(?:·|\*\*) (\d+) ", paragraph)}
    assert codes == {0, 1, 2, 3, 4, 5, 70, 74, 130}
    assert set(EVERY) | set(verb.exits) <= codes
    assert {
        int(code) for code in re.findall(r"^  (\d+) ", help_of(verb.name)[0], re.MULTILINE)
    } <= codes


@verbs
def test_long_options_have_their_short_forms_and_short_forms_their_meaning(verb: Verb) -> None:
    for argument in (a for a in verb.arguments if a.is_option):
        longs = [name for name in argument.names if name.startswith("--")]
        shorts = [name for name in argument.names if not name.startswith("--")]
        assert len(longs) == 1
        assert shorts == [SHORT[name] for name in longs if name in SHORT]


@verbs
def test_every_argument_says_what_it_is_and_what_it_takes(verb: Verb) -> None:
    for argument in verb.arguments:
        assert argument.help
        assert not argument.help.endswith(".")
        assert bool(argument.choices) == (argument.takes is Takes.CHOICE)
        assert (argument.settings.get("action") == "store_true") == (
            argument.takes is Takes.NOTHING
        )
        assert argument.alone is None or argument.alone in argument.choices
    names = [name for argument in verb.arguments for name in argument.names]
    assert len(names) == len(set(names))


@verbs
def test_where_an_argument_says_its_value_goes_argparse_puts_it(verb: Verb) -> None:
    actions = {a.dest for a in parser_of(verb)._actions} - {"help"}
    assert {argument.dest for argument in verb.arguments} == actions


@pytest.mark.parametrize("columns", [80, 60])
def test_help_fits_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = list(overview())
    assert max(map(len, lines)) <= columns
    assert [g.title for g in GROUPS] == [
        line for line in lines if line in {g.title for g in GROUPS}
    ]
    for name in VERBS:
        assert sum(line.startswith(f"  {name} ") for line in lines) == 1
    if columns == 80:  # a line for each verb
        assert all(line[2:3] != " " for line in lines if line.startswith("  "))


@verbs
@pytest.mark.parametrize("columns", [80, 60])
def test_help_of_a_verb_fits_a_terminal(
    verb: Verb, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands are not broken: they can be pasted."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = help_of(verb.name)
    commands = {f"  {example.command}" for example in verb.examples}
    assert commands <= set(lines)
    assert max(map(len, set(lines) - commands)) <= columns
    assert max(map(len, commands)) <= 80


def test_a_newcomer_is_told_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr().out
    assert (
        {"tour", "show", "new"} == set(re.findall("`hush ([a-z]+)", said)) - {"help"} <= set(VERBS)
    )
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == said


@verbs
def test_help_and_dash_dash_help_say_the_same(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", verb.name]) == 0
    said = capsys.readouterr().out
    for words in ([verb.name, "--help"], [verb.name, "-h"], ["--help", verb.name]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        assert capsys.readouterr().out == said


def test_help_alone_names_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert capsys.readouterr().out.splitlines() == list(overview())


@verbs
def test_a_verb_with_one_letter_missing_is_found(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = verb.name[:1] + verb.name[2:]
    with pytest.raises(SystemExit) as ended:
        main([wrong])
    assert ended.value.code == 2
    assert f"unknown verb '{wrong}'; did you mean '{verb.name}'?" in capsys.readouterr().err


@verbs
def test_an_option_with_one_letter_missing_is_found(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {name for a in verb.arguments for name in a.names if name.startswith("--")}
    for name in options - {"--x"}:
        wrong = name[:-2] + name[-1]
        if any(other.startswith(wrong) for other in options):
            continue
        with pytest.raises(SystemExit) as ended:
            main([verb.name, wrong, "3"])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert f"hush {verb.name}: unknown option '{wrong}'; did you mean '--" in said
        assert f"hush {verb.name} --help" in said


@verbs
def test_a_choice_with_one_letter_missing_is_found(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    for argument in (a for a in verb.arguments if a.is_option):
        for name in (name for name in argument.choices if len(name) > 2):
            with pytest.raises(SystemExit) as ended:
                main([verb.name, argument.names[-1], name[:-1]])
            assert ended.value.code == 2
            said = capsys.readouterr().err
            assert f'got "{name[:-1]}"; did you mean ' in said
            assert f"{name}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rn", "hush: unknown verb 'rn'; did you mean 'run'?"),
        ("run --sed 3", "hush run: unknown option '--sed'; did you mean '--seed'?"),
        ("run -seed 3", "hush run: unknown option '-seed'; did you mean '--seed'?"),
        ("run --live ful", 'hush run: --live: must be one of its names, got "ful"; did you mean'),
        ("run -j 3", "hush run: unknown option '-j'"),
        ("--versoin", "hush: unknown option '--versoin'; did you mean '--version'?"),
        ("help rnu", "hush: unknown verb 'rnu'; did you mean 'run'?"),
        ("list place", "did you mean 'places'?"),
        ("diff latest", "hush diff: needs RUN"),
        ("test --seeds", "hush test: --seeds: needs a value"),
        ("new a b", "hush new: one word too many: b"),
        ("run --se 3", "hush run: ambiguous: --se could match --seed, --set"),
        ("run -s x", "hush run: -s/--seed: must be a whole number, got x"),
    ],
)
def test_wrong_words_are_told_with_the_nearest_one(words: str, said: str, tmp_path: Path) -> None:
    done = hush(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_a_scenario_after_live_is_no_wrong_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ful").touch()
    assert parse(["run", "--live", "ful"]).scenario == ["ful"]
    assert parse(["run", "--live", "quickstart"]).scenario == ["quickstart"]


def test_the_recipe_adds_a_verb(tmp_path: Path) -> None:
    """The section of docs/architecture.md is followed to the letter, in a copy of the packages."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    section = page.partition("## How to add a verb\n")[2].partition("\n## ")[0]
    files = re.findall(r"^```python\n# (\S+)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert len(files) == 2
    for path, text in files:
        assert not (tmp_path / path).exists(), f"{path} is there already"
        (tmp_path / path).write_text(text, encoding="utf-8")
    folder = tmp_path / "runs" / "ring5-dropout-7-1"
    run_sync("ring5-dropout", out=folder)
    run = open_run(folder)

    def said(*words: str) -> str:
        done = python("-m", "hush", *words, cwd=tmp_path, ours=False)
        return done.stdout + done.stderr

    assert f"{run.manifest['seed']}\n" in said("seeds", "latest")
    assert "hush: latest is runs/ring5-dropout-7-1\n" in said("seeds", "latest")
    assert "\n  seeds " in said("--help")
    assert "did you mean 'seeds'?" in said("sees")
    assert (
        said("completion", "words", "--", "seeds", "--j")
        == "--json\twrite JSON to standard output\n"
    )


def test_a_verb_of_no_group_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from scenarios.command.verb import Group
    from scenarios.planning.kinds import Family

    lost = replace(VERBS["run"], group=Group("Nowhere"))
    monkeypatch.setattr(Family, "values", lambda _: [lost])
    with pytest.raises(KeyError):
        in_groups()


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["check", "./x.toml"], 1),
        (["check", "./x.toml", "./extended.toml"], 3),
        (["run", "./x.toml", "--quiet", "--out", "run"], 1),
        (["run", "./extended.toml", "--quiet", "--out", "run"], 2),
        (["audit", "./x.toml", "--runs", "10"], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_file_is_read_and_checked_once(
    words: list[str], files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that extends another is two files, and one scenario."""
    (tmp_path / "x.toml").write_text(to_toml(scenario(run={"seed": 1, "horizon": 1.0})))
    (tmp_path / "extended.toml").write_text('schema = 1\nextends = "x.toml"\nname = "more"\n')
    parsed, checks = [], []
    parse, check = reader.parse, check_scenario.check_scenario

    def count_parse(*given: Any, **named: Any) -> Any:
        parsed.append(given)
        return parse(*given, **named)

    def count_check(*given: Any) -> None:
        checks.append(given)
        check(*given)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reader, "parse", count_parse)
    monkeypatch.setattr(check_scenario, "check_scenario", count_check)
    assert main(words) in {0, 2}  # an audit finds no promise to refute here
    assert len(parsed) == files
    assert len(checks) == sum(word.endswith(".toml") for word in words)

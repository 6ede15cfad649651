"""A module for each verb, and a file that is read and judged once for each command."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scenarios.command.main import main
from scenarios.command.verbs import VERBS
from scenarios.language import reader
from scenarios.language.writer import to_toml
from scenarios.planning import check_scenario
from tests.support.builders import scenario


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_module_that_carries_it_out(verb: str) -> None:
    assert callable(import_module(VERBS[verb].performed_by).perform)


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

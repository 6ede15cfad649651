"""The verb `new`: a commented scenario to start from, and beside it the schema by which editors complete and check it."""

import argparse
import shlex
from pathlib import Path

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.planning.scenario_schema import FILE, TITLE, schema_text


def perform(chosen: argparse.Namespace) -> int:
    """Write a commented scenario to start from."""
    from scenarios.command.template import scenario_called

    path = Path(chosen.file)
    if chosen.file == "-":
        problem = "new writes a file, and - is standard input elsewhere; ./- is a file of that name"
        raise ScenarioError.of("FILE", problem)
    if path.exists():
        raise ScenarioError.of(chosen.file, "exists already: nothing was written")
    try:
        path.write_text(scenario_called(path.stem), encoding="utf-8")
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise ScenarioError.of(chosen.file, f"cannot be written: {why}") from None
    _write_schema(path.parent / FILE)
    checked = chosen.file if path.is_absolute() or "/" in chosen.file else f"./{path}"
    file = shlex.quote(checked)
    say(f"{path} is written; next: hush check {file}, then hush run {file}")
    return 0


def _write_schema(path: Path) -> None:
    """Write the schema beside a scenario, or renew it; say on standard error where that is not possible.

    A file of that name that is not hush's stays as it is. The scenario needs no schema to run.
    """
    try:
        if path.exists() and f'"title": "{TITLE}"' not in path.read_text("utf-8")[:1000]:
            say(f"hush: {path} is no schema of hush: it stays as it is", error=True)
            return
        path.write_text(schema_text(), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        say(f"hush: {path} cannot be written: {why}; editors then complete nothing", error=True)

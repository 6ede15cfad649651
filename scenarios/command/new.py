"""The verb `new`: a commented scenario to start from, and beside it the schema by which editors complete and check it."""

import argparse
import shlex
from pathlib import Path

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.planning.scenario_schema import FILE, TITLE, schema_text
from scenarios.records.folder_error import FolderError
from scenarios.records.whole_file import write_new, write_whole


def perform(chosen: argparse.Namespace) -> int:
    """Write a commented scenario to start from."""
    from scenarios.command.template import scenario_called

    path = Path(chosen.file)
    if chosen.file == "-":
        problem = "new writes a file, and - is standard input elsewhere; ./- is a file of that name"
        raise ScenarioError.of("FILE", problem)
    if not write_new(path, scenario_called(path.stem)):
        raise ScenarioError.of(chosen.file, "exists already: nothing was written")
    _write_schema(path.parent / FILE)
    checked = chosen.file if path.is_absolute() or "/" in chosen.file else f"./{path}"
    file = shlex.quote(checked)
    say(f"{path} is written; next: hush check {file}, then hush run {file}")
    return 0


def _write_schema(path: Path) -> None:
    """Write the schema beside a scenario, or renew it; say on standard error where that is not possible.

    A file of that name that is not hush's stays as it is. The scenario needs no schema to run. Raises `OSError` where the
    disk is full.
    """
    try:
        if path.exists() and f'"title": "{TITLE}"' not in path.read_text("utf-8")[:1000]:
            say(f"hush: {path} is no schema of hush: it stays as it is", error=True)
            return
    except (OSError, UnicodeDecodeError):
        say(f"hush: {path} cannot be read: it stays as it is", error=True)
        return
    try:
        write_whole(path, schema_text())
    except FolderError as error:
        say(f"hush: {error}; editors then complete nothing", error=True)

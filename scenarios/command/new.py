"""The verb `new`: a commented scenario to start from."""

import argparse
import shlex
from pathlib import Path

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say


def perform(chosen: argparse.Namespace) -> int:
    """Write a commented scenario to start from."""
    from scenarios.command.template import scenario_called

    path = Path(chosen.file)
    if path.exists():
        raise ScenarioError.of(chosen.file, "exists already: nothing was written")
    try:
        path.write_text(scenario_called(path.stem), encoding="utf-8")
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise ScenarioError.of(chosen.file, f"cannot be written: {why}") from None
    checked = chosen.file if path.is_absolute() or "/" in chosen.file else f"./{path}"
    file = shlex.quote(checked)
    say(f"{path} is written; next: hush check {file}, then hush run {file}")
    return 0

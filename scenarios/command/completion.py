"""The verb `completion`: the script of a shell, and what its scripts ask for."""

import argparse

from scenarios.command.completion_scripts import SCRIPTS
from scenarios.command.possible_words import possible_words
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import is_visible, say


def perform(chosen: argparse.Namespace) -> int:
    """Print a script, or the words that are possible: a line each, with what it is behind a tab.

    A line `:files` or `:folders` says that names of files or folders are possible, too: the shell knows them.
    """
    if chosen.shell == "words":
        possible = possible_words(chosen.words or [""])
        lines = [f"{word}\t{says}" for word, says in possible.words if is_visible(word)]
        lines += [f":{possible.files}"] if possible.files else []
        if lines:
            say(*lines)
        return 0
    if chosen.words:
        raise ScenarioError.of("hush completion", "words belong to: hush completion words -- …")
    say(*SCRIPTS[chosen.shell].rstrip("\n").split("\n"))
    return 0

"""Reads a scenario from standard input, where a verb that takes one is given `-`."""

import argparse
import sys

from scenarios.command.verb import Takes, Verb
from scenarios.language.positions import LONGEST_FILE
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import Piped, text_of
from scenarios.language.visible_text import say

_WORD = "-"


def pipe_in(verb: Verb, chosen: argparse.Namespace) -> None:
    """Put what standard input holds in place of each `-` that stands for a scenario.

    It is read once, before any worker begins, and handed on as text. Raises `ScenarioError` where it cannot be read.
    """
    piped: Piped | None = None
    for argument in verb.arguments:
        if Takes.SCENARIO not in argument.takes:
            continue
        given = getattr(chosen, argument.dest)
        words = given if isinstance(given, list) else [given]
        if _WORD not in words:
            continue
        piped = piped or Piped(_standard_input())
        several = [piped if word == _WORD else word for word in words]
        setattr(chosen, argument.dest, several if isinstance(given, list) else piped)


def _standard_input() -> str:
    """Return all of standard input, at most as long as a scenario file may be."""
    if sys.stdin is None:
        raise ScenarioError.of(Piped.FILE, "cannot be read: standard input is closed")
    if sys.stdin.isatty():
        say(
            "hush: reading a scenario from the keyboard; Ctrl-D on a line of its own ends it",
            error=True,
        )
    try:
        data = sys.stdin.buffer.read(LONGEST_FILE + 1)
    except OSError as error:
        raise ScenarioError.of(Piped.FILE, f"cannot be read: {error.strerror}") from None
    return text_of(data, Piped.FILE)

"""The verb `help`: what `--help` says of all verbs, or of one."""

import argparse

from scenarios.command.arguments import help_of
from scenarios.language.visible_text import say


def perform(chosen: argparse.Namespace) -> int:
    """Print the help of the command, or of a verb."""
    say(*help_of(chosen.about))
    return 0

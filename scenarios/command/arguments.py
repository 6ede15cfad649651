"""From the words of the command line to what a verb is told: made of the verbs' records."""

import argparse
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from scenarios.command.exit_codes import USAGE
from scenarios.command.help_text import epilog, overview
from scenarios.command.verb import Argument, Verb
from scenarios.command.verbs import VERBS
from scenarios.language.problems import nearest, shown
from scenarios.language.visible_text import say, visible

_HELP = ("-h", "--help")
_TOP = (*_HELP, "--version")
"""What may stand before a verb, or instead of one."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what the words ask for: `verb` (None for none), `version`, and the values of the verb's arguments.

    Raises `SystemExit`: with 0 where help was asked for and printed, with 2 where the words are wrong, which is told.
    """
    if not words:
        return argparse.Namespace(verb=None, version=False)
    first, *others = words
    if first in _HELP:
        say(*overview())
        raise SystemExit(0)
    if first == "--version":
        return argparse.Namespace(verb=None, version=True)
    if first.startswith("-"):
        _refuse("hush", f"unknown option {_quoted(first)}; {nearest(first, _TOP)}")
    verb = _verb(first)
    chosen = parser_of(verb).parse_args(spelled_out(verb, others))
    chosen.verb, chosen.version = verb.name, False
    return chosen


def help_of(verb: str | None) -> list[str]:
    """Return the lines of help of a verb; None: of the whole command. Raises `SystemExit` as `parse` does."""
    return (
        list(overview()) if verb is None else parser_of(_verb(verb)).format_help().split("\n")[:-1]
    )


def _verb(name: str) -> Verb:
    if name not in VERBS:
        _refuse("hush", f"unknown verb {_quoted(name)}; {nearest(name, VERBS)}")
    return VERBS[name]


def _refuse(command: str, message: str) -> NoReturn:
    say(f"{command}: {message}", f"  {command} --help lists what there is", error=True)
    raise SystemExit(USAGE)


def _quoted(text: str) -> str:
    return f"'{visible(shown(text)[1:-1])}'"


def spelled_out(verb: Verb, words: Sequence[str]) -> list[str]:
    """Give an option that may stand alone (`--live`) its word where it has none: what follows it is a word of the verb, or another option."""
    optional = {
        name: argument
        for argument in verb.arguments
        if argument.alone is not None
        for name in argument.names
    }
    return [
        f"{word}={optional[word].alone}"
        if word in optional and after not in optional[word].choices
        else word
        for word, after in pairwise([*words, ""])
    ]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with what a terminal would obey spelled out: the shell may have put in names of files."""

    def error(self, message: str) -> NoReturn:
        _refuse(self.prog, visible(message.removeprefix("argument ")))


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return what reads one of some names; another is refused with the nearest one."""

    def read(text: str) -> str:
        if text not in names:
            hint = nearest(text, names)
            raise argparse.ArgumentTypeError(f"must be one of its names, got {shown(text)}; {hint}")
        return text

    return read


def parser_of(verb: Verb) -> argparse.ArgumentParser:
    """Return what reads the words after a verb."""
    parser = _Parser(
        prog=f"hush {verb.name}",
        description=f"{verb.help[0].upper()}{verb.help[1:]}.",
        epilog=epilog(verb),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for argument in verb.arguments:
        parser.add_argument(*argument.names, **_settings(argument))
    return parser


def _settings(argument: Argument) -> dict[str, Any]:
    """Return what argparse is told of an argument."""
    settings = {"help": argument.help, **argument.settings}
    if argument.choices:
        listed = ",".join(argument.choices)
        metavar = "{" + listed + "}" if argument.is_option else listed.replace(",", "|")
        settings = {"metavar": metavar, "type": _one_of(argument.choices), **settings}
    return settings

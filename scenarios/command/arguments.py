"""From the words of the command line to what a verb is told: made of the verbs' records."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from scenarios.command.exit_codes import USAGE
from scenarios.command.help_text import description, epilog, overview
from scenarios.command.verb import Argument, Verb
from scenarios.command.verbs import VERBS
from scenarios.language.problems import nearest, shown
from scenarios.language.visible_text import say, visible

_HELP = ("-h", "--help")
_TOP = (*_HELP, "--version")
"""What may stand before a verb, or instead of one."""
_LONGEST_CHOICES = 30
"""Choices of more characters would break the line of the usage on a narrow terminal."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what the words ask for: `verb` (None for none), `version`, and the values of the verb's arguments.

    Raises `SystemExit`: with 0 where help was asked for and printed, with 2 where the words are wrong, which is told.
    """
    if not words:
        return argparse.Namespace(verb=None, version=False)
    first, *others = words
    if first in _HELP:
        say(*help_of(next(iter(others), None)))
        raise SystemExit(0)
    if first == "--version":
        return argparse.Namespace(verb=None, version=True)
    if first.startswith("-"):
        _refuse("hush", f"unknown option {_quoted(first)}; {nearest(first, _TOP)}")
    verb = _verb(first)
    _check_options(verb, others)
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
        _refuse("hush", f"unknown verb {_quoted(name)}; {nearest(name.lower(), VERBS)}")
    return VERBS[name]


def _refuse(command: str, message: str) -> NoReturn:
    say(f"{command}: {message}", f"  {command} --help lists what there is", error=True)
    raise SystemExit(USAGE)


def _quoted(text: str) -> str:
    return f"'{visible(shown(text)[1:-1])}'"


def _check_options(verb: Verb, words: Sequence[str]) -> None:
    """Refuse an option that a verb does not have, before argparse takes what follows it for a word of the verb."""
    known = [*_HELP, *(name for one in verb.arguments if one.is_option for name in one.names)]
    for word in words:
        name, _, _ = word.partition("=")
        if word == "--":
            return
        if word.startswith("--"):
            is_known = any(other.startswith(name) for other in known)
        elif word[:1] == "-" and word[1:2].isalpha():
            name = name if f"-{name}" in known else name[:2]  # -seed is meant as --seed
            is_known = name in known
        else:
            continue
        if not is_known and " " not in word:
            hint = nearest(f"-{name}" if f"-{name}" in known else name, known)
            _refuse(f"hush {verb.name}", f"unknown option {_quoted(name)}; {hint}")


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
        if word in optional and not _is_meant(after, optional[word])
        else word
        for word, after in pairwise([*words, ""])
    ]


def _is_meant(word: str, argument: Argument) -> bool:
    """Whether a word is the value of the option before it: one of its choices, or one with a typing error, and no scenario."""
    if word in argument.choices:
        return True
    if not get_close_matches(word, argument.choices, 1, 0.6) or Path(word).exists():
        return False
    from scenarios.language.reader import library_names

    return word not in library_names()


_SAID = {
    "^argument ": "",
    "^the following arguments are required: ": "needs ",
    "^unrecognized arguments: ": "one word too many: ",
    "expected one argument$": "needs a value",
    "expected at least one argument$": "needs at least one value",
    "^ambiguous option: ": "ambiguous: ",
}
"""How argparse begins what is wrong, and what is told instead."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with what a terminal would obey spelled out: the shell may have put in names of files."""

    def error(self, message: str) -> NoReturn:
        for pattern, words in _SAID.items():
            message = re.sub(pattern, words, message)
        _refuse(self.prog, visible(message))


def _one_of(names: Sequence[str], former: Mapping[str, str]) -> Callable[[str], str]:
    """Return what reads one of some names; another is refused with the nearest one, a `former` one with the new one."""

    def read(text: str) -> str:
        if text not in names:
            hint = f"it is {former[text]} now" if text in former else nearest(text, names)
            raise argparse.ArgumentTypeError(f"must be one of its names, got {shown(text)}; {hint}")
        return text

    return read


def parser_of(verb: Verb) -> argparse.ArgumentParser:
    """Return what reads the words after a verb."""
    parser = _Parser(
        prog=f"hush {verb.name}",
        description=description(verb),
        epilog=epilog(verb),
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(*_HELP, action="help", help="print this")
    for argument in verb.arguments:
        parser.add_argument(*argument.names, **_settings(argument))
    return parser


def _settings(argument: Argument) -> dict[str, Any]:
    """Return what argparse is told of an argument; choices that fill a line of their own are listed in the help.

    argparse puts values in place of `%` in a help text: one of ours means itself.
    """
    settings = {"help": argument.help.replace("%", "%%"), **argument.settings}
    if not argument.is_option:
        settings.setdefault("metavar", argument.names[0].upper())
    if not argument.choices:
        return settings
    listed = ",".join(argument.choices)
    metavar = "{" + listed + "}" if argument.is_option else listed.replace(",", "|")
    if len(listed) > _LONGEST_CHOICES:
        metavar = "WHICH"
        settings["help"] = f"{settings['help']}; one of {', '.join(argument.choices)}"
    return settings | {"metavar": metavar, "type": _one_of(argument.choices, argument.former)}

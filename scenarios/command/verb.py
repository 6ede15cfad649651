"""What a verb of the command line is: its record, the words and options that it takes, and what they name.

It loads nothing but argparse and the language, so that help and errors come before anything numeric is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any


class Takes(Flag):
    """What the value of a word or an option names: by this it is completed, and abbreviated folders are found.

    A value may be of several: `hush compare` takes runs and sweeps.
    """

    NOTHING = auto()
    """It takes no value."""
    VALUE = auto()
    """A number, a time, a text: what no list holds."""
    CHOICE = auto()
    """One of the words that the option itself lists."""
    SCENARIO = auto()
    """A name of the library, a file, or `-` for standard input."""
    RUN = auto()
    """The folder of a run."""
    SWEEP = auto()
    """The folder of a sweep."""
    AUDIT = auto()
    """The folder of an audit."""
    FILE = auto()
    FOLDER = auto()
    KEY = auto()
    """A dotted key of the scenario file, with a value after `=`."""
    WORD = auto()
    """A word of a scenario that has a card: `loss`, `metric:loss`, `metric:`."""
    METRIC = auto()
    PICTURE = auto()
    CLAIM = auto()
    """A paper, or a claim of one."""
    VERB = auto()


@dataclass(frozen=True, slots=True)
class Argument:
    """A word or an option of a verb.

    `names` are the flags of an option, or the one name of a word. `settings` goes to argparse as it is.
    """

    names: tuple[str, ...]
    takes: Takes
    help: str
    choices: tuple[str, ...] = ()
    alone: str | None = None
    """What the option means where none of its choices follows it; None: one must follow."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    former: Mapping[str, str] = field(default_factory=dict)
    """Words that stood among its choices before, and what takes their place."""

    @property
    def is_option(self) -> bool:
        """Whether it is an option, and not a word that stands in its place."""
        return self.names[0].startswith("-")

    @property
    def dest(self) -> str:
        """The attribute of the namespace that has the value."""
        long = next((name for name in self.names if name.startswith("--")), self.names[0])
        return str(self.settings.get("dest") or long.lstrip("-").replace("-", "_"))


def word(name: str, takes: Takes, help: str, **settings: Any) -> Argument:  # noqa: A002 # as argparse calls it
    """Declare a word of a verb; `settings` (nargs, metavar, type, default) are argparse's."""
    return Argument((name,), takes, help, settings=settings)


def option(*flags: str, takes: Takes, help: str, **settings: Any) -> Argument:  # noqa: A002
    """Declare an option with a value; `settings` (metavar, type, default, action, nargs) are argparse's."""
    return Argument(flags, takes, help, settings=settings)


def choice(
    *names: str,
    of: Sequence[str],
    help: str,  # noqa: A002
    alone: str | None = None,
    former: Mapping[str, str] | None = None,
    **settings: Any,
) -> Argument:
    """Declare a word or an option whose value is one of some words; `alone` is its value where none of them follows."""
    return Argument(names, Takes.CHOICE, help, tuple(of), alone, settings, former or {})


def flag(*flags: str, help: str) -> Argument:  # noqa: A002
    """Declare an option that is there or not."""
    return Argument(flags, Takes.NOTHING, help, settings={"action": "store_true"})


@dataclass(frozen=True, slots=True)
class Group:
    """Verbs that belong together in `hush --help`."""

    title: str


@dataclass(frozen=True, slots=True)
class Example:
    """A command as it is typed, and what it does."""

    command: str
    says: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line.

    `exits` says what those exit codes mean here that not every verb has (`exit_codes.EVERY`). `performed_by` is the module
    whose `perform(chosen)` carries the verb out and returns the exit code; it is loaded when the verb is called.
    """

    name: str
    group: Group
    rank: int
    """Where it stands in its group: the smallest first."""
    help: str
    arguments: tuple[Argument, ...]
    examples: tuple[Example, ...]
    exits: Mapping[int, str]
    performed_by: str

"""What `--help` says: the groups of verbs, and a verb's examples and exit codes."""

import textwrap
from collections.abc import Iterator
from shutil import get_terminal_size

from scenarios.command.exit_codes import EVERY
from scenarios.command.verb import Group, Verb
from scenarios.command.verb_groups import GROUPS
from scenarios.command.verbs import VERBS

_WIDEST = 80
_NARROWEST = 30
_ABOUT = (
    "Simulates private peer-to-peer learning: what do asynchrony, latency and dropout do to a model, "
    "and to the privacy that was promised?"
)
_NEXT = (
    "New here? `hush tour` shows a run with captions, `hush show latest` says what came of it, `hush new "
    "world.toml` starts a world of your own. `hush VERB --help` (or `hush help VERB`) has a verb's options, "
    "examples and exit codes."
)


def _width() -> int:
    return max(_NARROWEST, min(_WIDEST, get_terminal_size((_WIDEST, 24)).columns))


def in_groups() -> dict[Group, list[Verb]]:
    """Return the verbs of each group, in their order; raise `KeyError` for a verb of a group that is none."""
    groups: dict[Group, list[Verb]] = {group: [] for group in GROUPS}
    for verb in sorted(VERBS.values(), key=lambda verb: (verb.rank, verb.name)):
        groups[verb.group].append(verb)
    return groups


def overview() -> Iterator[str]:
    """Yield the lines of `hush --help`: every verb in its group, and a first step."""
    width = _width()
    yield "usage: hush VERB …"
    yield ""
    yield from textwrap.wrap(_ABOUT, width)
    column = max(map(len, VERBS)) + 4
    for group, verbs in in_groups().items():
        yield ""
        yield group.title
        for verb in verbs:
            yield from _entry(verb.name, verb.help, column, width)
    yield ""
    yield "Without a verb"
    yield from _entry("--version", "print the version", column, width)
    yield ""
    yield from textwrap.wrap(_NEXT, width, break_on_hyphens=False)


def _entry(name: str, says: str, column: int, width: int) -> list[str]:
    """Return a name and what is said of it, beside each other, in lines of `width` columns."""
    return textwrap.wrap(
        says, width, initial_indent=f"  {name:<{column - 2}}", subsequent_indent=" " * column
    )


def description(verb: Verb) -> str:
    """Return what stands above the options of a verb: what it does."""
    return textwrap.fill(f"{verb.help[0].upper()}{verb.help[1:]}.", _width())


def epilog(verb: Verb) -> str:
    """Return what stands below the options of a verb: its examples and its exit codes."""
    width = _width()
    lines = ["examples:"]
    for example in verb.examples:
        lines.append(f"  {example.command}")
        lines += textwrap.wrap(
            example.says, width, initial_indent=" " * 6, subsequent_indent=" " * 6
        )
    lines += ["", "exit codes:"]
    for code, means in sorted((EVERY | dict(verb.exits)).items()):
        lines += _entry(f"{code}", means, 6, width)
    return "\n".join(lines)

"""What may stand next on the command line: made of the verbs' records, for the shells' completion. It loads no NumPy."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scenarios.command.abbreviated_folders import LATEST, sorts_of
from scenarios.command.verb import Argument, Takes, Verb
from scenarios.command.verbs import VERBS

_JOINING = ("=", ":")
"""Bash takes a word apart at these."""
_TOP = (("--help", "the verbs in groups"), ("--version", "print the version"))
Word = tuple[str, str]
"""A word, and what it is."""
Files = Literal["", "files", "folders"]


@dataclass(frozen=True, slots=True)
class Possible:
    """The words that may stand next, and whether names of files or folders may."""

    words: tuple[Word, ...] = ()
    files: Files = ""


def possible_words(typed: Sequence[str]) -> Possible:
    """Return what the last of the words that were typed after `hush` may become: it is a beginning, or empty."""
    whole, cut = _joined(typed)
    *before, current = whole
    found = _possible(before, current)
    words = sorted({word: says for word, says in found.words if word.startswith(current)}.items())
    return Possible(tuple((word[cut:], says) for word, says in words), found.files)


def _joined(typed: Sequence[str]) -> tuple[list[str], int]:
    """Put together what bash took apart; return the words, and how much of the last one stands before what is completed."""
    words: list[str] = []
    cut, joins = 0, False
    for piece in typed:
        if words and (piece in _JOINING or joins):
            cut = len(words[-1]) + (len(piece) if piece in _JOINING else 0)
            words[-1] += piece
        else:
            cut = 0
            words.append(piece)
        joins = piece in _JOINING and len(words) > 0
    return words, cut


def _possible(before: Sequence[str], current: str) -> Possible:
    if not before:
        verbs = tuple((verb.name, verb.help) for verb in VERBS.values())
        return Possible(verbs + (_TOP if current.startswith("-") else ()))
    if before[0] not in VERBS:
        return Possible()
    return _of_verb(VERBS[before[0]], before[1:], current)


def _of_verb(verb: Verb, before: Sequence[str], current: str) -> Possible:
    """Return what may stand after a verb and some words of it."""
    options = {name: one for one in verb.arguments if one.is_option for name in one.names}
    words = [one for one in verb.arguments if not one.is_option]
    place, expects, only_words = 0, None, False
    for word in before:
        if only_words or not word.startswith("-") or word == "-":
            if expects is None or not _is_value(word, expects):
                place += 1
            if expects is None or expects.settings.get("nargs") != "+":
                expects = None
        elif word == "--":
            only_words, expects = True, None
        else:
            option = options.get(word)
            expects = None if option is None or option.takes is Takes.NOTHING else option
    name, equals, _ = current.partition("=")
    if equals and name in options and not only_words:
        found = _values(options[name], current.removeprefix(f"{name}="))
        return Possible(tuple((f"{name}={v}", says) for v, says in found.words), found.files)
    if current.startswith("-") and not only_words:
        return Possible(tuple(_options(options.values(), before)))
    found = Possible() if expects is None else _values(expects, current)
    if expects is not None and not _may_be_missing(expects):
        return found
    if words and (place < len(words) or _is_repeated(words[-1])):
        more = _values(words[min(place, len(words) - 1)], current)
        return Possible(found.words + more.words, found.files or more.files)
    return found


def _is_value(word: str, option: Argument) -> bool:
    """Whether a word that follows an option is its value."""
    return option.alone is None or word in option.choices


def _may_be_missing(option: Argument) -> bool:
    return option.alone is not None or option.settings.get("nargs") in {"?", "+"}


def _is_repeated(word: Argument) -> bool:
    return word.settings.get("nargs") in {"*", "+"}


def _options(options: Iterable[Argument], before: Sequence[str]) -> Iterator[Word]:
    """Yield the options that may still be given: a repeatable one always."""
    for option in {one.names: one for one in options}.values():
        used = any(word.partition("=")[0] in option.names for word in before)
        if not used or option.settings.get("action") == "append":
            yield from ((name, option.help) for name in option.names)
    yield "--help", "options, examples and exit codes"


def _values(argument: Argument, current: str) -> Possible:
    """Return what the value of an argument may be."""
    takes = argument.takes
    words = [(name, "") for name in argument.choices]
    words += ((verb.name, verb.help) for verb in VERBS.values() if Takes.VERB in takes)
    sorts = sorts_of(takes)
    if sorts:
        from scenarios.records.kept_folders import kept

        folders = kept(sorts)
        words += [(LATEST, str(folders[0].path))] if folders else []
        words += [(one.path.name, one.sort) for one in folders]
    for part, list_names in _LISTS.items():
        if part in takes:
            words += list_names()
    if Takes.KEY in takes:
        from scenarios.command.possible_keys import possible_keys

        words += possible_keys(current)
    files: Files = "folders" if Takes.FOLDER in takes or sorts else ""
    return Possible(tuple(words), "files" if {*takes} & {Takes.FILE, Takes.SCENARIO} else files)


def _library() -> list[Word]:
    from scenarios.language.reader import library_names

    return [(name, "library") for name in library_names()]


def _words() -> list[Word]:
    from scenarios.planning.word_cards import families

    names = [(name, family.name) for family in families() for name in family.names()]
    return [*names, *((f"{family.name}:", "lists the family") for family in families())]


def _metrics() -> list[Word]:
    from scenarios.planning.metric_names import METRICS, known_names

    bases = ((name, metric.words) for name, metric in METRICS.items())
    return [*bases, *((name, "metric") for name in known_names(()))]


def _pictures() -> list[Word]:
    from scenarios.planning.kinds import Family

    return [(name, "picture") for name in Family("scenarios.pictures.kinds", object).names()]


def _papers() -> list[Word]:
    from scenarios.reproduction.papers import PAPERS

    return [(name, paper.title) for name, paper in PAPERS.items()]


_LISTS = {
    Takes.SCENARIO: _library,
    Takes.WORD: _words,
    Takes.METRIC: _metrics,
    Takes.PICTURE: _pictures,
    Takes.CLAIM: _papers,
}

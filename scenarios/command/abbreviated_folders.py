"""Spells out how folders were abbreviated: `latest`, and beginnings of names in `runs/`."""

import argparse
from pathlib import Path

from scenarios.command.verb import Argument, Takes, Verb
from scenarios.language.problems import nearest
from scenarios.language.reader import Piped
from scenarios.language.visible_text import say, visible
from scenarios.records.folder_error import FolderError
from scenarios.records.kept_folders import PLACE, kept

LATEST = "latest"
_SORTS = {Takes.RUN: "run", Takes.SWEEP: "sweep", Takes.AUDIT: "audit"}
_SHOWN = 20
"""So many candidates are named."""


def sorts_of(takes: Takes) -> list[str]:
    """Return the sorts of folders that a word may name: of `run`, `sweep` and `audit`."""
    return [sort for one, sort in _SORTS.items() if one in takes]


def spell_out(verb: Verb, chosen: argparse.Namespace) -> None:
    """Put the folder in place of each abbreviation among the words of a verb, and say on standard error which it is.

    A path that exists stays as it is, and so does what names nothing. Raises `FolderError` for a beginning of several names.
    """
    for argument in verb.arguments:
        if not sorts_of(argument.takes):
            continue
        given = getattr(chosen, argument.dest)
        if isinstance(given, str):
            setattr(chosen, argument.dest, _folder(given, argument))
        elif isinstance(given, list):
            setattr(chosen, argument.dest, [_folder(text, argument) for text in given])


def _folder(text: str, argument: Argument) -> str:
    """Return the folder that a word stands for; the word itself where it stands for none."""
    if isinstance(text, Piped) or "\0" in text or Path(text).exists():
        return text
    sorts = sorts_of(argument.takes)
    words = " or ".join(sorts)
    folders = kept(sorts)
    if text == LATEST:
        if not folders:
            raise FolderError(f"{LATEST}: there is no {words} in {PLACE}/ of this folder")
        return _told(text, folders[0].path)
    begins = text.removeprefix(f"./{PLACE}/").removeprefix(f"{PLACE}/")
    if not begins or "/" in begins or _is_a_name(text, argument.takes):
        return text
    found = [one.path for one in folders if one.path.name.startswith(begins)]
    if not found:
        if folders and argument.takes in Takes.RUN | Takes.SWEEP | Takes.AUDIT:
            hint = nearest(begins, [one.path.name for one in folders])
            said = f"{text} is not the folder of a {words}, and none in {PLACE}/ begins so; {hint}"
            raise FolderError(said)
        return text
    whole = [path for path in found if path.name == begins]
    if len(whole) == 1:
        return _told(text, whole[0])  # -1 is a name, although -10 begins so, too
    if len(found) > 1:
        listed = "".join(f", {path}" for path in sorted(found)[:_SHOWN])[2:]
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise FolderError(f"{text} is the beginning of {len(found)} folders: {listed}{more}")
    return _told(text, found[0])


def _told(text: str, path: Path) -> str:
    say(f"hush: {visible(text)} is {path}", error=True)
    return str(path)


def _is_a_name(text: str, takes: Takes) -> bool:
    """Whether a word names something else that its verb takes: that comes before the beginning of a folder's name."""
    if Takes.SCENARIO in takes:
        from scenarios.language.reader import library_names

        if text in library_names():
            return True
    if Takes.WORD in takes:
        from scenarios.planning.word_cards import cards_of

        if cards_of(text):
            return True
    if Takes.PICTURE in takes:
        from scenarios.pictures.picture import PICTURES

        if text in PICTURES:
            return True
    if Takes.METRIC in takes:
        from scenarios.planning.metric_names import is_known

        return is_known(text, ())
    return False

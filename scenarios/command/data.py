"""The verb `data`: which published data sets are here, and where to get the others. It loads no NumPy."""

import argparse
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.command.option_values import named_folders
from scenarios.language.visible_text import say, say_json, visible
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.files import Folders
from scenarios.planning.published import FileState, PublishedSet, states

_INDENT = "  "


def perform(chosen: argparse.Namespace) -> int:
    """Print every published data set, and what of it is in the folders that files may be read from."""
    named = named_folders(chosen)
    folders = Folders(Path(), named)
    found = [
        _Found(name, kind.published, states(kind.published, folders))
        for name, kind in SOURCES.items()
        if kind.published is not None
    ]
    if chosen.json:
        say_json([one.as_json() for one in found])
        return 0
    width = max(40, min(100, shutil.get_terminal_size().columns))
    for one in found:
        say(*one.in_words(width), "")
    searched = ", ".join([".", *(str(folder) for folder in named)])
    say(
        *_wrapped(
            f"Searched: {searched}. A scenario also finds files in its own folder.", width, ""
        )
    )
    return 0


@dataclass(frozen=True, slots=True)
class _Found:
    """A published set, and what was found of its files."""

    name: str
    known: PublishedSet
    files: Sequence[FileState]

    @property
    def state(self) -> str:
        """Return whether a scenario can name the set: present, altered, incomplete or missing."""
        here = [one for one in self.files if one.path is not None or one.difference]
        if not here:
            return "missing"
        if len(here) < len(self.files) and not self.known.alternatives:
            return "incomplete"
        return "altered" if any(one.difference for one in here) else "present"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.known.title,
            "state": self.state,
            "points": self.known.points,
            "features": self.known.features,
            "size_bytes": sum(one.size for one in self.files),
            "licence": self.known.licence,
            "citation": self.known.citation,
            "how_to_get": self.known.how_to_get(),
            "files": [
                {
                    "name": one.file.name,
                    "path": None if one.path is None else str(one.path),
                    "size_bytes": None if one.path is None else one.size,
                    "points": one.file.records,
                    "sha256": one.file.sha256,
                    "checksum": _checksum(one),
                    "difference": one.difference or None,
                }
                for one in self.files
            ],
        }

    def in_words(self, width: int) -> Iterator[str]:
        """Yield the lines that describe the set, of at most `width` columns but for the paths of files."""
        known, state = self.known, self.state
        yield f"{self.name}: {state}"
        yield from _wrapped(
            f"{known.title}. {known.points:,} points × {known.features:,} features", width
        )
        for one in self.files:
            if one.path is None and not one.difference:
                if state != "missing":
                    yield f"{_INDENT}{one.file.name}: not here"
                continue
            size = "" if one.path is None else f"{one.size:,} bytes, "
            records = f"{one.file.records:,} points, " if known.alternatives else ""
            said = one.difference or "as published"
            yield from _wrapped(f"{one.file.name}: {records}{size}{said}", width)
            if one.path is not None:
                yield f"{_INDENT * 2}{one.path}"
        yield from _wrapped(f"{known.licence}. {known.citation}", width)
        if state in {"missing", "incomplete"}:
            yield from _wrapped(f"{known.how_to_get()}.", width)


def _checksum(one: FileState) -> str | None:
    """Return whether a file is as published; None where it is missing."""
    if one.difference:
        return "differs"
    return None if one.path is None else "published"


def _wrapped(text: str, width: int, indent: str = _INDENT) -> list[str]:
    """Return a text in lines; its words are not broken."""
    return textwrap.wrap(
        visible(text),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )

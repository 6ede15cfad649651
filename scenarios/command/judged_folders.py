"""Judges the folders that the words of a verb name, before the verb reads them.

Each verb gets its runs and sweeps from here, so no verb can leave the judgement out: what is wrong with a folder is said
on standard error, and the command ends with 2.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.command.exit_codes import DISK, INTERRUPTED, OURS, USAGE
from scenarios.command.verb import Takes, Verb
from scenarios.language.visible_text import say
from scenarios.records.kept_folders import MARKS

if TYPE_CHECKING:
    from scenarios.records.reader import RunRecord
    from scenarios.records.sweep_record import SweepRecord

_STRONGER = {OURS, DISK, INTERRUPTED}
"""What a command ends with although a folder is damaged."""


@dataclass(slots=True)
class JudgedFolders:
    """The runs and sweeps that the words of one command name, by these words."""

    runs: "dict[str, RunRecord]" = field(default_factory=dict)
    sweeps: "dict[str, SweepRecord]" = field(default_factory=dict)

    def run(self, word: str) -> "RunRecord":
        """Return the run that a word names; raise `FolderError` where it names none."""
        from scenarios.records.reader import RunRecord

        return self.runs[word] if word in self.runs else RunRecord(Path(word))

    def sweep(self, word: str) -> "SweepRecord":
        """Return the sweep that a word names; raise `FolderError` where it names none."""
        from scenarios.records.sweep_record import SweepRecord

        return self.sweeps[word] if word in self.sweeps else SweepRecord(Path(word))

    def code(self, code: int) -> int:
        """Return what a command ends with whose verb returned `code`: 2 where a folder that it read is damaged."""
        records: Iterator[RunRecord | SweepRecord] = iter(
            (*self.runs.values(), *self.sweeps.values())
        )
        return USAGE if code not in _STRONGER and any(record.flaws for record in records) else code


def judge(verb: Verb, chosen: argparse.Namespace) -> JudgedFolders:
    """Open the folders that the words of a verb name, and say what must be known before any of it is believed.

    A word that names none is left to the verb. Raises `FolderError` where a folder cannot be read at all.
    """
    folders = JudgedFolders()
    for word, takes in _words(verb, chosen).items():
        path = Path(word)
        if Takes.RUN in takes and (path / MARKS["run"]).exists():
            folders.runs[word] = folders.run(word)
            caveats = folders.runs[word].caveats
        elif Takes.SWEEP in takes and (path / MARKS["sweep"]).is_file():
            folders.sweeps[word] = folders.sweep(word)
            caveats = folders.sweeps[word].flaws
        else:
            continue
        for caveat in caveats:
            say(f"hush: {path}: {caveat}", error=True)
    return folders


def _words(verb: Verb, chosen: argparse.Namespace) -> Mapping[str, Takes]:
    """Return the words that may name a folder, each with what its verb takes there."""
    words: dict[str, Takes] = {}
    for argument in verb.arguments:
        if argument.takes & (Takes.RUN | Takes.SWEEP):
            given = getattr(chosen, argument.dest)
            given = given if isinstance(given, list) else [given]
            words |= {word: argument.takes for word in given if isinstance(word, str)}
    return words

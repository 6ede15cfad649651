"""The verb `compare`: differences of runs and sweeps, with intervals, paired by seed."""

import argparse
from pathlib import Path

from scenarios.command.judged_folders import JudgedFolders
from scenarios.language.visible_text import say, say_json
from scenarios.records.comparison import Side, compare, side_of_run, sides_of_sweep
from scenarios.records.comparison_text import as_tree, in_words
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.sweep_record import is_sweep


def perform(chosen: argparse.Namespace) -> int:
    """Print the differences between the first run or sweep and each other one."""
    with guarded(", ".join(chosen.place)):
        comparison = compare(_sides(chosen), chosen.metric, chosen.confidence)
    if chosen.json:
        say_json(as_tree(comparison))
    else:
        say(*in_words(comparison))
    return 0


def _sides(chosen: argparse.Namespace) -> list[Side]:
    paths = [Path(place) for place in chosen.place]
    if chosen.by is not None:
        if len(paths) > 1:
            raise FolderError("--by compares the values of one axis inside of one sweep: name one")
        sides = list(sides_of_sweep(chosen.folders.sweep(chosen.place[0]), chosen.by))
        if len(sides) < 2:
            raise FolderError(
                f"{paths[0]} has one value of {chosen.by}: there is nothing to compare"
            )
        return sides
    if len(paths) == 1:
        said = f"{paths[0]} alone cannot be compared: name another run or sweep"
        if is_sweep(paths[0]):
            axes = ", ".join(axis.name for axis in chosen.folders.sweep(chosen.place[0]).axes)
            said += f", or an axis of it with --by ({axes})" if axes else ""
        raise FolderError(said)
    return [side for word in chosen.place for side in _of(word, chosen.folders)]


def _of(word: str, folders: JudgedFolders) -> tuple[Side, ...]:
    if is_sweep(Path(word)):
        return sides_of_sweep(folders.sweep(word))
    return (side_of_run(folders.run(word)),)

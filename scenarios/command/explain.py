"""The verb `explain`: the causes of one event of a run, and what came of it."""

import argparse
from pathlib import Path

from scenarios.command.option_values import opened
from scenarios.language.visible_text import say, say_json
from scenarios.planning.fault_kinds import FAULTS
from scenarios.records.causes import Causes, as_tree, in_words
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord


def perform(chosen: argparse.Namespace) -> int:
    """Print the causes of one event, and what it caused."""
    with guarded(chosen.run):
        return _explain(chosen)


def _explain(chosen: argparse.Namespace) -> int:
    path = Path(chosen.run)
    causes = causes_of(opened(path))
    if not causes.by_seq:
        raise FolderError(f"{path} has no events: it was cut off before the first, or is damaged")
    if chosen.seq not in causes.by_seq:
        last = max(causes.by_seq, default=0)
        raise FolderError(f"{path} has no event {chosen.seq}: they run from 1 to {last}")
    if chosen.json:
        say_json(as_tree(causes, chosen.seq))
    else:
        say(*in_words(causes, chosen.seq))
    return 0


def causes_of(record: RunRecord) -> Causes:
    """Return the events of a run by number, with their causes."""
    return Causes(record.events(), list(record.proof.lines), _faults(record))


def _faults(record: RunRecord) -> list[str]:
    """Return what the scenario of a run calls its faults."""
    try:
        tree = record.resolved
    except FolderError:
        return []
    names = []
    for fault in tree.get("fault", []):
        action = next((a for a in FAULTS if a in fault), "?")
        kind = fault[action].get("kind") if isinstance(fault.get(action), dict) else None
        names.append(str(fault.get("name") or kind or action))
    return names

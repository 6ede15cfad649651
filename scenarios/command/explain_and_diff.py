"""The verbs `explain` and `diff`: runs that are over, looked into event by event."""

import argparse
from pathlib import Path

from scenarios.command.option_values import opened
from scenarios.language.visible_text import say, say_json
from scenarios.planning.fault_kinds import FAULTS
from scenarios.records.causes import Causes, as_tree, in_words
from scenarios.records.divergence import compare_digests, differences, parts, plain_row, samples
from scenarios.records.divergence import in_words as told
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord

PARTED = 5


def explain(chosen: argparse.Namespace) -> int:
    """Tell the causes of one event."""
    with guarded(chosen.run):
        return _explain(chosen)


def _explain(chosen: argparse.Namespace) -> int:
    path = Path(chosen.run)
    causes = _causes(opened(path))
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


def _causes(record: RunRecord) -> Causes:
    return Causes(record.events(), list(record.proof.lines), _faults(record))


def _faults(record: RunRecord) -> list[str]:
    """Return what the scenario of a run calls its faults."""
    try:
        tree = record.resolved
    except FolderError:
        return []
    found = []
    for fault in tree.get("fault", []):
        action = next((a for a in FAULTS if a in fault), "?")
        kind = fault[action].get("kind") if isinstance(fault.get(action), dict) else None
        found.append(str(fault.get("name") or kind or action))
    return found


def diff(chosen: argparse.Namespace) -> int:
    """Tell where two runs part, and how their metrics differ after it."""
    with guarded(f"{chosen.run} or {chosen.other}"):
        return _diff(chosen)


def _diff(chosen: argparse.Namespace) -> int:
    one, other = both = [opened(Path(path)) for path in (chosen.run, chosen.other)]
    manifests = [record.manifest for record in both]
    told_apart = [(m["scenario"], m["seed"]) for m in manifests]
    digests = compare_digests(*manifests)
    found = parts(one.events(), other.events())
    since = 0 if found is None else min(e["t"] for e in found if e is not None)
    rows = differences(samples(one.events()), samples(other.events()), since)
    if chosen.json:
        tree = {
            "parts": found and list(found),
            "metrics": [plain_row(row) for row in rows],
            "digests": digests,
        }
        say_json(tree)
    elif found is None:
        say("the same events, one by one")
        say(*(f"  {name} digests: {verdict}" for name, verdict in digests.items()))
    else:
        for record, event in zip(both, found, strict=True):
            say(f"{record.path}:")
            if event is None:
                say(f"  is over before that ({record.ended})")
            else:
                say(*(f"  {line}" for line in in_words(_causes(record), event["seq"])))
        say("after it:")
        say(*told(rows, (str(one.path), str(other.path))))
    return PARTED if found is not None and told_apart[0] == told_apart[1] else 0

"""The verb `diff`: where two runs part, and how their metrics differ after it."""

import argparse

from scenarios.command.explain import causes_of
from scenarios.language.visible_text import say, say_json
from scenarios.records.causes import in_words
from scenarios.records.divergence import (
    BITS,
    compare_digests,
    differences,
    parts,
    plain_row,
    samples,
)
from scenarios.records.divergence import in_words as told
from scenarios.records.file_guard import guarded

PARTED = 5


def perform(chosen: argparse.Namespace) -> int:
    """Print where two runs part, and how their metrics differ after it; return 5 where two runs of one seed part."""
    with guarded(f"{chosen.run} or {chosen.other}"):
        return _diff(chosen)


def _diff(chosen: argparse.Namespace) -> int:
    one, other = both = [chosen.folders.run(word) for word in (chosen.run, chosen.other)]
    manifests = [record.manifest for record in both]
    identities = [(m["scenario"], m["seed"]) for m in manifests]
    digests = compare_digests(*manifests)
    parting = parts(one.events(), other.events())
    since = 0 if parting is None else min(e["t"] for e in parting if e is not None)
    rows = differences(samples(one.events()), samples(other.events()), since, least=BITS)
    if chosen.json:
        tree = {
            "parts": parting and list(parting),
            "metrics": [plain_row(row) for row in rows],
            "digests": digests,
        }
        say_json(tree)
    elif parting is None:
        say("the same events, one by one")
        say(*(f"  {name} digests: {verdict}" for name, verdict in digests.items()))
    else:
        for record, event in zip(both, parting, strict=True):
            say(f"{record.path}:")
            if event is None:
                say(f"  is over before that ({record.ended})")
            else:
                say(*(f"  {line}" for line in in_words(causes_of(record), event["seq"])))
        say("after it:")
        say(*told(rows, (str(one.path), str(other.path))))
    return PARTED if parting is not None and identities[0] == identities[1] else 0

"""The verb `list`: the library, with what each scenario shows."""

import argparse

from scenarios.language.reader import library_names
from scenarios.language.visible_text import say, say_json
from scenarios.planning.scenario import load


def perform(chosen: argparse.Namespace) -> int:
    """Print the names of the library, with their summaries."""
    summaries = {name: load(name).read.summary or "" for name in library_names()}
    if chosen.json:
        say_json([{"name": n, "summary": s} for n, s in summaries.items()])
    else:
        width = max(map(len, summaries))
        say(*(f"{name:<{width}}  {summary}" for name, summary in summaries.items()))
    return 0

"""The verb `list`: the library, with what each scenario shows; or the presets of places, with their sources."""

import argparse

from scenarios.language.reader import library_names
from scenarios.language.visible_text import say, say_json
from scenarios.planning.scenario import load


def perform(chosen: argparse.Namespace) -> int:
    """Print the names of the library with their summaries, or with `places` what is known of every preset."""
    match chosen.what:
        case None:
            _list_library(as_json=chosen.json)
        case "places":
            _list_places(as_json=chosen.json)
        case what:
            raise NotImplementedError(f"nothing is listed by {what!r}")
    return 0


def _list_library(*, as_json: bool) -> None:
    summaries = {name: load(name).read.summary or "" for name in library_names()}
    if as_json:
        say_json([{"name": n, "summary": s} for n, s in summaries.items()])
    else:
        width = max(map(len, summaries))
        say(*(f"{name:<{width}}  {summary}" for name, summary in summaries.items()))


def _list_places(*, as_json: bool) -> None:
    from scenarios.command.place_cards import cards, in_words

    if as_json:
        say_json(cards())
    else:
        say(*in_words())

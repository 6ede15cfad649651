"""Data sources: which points there are, and which agent holds them."""

from sys import modules

from scenarios.planning.data_sources import SOURCES
from scenarios.planning.kinds import Tables
from scenarios.planning.word_cards import WordCard, WordFamily, table_card, words_of


def _card(name: str) -> WordCard:
    kind = SOURCES[name]
    whole = words_of(modules[kind.table.__module__])
    published = "yes: its files are checked (docs/data.md)" if kind.published else "no"
    return table_card(name, Tables(SOURCES), **{"in full": whole, "published": published})


KIND = WordFamily(name="data-source", order=9, names=SOURCES.names, card=_card)

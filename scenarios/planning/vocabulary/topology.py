"""Topologies: which agents are joined."""

from scenarios.planning.kinds import Tables
from scenarios.planning.topologies import TOPOLOGIES, OfDataTable
from scenarios.planning.word_cards import WordCard, WordFamily, table_card

_TABLES = Tables(TOPOLOGIES)


def _card(name: str) -> WordCard:
    of_data = issubclass(_TABLES[name], OfDataTable)
    made_of = (
        "what agents learn: ε does not cover how it was made; public = true declares that it was known before"
        if of_data
        else "no data: it is public"
    )
    return table_card(name, _TABLES, **{"made of": made_of})


KIND = WordFamily(name="topology", order=7, names=TOPOLOGIES.names, card=_card)

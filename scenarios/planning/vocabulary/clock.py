"""Clocks: when an agent wakes."""

from scenarios.planning.clocks import CLOCKS
from scenarios.planning.kinds import Tables
from scenarios.planning.word_cards import WordCard, WordFamily, table_card


def _card(name: str) -> WordCard:
    kind = CLOCKS[name]
    rounds = (
        "all agents wake equally often: run.rounds may end the run" if kind.counts_rounds else "no"
    )
    waits = "yes: for messages of neighbours" if kind.waits else "no"
    return table_card(name, Tables(CLOCKS), rounds=rounds, waits=waits)


KIND = WordFamily(name="clock", order=8, names=CLOCKS.names, card=_card)

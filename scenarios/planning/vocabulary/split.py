"""Splits: how many points, and which, each agent gets."""

from scenarios.planning.kinds import Tables
from scenarios.planning.splits import SPLITS, PoolSplitTable
from scenarios.planning.word_cards import WordCard, WordFamily, table_card


def _card(name: str) -> WordCard:
    table = SPLITS[name].table
    dealt = f"by {table.by}" if issubclass(table, PoolSplitTable) else "at random, in these sizes"
    return table_card(name, Tables(SPLITS), dealt=dealt)


KIND = WordFamily(name="split", order=10, names=SPLITS.names, card=_card)

"""Losses: what a model is fitted by, and judged by."""

from scenarios.planning.losses import LOSSES
from scenarios.planning.word_cards import WordCard, WordFamily, table_card


def _card(name: str) -> WordCard:
    table = LOSSES[name]
    facts = {"judged by": table.score, "convex": "yes" if table.convex else "no"}
    return table_card(name, LOSSES, **facts)


KIND = WordFamily(name="loss", order=11, names=LOSSES.keys, card=_card)

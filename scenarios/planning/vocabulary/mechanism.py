"""Mechanisms: what agents compute, send and are charged for."""

from dataclasses import asdict

from scenarios.language.table_rules import keys_of
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.word_cards import WordCard, WordFamily


def _card(name: str) -> WordCard:
    record = MECHANISMS[name]
    facts: dict[str, str] = asdict(record.card)
    title = facts.pop("title")
    return WordCard(name=name, says=title, facts=facts, keys=keys_of(record.table))


KIND = WordFamily(name="mechanism", order=1, names=MECHANISMS.names, card=_card)

"""Words that keys of the scenario file choose from, but for those of a family of their own."""

from functools import cache

from mechanisms.accounting.spend import SCALES
from scenarios.language.value_rules import Choice
from scenarios.planning.choice_words import MEANINGS
from scenarios.planning.key_places import KeyPlace, choices, in_words, rules_of
from scenarios.planning.word_cards import WordCard, WordFamily

_OTHER_FAMILIES = frozenset({"views", "accountant", "calibrate", "filter"})
"""Keys whose words have cards of their own."""


def _has_its_own(word: str, place: KeyPlace) -> bool:
    return place.name in _OTHER_FAMILIES or (place.name == "noise" and word in SCALES)


@cache
def _words() -> dict[str, list[KeyPlace]]:
    words = {
        word: [place for place in places if not _has_its_own(word, place)]
        for word, places in choices().items()
    }
    return {word: places for word, places in words.items() if places}


def _card(name: str) -> WordCard:
    places = _words()[name]
    meanings: dict[str, list[KeyPlace]] = {}
    for place in places:
        meanings.setdefault(MEANINGS.get((place.name, name), ""), []).append(place)
    facts = [
        f"as {' or '.join(in_words(some))}: {meaning or 'the card of the kind says what it does'}"
        for meaning, some in meanings.items()
    ]
    beside = list(
        dict.fromkeys(
            " | ".join(rule.names)
            for place in places
            for rule in rules_of(place.field.rule)
            if isinstance(rule, Choice) and name in rule.names
        )
    )
    return WordCard(
        name=name,
        says="; ".join([facts[0][0].upper() + facts[0][1:], *facts[1:]]) + ".",
        facts={"one of": "; or ".join(beside)},
    )


KIND = WordFamily(name="value", order=19, names=_words, card=_card)

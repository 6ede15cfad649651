"""Words that keys of the scenario file choose from, but for those of a family of their own."""

from functools import cache

from mechanisms.accounting.spend import SCALES
from scenarios.language.value_rules import Choice
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
    first, *others = in_words(places)
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
        says=f"A word that {first} may be{''.join(f', and {other}' for other in others)}. "
        "docs/reference.md, section 2, and the card of the kind say what it does.",
        facts={"one of": "; or ".join(beside)},
    )


KIND = WordFamily(name="value", order=19, names=_words, card=_card)

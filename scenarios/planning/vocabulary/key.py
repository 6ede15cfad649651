"""Keys of the scenario file, and the words that they choose from."""

from functools import cache

from scenarios.language.table_rules import Field
from scenarios.planning.fault_kinds import FAULTS
from scenarios.planning.key_places import KeyPlace, key_places
from scenarios.planning.word_cards import WordCard, WordFamily


@cache
def _by_name() -> dict[str, list[KeyPlace]]:
    places: dict[str, list[KeyPlace]] = {}
    for place in key_places():
        if place.where == "[[fault]]" and place.name in FAULTS:
            continue  # an action: its family has its card
        places.setdefault(place.name, []).append(place)
    return places


def _card(name: str) -> WordCard:
    keys: dict[str, Field] = {str(place): place.field for place in _by_name()[name]}
    count = "one place" if len(keys) == 1 else f"{len(keys)} places"
    says = f"A key of the scenario file, at {count}: docs/reference/scenario-file.md."
    return WordCard(name=name, says=says, keys=keys)


KIND = WordFamily(name="key", order=18, names=_by_name, card=_card)

"""Events: what a run's record says happened."""

from actors.events import KINDS, Event
from scenarios.planning.word_cards import WordCard, WordFamily, words_of

_COMMON = frozenset(Event.__struct_fields__) | {"late_ns", "spend"}
_EVENTS = {str(kind.__struct_config__.tag): kind for kind in KINDS}


def _card(name: str) -> WordCard:
    kind = _EVENTS[name]
    own = [field for field in kind.__struct_fields__ if field not in _COMMON]
    facts = {
        "fields": ", ".join(("seq, t (ns), node, cause", *own)),
        "stands at": "hush show RUN --events jsonl; sometimes of [[expect]], when of [[fault]]",
    }
    return WordCard(name=name, says=words_of(kind), facts=facts)


KIND = WordFamily(name="event", order=17, names=_EVENTS.keys, card=_card)

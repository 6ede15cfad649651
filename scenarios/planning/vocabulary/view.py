"""Views: what an adversary sees of a run."""

from mechanisms.accounting.views import OF_SERVERS, VIEWS, WORDS
from scenarios.planning.word_cards import WordCard, WordFamily


def _card(name: str) -> WordCard:
    where = "kinds with a server" if name in OF_SERVERS else "every kind"
    facts = {
        "exists for": where,
        "stands at": "views of [privacy]: the first is the headline; --view of hush audit",
        "source": "theory.md, 5.1",
    }
    return WordCard(name=name, says=WORDS[name], facts=facts)


KIND = WordFamily(name="view", order=5, names=lambda: VIEWS, card=_card)

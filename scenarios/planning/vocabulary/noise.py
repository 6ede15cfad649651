"""Laws of noise: what is drawn for a release, and what its charge counts."""

from mechanisms.accounting.spend import SCALES, UNITS
from scenarios.planning.word_cards import WordCard, WordFamily

_COUNTS = {"mu": "a μ: Gaussian releases compose by Σμ²", "epsilon": "a pure ε"}


def _card(name: str) -> WordCard:
    charge = "ε = ∞: the release is not private" if name == "none" else _COUNTS[UNITS[name]]
    return WordCard(
        name=name,
        says=f"A law of the noise in a release; its scale: {SCALES[name]}.",
        facts={
            "charge": charge,
            "stands at": "law of a ledger's line; noise of the mechanisms whose cards name it",
            "source": "theory.md, 5",
        },
    )


KIND = WordFamily(name="noise", order=6, names=lambda: SCALES, card=_card)

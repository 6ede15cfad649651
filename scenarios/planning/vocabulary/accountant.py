"""Accountants: how the losses of releases add up to an ε."""

from mechanisms.accounting.accountant import EPSILON, MIXED, MU
from mechanisms.accounting.compose import TIGHTEST
from scenarios.planning.accountant import AUTO, KINDS, AccountantKind, named
from scenarios.planning.word_cards import WordCard, WordFamily

_UNITS = {
    EPSILON: "releases of a pure ε (Laplace, norm-gamma, objective perturbation)",
    MU: "Gaussian releases (μ)",
    MIXED: "ledgers with both",
}


def _card(name: str) -> WordCard:
    if name == TIGHTEST:
        return WordCard(
            name=name,
            says="No accountant of its own: the smallest ε of all accountants that have a claim for the releases, at the "
            "agent's δ. Reports name which one it was.",
            facts={
                "accountant": "every figure of ε is the least upper bound that hush knows; all bounds hold at once",
                "calibrate": "the accountant that admits the least noise for the kind, the dimension and the schedule",
                "known": ", ".join(named(lambda _: True)),
                "stands at": "accountant and calibrate of [privacy]",
            },
        )
    if name == AUTO:
        return WordCard(
            name=name,
            says="As a filter: the accountant that calibrated the noise holds the cap, too.",
            facts={"stands at": "filter of [privacy]"},
        )
    kind = KINDS[name]
    record = kind.accountant
    delta = (
        "no: it has a claim at δ = 0" if not record.needs_delta else "yes: at δ = 0 it has no claim"
    )
    return WordCard(
        name=name,
        says=f"An upper bound on ε. How it composes: {kind.words}.",
        facts={
            "composes": "; ".join(
                _UNITS[u] for u in (EPSILON, MU, MIXED) if u in record.claims_for
            ),
            "view": "any: it composes what the headline view sees of each release (privacy.views)",
            "unit": "ε at the δ of the agent's budget; one record of one agent replaced",
            "needs δ": delta,
            "tight": kind.tight,
            "adaptive": _adaptive(kind),
            "stands at": _keys(kind),
            "metric": f"epsilon.{name}",
            "source": kind.source,
        },
    )


def _adaptive(kind: AccountantKind) -> str:
    if kind.accountant.adaptive:
        return "valid also where charges depend on earlier outputs (theory.md, 5.5)"
    return "valid where charges were fixed in advance or depend on public events; else ε = ∞"


def _keys(kind: AccountantKind) -> str:
    may = {"accountant": kind.is_headline, "calibrate": kind.calibrates, "filter": kind.is_filter}
    return ", ".join(key for key, yes in may.items() if yes) + " of [privacy]"


KIND = WordFamily(
    name="accountant", order=4, names=lambda: (*KINDS.names(), TIGHTEST, AUTO), card=_card
)

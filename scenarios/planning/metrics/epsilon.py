"""What each agent's ledger costs: by every accountant, in the headline view, at the agent's δ."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.accountant import KINDS as ACCOUNTANTS
from scenarios.planning.accountant import AccountantKind
from scenarios.planning.metric import ALWAYS, ASKED, AT_END, Metric, Snapshot
from scenarios.planning.metric_needs import FATES

if TYPE_CHECKING:
    from mechanisms.vectors import Vector
    from scenarios.records.release_fates import Fates


def _by(accountant: str, at: Snapshot) -> "Vector":
    return at.budget.by(accountant)


_of = partial(Metric, reads_models=False, per_agent=True, unit="ε")


def _in_vain(name: str, words: str, which: "Callable[[Fates], list[list[int]]]") -> Metric:
    return _of(
        name,
        f"ε of the ledger minus ε of the ledger without the releases that {words}",
        lambda at: at.budget.without(which(at.fates)),
        needs=(FATES,),
    )


def _of_accountant(kind: AccountantKind) -> Metric:
    return _of(
        f"epsilon.{kind.name}",
        f"ε of the ledger by the accountant `{kind.name}`: {kind.words}",
        partial(_by, kind.name),
        AT_END if kind.at_end else ASKED,
        missing=kind.missing,
    )


KINDS = (
    _of(
        "epsilon",
        "ε of the ledger by the headline accountant, in the headline view, at the agent's δ",
        lambda at: at.budget.headline(),
        ALWAYS,
    ),
    *map(_of_accountant, ACCOUNTANTS.values()),
    _of("epsilon.claimed", "ε that the calibration claims", lambda at: at.budget.claimed(), AT_END),
    _of(
        "epsilon.printed",
        "the sum of what the calibration claims for each release; of `pp` as printed it is P(t) of Zhang, Khalili, Liu 2018, "
        "section 5; ∞ for Gaussian noise, which has no pure ε",
        lambda at: at.budget.printed(),
    ),
    _of(
        "epsilon.per_release",
        "ε of the last release alone, by the headline accountant, in the headline view, at the agent's δ; 0 before the first",
        lambda at: at.budget.per_release(),
    ),
    _of(
        "epsilon.left",
        "what the budget has left, as its filter counts",
        lambda at: at.budget.left(),
        ALWAYS,
        missing="no budget was given: there is no cap",
    ),
    _in_vain("epsilon.unsent", "were never sent", lambda fates: fates.unsent()),
    _in_vain("epsilon.unheard", "were delivered to no agent", lambda fates: fates.unheard()),
    _in_vain("epsilon.unread", "were merged by no agent", lambda fates: fates.unread()),
)

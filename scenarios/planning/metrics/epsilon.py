"""What each agent's ledger costs: by every accountant, in the headline view, at the agent's δ."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.accountant import KINDS as ACCOUNTANTS
from scenarios.planning.accountant import AccountantKind
from scenarios.planning.metric import Fates, Metric, Snapshot, Taken
from scenarios.planning.metric_needs import FATES

if TYPE_CHECKING:
    from mechanisms.vectors import Vector


def _by(accountant: str, at: Snapshot) -> "Vector":
    return at.budget.by(accountant)


def _in_vain(
    name: str, words: str, which: Callable[[Fates], list[list[int]]], column: int
) -> Metric:
    return Metric(
        name,
        f"ε of the ledger minus ε of the ledger without the releases that {words}",
        reads_models=False,
        per_agent=True,
        needs=(FATES,),
        compute=lambda at: at.budget.without(which(at.fates)),
        column=column,
    )


def _of_accountant(kind: AccountantKind) -> Metric:
    return Metric(
        f"epsilon.{kind.name}",
        f"ε of the ledger by the accountant `{kind.name}`: {kind.words}",
        reads_models=False,
        per_agent=True,
        taken=Taken.AT_END if kind.at_end else Taken.ASKED,
        missing=kind.missing,
        compute=partial(_by, kind.name),
        column=kind.column,
    )


KINDS = (
    Metric(
        "epsilon",
        "ε of the ledger by the headline accountant, in the headline view, at the agent's δ",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=lambda at: at.budget.headline(),
        column=20,
    ),
    *map(_of_accountant, ACCOUNTANTS.values()),
    Metric(
        "epsilon.claimed",
        "ε that the calibration claims",
        reads_models=False,
        per_agent=True,
        taken=Taken.AT_END,
        compute=lambda at: at.budget.claimed(),
        column=161,
        column_if_asked=170,
    ),
    Metric(
        "epsilon.left",
        "what the budget has left, as its filter counts",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        missing="no budget was given: there is no cap",
        compute=lambda at: at.budget.left(),
        column=30,
    ),
    _in_vain("epsilon.unsent", "were never sent", lambda fates: fates.unsent(), 175),
    _in_vain("epsilon.unheard", "were delivered to no agent", lambda fates: fates.unheard(), 176),
    _in_vain("epsilon.unread", "were merged by no agent", lambda fates: fates.unread(), 177),
)

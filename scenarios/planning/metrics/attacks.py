"""What an audit or an attacker gets, by running the plan again: the room `auditing` hands the computations in."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.mechanism import is_private, kind_of, names_in
from scenarios.planning.metric import AGAIN, Metric, Snapshot

if TYPE_CHECKING:
    from scenarios.planning.scenario_tables import ScenarioTable


def _again(name: str, at: Snapshot) -> float:
    return at.again(name)


def _promises_nothing(read: "ScenarioTable", _: str) -> str:
    kind = kind_of(read)
    if kind is None or is_private(read):
        return ""
    return f"{kind.name} makes no promise here that could be refuted"


def _is_no_admm(read: "ScenarioTable", name: str) -> str:
    kind = kind_of(read)
    if kind is None or kind.family == "consensus":
        return ""
    return f"{name} is on the ADMM family ({names_in('consensus')}), not on {kind.name}"


def _metric(
    name: str, words: str, refuse: "Callable[[ScenarioTable, str], str]", why: str, unit: str
) -> Metric:
    return Metric(
        name,
        words,
        partial(_again, name),
        AGAIN,
        reads_models=True,
        unit=unit,
        refuse=refuse,
        missing=why,
    )


_UNATTACKED = "this plan cannot be attacked so: hush attack kkt says why"
_DISTANCE = "a distance between feature vectors, whose norms are at most 1"
_GUESS = "distance of the KKT attacker's guess from the first record of agent 0"
KINDS = (
    _metric(
        "epsilon.audited",
        "a lower bound on ε from 600 to 2,000 runs each way",
        _promises_nothing,
        "this plan cannot be audited: hush audit says why",
        "ε",
    ),
    _metric("attack.kkt", f"{_GUESS}, where η is known", _is_no_admm, _UNATTACKED, _DISTANCE),
    _metric(
        "attack.kkt.secret", f"{_GUESS}, where η is secret", _is_no_admm, _UNATTACKED, _DISTANCE
    ),
)

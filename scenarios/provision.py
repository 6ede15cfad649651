"""From a kind's table and the public facts to every agent's mechanism."""

from collections.abc import Callable
from typing import Any

from mechanisms.accounting.spend import Spend
from mechanisms.federated import Coordinator
from mechanisms.local_privacy import LocalPrivacy
from mechanisms.objectives import LocalObjective
from mechanisms.solitary import Solitary
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.kinds import TRAITS, is_gaussian, is_private, learner
from scenarios.provide_consensus import alternating
from scenarios.provide_personalised import collaborative, descent, propagation, warm_descent
from scenarios.provide_server import Federation
from scenarios.public import Maker, Public, Table
from scenarios.terms import CannotProvide

Objectives = Callable[[int, Matrix, Vector], LocalObjective]
"""Makes agent i's objective on some records."""


def unit_of(read: Table) -> str | None:
    """Return what charges count, for caps to be held by: μ of Gaussian noise, or a pure ε; None without noise."""
    if not is_private(read):
        return None
    return "mu" if is_gaussian(read) else "epsilon"


class Provision:
    """Makes the mechanisms of a scenario; code of its own is handed in."""

    def __init__(self, read: Table, public: Public, objectives: Objectives) -> None:
        self._read = read
        self._public = public
        self._objectives = objectives
        self._table: Table = learner(read)
        self._disguised = read["mechanism"]["kind"] == "local-dp"
        self._federation = None
        if TRAITS[self._table["kind"]].family == "server":
            private = is_private(read) and not self._disguised
            self._federation = Federation(self._table, public, private=private)

    def mechanism(
        self, i: int, objective: LocalObjective, features: Matrix, labels: Vector
    ) -> Mechanism:
        """Make one agent's mechanism."""
        if not self._disguised:
            made: Mechanism = self._maker(i)(objective)
            return made
        try:
            make = self._maker(i)
            mechanism: Mechanism = make(objective)
        except CannotProvide as error:
            raise CannotProvide(
                str(error), error.key.replace("mechanism", "mechanism.inner", 1)
            ) from None
        outer = self._read["mechanism"]
        both = outer["epsilon_features"], outer["epsilon_label"]
        cost = sum(both)
        spend = Spend(
            "local-dp", "local", outer["calibration"], both[0] / 2.0, 2.0, "l2",
            objective.dimension, 0.0, cost, cost,
        )  # fmt: skip
        return LocalPrivacy(
            features, labels, *both, spend,
            lambda x, y: make(self._objectives(i, x, y)), mechanism,
        )  # fmt: skip

    def coordinator(self) -> Coordinator | None:
        """Make the server, where there is one."""
        return None if self._federation is None else self._federation.coordinator()

    def _maker(self, i: int) -> Maker:
        table, public = self._table, self._public
        kind = table["kind"]
        if self._federation is not None:
            return self._federation.client(i)
        makers: dict[str, Callable[[], Any]] = {
            "cd": lambda: descent(table, i, public),
            "propagation": lambda: propagation(
                table, i, public, table["noise"], public.terms[i].epsilon
            ),
            "warm-cd": lambda: warm_descent(table, i, public),
            "collaborative-admm": lambda: collaborative(table, i, public),
            "local": lambda: Solitary,
            **dict.fromkeys(
                ("admm", "dvp", "pvp", "madmm", "pp"), lambda: alternating(table, i, public)
            ),
        }
        made: Maker = makers[kind]()
        return made

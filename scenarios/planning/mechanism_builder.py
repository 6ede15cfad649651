"""From a kind's table and the public facts to every agent's mechanism."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mechanisms.accounting.accountant import EPSILON, MIXED
from mechanisms.accounting.accountants import rdp, simplest
from mechanisms.accounting.calibrate import tightest
from mechanisms.accounting.compose import TIGHTEST
from mechanisms.accounting.spend import Spend
from mechanisms.federated import Coordinator
from mechanisms.local_privacy import disguise
from mechanisms.objectives import LocalObjective
from mechanisms.solitary import Solitary
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning.consensus import alternating
from scenarios.planning.consensus import scheme as consensus_scheme
from scenarios.planning.mechanism_tables import TRAITS, is_gaussian, is_private, learner
from scenarios.planning.personalised import collaborative, descent, propagation, warm_descent
from scenarios.planning.personalised import scheme as personal_scheme
from scenarios.planning.public_facts import Maker, Public, Table
from scenarios.planning.release_charges import CannotProvide, Scheme, case_of
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.server import Federation
from scenarios.planning.server import scheme as server_scheme

Objectives = Callable[[int, Matrix, Vector], LocalObjective]
"""Makes agent i's objective on some records."""


def unit_of(read: ScenarioTable) -> str | None:
    """Return what charges count, for caps to be held by; None without noise.

    "mu" is Gaussian noise alone, "epsilon" a pure ε, "mixed" Gaussian noise after a start of a pure ε.
    """
    if not is_private(read):
        return None
    if read["mechanism"]["kind"] == "warm-cd" and is_gaussian(read):
        return MIXED
    return "mu" if is_gaussian(read) else "epsilon"


class Provision:
    """Makes the mechanisms of a scenario; code of its own is handed in."""

    def __init__(self, read: ScenarioTable, public: Public, objectives: Objectives) -> None:
        self._read = read
        self._objectives = objectives
        self._table: Table = learner(read)
        self._disguised = read["mechanism"]["kind"] == "local-dp"
        self.calibrated = self._calibrated(public)
        """Who calibrates, where that was left open and makes a difference; else None."""
        self._public = public
        if self.calibrated is not None:
            settled = {t: replace(t, calibrate=self.calibrated) for t in set(public.terms)}
            self._public = replace(public, terms=tuple(settled[t] for t in public.terms))
        public = self._public
        self._federation = None
        if TRAITS[self._table["kind"]].family == "server":
            private = is_private(read) and not self._disguised
            self._federation = Federation(self._table, public, private=private)

    def _calibrated(self, public: Public) -> str | None:
        """Find the accountant that admits the least noise for these agents, where none is named.

        Where noise does not follow from a budget, it only holds caps: of one release with a pure ε, basic composition
        says all; of given noise, the Rényi filter needs no plan.
        """
        if not is_private(self._read) or all(t.calibrate != TIGHTEST for t in public.terms):
            return None
        if self._disguised:
            return simplest(EPSILON, 0.0)
        if isinstance(self._table.get("noise"), ReadTable):
            return rdp.ACCOUNTANT.name
        cases = [
            case_of(self._table, terms, wanted)
            for i, terms in enumerate(public.terms)
            if (wanted := self._scheme(i, public)) is not None
        ]
        known = [case for case in cases if case is not None]
        return tightest(known) if known else None

    def _scheme(self, i: int, public: Public) -> Scheme | None:
        """Return how agent i's releases are calibrated; None where nothing is."""
        match TRAITS[self._table["kind"]].family:
            case "consensus":
                return consensus_scheme(self._table, i, public)
            case "personalised":
                return personal_scheme(self._table, i, public)
            case "server":
                return server_scheme(self._table, public)
            case "alone" | "pairs":
                return None
            case family:
                raise ValueError(f"nothing calibrates the family {family!r}")

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
        return disguise(
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
            "propagation": lambda: propagation(table, i, public),
            "warm-cd": lambda: warm_descent(table, i, public),
            "collaborative-admm": lambda: collaborative(table, i, public),
            "local": lambda: Solitary,
            **dict.fromkeys(
                ("admm", "dvp", "pvp", "madmm", "pp"), lambda: alternating(table, i, public)
            ),
        }
        made: Maker = makers[kind]()
        return made

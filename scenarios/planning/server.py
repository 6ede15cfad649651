"""The server family: clients, their noise, and the server that adds up (theory.md, 2.2 and section 4)."""

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechanisms.accounting import gaussian
from mechanisms.accounting.calibrate import Additive, rounded_down
from mechanisms.accounting.spend import Hidden, Spend, unprotected
from mechanisms.federated import (
    Central,
    Client,
    Coordinator,
    Descent,
    Epochs,
    Gradient,
    Minimiser,
    Task,
)
from mechanisms.masking import Seal
from mechanisms.noise import LAWS, grid_below
from mechanisms.objectives import LocalObjective
from mechanisms.perturbation import FEATURE_BOUND
from mechanisms.solve import ACCEPTED
from mechanisms.vectors import Vector
from scenarios.planning.public_facts import Maker, Public, Table
from scenarios.planning.release_charges import CannotProvide, Scheme, charges

_GAUSSIAN = LAWS["gaussian"]
_ROOM = 1 - 1e-11
_MASK_GRID = 2.0**-30
"""Masked vectors lie on a grid even where releases need none: sums modulo a power of two are exact."""


class _Trait(NamedTuple):
    """What the server makes of a kind's answers: none of it has a default, so that no kind can be forgotten."""

    once: bool
    """Whether every client answers once."""
    inside: bool
    """Whether the noise is drawn inside the computation, when the survivors are known."""
    gradients: bool
    """Whether answers are gradients, which the server descends along; else they are models, which it averages."""
    by_size: bool
    """Whether a client counts by its number of points; else all count alike."""


def _trait(table: Table) -> _Trait:
    match table["kind"]:
        case "wddp":
            once = table["synchronise"] == "once"
            return _Trait(
                once=once, inside=False, gradients=not once, by_size=table["weights"] == "size"
            )
        case "jayaraman-gradient":
            return _Trait(once=False, inside=True, gradients=True, by_size=False)
        case "central-gradient":
            return _Trait(once=False, inside=False, gradients=True, by_size=False)
        case "jayaraman-output" | "pathak":
            return _Trait(once=True, inside=True, gradients=False, by_size=False)
        case "fedavg":
            return _Trait(once=False, inside=False, gradients=False, by_size=True)
        case kind:
            raise NotImplementedError(f"nothing is written of what a server does for kind {kind!r}")


def scheme(table: Table, public: Public) -> Scheme | None:
    """Return how the one release inside a computation is calibrated; None where noise is Gaussian, or none."""
    match table["kind"]:
        case "jayaraman-output":
            return Scheme(Additive("norm-gamma", public.dimension), number=1)
        case "pathak":
            return Scheme(Additive("laplace", public.dimension), number=1)
        case "wddp" | "jayaraman-gradient" | "central-gradient" | "fedavg":
            return None
        case kind:
            raise ValueError(f"{kind} is no server kind")


class Federation:
    """Everything that is settled for all clients together, from public facts."""

    def __init__(self, table: Table, public: Public, *, private: bool) -> None:
        self.table = table
        self.public = public
        self.kind = table["kind"]
        self.private = private
        self.printed = public.terms[0].printed
        trait = _trait(table)
        self.once = trait.once
        self.summed = self.kind == "wddp" and private and table["noise"] == "aggregate"
        self.inside = trait.inside
        self.grid = None if public.grid is None or not private else grid_below(public.grid)
        sizes = np.array(public.sizes, dtype=np.float64)
        self.weights: Vector = (
            sizes / sizes.sum() if trait.by_size else np.full(len(sizes), 1.0 / len(sizes))
        )
        self._gradients, self._by_size = trait.gradients, trait.by_size
        self._cell = self.grid or _MASK_GRID
        self.seal = None
        if self.summed or self.inside:
            self.seal = Seal(public.pads, self._cell, public.count)
        self.slope = public.loss.lipschitz * FEATURE_BOUND
        self.steps = self._steps()
        self.calibration = "as_printed" if self.printed else "corrected"
        if private and not math.isfinite(self.slope):
            raise CannotProvide(f"{self.kind} needs a loss with a bounded gradient", "task.loss")

    def _steps(self) -> int:
        """T: how many gradients one agent's noise has to cover."""
        if self.kind == "wddp" and self.once:
            return int(self.table["local_rounds"])
        return 1 if self.once else int(self.public.rounds or 1)

    def _mu(self, i: int) -> float:
        terms = self.public.terms[i]
        assert terms.epsilon is not None, "judged before"  # noqa: S101
        return rounded_down(gaussian.mu(terms.epsilon, terms.delta) * _ROOM)

    def _zcdp(self, i: int) -> float:
        """The whole μ behind Jayaraman et al. 2018: σ = √(2T)G/(m n₁(√(ℓ+ε) − √ℓ)), ℓ = ln(1/δ)."""
        terms = self.public.terms[i]
        assert terms.epsilon is not None, "judged before"  # noqa: S101
        log = math.log(1.0 / terms.delta)
        return math.sqrt(2.0) * (math.sqrt(log + terms.epsilon) - math.sqrt(log))

    # clients

    def client(self, i: int) -> Maker:
        """Make one client on an objective."""

        def make(objective: LocalObjective) -> Client:
            spend, sigma = self._spend(i) if self.private else (None, 0.0)
            spends = () if spend is None else (spend,) * (1 if self.once else self.steps)
            free = None if self.private else unprotected(self.kind, objective.dimension)
            return Client(
                i, objective, self._task(sigma), spends, free, float(self.weights[i]), self.seal,
                self.grid, self.once,
            )  # fmt: skip

        return make

    def _task(self, sigma: float) -> Task:
        match self.kind:
            case "fedavg":
                return Epochs(self.table["learning_rate"], self.table["epochs"])
            case "jayaraman-output" | "pathak":
                return Minimiser()
            case "wddp" if self.once:
                return Descent(self.table["learning_rate"], self.steps, sigma)
            case "wddp" | "jayaraman-gradient" | "central-gradient":
                return Gradient(sigma)
            case kind:
                raise NotImplementedError(f"no task of a client is written for kind {kind!r}")

    def _spend(self, i: int) -> tuple[Spend, float]:
        """Return what each answer costs, and σ of the client's own noise."""
        if self.inside:
            return self._inside(i), 0.0
        return self._summed(i) if self.summed else self._in_clear(i)

    def _in_clear(self, i: int) -> tuple[Spend, float]:
        """The wire shows every answer: σ_j = 2G√T/(n_j μ) (A6b, A8), or of T hidden steps the last (theory.md, 9).

        As printed n, or m·n₍₁₎ with uniform weights, stands for n_j, and √T for the hidden steps (E5).
        """
        size, mu = self.public.sizes[i], self._mu(i)
        root = math.sqrt(self.steps)
        hidden = gaussian.last_iterate(self._contraction(i), self.steps) if self.once else root
        if self.printed and self.kind == "wddp":
            sigma = 2.0 * self.slope * root / (self._believed * mu)
        else:
            sigma = 2.0 * self.slope * hidden / (size * mu)
        reach = 2.0 * self.slope / size * (hidden if self.once else 1.0)
        claimed = mu if self.once else mu / root
        spend = self._gaussian(sigma, reach, claimed)
        if self.kind == "central-gradient":
            spend = replace(spend, hidden=self._outside(i, sigma))
        return spend, sigma

    @property
    def _believed(self) -> float:
        """How many records the printed noise stands for: n, or m·n₍₁₎ where every party counts alike."""
        sizes = self.public.sizes
        return float(sum(sizes)) if self._by_size else float(len(sizes) * min(sizes))

    def _contraction(self, i: int) -> float:
        """Return how much one step of client i contracts, from public bounds; 1 or more where it does not."""
        loss, rate = self.public.loss, float(self.table["learning_rate"])
        if not loss.convex:
            return 1.0
        convexity = 2.0 * self.public.l2(self.public.sizes[i])
        smoothness = loss.curvature_bound * FEATURE_BOUND**2 + convexity
        return max(abs(1.0 - rate * convexity), abs(1.0 - rate * smoothness))

    def _outside(self, i: int, sigma: float) -> Hidden:
        """Return what one step costs an outsider, who sees the last model of the server only.

        An answer and the model are rounded to the grid in each step. Rounding moves two models apart by a cell in each
        coordinate at most, which the sensitivity of a step has to cover, in units of the gradient.
        """
        rate = float(self.table["learning_rate"])
        cells = (self.grid or 0.0) * math.sqrt(self.public.dimension) * (1.0 + 1.0 / rate)
        reach = 2.0 * self.slope / self.public.sizes[i] + cells
        return Hidden(_GAUSSIAN.charge(sigma, reach), self._contraction(i))

    def _gaussian(self, sigma: float, reach: float, claimed: float) -> Spend:
        return Spend(
            self.kind, "gaussian", self.calibration, sigma, reach, "l2", self.public.dimension, 0.0,
            claimed, _GAUSSIAN.charge(sigma, reach),
        )  # fmt: skip

    # noise that is only large enough together

    def _reach(self, i: int) -> float:
        """How far one record of a client moves the weighted sum: w_j·2G/n_j, and what rounding may add."""
        rounding = self.public.asked * self._cell * math.sqrt(self.public.dimension)
        exact = float(self.weights[i]) * 2.0 * self.slope / self.public.sizes[i]
        if rounding > 0.01 * exact:
            raise CannotProvide(
                f"a grid of {self._cell:g} is too coarse for a secure sum whose noise is for {exact:.3g}",
                "privacy.grid",
            )
        return exact + rounding

    def _honest(self) -> int:
        """Of those asked, how many must be left that neither drop out nor collude."""
        return self.public.asked - int(self.table["tolerate"]) - int(self.table["colluders"])

    def _together(self) -> float:
        """σ* of the sum: enough for the client whose record moves it farthest for its budget."""
        root = math.sqrt(self.steps)
        return max(self._reach(i) * root / self._mu(i) for i in range(self.public.count))

    @cached_property
    def shares(self) -> Vector:
        """w_j σ_j of every client."""
        if self.printed:
            own = [
                2.0 * self.slope * math.sqrt(self.steps) / (self._believed * self._mu(i))
                for i in range(self.public.count)
            ]
            shares: Vector = self.weights * np.array(own)
            return shares
        return np.full(self.public.count, self._together() / math.sqrt(self._honest()))

    @cached_property
    def floor(self) -> float:
        """The least variance that a released sum has: of the fewest honest survivors with the least noise."""
        least = np.sort(self.shares**2)[: self._honest()]
        return float(least.sum())

    def _summed(self, i: int) -> tuple[Spend, float]:
        """The wire shows masks, the server the sum: w_jσ_j = σ*/√(m − h − dropouts) (A6c)."""
        total = math.sqrt(self.floor)
        claimed = self._mu(i) / math.sqrt(self.steps)
        sigma = float(self.shares[i]) / float(self.weights[i])
        everybody = np.sort(self.shares**2)[: self._honest() + int(self.table["colluders"])]
        seen = self._reach(i) / math.sqrt(float(everybody.sum()))
        return replace(self._gaussian(total, self._reach(i), claimed), summed=seen), sigma

    # noise inside the computation

    def _survivors(self) -> int:
        """The fewest that a round is released with."""
        quorum = float(self.public.server["quorum"])
        return max(1, math.ceil(quorum * self.public.asked - 1e-9))

    @cached_property
    def central(self) -> Central | None:
        """Return the noise that is drawn once the survivors are known, calibrated for the smallest of them."""
        if not (self.private and self.inside):
            return None
        everybody = range(self.public.count)
        epsilons = [self.public.terms[i].epsilon or math.inf for i in everybody]
        match self.kind:
            case "jayaraman-gradient":
                charge = min(self._mu(i) for i in everybody) / math.sqrt(self.steps)
                if self.printed:
                    charge = min(self._zcdp(i) for i in everybody) / math.sqrt(self.steps)
                return Central(_GAUSSIAN, charge, 2.0 * self.slope, self._slack("l2"))
            case "jayaraman-output":
                if self.printed:  # per coordinate, on an L2 sensitivity (E25)
                    return Central(LAWS["laplace"], min(epsilons), self._output_reach(spread=1.0))
                reach, slack = self._output_reach(spread=1.0), self._slack("l2")
                return Central(LAWS["norm-gamma"], self._charge(), reach, slack)
            case "pathak":
                root = math.sqrt(self.public.dimension)
                if self.printed:  # the scale has no 1/m
                    reach = self._output_reach(spread=1.0)
                    return Central(LAWS["laplace"], min(epsilons), reach, divides=False)
                reach = self._output_reach(spread=root)
                return Central(LAWS["laplace"], self._charge(), reach, self._slack("l1"))
            case kind:
                raise NotImplementedError(f"no noise of the server is written for kind {kind!r}")

    def _charge(self) -> float:
        """Return the charge of one release inside the computation: the least that any client's budget allows."""
        wanted = scheme(self.table, self.public)
        assert wanted is not None, "one release of a pure ε"  # noqa: S101
        return min(charges(self.table, terms, wanted)[0] for terms in set(self.public.terms))

    def _slack(self, norm: str) -> float:
        """How far rounding to the grid of the masks can move the mean over the fewest survivors."""
        d = self.public.dimension
        cells = d if norm == "l1" else math.sqrt(d)
        return self._cell * cells * self.public.count / self._survivors()

    def _output_reach(self, *, spread: float) -> float:
        """2G/Λ, Λ = 2·l2, over the sizes that come later; λ = 1/m makes it the largest over clients."""
        worst = 0.0
        for size in self.public.sizes:
            convexity = 2.0 * self.public.l2(size)
            # Both minimisers are found to ACCEPTED only (theory.md, E20).
            worst = max(worst, 2.0 * (self.slope + ACCEPTED * size) / convexity)
        return worst * spread

    def _inside(self, i: int) -> Spend:
        """Charge one client for the noise of the smallest admissible survivors."""
        central = self.central
        assert central is not None, "these kinds have a noise inside"  # noqa: S101
        d = self.public.dimension
        fewest, size = self._survivors(), self.public.sizes[i]
        spread = math.sqrt(d) if central.law.norm == "l1" else 1.0
        true = (
            2.0 * self.slope
            if self.kind == "jayaraman-gradient"
            else self._output_reach(spread=spread)
        )
        # The scale follows the smallest survivor, who may be this client: n₁ = n_j is the worst case.
        scale = central.scale(fewest, size)
        sensitivity = true / (fewest * size) + self._slack(central.law.norm)
        charged = central.law.charge(scale, sensitivity)
        return Spend(
            self.kind, central.law.name, self.calibration, scale, sensitivity, central.law.norm, d, 0.0,
            self._claimed(i, central), charged,
        )  # fmt: skip

    def _claimed(self, i: int, central: Central) -> float:
        """What one release is said to cost: the budget, shared out over the rounds."""
        if central.law.unit == "mu":
            return self._mu(i) / math.sqrt(self.steps)
        return central.charge

    # the server

    def coordinator(self) -> Coordinator:
        """Make the server."""
        summed = self.summed
        return Coordinator(
            self.weights,
            self.public.sizes,
            self.table["learning_rate"] if self._gradients else None,
            self.seal,
            self.central,
            self.shares**2 if summed else None,
            self.floor if summed else 0.0,
            int(self.table["colluders"]) if summed else 0,
            1 if self.central is None else self._survivors(),
            self.once,
            self.grid,
        )

"""Builds the server family: clients, their noise, and the server that adds up (theory.md, 2.2 and section 4)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.accounting import gaussian
from mechanisms.accounting.calibrate import Additive, rounded_down
from mechanisms.accounting.spend import Hidden, Spend, unprotected
from mechanisms.federated import Central, Client, Coordinator, Minimiser, Task
from mechanisms.masking import Seal
from mechanisms.noise import LAWS, grid_below
from mechanisms.objectives import LocalObjective
from mechanisms.perturbation import FEATURE_BOUND
from mechanisms.solve import ACCEPTED
from mechanisms.vectors import Vector
from scenarios.planning.mechanism import Builder
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.public_facts import Maker, Public
from scenarios.planning.release_charges import CannotProvide, Scheme, charges

_GAUSSIAN = LAWS["gaussian"]
_ROOM = 1 - 1e-11
_MASK_GRID = 2.0**-30
"""Masked vectors lie on a grid even where releases need none: sums modulo a power of two are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the clients of a kind answer, and what the server makes of it."""

    task: Callable[[float], Task]
    """What a client computes, from the σ of its own noise."""
    steps: int
    """T: how many gradients one agent's noise has to cover."""
    once: bool
    """Whether every client answers once; if not, every round."""
    by_size: bool
    """Whether a client counts by its points; if not, all count alike."""
    learning_rate: float | None
    """That of a server which descends along gradients; None for one that averages models."""


class Federation:
    """Everything that is settled for all clients together, from public facts; here without noise."""

    def __init__(self, table: MechanismTable, public: Public, answers: Answers) -> None:
        self.kind = table.kind
        self.public = public
        self.answers = answers
        sizes = np.array(public.sizes, dtype=np.float64)
        self.weights: Vector = (
            sizes / sizes.sum() if answers.by_size else np.full(len(sizes), 1.0 / len(sizes))
        )
        self.grid: float | None = None
        self.seal: Seal | None = None

    def builder(self) -> Builder:
        """Return what makes the clients, and the server."""
        return Builder(self._client, self._coordinator())

    def _client(self, i: int) -> Maker:
        """Return what makes one client on an objective."""

        def make(objective: LocalObjective) -> Client:
            spend, sigma = self._spend(i)
            times = 1 if self.answers.once else self.answers.steps
            spends = self.public.once(
                ("answers", spend), lambda: () if spend is None else (spend,) * times
            )
            return Client(
                i,
                objective,
                self.answers.task(sigma),
                spends,
                unprotected(self.kind, objective.dimension) if spend is None else None,
                float(self.weights[i]),
                self.seal,
                self.grid,
                self.answers.once,
            )

        return make

    def _spend(self, i: int) -> tuple[Spend | None, float]:  # noqa: ARG002
        """Return what each answer of client i costs, and σ of its own noise; None without noise."""
        return None, 0.0

    def _coordinator(self) -> Coordinator:
        """Return the server."""
        return Coordinator(
            self.weights,
            self.public.sizes,
            self.answers.learning_rate,
            self.seal,
            once=self.answers.once,
            grid=self.grid,
        )


class PrivateFederation(Federation):
    """A federation with noise: what all ways to draw it have in common."""

    def __init__(
        self,
        table: MechanismTable,
        public: Public,
        answers: Answers,
        *,
        sigma: float | None = None,
    ) -> None:
        super().__init__(table, public, answers)
        self.printed = public.terms[0].printed
        self._given = sigma
        self.calibration = "as_printed" if self.printed else "corrected"
        self.grid = None if public.grid is None else grid_below(public.grid)
        self.slope = public.loss.lipschitz * FEATURE_BOUND
        self._cell = self.grid or _MASK_GRID
        if not math.isfinite(self.slope):
            raise CannotProvide(f"{self.kind} needs a loss with a bounded gradient", "task.loss")

    def _seal(self) -> Seal:
        return Seal(self.public.pads, self._cell, self.public.count)

    def _mu(self, i: int) -> float:
        """Return the whole μ that client i is promised: that of its budget, else what the printed formula makes of σ."""
        terms = self.public.terms[i]
        if self._given is not None and terms.epsilon is None:
            return self._printed_reach / self._given
        return rounded_down(gaussian.mu(terms.budget, terms.delta) * _ROOM)

    @cached_property
    def _believed(self) -> float:
        """How many records the printed noise stands for: n, or m·n₍₁₎ where every party counts alike (E5)."""
        sizes = self.public.sizes
        return float(sum(sizes)) if self.answers.by_size else float(len(sizes) * min(sizes))

    @property
    def _printed_reach(self) -> float:
        """μ·σ of all steps as the paper has it: 2G√T over the records that its noise stands for (eq. 3)."""
        return 2.0 * self.slope * math.sqrt(self.answers.steps) / self._believed

    def _printed_sigma(self, i: int) -> float:
        """Return σ of client i's noise as printed, or as it was given."""
        return self._printed_reach / self._mu(i) if self._given is None else self._given

    def _gaussian(self, sigma: float, reach: float, claimed: float) -> Spend:
        return Spend(
            self.kind,
            "gaussian",
            self.calibration,
            sigma,
            reach,
            "l2",
            self.public.dimension,
            0.0,
            claimed,
            _GAUSSIAN.charge(sigma, reach),
        )

    def _survivors(self) -> int:
        """The fewest that a round is released with."""
        quorum = float(self.public.server.quorum)
        return max(1, math.ceil(quorum * self.public.asked - 1e-9))


class Clear(PrivateFederation):
    """The wire shows every answer: σ_j = 2G√T/(n_j μ) (A6b, A8), or of T hidden steps the last (theory.md, 9).

    `rate` is that of a client's step. As printed, `pooled_scale` takes the records of all parties for those of one (E5).
    `watched` is whether an outsider, who sees the last model of the server only, is charged for less than all steps.
    `sigma` is the noise of every client where the file gives it, as printed only; None: budgets set it.
    """

    def __init__(
        self,
        table: MechanismTable,
        public: Public,
        answers: Answers,
        *,
        rate: float,
        pooled_scale: bool,
        watched: bool,
        sigma: float | None = None,
    ) -> None:
        super().__init__(table, public, answers, sigma=sigma)
        self._rate = float(rate)
        self._pooled_scale, self._watched = pooled_scale, watched

    def _spend(self, i: int) -> tuple[Spend, float]:
        size, mu = self.public.sizes[i], self._mu(i)
        root = math.sqrt(self.answers.steps)
        hidden = (
            gaussian.last_iterate(self._contraction(i), self.answers.steps)
            if self.answers.once
            else root
        )
        if self.printed and self._pooled_scale:
            sigma = self._printed_sigma(i)
        else:
            sigma = 2.0 * self.slope * hidden / (size * mu)
        reach = 2.0 * self.slope / size * (hidden if self.answers.once else 1.0)
        claimed = mu if self.answers.once else mu / root
        spend = self._gaussian(sigma, reach, claimed)
        if self._watched:
            spend = replace(spend, hidden=self._outside(i, sigma))
        return spend, sigma

    def _contraction(self, i: int) -> float:
        """Return how much one step of client i contracts, from public bounds; 1 or more where it does not."""
        loss = self.public.loss
        if not loss.convex:
            return 1.0
        convexity = 2.0 * self.public.l2(self.public.sizes[i])
        smoothness = loss.curvature_bound * FEATURE_BOUND**2 + convexity
        return max(abs(1.0 - self._rate * convexity), abs(1.0 - self._rate * smoothness))

    def _outside(self, i: int, sigma: float) -> Hidden:
        """Return what one step costs an outsider, who sees the last model of the server only.

        An answer and the model are rounded to the grid in each step. Rounding moves two models apart by a cell in each
        coordinate at most, which the sensitivity of a step has to cover, in units of the gradient.
        """
        cells = (self.grid or 0.0) * math.sqrt(self.public.dimension) * (1.0 + 1.0 / self._rate)
        reach = 2.0 * self.slope / self.public.sizes[i] + cells
        return Hidden(_GAUSSIAN.charge(sigma, reach), self._contraction(i))


class Summed(PrivateFederation):
    """The wire shows masks, the server a sum of gradients whose noise is only large enough together (A6c).

    Of the clients that are asked, `tolerate` may drop out and `colluders` tell the server their noise.
    """

    def __init__(
        self,
        table: MechanismTable,
        public: Public,
        answers: Answers,
        *,
        tolerate: int,
        colluders: int,
        sigma: float | None = None,
    ) -> None:
        super().__init__(table, public, answers, sigma=sigma)
        self.seal = self._seal()
        self._tolerate, self._colluders = int(tolerate), int(colluders)

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
        return self.public.asked - self._tolerate - self._colluders

    def _together(self) -> float:
        """σ* of the sum: enough for the client whose record moves it farthest for its budget."""
        root = math.sqrt(self.answers.steps)
        return max(self._reach(i) * root / self._mu(i) for i in range(self.public.count))

    @cached_property
    def shares(self) -> Vector:
        """w_j σ_j of every client."""
        if self.printed:
            own = [self._printed_sigma(i) for i in range(self.public.count)]
            shares: Vector = self.weights * np.array(own)
            return shares
        return np.full(self.public.count, self._together() / math.sqrt(self._honest()))

    @cached_property
    def floor(self) -> float:
        """The least variance that a released sum has: of the fewest honest survivors with the least noise."""
        least = np.sort(self.shares**2)[: self._honest()]
        return float(least.sum())

    @cached_property
    def _seen_variance(self) -> float:
        """The least variance of a sum to a server that the colluders tell their noise: of the fewest with the least."""
        least = np.sort(self.shares**2)[: self._honest() + self._colluders]
        return float(least.sum())

    def _spend(self, i: int) -> tuple[Spend, float]:
        """Return what each answer costs, and its σ: w_jσ_j = σ*/√(m − h − dropouts) (A6c)."""
        total = math.sqrt(self.floor)
        claimed = self._mu(i) / math.sqrt(self.answers.steps)
        sigma = float(self.shares[i]) / float(self.weights[i])
        seen = self._reach(i) / math.sqrt(self._seen_variance)
        return replace(self._gaussian(total, self._reach(i), claimed), summed=seen), sigma

    def _coordinator(self) -> Coordinator:
        return replace(
            super()._coordinator(),
            shares=self.shares**2,
            floor=self.floor,
            colluders=self._colluders,
        )


class Inside(PrivateFederation):
    """One noise, drawn inside secure computation once the survivors are known."""

    central: Central

    @property
    def _reach(self) -> float:
        """How far one record moves a sum of answers, times its client's points."""
        raise NotImplementedError

    def _claimed(self, i: int) -> float:
        """What one release is said to cost client i."""
        raise NotImplementedError

    def _slack(self, norm: str) -> float:
        """How far rounding to the grid of the masks can move the mean over the fewest survivors."""
        d = self.public.dimension
        cells = d if norm == "l1" else math.sqrt(d)
        return self._cell * cells * self.public.count / self._survivors()

    @cached_property
    def _least_of_the_largest(self) -> int:
        """The points of the smallest survivor where the fewest survive, and these are the largest clients."""
        return sorted(self.public.sizes, reverse=True)[self._survivors() - 1]

    def _spend(self, i: int) -> tuple[Spend, float]:
        """Charge one client for the least noise that admissible survivors get; where all must survive, for that of all.

        The fewest survivors with the largest n₁ get it: the loss of client j is that of the smallest survivor times
        n₁/n_j, save for `slack`, whose share grows with the number of survivors and is charged for the most.
        """
        law = self.central.law
        fewest, size = self._survivors(), self.public.sizes[i]
        slack, smallest = self._slack(law.norm), min(size, self._least_of_the_largest)
        scale = self.central.scale(fewest, smallest)
        sensitivity = self._reach / (fewest * size) + slack
        most = max(fewest, self.public.asked)
        beside = self._reach / (most * size) + slack
        charged = max(
            law.charge(scale, sensitivity), law.charge(self.central.scale(most, smallest), beside)
        )
        spend = Spend(
            self.kind,
            law.name,
            self.calibration,
            scale,
            sensitivity,
            law.norm,
            self.public.dimension,
            0.0,
            self._claimed(i),
            charged,
        )
        return spend, 0.0

    def _coordinator(self) -> Coordinator:
        return replace(super()._coordinator(), central=self.central, fewest=self._survivors())


class SecureGradients(Inside):
    """Gradients with one Gaussian noise inside secure computation (Jayaraman et al. 2018)."""

    def __init__(self, table: MechanismTable, public: Public, answers: Answers) -> None:
        super().__init__(table, public, answers)
        self.seal = self._seal()
        of = self._zcdp if self.printed else self._mu
        charge = min(map(of, range(public.count))) / math.sqrt(answers.steps)
        self.central = Central(_GAUSSIAN, charge, self._reach, self._slack("l2"))

    def _zcdp(self, i: int) -> float:
        """The whole μ behind Jayaraman et al. 2018: σ = √(2T)G/(m n₁(√(ℓ+ε) − √ℓ)), ℓ = ln(1/δ)."""
        terms = self.public.terms[i]
        log = math.log(1.0 / terms.delta)
        return math.sqrt(2.0) * (math.sqrt(log + terms.budget) - math.sqrt(log))

    @property
    def _reach(self) -> float:
        return 2.0 * self.slope

    def _claimed(self, i: int) -> float:
        return self._mu(i) / math.sqrt(self.answers.steps)


def one_answer(law: str, public: Public) -> Scheme:
    """Return how the one release of an average of minimisers is calibrated, with noise of a law."""
    return Scheme(Additive(law, public.dimension), 1)


class SecureMinimisers(Inside):
    """An average of minimisers with one noise of a law inside secure computation.

    As printed, the noise is Laplace on a bound in the 2-norm (E25); `divides` is whether its scale counts the parties.
    """

    def __init__(self, table: MechanismTable, public: Public, *, law: str, divides: bool) -> None:
        answers = Answers(
            task=lambda _: Minimiser(), steps=1, once=True, by_size=False, learning_rate=None
        )
        super().__init__(table, public, answers)
        self.seal = self._seal()
        if self.printed:
            charge = min(terms.budget for terms in public.terms)
            self.central = Central(LAWS["laplace"], charge, self._length, divides=divides)
        else:
            wanted, drawn = one_answer(law, public), LAWS[law]
            charge = min(charges(terms, wanted)[0] for terms in set(public.terms))
            reach = self._length * self._spread(drawn.norm)
            self.central = Central(drawn, charge, reach, self._slack(drawn.norm))

    @cached_property
    def _length(self) -> float:
        """2G/Λ, Λ = 2·l2, over the sizes that come later; λ = 1/m makes it the largest over clients."""
        worst = 0.0
        for size in self.public.sizes:
            convexity = 2.0 * self.public.l2(size)
            # Both minimisers are found to ACCEPTED only (theory.md, E20).
            worst = max(worst, 2.0 * (self.slope + ACCEPTED * size) / convexity)
        return worst

    def _spread(self, norm: str) -> float:
        """How much longer a vector is in a norm than in the 2-norm, at the most."""
        return math.sqrt(self.public.dimension) if norm == "l1" else 1.0

    @property
    def _reach(self) -> float:
        return self._length * self._spread(self.central.law.norm)

    def _claimed(self, i: int) -> float:  # noqa: ARG002
        return self.central.charge

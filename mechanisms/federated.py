"""The server family: what a client answers to the server's model, and what the server makes of the answers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.masking import Seal
from mechanisms.mixing import Heard
from mechanisms.noise import LAWS, Law, note, round_to
from mechanisms.objectives import GradientBound, LocalObjective, Objective, StackedObjectives
from mechanisms.solve import minimise
from mechanisms.strategy import RELEASE, Explained, Step, silent
from mechanisms.vectors import Matrix, Vector


def gaussian(rng: np.random.Generator | None, sigma: float, d: int) -> Vector:
    """Draw N(0, σ²I)."""
    assert rng is not None, "a private release has noise"  # noqa: S101
    return LAWS["gaussian"].draw(rng, sigma, d)


class Task(Protocol):
    """What a client computes from the server's model; by default it draws no noise of its own."""

    def answer(
        self, objective: Objective, theta: Vector, rng: np.random.Generator | None
    ) -> Vector:
        """Return what it would send in clear."""
        ...

    @property
    def noiseless(self) -> "Task":
        """The same task without its own noise."""
        return self

    @property
    def spread(self) -> float | None:
        """The deviation of an answer around the noiseless one; None where the task draws no noise."""
        return None

    @property
    def has_exact_spread(self) -> bool:
        """Whether an answer is exactly Gaussian around the noiseless one, whatever the loss."""
        return True

    def noise_to_step(self, objective: Objective, theta: Vector) -> float | None:  # noqa: ARG002
        """E‖effect of the noise‖ over ‖the noiseless step‖; None where the task draws no noise."""
        return None


@dataclass(frozen=True, slots=True)
class Gradient(Task):
    """∇L_j(θ) + N(0, σ²): one gradient a round (Kang, Liu, Wang, eq. 4, at a common θ)."""

    sigma: float = 0.0

    def answer(
        self, objective: Objective, theta: Vector, rng: np.random.Generator | None
    ) -> Vector:
        slope = objective.gradient(theta)
        return slope + gaussian(rng, self.sigma, len(slope)) if self.sigma else slope

    @property
    def noiseless(self) -> "Gradient":
        return Gradient()

    @property
    def spread(self) -> float:
        return self.sigma

    def noise_to_step(self, objective: Objective, theta: Vector) -> float:
        length = float(np.linalg.norm(objective.gradient(theta)))
        return self.sigma * math.sqrt(len(theta)) / max(length, 1e-300)


@dataclass(frozen=True, slots=True)
class Descent(Task):
    """T local steps θ ← θ − γ(∇L_j(θ) + N(0, σ²)) (Kang, Liu, Wang, Algorithm 1)."""

    learning_rate: float
    steps: int
    sigma: float = 0.0

    def answer(
        self, objective: Objective, theta: Vector, rng: np.random.Generator | None
    ) -> Vector:
        for _ in range(self.steps):
            slope = objective.gradient(theta)
            if self.sigma:
                slope = slope + gaussian(rng, self.sigma, len(slope))
            theta = theta - self.learning_rate * slope
        return theta

    @property
    def noiseless(self) -> "Descent":
        return Descent(self.learning_rate, self.steps)

    @property
    def spread(self) -> float:
        return self.learning_rate * self.sigma * math.sqrt(self.steps)

    @property
    def has_exact_spread(self) -> bool:
        return self.steps == 1  # several steps are Gaussian only where the loss is linear

    def noise_to_step(self, objective: Objective, theta: Vector) -> float:
        plain = self.noiseless.answer(objective, theta, None)
        spread = self.learning_rate * self.sigma * math.sqrt(self.steps * len(theta))
        return spread / max(float(np.linalg.norm(plain - theta)), 1e-300)


@dataclass(frozen=True, slots=True)
class Minimiser(Task):
    """argmin L_j: Pathak et al. 2010, and the output perturbation of Jayaraman et al. 2018."""

    def answer(
        self,
        objective: Objective,
        theta: Vector,  # noqa: ARG002
        rng: np.random.Generator | None,  # noqa: ARG002
    ) -> Vector:
        return minimise(objective).theta


@dataclass(frozen=True, slots=True)
class Epochs(Task):
    """Passes over the records in a random order, a step for each (McMahan et al. 2017)."""

    learning_rate: float
    epochs: int

    def answer(
        self, objective: Objective, theta: Vector, rng: np.random.Generator | None
    ) -> Vector:
        for _ in range(self.epochs):
            order = np.arange(objective.points)
            if rng is not None:
                order = rng.permutation(order)
            for record in order.tolist():
                theta = theta - self.learning_rate * objective.record_gradient(theta, record)
        return theta


@dataclass(frozen=True, slots=True)
class Client:
    """Answers the server: one release for each question, `spends` of them, or every time without noise."""

    id: int
    objective: Objective
    task: Task
    spends: tuple[Spend, ...] = ()
    free: Spend | None = None
    weight: float = 1.0
    seal: Seal | None = None
    grid: float | None = None
    once: bool = False

    @property
    def shares_noise(self) -> bool:
        return self.seal is not None

    @property
    def planned(self) -> int | None:
        return None if self.free is not None and not self.once else max(1, len(self.spends))

    def begin(self, start: Vector) -> Vector:
        return start

    def model(self, state: Vector) -> Vector:
        return state

    def hold(self, state: Vector, theta: Vector) -> Vector:  # noqa: ARG002
        """Take over the server's model: all that is kept."""
        return theta

    def propose(self, state: Vector, heard: Heard, made: int) -> Step:  # noqa: ARG002
        spend = self.spend_of(made)
        if spend is None:
            return silent(state)

        def finish(rng: np.random.Generator | None) -> tuple[Vector, Vector]:
            answer = self.task.answer(self.objective, state, rng)
            if self.seal is not None:
                answer = self.seal.hide(self.weight * answer, self.id, made)
            elif self.grid is not None:
                answer = round_to(answer, self.grid)
            return state, answer

        return Step(RELEASE, spend, finish)

    def spend_of(self, made: int) -> Spend | None:
        """Return what the next answer costs, after `made` of them; None where none is planned."""
        if self.free is not None:
            return self.free
        return self.spends[made] if made < len(self.spends) else None

    def without_data(self, state: Vector, heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)

    def plain(self, theta: Vector) -> Vector:
        """Return the answer without noise: the task's own is not drawn."""
        return self.task.noiseless.answer(self.objective, theta, None)

    def explain(
        self,
        before: Vector,
        heard: Heard,  # noqa: ARG002
        made: int,  # noqa: ARG002
        sent: Vector,
        after: Vector,
    ) -> Explained:
        """Take the answer without noise from what was sent; what is masked says nothing by itself.

        After several noisy steps the answer is Gaussian around that only where the loss is linear.
        """
        scale = self.task.spread
        if self.seal is not None or scale is None:
            return Explained(0.0, np.zeros(0), after)
        noise = sent - self.plain(before)
        density = LAWS["gaussian"].log_density(noise, scale)
        return Explained(density, noise / scale, after, exact=self.task.has_exact_spread)

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:  # noqa: ARG002
        """All releases, with what each costs; None where every question makes one."""
        return self.spends if self.free is None else None

    def noise_to_step(self, state: Vector, heard: Heard, made: int) -> float | None:  # noqa: ARG002
        """E‖effect of its own noise‖ over ‖the noiseless answer‖; None where others draw the noise."""
        ratio = self.task.noise_to_step(self.objective, state)
        return ratio if ratio or not self.spends else None

    def longest_gradient(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound that noise was scaled for."""
        bounded = self.gradient_bound()
        return (0.0, 0.0) if bounded is None else bounded.longest(theta)

    def gradient_bound(self) -> GradientBound | None:
        """Return the bound that noise was scaled for; None where there is no noise."""
        if not self.spends:
            return None
        return GradientBound(self.objective, None, "l2", self.objective.loss.lipschitz)


Draw = Callable[[int], np.random.Generator]
"""The noise of one agent: of a release, by its number."""


class JointAnswers:
    """Clients that answer one question at one instant: what they send, computed together, bit for bit what each would send.

    Gradients are taken together; other tasks are done client by client.
    """

    def __init__(self, clients: Sequence[Client]) -> None:
        """Take all clients of one plan; raise ValueError where they differ in more than noise, weight and data."""
        self._clients = list(clients)
        self._ids = [client.id for client in clients]
        self._seal, self._grid = clients[0].seal, clients[0].grid
        if any(c.seal is not self._seal or c.grid != self._grid for c in clients):
            raise ValueError("clients of one plan have one seal and one grid")
        self._weights = np.array([[client.weight] for client in clients])
        sigmas = [c.task.sigma for c in clients if type(c.task) is Gradient]
        objectives = [c.objective for c in clients if type(c.objective) is LocalObjective]
        self._stack: StackedObjectives | None = None
        if len(sigmas) == len(objectives) == len(clients):
            self._stack = StackedObjectives(objectives)
            self._sigmas = np.array(sigmas)[:, None]
            self._noise = np.zeros((len(clients), clients[0].objective.dimension))

    def vectors(
        self,
        theta: Vector,
        made: Sequence[int],
        draws: Sequence[Draw],
        chosen: Sequence[int] | None = None,
    ) -> Matrix:
        """Return what each client sends, a row for each.

        Args:
            theta: the model that is asked about.
            made: how many answers each client made before: the numbers of these releases.
            draws: the noise of each client.
            chosen: the places of those that answer, among all; None for all.

        """
        places = range(len(self._clients)) if chosen is None else chosen
        if self._stack is None:
            clients = [self._clients[i] for i in places]
            each = zip(clients, made, draws, strict=True)
            answers = np.array([c.task.answer(c.objective, theta, draw(k)) for c, k, draw in each])
        else:
            answers = self._stack.gradients(theta, chosen)
            self._add_noise(answers, made, draws, chosen)
        if self._seal is not None:
            weights = self._weights if chosen is None else self._weights[list(chosen)]
            return self._seal.hide_all(weights * answers, [self._ids[i] for i in places], made)
        return answers if self._grid is None else round_to(answers, self._grid)

    def _add_noise(
        self,
        gradients: Matrix,
        made: Sequence[int],
        draws: Sequence[Draw],
        chosen: Sequence[int] | None,
    ) -> None:
        sigmas = self._sigmas if chosen is None else self._sigmas[list(chosen)]
        noise = self._noise[: len(gradients)]
        noisy = sigmas.any(axis=1)
        if not noisy.any():
            for k, draw in zip(made, draws, strict=True):
                draw(k)  # a release has noise, also one that takes none of it
            return
        for k, draw, row, (sigma,) in zip(made, draws, noise, sigmas.tolist(), strict=True):
            rng = draw(k)
            note(rng, sigma)
            rng.standard_normal(out=row)
        noise *= sigmas
        if noisy.all():
            gradients += noise
        else:
            gradients[noisy] += noise[noisy]


@dataclass(frozen=True, slots=True)
class Central:
    """One noise, drawn inside the computation when the survivors are known (theory.md, section 4).

    Its sensitivity is reach/(m·n₁) over m survivors, the smallest of which has n₁ records, and `slack` for the
    grid of the sum; `divides` is false where the printed scale forgets the m.
    """

    law: Law
    charge: float
    reach: float
    slack: float = 0.0
    divides: bool = True

    def scale(self, survivors: int, smallest: int) -> float:
        """Return the noise's scale for these survivors."""
        parts = (survivors if self.divides else 1) * smallest
        return self.law.scale(self.charge, self.reach / parts + self.slack)


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The server: θ ← θ − γ·mean of gradients, or the mean of models; with a noise of its own, or none.

    `weights` and `sizes` are public and indexed by client. `shares` are w_j²σ_j², what each survivor's noise
    adds to a sealed sum; `floor` is what must be left of it without the `colluders` largest. A noise of the
    server's own was charged for at least `fewest` survivors.
    """

    weights: Vector
    sizes: tuple[int, ...]
    learning_rate: float | None = None
    seal: Seal | None = None
    central: Central | None = None
    shares: Vector | None = None
    floor: float = 0.0
    colluders: int = 0
    fewest: int = 1
    once: bool = False
    grid: float | None = None
    planned = 0

    def begin(self, start: Vector) -> Vector:
        return start

    def model(self, state: Vector) -> Vector:
        return state

    def propose(self, state: Vector, heard: Heard, made: int) -> Step:  # noqa: ARG002
        return silent(state)

    def without_data(self, state: Vector, heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)

    def refuses(self, survivors: Sequence[int]) -> str | None:
        """Say why the sum over these survivors may not be released; None where it may."""
        if len(survivors) < self.fewest:
            return (
                f"{len(survivors)} survivors, and clients were charged for at least {self.fewest}"
            )
        if self.shares is None:
            return None
        left = np.sort(self.shares[list(survivors)])[: max(0, len(survivors) - self.colluders)]
        if float(left.sum()) >= self.floor * (1 - 1e-9):
            return None
        return (
            f"the noise of {len(survivors)} survivors has variance {left.sum():.3g}, "
            f"{self.floor:.3g} is needed"
        )

    def noise_that_left(
        self, survivors: Sequence[int], own: Sequence[Sequence[float]], drawn: Sequence[float]
    ) -> float | None:
        """Return the scale of the noise in what is released of these survivors; None where each answer has its own.

        Args:
            survivors: the clients whose answers are added up.
            own: with which scales each of them drew noise for its answer.
            drawn: with which scales the server drew noise.

        NaN is returned where noise was not drawn by those, and as often or as large, as was planned.

        """
        if self.central is not None:
            return drawn[0] if len(drawn) == 1 and not any(own) else math.nan
        if self.seal is None:
            return None
        assert self.shares is not None, "a sealed sum has noise"  # noqa: S101
        places = list(survivors)
        sigmas = np.array([each[0] if len(each) == 1 else math.nan for each in own])
        parts = (self.weights[places] * sigmas) ** 2
        if drawn or not np.allclose(parts, self.shares[places], rtol=1e-12, atol=0.0):
            return math.nan
        return math.sqrt(float(np.sort(parts)[: max(0, len(parts) - self.colluders)].sum()))

    def is_charged(self, scale: float, client: int, survivors: int, spend: Spend) -> bool:
        """Whether a spend of a client is what noise of this scale costs it among so many survivors.

        Where all must survive, the one noise inside the computation is known in advance: its scale is the spend's.
        """
        central = self.central
        if central is None:
            return scale >= spend.scale * (1 - 1e-9)
        if self.fewest == len(self.sizes):
            return math.isclose(scale, spend.scale, rel_tol=1e-12)
        moved = central.reach / (survivors * self.sizes[client]) + central.slack
        return central.law.charge(scale, moved) <= spend.charged * (1 + 1e-9)

    def combine(
        self,
        theta: Vector,
        survivors: Sequence[int],
        answers: Sequence[Vector] | Matrix,
        rng: np.random.Generator,
    ) -> Vector:
        """Make the next model of the survivors' answers."""
        weights = self.weights[list(survivors)]
        if self.seal is not None:
            total = self.seal.total(answers, survivors)
        else:
            total = weights @ np.array(answers)
        mean: Vector = total / float(weights.sum())
        if self.central is not None:
            smallest = min(self.sizes[j] for j in survivors)
            scale = self.central.scale(len(survivors), smallest)
            mean = mean + self.central.law.draw(rng, scale, len(mean))
        moved = mean if self.learning_rate is None else theta - self.learning_rate * mean
        return moved if self.grid is None else round_to(moved, self.grid)

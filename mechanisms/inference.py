"""The KKT inference attack on the ADMM family: the one unknown record, from what was broadcast (theory.md, section 7).

At every release the gradient of the primal step is zero. An attacker who knows all other records and hears every
broadcast knows all of it but the record's own pull, and the noise.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mechanisms.admm import Alternated, Alternating
from mechanisms.mixing import Heard
from mechanisms.objectives import Loss
from mechanisms.strategy import State, Step
from mechanisms.vectors import Matrix, Vector

_TINY = 1e-30


class Glimpse(NamedTuple):
    """What one release shows: the value f, what stands beside the data in its gradient, and what η multiplies."""

    value: Vector
    fixed: Vector
    pull: Vector
    dual: Vector
    eta: float
    degree: int
    zeta: float | None


class Eavesdropper:
    """Listens to an agent of the ADMM family: it keeps only what is broadcast."""

    def __init__(self, mechanism: Alternating) -> None:
        self._mechanism = mechanism
        self.glimpses: list[Glimpse] = []

    def watch(self, step: Step, state: Alternated, heard: Heard, made: int) -> Step:
        """Return a step that does the same, and keeps what its broadcast shows."""

        def finish(rng: np.random.Generator | None) -> tuple[State, Vector | None]:
            kept = heard.frozen()
            after, sent = step.finish(rng)
            if sent is not None and made >= 0:
                self.glimpses.append(self._glimpse(state.theta, kept, made, sent))
            return after, sent

        return Step(step.kind, step.spend, finish)

    def _glimpse(self, published: Vector, heard: Heard, made: int, sent: Vector) -> Glimpse:
        mechanism, d = self._mechanism, len(published)
        terms = mechanism.terms(heard, made)
        assert terms is not None, "it was released"  # noqa: S101
        value, dual = sent[:d], 2.0 * mechanism.duals(heard).sum(axis=0)
        together = heard.degree * published + heard.present @ heard.values[:, :d]
        ridge = 2.0 * mechanism.objective.l2 + terms.ridge
        return Glimpse(
            value,
            ridge * value + dual,
            2.0 * heard.degree * value - together,
            dual,
            mechanism.penalty.at(made),
            heard.degree,
            terms.linear,
        )


class Guess(NamedTuple):
    """A record u = y·x, and how badly it explains what was heard."""

    record: Vector
    misfit: float


def infer(
    glimpses: Sequence[Glimpse],
    others: Matrix,
    loss: Loss,
    weight: float,
    *,
    secret: Sequence[str] = (),
) -> Guess:
    """Find the record that explains all releases best; `secret` may hold "eta" and "theta" (E22)."""
    residuals = [_residual(g, others, loss, weight, secret) for g in glimpses]
    trouble = _Trouble(residuals, loss, weight)
    d = others.shape[1]
    mean = -np.mean([base for base, *_ in residuals], axis=0) / weight
    starts = [np.zeros(d), mean, -mean]
    starts += [s * 0.5 * row for row in np.eye(d)[: min(d, 8)] for s in (1.0, -1.0)]
    guesses = [trouble.improve(start) for start in starts]
    return min(guesses, key=lambda guess: guess.misfit)


_Residual = tuple[Vector, Matrix, Vector, float]
"""What is left without the record, what the attacker may look along, where the model stood, and its weight."""


def _residual(
    g: Glimpse, others: Matrix, loss: Loss, weight: float, secret: Sequence[str]
) -> _Residual:
    pulled = weight * (others.T @ loss.slope(others @ g.value))
    look = np.eye(len(g.value))
    if "eta" in secret:
        base = pulled + g.fixed
        look = _without(look, g.pull)
        share = 1.0
    else:
        base = pulled + g.fixed + g.eta * g.pull
        share = g.zeta if g.zeta is not None else 1.0 / (2.0 * g.eta * g.degree)
    if "theta" in secret:
        base = base - g.dual
        look = _without(look, look @ g.dual)
    return base, look, g.value, share


def _without(look: Matrix, direction: Vector) -> Matrix:
    """Project out one direction."""
    size = float(direction @ direction)
    if size < _TINY:
        return look
    projected: Matrix = look - np.outer(direction, direction @ look) / size
    return projected


class _Trouble:
    """Σ S‖P(base + w L'(u·f)u)‖ over releases: −ln likelihood of norm-gamma noise, and its slope in u."""

    def __init__(self, residuals: Sequence[_Residual], loss: Loss, weight: float) -> None:
        self._bases = np.array([look @ base for base, look, _, _ in residuals])
        self._looks = np.array([look for _, look, _, _ in residuals])
        self._values = np.array([value for _, _, value, _ in residuals])
        self._shares = np.array([share for *_, share in residuals])
        self._loss = loss
        self._weight = weight

    def _left(self, u: Vector) -> tuple[Matrix, Any]:
        """Return each release's residual, and its Jacobian in u."""
        t = self._values @ u
        slope, bend = self._loss.slope(t), self._loss.curvature(t)
        pulls = slope[:, None] * u
        left = self._bases + self._weight * np.einsum("tij,tj->ti", self._looks, pulls)
        inner = slope[:, None, None] * np.eye(len(u)) + bend[:, None, None] * (
            u[None, :, None] * self._values[:, None, :]
        )
        return left, self._weight * np.einsum("tij,tjk->tik", self._looks, inner)

    def squares(self, u: Vector) -> Vector:
        left, _ = self._left(u)
        gradient: Vector = (self._shares[:, None] * left).ravel()
        return gradient

    def squares_slope(self, u: Vector) -> Matrix:
        _, slopes = self._left(u)
        slope: Matrix = (self._shares[:, None, None] * slopes).reshape(-1, len(u))
        return slope

    def misfit(self, u: Vector) -> tuple[float, Vector]:
        left, slopes = self._left(u)
        lengths = np.sqrt((left * left).sum(axis=1) + _TINY)
        slope = np.einsum("t,ti,tik->k", self._shares / lengths, left, slopes)
        return float(self._shares @ lengths), slope

    def improve(self, start: Vector) -> Guess:
        """Least squares first, which is exact without noise; then the likelihood itself."""
        from scipy.optimize import least_squares, minimize  # 275 ms, only here

        squared = least_squares(
            self.squares,
            start,
            self.squares_slope,
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=200,
        )
        guesses = [Guess(squared.x, self.misfit(squared.x)[0])]
        for begin in (squared.x, start):
            result = minimize(self.misfit, begin, jac=True, method="BFGS", options={"maxiter": 300})
            guesses.append(Guess(result.x, float(result.fun)))
        return min(guesses, key=lambda guess: guess.misfit)

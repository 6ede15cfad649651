"""The design of a budget: how the loss falls with ε, and which ε is best for a stated utility of privacy.

Zhang, Zhu 2016, eq. (27) to (30): L_acc(α) = c₄e^(−c₅α) + c₆ is fitted to losses that were measured, the utility of privacy is
U_priv(α) = ω₁ ln(ω₂/(ω₃α + ω₄α²)), and α* minimises J = L_acc − U_priv where the loss is at most c₃.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_STEEPEST, _FLATTEST = 50.0, 0.02
"""c₅ is looked for between these, in units of one over the range of α."""
_GRID = 400
_FARTHEST = 600.0
"""e to this power is still a number."""
_ROUNDS = 80
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class NoFit(ValueError):
    """No curve can be fitted, or no α fulfils what was asked for."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted curve c₄e^(−c₅α) + c₆ and how well it fits.

    `explained` is the share of the variance of the losses that it explains (R²), `error` the root mean square residual.
    `at_edge` is whether c₅ is as steep or as flat as it may be, or the curve is flat: then the points do not determine it.
    """

    c4: float
    c5: float
    c6: float
    explained: float
    error: float
    at_edge: bool

    def loss(self, alpha: float) -> float:
        """Return the loss of the curve at α."""
        return self.c4 * math.exp(-self.c5 * alpha) + self.c6


@dataclass(frozen=True, slots=True)
class PrivacyUtility:
    """U_priv(α) = ω₁ ln(ω₂/(ω₃α + ω₄α²)), eq. (29): it falls with α. The defaults are the paper's."""

    omega1: float = 0.02
    omega2: float = 6.0
    omega3: float = 9.0
    omega4: float = 1.0

    def __post_init__(self) -> None:
        if min(self.omega1, self.omega2) <= 0 or min(self.omega3, self.omega4) < 0:
            raise NoFit("ω₁ and ω₂ must be above 0, ω₃ and ω₄ at least 0")
        if self.omega3 + self.omega4 <= 0:
            raise NoFit("ω₃ or ω₄ must be above 0")

    def of(self, alpha: float) -> float:
        """Return the utility at α > 0."""
        rate = math.log(self.omega3 + self.omega4 * alpha)
        return self.omega1 * (math.log(self.omega2) - math.log(alpha) - rate)

    def slope(self, alpha: float) -> float:
        """Return the derivative at α > 0."""
        spent = self.omega3 * alpha + self.omega4 * alpha * alpha
        return -self.omega1 * (self.omega3 + 2.0 * self.omega4 * alpha) / spent


@dataclass(frozen=True, slots=True)
class Best:
    """The α that minimises J = L_acc − U_priv between two ends.

    `is_inside` is whether it is a stationary point, not an end; `minima` are all stationary points that are local minima, and
    `maxima` those that are local maxima.
    """

    alpha: float
    objective: float
    is_inside: bool
    low: float
    high: float
    minima: tuple[float, ...]
    maxima: tuple[float, ...]


def fit(alphas: Sequence[float], losses: Sequence[float]) -> Fit:
    """Fit c₄e^(−c₅α) + c₆ with c₄, c₅, c₆ ≥ 0 by least squares.

    For a given c₅ the other two are a linear problem, so one number is searched for. Raises NoFit for fewer than four
    different α, and for values that are not finite.
    """
    x, y = np.asarray(alphas, dtype=float), np.asarray(losses, dtype=float)
    if len(x) != len(y) or len({*x.tolist()}) < 4:
        raise NoFit(
            f"a fit of three numbers needs at least four different α, got {len({*x.tolist()})}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        wrong = [f"{a:g}" for a, b in zip(alphas, losses, strict=True) if not math.isfinite(a + b)]
        raise NoFit(f"there is no finite value at α = {', '.join(wrong)}")
    width = float(x.max() - x.min())
    low, high = math.log(_FLATTEST / width), math.log(_STEEPEST / width)
    # past the steepest, the curve has fallen between two neighbouring points: no point tells how fast
    nearest = float(np.diff(np.unique(x)).min())
    high = max(high, math.log(_STEEPEST / nearest / 10.0))

    def missed(log_c5: float) -> float:
        return _linear(x, y, math.exp(log_c5))[2]

    steps = np.linspace(low, high, _GRID)
    at = int(np.argmin([missed(float(step)) for step in steps]))
    left, right = float(steps[max(0, at - 1)]), float(steps[min(_GRID - 1, at + 1)])
    c5 = math.exp(_least(missed, left, right))
    c4, c6, squares = _linear(x, y, c5)
    if c5 * float(x.min()) > _FARTHEST:
        raise NoFit(
            f"the curve falls so fast that its height at α = 0 is no number, seen from α = {x.min():g} on"
        )
    spread = float(((y - y.mean()) ** 2).sum())
    explained = 1.0 - squares / spread if spread > 0 else 1.0
    undetermined = c4 == 0.0 or at in {0, _GRID - 1}
    return Fit(c4, c5, c6, explained, math.sqrt(squares / len(x)), undetermined)


def _linear(x: "np.ndarray", y: "np.ndarray", c5: float) -> tuple[float, float, float]:
    """Return c₄ ≥ 0 and c₆ ≥ 0 that fit best with a given c₅, and the sum of squares that is left."""
    falls = np.exp(-c5 * (x - x.min()))  # scaled, so that none of them is too small for a double
    centred = falls - falls.mean()
    power = float(centred @ centred)
    c4 = max(0.0, float(centred @ y) / power) if power > 0 else 0.0
    c6 = float(y.mean() - c4 * falls.mean())
    if c6 < 0:
        c6, c4 = 0.0, max(0.0, float(falls @ y) / float(falls @ falls))
    left = y - c4 * falls - c6
    return c4 * math.exp(min(_FARTHEST, c5 * float(x.min()))), c6, float(left @ left)


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one minimum is least (golden section)."""
    a, b = low, high
    c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(_ROUNDS):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - _GOLDEN * (b - a)
            at_c = function(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + _GOLDEN * (b - a)
            at_d = function(d)
    return (a + b) / 2.0


def best(
    curve: Fit,
    utility: PrivacyUtility,
    low: float,
    high: float,
    most_loss: float = math.inf,
) -> Best:
    """Return the α between `low` and `high` that minimises J where the loss is at most `most_loss`, eq. (27) and (28).

    J falls without bound towards α = 0, so `low` must be above 0. Raises NoFit where no α fulfils the bounds.
    """
    if not 0 < low < high:
        raise NoFit(
            f"the smallest α must be above 0 and below the largest, got {low:g} and {high:g}"
        )
    least = low
    if curve.loss(high) > most_loss:
        raise NoFit(
            f"no α up to {high:g} has a loss of at most {most_loss:g}: the curve falls to {curve.loss(high):.4g}"
        )
    if curve.loss(low) > most_loss:
        least = math.log(curve.c4 / (most_loss - curve.c6)) / curve.c5

    def slope(alpha: float) -> float:
        return -curve.c4 * curve.c5 * math.exp(-curve.c5 * alpha) - utility.slope(alpha)

    minima, maxima = list[float](), list[float]()
    steps = np.geomspace(least, high, 20 * _GRID)
    slopes = [slope(float(step)) for step in steps]
    for a, b, before, after in zip(steps, steps[1:], slopes, slopes[1:], strict=False):
        if before < 0 <= after:
            minima.append(_root(slope, float(a), float(b)))
        elif before > 0 >= after:
            maxima.append(_root(slope, float(a), float(b)))

    def objective(alpha: float) -> float:
        return curve.loss(alpha) - utility.of(alpha)

    chosen = min((least, high, *minima), key=objective)
    return Best(
        chosen, objective(chosen), chosen in minima, least, high, tuple(minima), tuple(maxima)
    )


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign (bisection)."""
    sign = function(low) < 0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2.0
        if (function(middle) < 0) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0

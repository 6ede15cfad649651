"""The exact privacy loss law of norm-gamma noise (theory.md, 5.3), without special functions.

The loss is ε₀w with w = sin φ on [−1, 1], and in φ its density is ∝ e^{k sin φ} cos^{d−2}φ (A₁ + A₀ cos²φ), k = ε₀/2: smooth for
every d ≥ 2. e^{−ε₀w} g(w) = g(−w), so that δ(ε) = P(w > ε/ε₀) − e^ε P(w < −ε/ε₀).
"""

import math
from functools import lru_cache

import numpy as np

from mechanisms.vectors import Vector, distinct

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)
_CELL_NODES, _CELL_WEIGHTS = np.polynomial.legendre.leggauss(8)
_REACH = 14.0
"""How many widths of a peak are integrated over: e^{−98} is left out."""


@lru_cache(maxsize=4096)
def bessel_ratio(d: int, k: float) -> float:
    """K_{d/2}(k) / K_{d/2−1}(k), by the recurrence r_ν = 2ν/k + 1/r_{ν−1}, which is stable upwards."""
    if d % 2:
        order, ratio = -0.5, 1.0  # K_{1/2} = K_{−1/2}
    else:
        # ∫ e^{−k cosh t} cosh(νt) dt by the trapezoid rule, which converges faster than any power
        t = np.linspace(0.0, math.acosh(1.0 + 745.0 / k), 2001)
        damped = np.exp(-k * (np.cosh(t) - 1.0))
        damped[0] *= 0.5
        order, ratio = 0.0, float((damped * np.cosh(t)).sum() / damped.sum())
    while order < d / 2 - 1:
        order += 1.0
        ratio = 2.0 * order / k + 1.0 / ratio
    return ratio


def _shape(d: int, epsilon: float) -> float:
    """A₁/A₀ = (d−1)/k · K_{d/2}(k)/K_{d/2−1}(k)."""
    k = epsilon / 2.0
    return (d - 1) / k * bessel_ratio(d, k)


def _log_density(phi: Vector, tilt: float | Vector, d: int, shape: float) -> Vector:
    """Ln of the density in φ with e^{tilt·w} for e^{kw}, up to a constant."""
    cosine = np.cos(phi)
    with np.errstate(divide="ignore"):
        powers = (d - 2) * np.log(np.maximum(cosine, 0.0)) if d > 2 else 0.0
    logs: Vector = tilt * np.sin(phi) + powers + np.log1p(cosine * cosine / shape)
    return logs


def log_moments(d: int, epsilon: float, tilts: Vector) -> Vector:
    """Ln ∫ e^{tilt·w} (1−w²)^{(d−3)/2} (A₁ + A₀(1−w²)) dw for each tilt, up to one constant."""
    shape, n = _shape(d, epsilon), float(d - 2)
    size = np.maximum(np.abs(tilts), 1e-300)
    if n:
        root = np.sqrt(n * n + 4.0 * size * size)
        sine = 2.0 * size / (n + root)  # the mode: tilt·(1−s²) = n·s
        cosine2 = n * sine / size
        width = 1.0 / np.sqrt(size * sine + n / np.maximum(cosine2, 1e-300))
    else:
        sine, width = np.ones_like(size), 1.0 / np.sqrt(np.maximum(size, 1e-6))
    mode = np.arcsin(np.minimum(sine, 1.0))
    low = np.maximum(mode - _REACH * width, -math.pi / 2)
    high = np.minimum(mode + _REACH * width, math.pi / 2)
    half = 0.5 * (high - low)
    phi = (0.5 * (high + low))[:, None] + half[:, None] * _NODES
    values = _log_density(phi, size[:, None], d, shape)
    peak = values.max(axis=1)
    moments: Vector = peak + np.log(half * (np.exp(values - peak[:, None]) @ _WEIGHTS))
    return moments


def spread(d: int, epsilon: float) -> float:
    """The standard deviation of the loss."""
    w, mass = cells(d, epsilon, 400)
    mean = float(mass @ w)
    return epsilon * math.sqrt(max(float(mass @ (w - mean) ** 2), 1e-300))


def cells(d: int, epsilon: float, count: int) -> tuple[Vector, Vector]:
    """Return the middles of cells of equal width in w over where the mass is, and their masses."""
    reach = min(1.0, 9.0 / math.sqrt(d) + epsilon / d)
    edges = np.linspace(-reach, reach, count + 1)
    below = distribution(d, epsilon, edges)
    return 0.5 * (edges[1:] + edges[:-1]), np.diff(below)


def _cell_masses(d: int, epsilon: float, inner: Vector) -> Vector:
    """Return the masses, which sum to 1, of the cells that ascending points of [−1, 1] cut the loss ε₀w into."""
    shape, tilt = _shape(d, epsilon), epsilon / 2.0
    phi = np.arcsin(np.clip(np.concatenate([[-1.0], inner, [1.0]]), -1.0, 1.0))
    half = 0.5 * np.diff(phi)
    at = (0.5 * (phi[1:] + phi[:-1]))[:, None] + half[:, None] * _CELL_NODES
    values = _log_density(at, tilt, d, shape)
    weighed = half * (np.exp(values - values.max()) @ _CELL_WEIGHTS)
    shares: Vector = weighed / weighed.sum()
    return shares


def distribution(d: int, epsilon: float, w: Vector) -> Vector:
    """P(loss ≤ ε₀w) at ascending points w of [−1, 1]."""
    inner = distinct(np.concatenate([w, _ladder(d, epsilon / 2.0)]))
    below = np.concatenate([[0.0], np.cumsum(_cell_masses(d, epsilon, inner))])
    shares: Vector = below[1 + np.searchsorted(inner, w)]
    return shares


def masses(d: int, epsilon: float, w: Vector) -> Vector:
    """P(ε₀w_i < loss ≤ ε₀w_{i+1}) of ascending points from −1 to 1: small ones to as many digits as large ones."""
    inner = distinct(np.concatenate([w, _ladder(d, epsilon / 2.0)]))
    fine = _cell_masses(d, epsilon, inner)[1:-1]  # nothing lies outside of [−1, 1]
    starts = np.searchsorted(inner, w)
    shares: Vector = np.add.reduceat(fine, np.minimum(starts[:-1], len(fine) - 1))
    shares[starts[1:] == starts[:-1]] = 0.0  # points of one place have nothing between them
    return shares


def _ladder(d: int, tilt: float) -> Vector:
    """Points between which the density is a polynomial, for all that matters."""
    n = float(max(d - 2, 1))
    mode = 2.0 * tilt / (n + math.sqrt(n * n + 4.0 * tilt * tilt))
    steps = np.arange(-_REACH, _REACH + 0.25, 0.25) / math.sqrt(n + tilt)
    nodes: Vector = np.clip(np.concatenate([mode + steps, np.linspace(-1, 1, 65)]), -1.0, 1.0)
    return nodes

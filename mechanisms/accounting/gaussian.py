"""Gaussian noise, exactly: δ(ε), ε(δ) and μ(ε, δ) of a μ-GDP mechanism (Balle and Wang 2018, Thm 8)."""

import math
from functools import lru_cache


def log_phi(x: float) -> float:
    """Return ln Φ(x), also far in the lower tail."""
    if x > -30:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2)))
    square = 1.0 / (x * x)  # the asymptotic series: relative error below 2e-10 here
    series = -square + 3 * square**2 - 15 * square**3
    return -0.5 * x * x - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(series)


def delta(mu: float, epsilon: float) -> float:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    if mu <= 0:
        return 0.0
    first = log_phi(mu / 2 - epsilon / mu)
    second = epsilon + log_phi(-mu / 2 - epsilon / mu)
    return max(0.0, math.exp(first) - math.exp(second)) if second < first else 0.0


def epsilon(mu: float, at_delta: float) -> float:
    """Return the smallest ε with δ(ε) ≤ at_delta, rounded up."""
    if mu <= 0:
        return 0.0
    if not math.isfinite(mu) or at_delta <= 0:
        return math.inf
    low, high = 0.0, 1.0
    if delta(mu, 0.0) <= at_delta:
        return 0.0
    while delta(mu, high) > at_delta:
        high *= 2
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle in {low, high}:
            break  # no number lies between
        low, high = (middle, high) if delta(mu, middle) > at_delta else (low, middle)
    return high


def last_iterate(contraction: float, steps: int) -> float:
    """Return μ of the last of hidden noisy gradient steps, in units of one step's μ (Bok, Su, Altschuler 2024).

    Each step contracts by `contraction` = max(|1 − γm|, |1 − γM|) < 1 on m-strongly convex, M-smooth losses, adds N(0, σ²)
    to the full gradient, and only the model after the last of `steps` is seen. From 1 on it is √steps, as if all were seen.
    """
    if contraction >= 1:
        return math.sqrt(steps)
    left = contraction**steps
    return math.sqrt((1 - left) / (1 + left) * (1 + contraction) / (1 - contraction))


@lru_cache(maxsize=4096)
def mu(epsilon_: float, at_delta: float) -> float:
    """Return the largest μ with δ(ε) ≤ at_delta, rounded down."""
    if at_delta <= 0 or epsilon_ < 0:
        return 0.0
    low, high = 0.0, 1.0
    while delta(high, epsilon_) <= at_delta:
        high *= 2
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle in {low, high}:
            break
        low, high = (middle, high) if delta(middle, epsilon_) <= at_delta else (low, middle)
    return low

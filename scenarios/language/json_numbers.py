"""Numbers as JSON holds them: it has neither NaN nor infinity; and folds over nodes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mechanisms.vectors import Vector


def figure(value: float | None) -> Any:
    """JSON has neither NaN nor infinity."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def plain(value: Any) -> Any:
    """JSON has neither NaN nor infinity: absent, and a word."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value.item() if isinstance(value, np.generic) else value


def listed(values: Vector) -> list[Any]:
    """Return numbers as a list that JSON can hold: see `plain`."""
    numbers: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        for i in np.flatnonzero(np.isnan(values)).tolist():
            numbers[i] = None
        for i in np.flatnonzero(np.isinf(values)).tolist():
            numbers[i] = "inf" if numbers[i] > 0 else "-inf"
    return numbers


def number(value: Any) -> float:
    """Read a value back from its JSON form."""
    return math.nan if value is None else float(value)


def exact_seconds(instant: int) -> str:
    """Write an instant, in nanoseconds, as seconds: every digit of it, and no more."""
    seconds, rest = divmod(instant, 10**9)
    return f"{seconds}.{rest:09d}".rstrip("0").rstrip(".")


def aggregate(values: Vector, how: str) -> float:
    """Fold per-node values: mean, min, max, sum or a percentile; NaN nodes are left out."""
    known = values[~np.isnan(values)]
    if not known.size:
        return math.nan
    if how.startswith("p"):
        if np.isfinite(known).all():
            return float(np.percentile(known, int(how[1:])))
        return float(np.percentile(known, int(how[1:]), method="inverted_cdf"))
    folds: dict[str, Callable[[Vector], Any]] = {
        "mean": np.mean,
        "min": np.min,
        "max": np.max,
        "sum": np.sum,
    }
    return float(folds[how](known))


def folded(value: Any) -> float:
    """Return a sampled metric as one number: per-node values as their mean."""
    if not isinstance(value, list):
        return number(value)
    known = [number(v) for v in value if v is not None]
    return float(np.mean(known)) if known else math.nan


def declared_by(kind: str) -> str | None:
    """Return the code of a scenario's own that says itself what its releases cost; None for the kinds of hush."""
    return kind if ":" in kind else None


def self_declared(code: str) -> str:
    """Say of a figure that it rests on what code of a scenario's own declares."""
    return f"self-declared by {code}, not checked"


DUST = 1e-14
"""What the rounding of a few dozen sums of doubles near 1 leaves, and no measurement of a model is."""


def without_dust(value: float, metric: str = "") -> float:
    """Return a figure of models, 0 where it is no more than rounding; an ε stays as it is, however small."""
    return 0.0 if abs(value) < DUST and not metric.startswith("epsilon") else value


def show(value: float) -> str:
    """Write a number for a person, four digits of it."""
    return "∞" if math.isinf(value) else f"{value:.4g}"

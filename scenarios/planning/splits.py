"""How many points, and which, each agent gets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Sizes = NDArray[np.int64]


class NoSplit(ValueError):
    """The numbers do not add up."""


def sizes(split: dict[str, Any], total: int, n: int, rng: np.random.Generator) -> Sizes:
    """Return how many of `total` points each of n agents gets: at least one each."""
    match split["kind"]:
        case "even" | "dirichlet":
            shares = np.ones(n)
        case "uneven":
            shares = np.geomspace(1.0, split["ratio"], n)[::-1]
        case "sizes-dirichlet":
            shares = rng.dirichlet(np.full(n, split["alpha"]))
        case "uniform":
            return _uniform(split, total, n, rng)
        case "sizes":
            given = np.array(split["of"], dtype=np.int64)
            if len(given) != n:
                raise NoSplit(f"'of' has {len(given)} sizes for {n} agents")
            if given.sum() > total:
                raise NoSplit(f"the sizes add up to {given.sum()}, and there are {total} points")
            return given
        case "by-user":
            raise NoSplit("by-user needs a data source that knows its users")
        case kind:
            raise NotImplementedError(f"no sizes are written for split {kind!r}")
    if total < n:
        raise NoSplit(f"{total} points are too few for {n} agents")
    return _apportion(shares, total)


def _uniform(split: dict[str, Any], total: int, n: int, rng: np.random.Generator) -> Sizes:
    if split["min"] > split["max"]:
        raise NoSplit(f"min must be at most max, got {split['min']} and {split['max']}")
    drawn: Sizes = rng.integers(split["min"], split["max"], endpoint=True, size=n)
    if drawn.sum() > total:
        raise NoSplit(f"{n} agents drew {drawn.sum()} points, and there are {total}")
    return drawn


def _apportion(shares: NDArray[np.float64], total: int) -> Sizes:
    """Give everybody one point and the rest by largest remainder: sizes add up to the total."""
    n = len(shares)
    exact = shares / shares.sum() * (total - n)
    floor: Sizes = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[: total - n - int(floor.sum())]] += 1
    return floor + 1


def deal(
    split: dict[str, Any], labels: NDArray[np.float64], n: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return which points of a pool each agent gets; nobody gets a point twice."""
    if split["kind"] == "dirichlet":
        return _by_label(split["alpha"], labels, n, rng)
    amounts = sizes(split, len(labels), n, rng)
    order = rng.permutation(len(labels))
    return np.split(order[: amounts.sum()], np.cumsum(amounts)[:-1])


def _by_label(
    alpha: float, labels: NDArray[np.float64], n: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Each label's points are shared out by a Dirichlet draw; who got none takes one of the most."""
    if len(labels) < n:
        raise NoSplit(f"{len(labels)} points are too few for {n} agents")
    hands: list[list[int]] = [[] for _ in range(n)]
    for label in np.unique(labels):
        points = rng.permutation(np.flatnonzero(labels == label))
        cuts = np.round(np.cumsum(rng.dirichlet(np.full(n, alpha)))[:-1] * len(points))
        for hand, dealt in zip(hands, np.split(points, cuts.astype(np.int64)), strict=True):
            hand.extend(dealt.tolist())
    for hand in hands:
        if not hand:
            hand.append(max(hands, key=len).pop())
    return [np.array(hand, dtype=np.int64) for hand in hands]

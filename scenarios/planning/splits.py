"""The kinds of split: how many points, and which, each agent gets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import REQUIRED, KindTable, Many, key
from scenarios.language.value_rules import LARGEST, Number, count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sizes = NDArray[np.int64]

_CONCENTRATION = Number(above=0, least=1e-3, most=1e9)


class NoSplit(ValueError):
    """The numbers do not add up."""


class PlainSplitTable(KindTable):
    """A split without parameters."""


class UnevenTable(KindTable):
    """Sizes grow geometrically; `ratio` is largest over smallest."""

    ratio: float = key(Number(low=1, most=LARGEST), REQUIRED)


class UniformSplitTable(KindTable):
    """Sizes are drawn uniformly from `min` to `max`."""

    min: int = key(count(), REQUIRED)
    max: int = key(count(), REQUIRED)


class SizesTable(KindTable):
    """Sizes are listed, one for each agent."""

    of: list[int] = key(Many(count(), 1), REQUIRED)


class DirichletTable(KindTable):
    """Shares are drawn from a Dirichlet distribution."""

    alpha: float = key(_CONCENTRATION, REQUIRED)


def _as_given(_: KindTable, total: int, agents: int) -> int:
    """Return how many points there are where the split does not say."""
    del agents
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitKind:
    """A kind of split."""

    name: str
    table: type[KindTable]
    sizes: "Callable[[Any, int, int, np.random.Generator], Sizes]"
    """Takes a table, how many points there are, how many agents and a generator; returns how many each agent gets,
    at least one. Raises NoSplit."""
    total: Callable[[Any, int, int], int] = _as_given
    """Takes a table, how many points there are if the split does not say, and how many agents; returns how many there are."""
    by_label: "Callable[[Any, NDArray[np.float64], int, np.random.Generator], list[Sizes]] | None" = None
    """Shares out the points of each label. None: the points are shuffled, and dealt out by their sizes."""


def _even(_: KindTable, total: int, agents: int, rng: "np.random.Generator") -> "Sizes":
    import numpy as np

    del rng
    return _apportion(np.ones(agents), total)


def _uneven(table: UnevenTable, total: int, agents: int, rng: "np.random.Generator") -> "Sizes":
    import numpy as np

    del rng
    return _apportion(np.geomspace(1.0, table.ratio, agents)[::-1], total)


def _drawn_shares(
    table: DirichletTable, total: int, agents: int, rng: "np.random.Generator"
) -> "Sizes":
    import numpy as np

    return _apportion(rng.dirichlet(np.full(agents, table.alpha)), total)


def _listed(table: SizesTable, total: int, agents: int, rng: "np.random.Generator") -> "Sizes":
    import numpy as np

    del rng
    given = np.array(table.of, dtype=np.int64)
    if len(given) != agents:
        raise NoSplit(f"'of' has {len(given)} sizes for {agents} agents")
    if given.sum() > total:
        raise NoSplit(f"the sizes add up to {given.sum()}, and there are {total} points")
    return given


def _uniform(
    table: UniformSplitTable, total: int, agents: int, rng: "np.random.Generator"
) -> "Sizes":
    if table.min > table.max:
        raise NoSplit(f"min must be at most max, got {table.min} and {table.max}")
    drawn: Sizes = rng.integers(table.min, table.max, endpoint=True, size=agents)
    if drawn.sum() > total:
        raise NoSplit(f"{agents} agents drew {drawn.sum()} points, and there are {total}")
    return drawn


def _by_user(_: KindTable, total: int, agents: int, rng: "np.random.Generator") -> "Sizes":
    del total, agents, rng
    raise NoSplit("by-user needs a data source that knows its users")


def _apportion(shares: "NDArray[np.float64]", total: int) -> "Sizes":
    """Give each agent one point and the rest by largest remainder: sizes add up to the total."""
    import numpy as np

    n = len(shares)
    if total < n:
        raise NoSplit(f"{total} points are too few for {n} agents")
    exact = shares / shares.sum() * (total - n)
    floor: Sizes = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[: total - n - int(floor.sum())]] += 1
    return floor + 1


def _labels_shared_out(
    table: DirichletTable,
    labels: "NDArray[np.float64]",
    n: int,
    rng: "np.random.Generator",
) -> "list[Sizes]":
    """Share out each label's points by a Dirichlet draw; an agent that got none takes one of the most."""
    import numpy as np

    if len(labels) < n:
        raise NoSplit(f"{len(labels)} points are too few for {n} agents")
    hands: list[list[int]] = [[] for _ in range(n)]
    for label in np.unique(labels):
        points = rng.permutation(np.flatnonzero(labels == label))
        cuts = np.round(np.cumsum(rng.dirichlet(np.full(n, table.alpha)))[:-1] * len(points))
        for hand, dealt in zip(hands, np.split(points, cuts.astype(np.int64)), strict=True):
            hand.extend(dealt.tolist())
    for hand in hands:
        if not hand:
            hand.append(max(hands, key=len).pop())
    return [np.array(hand, dtype=np.int64) for hand in hands]


SPLITS: Mapping[str, SplitKind] = {
    kind.name: kind
    for kind in (
        SplitKind(name="even", table=PlainSplitTable, sizes=_even),
        SplitKind(name="uneven", table=UnevenTable, sizes=_uneven),
        SplitKind(
            name="uniform",
            table=UniformSplitTable,
            sizes=_uniform,
            total=lambda table, _, agents: agents * table.max,
        ),
        SplitKind(
            name="sizes",
            table=SizesTable,
            sizes=_listed,
            total=lambda table, _, __: sum(table.of),
        ),
        SplitKind(name="dirichlet", table=DirichletTable, sizes=_even, by_label=_labels_shared_out),
        SplitKind(name="sizes-dirichlet", table=DirichletTable, sizes=_drawn_shares),
        SplitKind(name="by-user", table=PlainSplitTable, sizes=_by_user),
    )
}


def sizes(split: KindTable, total: int, agents: int, rng: "np.random.Generator") -> "Sizes":
    """Return how many of `total` points each agent gets: at least one each. Raises `NoSplit`."""
    return SPLITS[split.kind].sizes(split, total, agents, rng)


def deal(
    split: KindTable, labels: "NDArray[np.float64]", agents: int, rng: "np.random.Generator"
) -> "list[Sizes]":
    """Return which points of a pool each agent gets; no point is given twice. Raises `NoSplit`."""
    import numpy as np

    kind = SPLITS[split.kind]
    if kind.by_label is not None:
        return kind.by_label(split, labels, agents, rng)
    amounts = kind.sizes(split, len(labels), agents, rng)
    order = rng.permutation(len(labels))
    return np.split(order[: amounts.sum()], np.cumsum(amounts)[:-1])

"""The points of agents: what is drawn or read, refused or scaled before anything is learnt from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.vectors import Matrix, Vector, median
from scenarios.planning import shared_rows
from scenarios.planning.files import BadData
from scenarios.planning.labels import Classes, classes_of, in_words, signs
from scenarios.planning.packed_points import PackedPoints, Points
from scenarios.planning.pool import Pool
from scenarios.planning.seeds import generator
from scenarios.planning.splits import SPLITS, NoSplit

if TYPE_CHECKING:
    from scenarios.planning.data_sources import DrawnSourceTable, PooledTable, SourceInputs
    from scenarios.planning.splits import Sizes


@dataclass(frozen=True, slots=True)
class Shards:
    """Training points of each agent; test points of each, or common ones, or none.

    After `tidy`, the points of agents are `PackedPoints`.
    """

    train: Sequence[Points]
    test: Sequence[Points]
    common_test: Points | None
    targets: Matrix | None
    notes: tuple[str, ...]
    shared: int = 0
    """How many source rows several agents hold, or one holds several times, as far as that is known; held-out rows count."""
    validation: Sequence[Points] = ()
    """Points of each agent that were held out of its training points, none for an agent with one point; empty where no
    share is held out."""
    uncovered: tuple[str, ...] = ()
    """Why ε does not cover how the points were made; empty where it does."""
    classes: Classes | None = None
    """The labels of the whole source, also of points that no agent has; None where they are not known, or many numbers."""
    scaled: int = 0
    """How many rows were scaled to norm 1, test and validation points included."""
    norms_before: tuple[float, float, float] | None = None
    """The least, the median and the largest norm of training rows before any was scaled; None where none was."""

    @property
    def dimension(self) -> int:
        train = self.train
        rows = train.rows if isinstance(train, PackedPoints) else train[0][0]
        return int(rows.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        train = self.train
        return train.sizes if isinstance(train, PackedPoints) else tuple(len(y) for _, y in train)

    @property
    def labels(self) -> list[Vector]:
        """The labels of each agent's training points."""
        train = self.train
        if isinstance(train, PackedPoints):
            return np.split(train.labels, train.ends[1:-1])
        return [y for _, y in train]


@dataclass(frozen=True, slots=True)
class Demands:
    """What a task asks of its points."""

    labelled: bool
    """Whether labels are two, which become ±1."""
    scale: str = "refuse"
    """What becomes of rows above norm 1: `refuse`, or `row`, which scales them."""
    bound: str = ""
    """What rests on norms of at most 1, in words. Where nothing does, no row is refused."""
    precision: str = "double"
    """Whether training points are held as numbers of 64 bits or, `single`, of 32."""


def held_out(shards: Shards, share: float, seed: int) -> Shards:
    """Hold a share of each agent's training points out of training, by a generator of each agent's own.

    An agent with m points holds out round(share·m) of them, at least one and at most m − 1: one with a single point holds
    out none. With the share 0 nothing is held out, and nothing is drawn. Raises BadData where points have no right form.
    """
    if not share:
        return shards
    kept, held = list[Points](), list[Points]()
    for i, (x, y) in enumerate(shards.train):
        _refuse_form(f"node {i}", x, y)
        count = min(max(1, round(share * len(y))), len(y) - 1)
        order = generator(seed, f"data/validation/{i}").permutation(len(y))
        rest, out = np.sort(order[count:]), np.sort(order[:count])
        kept.append((x[rest], y[rest]))
        held.append((x[out], y[out]))
    return replace(shards, train=tuple(kept), validation=tuple(held))


def tidy(shards: Shards, demands: Demands) -> Shards:
    """Refuse what cannot be learned from; make labels ±1 where the task wants that; scale rows above norm 1 on request.

    No noise and no charge rests on test or validation points: those above norm 1 are scaled with the others, or left as
    they are. Raises BadData.
    """
    shards = _packed(shards)
    shards = _with_labels(shards, labelled=demands.labelled)
    train, tested = PackedPoints.of(shards.train), replace(demands, bound="")
    scaled, norms = _bound(train, demands)
    for points in (shards.test, shards.validation):
        scaled += _bound(PackedPoints.of(points), tested)[0]
    common = shards.common_test
    if common is not None:
        x, changed = _bounded(common[0], _COMMON, tested)
        common, scaled = (x, common[1]), scaled + changed
    notes = shards.notes
    if scaled:
        notes = (*notes, f"{scaled} rows had a norm above 1 and were scaled to norm 1")
    if demands.labelled:
        train.sign()
    if demands.precision == "single":
        train.shorten()
        notes = (*notes, _SHORT)
    return replace(
        shards,
        common_test=common,
        notes=notes,
        scaled=scaled,
        norms_before=_spread(norms) if scaled else None,
    )


def _spread(norms: Vector) -> tuple[float, float, float]:
    """Return the least, the median and the largest."""
    return float(norms.min()), median(norms), float(norms.max())


_COMMON = "the common test points"
_SHORT = (
    "training points are held as 32-bit numbers, rounded toward zero: no record grows, and sums and noise have 64 bits, "
    "so that noise, its grid and ε are those of 64 bits"
)
_ROUNDED_ONE = 1.0 + 1e-12
"""A norm of 1, as far as rounding may have taken it."""


def _packed(shards: Shards) -> Shards:
    """Return points packed, after a look at each agent's. Raises BadData where their form is wrong or a value is no number."""
    groups = (shards.train, shards.test, shards.validation)
    for points, may_be_empty in zip(groups, (False, False, True), strict=True):
        if isinstance(points, PackedPoints):
            sizes = points.sizes
        else:
            sizes = tuple(len(y) for _, y in points)
            for i, (x, y) in enumerate(points):
                if sizes[i] or not may_be_empty:
                    _refuse_form(f"node {i}", x, y)
        if not may_be_empty and 0 in sizes:
            _refuse_form(f"node {sizes.index(0)}", *points[sizes.index(0)])
    common = shards.common_test
    if common is not None:
        _refuse_form(_COMMON, *common)
    train, test, validation = map(PackedPoints.of, groups)
    for packed in (train, test, validation):
        if not packed.is_finite():
            for i, (x, y) in enumerate(packed):
                _refuse_gaps(x, y, f"node {i}")
    if common is not None:
        _refuse_gaps(*common, _COMMON)
    return replace(shards, train=train, test=test or (), validation=validation or ())


def _bound(points: PackedPoints, demands: Demands) -> tuple[int, Vector]:
    """Bring features to norm 1 where that is asked for, in place.

    Return how many rows were scaled, and the norms of all rows before. Raises BadData.
    """
    norms, scaled = points.norms(), 0
    above = np.flatnonzero(norms > _ROUNDED_ONE)
    for i in dict.fromkeys(points.owner(int(row)) for row in above):
        part = points.part(i)
        points.rows[part], changed = _bounded(points.rows[part], f"node {i}", demands)
        scaled += changed
    return scaled, norms


def _with_labels(shards: Shards, *, labelled: bool) -> Shards:
    """Return points whose labels are what the task wants: ±1, or numbers. Raises BadData."""
    if not labelled:
        if shards.classes is not None and shards.classes.are_words:
            raise BadData(
                'labels are words, and the loss predicts numbers: task.loss = "logistic" tells two labels apart'
            )
        return shards
    common = shards.common_test
    groups = [PackedPoints.of(p) for p in (shards.train, shards.test, shards.validation)]
    labels = [group.labels for group in groups] + ([] if common is None else [common[1]])
    mapped, classes = signs(labels, shards.classes)
    if all(new is old for new, old in zip(mapped, labels, strict=True)):
        return replace(shards, classes=classes)
    train, test, validation = (
        group.relabelled(new) if group else () for group, new in zip(groups, mapped, strict=False)
    )
    assert classes is not None, "labels that were mapped have names"  # noqa: S101
    return replace(
        shards,
        train=train,
        test=test,
        validation=validation,
        common_test=None if common is None else (common[0], mapped[3]),
        notes=(*shards.notes, in_words(classes)),
        classes=classes,
    )


def _refuse_form(whose: str, x: Matrix, y: Vector) -> None:
    """Raise BadData unless features are m × d, labels m, and m at least 1."""
    if x.ndim != 2 or y.ndim != 1 or len(x) != len(y):
        raise BadData(f"{whose}: x must be m × d and y of length m, got {x.shape} and {y.shape}")
    if len(y) == 0:
        raise BadData(f"{whose} has no points: an agent needs at least one")


def _refuse_gaps(x: Matrix, y: Vector, whose: str) -> None:
    """Raise BadData where a value is no finite number."""
    if np.isfinite(x).all() and np.isfinite(y).all():
        return
    bad = ~np.isfinite(x)
    if bad.any():
        row, column = (int(place) for place in np.argwhere(bad)[0])
        raise BadData(f"{whose}: a value is NaN or infinite (row {row}, column {column})")
    row = int(np.flatnonzero(~np.isfinite(y))[0])
    raise BadData(f"{whose}: a value is NaN or infinite (the label of row {row})")


def _bounded(x: Matrix, whose: str, demands: Demands) -> tuple[Matrix, int]:
    """Return features of norm at most 1 where that is asked for, and how many rows were scaled. Raises BadData."""
    with np.errstate(over="ignore"):  # a norm above the largest double is above 1, too
        norms = np.linalg.norm(x, axis=1)
    above = norms > _ROUNDED_ONE
    if not above.any():
        return x, 0
    match demands.scale:
        case "refuse":
            if not demands.bound:
                return x, 0
            raise BadData(
                f"{whose}: {int(above.sum())} of {len(x)} rows have a norm above the declared bound 1 "
                f'(largest {norms.max():.4g}), and {demands.bound}; scale = "row" of [data] scales them '
                '(--set data.scale=row; in Python set={"data.scale": "row"})'
            )
        case "row":
            return x / np.maximum(norms, 1.0)[:, None], int(above.sum())
        case scale:
            raise NotImplementedError(f"no scaling of rows is written by {scale!r}")


def dealt(table: "PooledTable", pool: Pool, inputs: "SourceInputs") -> Shards:
    """Deal the points of a pool to agents: test points first, which all agents share, then each agent's own.

    `table.points` says how many points are drawn of the pool, in its order; None stands for all. `table.test` is the share
    of test points. Raises NoSplit.
    """
    classes = pool.classes or classes_of([pool.y])
    rows = drawn_rows(table, len(pool), inputs.seed)
    if rows is not None:
        pool = pool.take(rows)
    order = generator(inputs.seed, "data/test").permutation(len(pool))
    tests = round(table.test * len(pool))
    common = pool.take(np.sort(order[:tests]))
    pool = pool.take(np.sort(order[tests:]))
    split = table.split or SPLITS["even"].table(kind="even")
    hands = split.deal(pool, inputs.agents, generator(inputs.seed, "data/split"))
    return Shards(
        tuple((pool.x[hand], pool.y[hand]) for hand in hands),
        (),
        (common.x, common.y) if tests else None,
        None,
        pool.notes,
        shared_rows.by_number(hands),
        uncovered=pool.uncovered,
        classes=classes,
    )


def drawn_rows(table: "PooledTable", total: int, seed: int) -> "Sizes | None":
    """Return which of so many rows `table.points` draws, in their order; None stands for all. Raises NoSplit.

    Of as many rows as are asked for all are drawn: a source may draw before it reads.
    """
    if table.points is None:
        return None
    if table.points > total:
        raise NoSplit(f"there are {total:,} points, and points = {table.points:,} asks more")
    rows: Sizes = np.sort(generator(seed, "data/points").permutation(total)[: table.points])
    return rows


def amounts(table: "DrawnSourceTable", inputs: "SourceInputs") -> "Sizes":
    """Return each agent's number of points: by `split` where given, else by `points`."""
    rng, (low, high), n = generator(inputs.seed, "data/sizes"), table.bounds, inputs.agents
    if table.split is None:
        return rng.integers(low, high, endpoint=True, size=n)
    return table.split.sizes(table.split.total(n * (low + high) // 2, n), n, rng)


def ball(rng: np.random.Generator, count: int, dimension: int) -> Matrix:
    """Draw points uniformly in the unit ball: around the origin, and never above norm 1."""
    x = rng.standard_normal((count, dimension))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x * rng.random((count, 1)) ** (1.0 / dimension)


def labels(rng: np.random.Generator, scores: Vector, flip: float) -> Vector:
    """Return the signs of scores, each flipped with probability `flip`."""
    signs = np.where(scores >= 0, 1.0, -1.0)
    return np.where(rng.random(len(signs)) < flip, -signs, signs)


def with_bias(x: Matrix, *, bias: bool) -> Matrix:
    """Append a constant feature, and scale so that norms at most 1 stay at most 1."""
    return np.hstack([x, np.ones((len(x), 1))]) / np.sqrt(2.0) if bias else x

"""The data card of a run: which points its agents learnt from, in figures. `data.json` in the run's folder.

Its figures are exact properties of the points, for whoever may see them: they are no release, and no ε covers them.
"""

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from mechanisms.vectors import median
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.labels import classes_of
from scenarios.planning.packed_points import PackedPoints
from scenarios.records.file_guard import MOST, Amount, Whole

if TYPE_CHECKING:
    from scenarios.planning.plan import Plan

EACH = 1000
"""Figures of each agent are kept of at most so many agents: of more, their spread alone."""
_MOST_LABELS = 20
"""So many different labels are counted one by one; of more, labels are numbers with a mean."""
_MOST_COMPARED = 20_000_000
"""Rows are compared with each other where they hold at most so many numbers."""


class Spread(msgspec.Struct, frozen=True):
    """The smallest, the middle and the largest of some values."""

    min: float
    median: float
    max: float


class Label(msgspec.Struct, frozen=True):
    """A label: its number in the run, what the source calls it, and how many training points have it."""

    value: float
    name: str
    points: Whole


class Skew(msgspec.Struct, frozen=True):
    """How far agents' labels are from those of all agents together: a share from 0 to 1, for each agent.

    With `kind` = "total variation" it is half the sum of |share of a label at the agent − its share of all training
    points|: 0 where the shares are equal, and the share of all other labels where an agent has one only. With "mean" it is
    |mean label of the agent − mean of all| over the standard deviation of all labels, which may be above 1.
    """

    kind: str
    mean: float
    max: float
    each: list[float]
    """Of each agent; empty where there are many agents."""
    sorted: list[float]
    """The values at evenly spaced ranks, from the smallest to the largest: what a small picture shows."""


class Duplicates(msgspec.Struct, frozen=True):
    """Points with equal features and an equal label. They may be one record or two people who are alike."""

    within: Whole
    """Training points beyond the first of each agent's equal ones."""
    across: Whole
    """Different points that two agents or more hold."""


class DataCard(msgspec.Struct, frozen=True):
    """What is known of the points of a run. Norms are those of training rows."""

    source: str
    title: str
    citation: str
    licence: str
    files: dict[str, str]
    """The sha256 of each file that the scenario read."""
    agents: Amount
    points: Whole
    """Training points of all agents."""
    dimension: Whole
    sizes: Spread
    each_size: list[Whole]
    """Training points of each agent; empty where there are many agents."""
    test_points: Whole
    """Of each agent's own test points, all together."""
    common_test_points: Whole
    validation_points: Whole
    labels: list[Label]
    """Empty where labels are numbers to be predicted."""
    each_label: list[list[Whole]]
    """Of each agent, how many of its points have each label; empty where there are many agents."""
    label_mean: float
    label_deviation: float
    skew: Skew
    norms: Spread
    norms_before: Spread | None
    """None where no row was scaled."""
    scaled: Whole
    shared: Whole
    """Source rows that are known to be held several times."""
    duplicates: Duplicates | None
    """None where there are too many numbers to compare rows."""
    notes: list[str]
    uncovered: list[str]

    def misfit(self) -> str:
        """Return which of the figures do not fit each other; empty where all do."""
        if len(self.each_size) not in {0, self.agents} or len(self.each_label) not in {
            0,
            self.agents,
        }:
            return f"its agents are not {self.agents}"
        if self.each_size and sum(self.each_size) != self.points:
            return f"the sizes of its agents do not add up to {self.points}"
        if any(len(counts) != len(self.labels) for counts in self.each_label):
            return f"an agent has other labels than {len(self.labels)}"
        if self.agents > MOST or len(self.skew.each) not in {0, self.agents}:
            return "its skew is of other agents"
        return ""


def card_of(plan: "Plan") -> DataCard:
    """Return the data card of a plan."""
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # squares of numbers that a double just holds
        return _card_of(plan)


def _card_of(plan: "Plan") -> DataCard:
    shards, source = plan.shards, plan.resolved["data"]
    name = source if isinstance(source, str) else str(source["source"])
    published = SOURCES[name].published if name in SOURCES else None
    train = PackedPoints.of(shards.train)
    sizes, y = np.array(train.sizes), train.labels
    owners = np.repeat(np.arange(len(sizes)), sizes)
    is_small = len(y) * shards.dimension <= _MOST_COMPARED
    few = len(sizes) <= EACH
    values, counts = _counted(y, owners, len(sizes), counts=plan.loss.margin)
    distances = _distances(counts, sizes) if len(values) else _deviations(y, owners, sizes)
    names = (
        {}
        if shards.classes is None
        else dict(zip(shards.classes.values, shards.classes.names, strict=True))
    )
    origin = plan.resolved.get("origin", {})
    return DataCard(
        source=name,
        title="" if published is None else published.title,
        citation="" if published is None else published.citation,
        licence="" if published is None else published.licence,
        files=dict(origin.get("sha256", {})),
        agents=len(sizes),
        points=len(y),
        dimension=shards.dimension,
        sizes=_spread(sizes),
        each_size=sizes.tolist() if few else [],
        test_points=sum(PackedPoints.of(shards.test).sizes),
        common_test_points=0 if shards.common_test is None else len(shards.common_test[1]),
        validation_points=sum(PackedPoints.of(shards.validation).sizes),
        labels=[
            Label(value, names.get(value, f"{value:.6g}"), int(of))
            for value, of in zip(values, counts.sum(axis=0).tolist(), strict=True)
        ],
        each_label=counts.tolist() if few and len(values) else [],
        label_mean=_finite(y.mean()),
        label_deviation=_finite(y.std()),
        skew=Skew(
            "total variation" if len(values) else "mean",
            _finite(distances.mean()),
            _finite(distances.max()),
            np.nan_to_num(distances).tolist() if few else [],
            _ranks(distances),
        ),
        norms=_spread(np.concatenate([_norms(rows) for rows in train.parts()])),
        norms_before=None
        if shards.norms_before is None
        else _spread(np.array(shards.norms_before)),
        scaled=shards.scaled,
        shared=shards.shared,
        duplicates=_duplicates(train.features(), y, owners) if is_small else None,
        notes=list(shards.notes),
        uncovered=list(shards.uncovered),
    )


def _spread(values: "np.ndarray[Any, Any]") -> Spread:
    return Spread(_finite(values.min()), _finite(median(values)), _finite(values.max()))


def _finite(value: Any) -> float:
    """Return a number as JSON holds it: one that is beyond the largest double is written as that."""
    return float(np.nan_to_num(value))


def _norms(x: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    norms: np.ndarray[Any, Any] = np.sqrt(np.einsum("ij,ij->i", x, x))
    return norms


def _ranks(values: "np.ndarray[Any, Any]", most: int = 40) -> list[float]:
    """Return the values at evenly spaced ranks, from the smallest to the largest."""
    places = np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)
    return [_finite(value) for value in np.sort(values)[places]]


def _counted(
    y: "np.ndarray[Any, Any]", owners: "np.ndarray[Any, Any]", agents: int, *, counts: bool
) -> tuple[list[float], "np.ndarray[Any, Any]"]:
    """Return the different labels, and how often each agent has each; none where labels are numbers to be predicted."""
    classes = classes_of([y]) if counts else None
    if classes is None or len(classes.values) > _MOST_LABELS:
        return [], np.zeros((agents, 0), dtype=np.int64)
    values = list(classes.values)
    codes = np.searchsorted(np.array(values), y)
    table = np.bincount(owners * len(values) + codes, minlength=agents * len(values))
    return values, table.reshape(agents, len(values))


def _distances(
    counts: "np.ndarray[Any, Any]", sizes: "np.ndarray[Any, Any]"
) -> "np.ndarray[Any, Any]":
    """Return the total variation distance of each agent's label shares from those of all training points."""
    overall = counts.sum(axis=0) / sizes.sum()
    apart: np.ndarray[Any, Any] = np.abs(counts / sizes[:, None] - overall).sum(axis=1)
    return apart / 2


def _deviations(
    y: "np.ndarray[Any, Any]", owners: "np.ndarray[Any, Any]", sizes: "np.ndarray[Any, Any]"
) -> "np.ndarray[Any, Any]":
    """Return how far each agent's mean label is from that of all, in standard deviations of all labels."""
    means = np.bincount(owners, weights=y, minlength=len(sizes)) / sizes
    spread = float(y.std())
    away: np.ndarray[Any, Any] = np.abs(means - y.mean())
    return away / spread if spread > 0 else np.zeros(len(sizes))


def _duplicates(
    x: "np.ndarray[Any, Any]", y: "np.ndarray[Any, Any]", owners: "np.ndarray[Any, Any]"
) -> Duplicates:
    """Count points that are equal in features and label, by their bits; 0 and −0 are one number."""
    points = np.ascontiguousarray(np.column_stack([x, y]) + 0.0).view(np.uint64)
    odd = np.arange(points.shape[1], dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    mixed = points ^ (points >> np.uint64(29))  # the low bits of a short number are all zero
    hashes = (mixed * odd).sum(axis=1, dtype=np.uint64)
    ranked = np.sort(hashes)
    if not (ranked[1:] == ranked[:-1]).any():
        return Duplicates(within=0, across=0)
    _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
    if not (points == points[first[groups]]).all():  # two different points have one hash
        _, groups = np.unique(points, axis=0, return_inverse=True)
    agents = int(owners[-1]) + 1
    held = np.unique(groups.ravel().astype(np.int64) * agents + owners)
    holders = np.bincount(held // agents)
    return Duplicates(within=len(y) - len(held), across=int((holders > 1).sum()))

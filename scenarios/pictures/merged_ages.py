"""How old models were when agents merged them, from the events; data only."""

from dataclasses import dataclass

import numpy as np

from actors.events import Merged, Sent
from mechanisms.vectors import Vector
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord

_WINDOWS = 40


@dataclass(frozen=True, slots=True)
class Ages:
    """Ages in seconds, by windows of time; the three figures are of the merges within a window."""

    at: Vector
    """The middle of each window, in seconds of simulated time."""
    low: Vector
    middle: Vector
    high: Vector
    merges: int


def merged_ages(record: RunRecord) -> list[tuple[float, float]]:
    """Return, for each model that an agent merged, when it did so and how long before it was first sent, in seconds."""
    first: dict[tuple[int, int], int] = {}
    ages = []
    for event in record.typed_events():
        match event:
            case Sent(node=int(sender)):
                first.setdefault((sender, event.version), event.t)
            case Merged():
                for sender, version in zip(event.senders, event.versions, strict=True):
                    published = first.get((sender, version))
                    if published is not None:
                        ages.append((event.t / 1e9, (event.t - published) / 1e9))
    return ages


def ages_of(record: RunRecord) -> Ages:
    """Return the ages of merged models in at most forty windows of equal length; raise `FolderError` where they make no line."""
    ages = np.array(merged_ages(record)).reshape(-1, 2)
    if not len(ages):
        raise FolderError(f"{record.path}: no agent merged a model")
    begins, ends = float(ages[:, 0].min()), float(ages[:, 0].max())
    if ends <= begins:
        raise FolderError(
            f"{record.path}: every merge happens at one instant, and a line needs two"
        )
    edges = np.linspace(begins, ends, _WINDOWS + 1)
    number = np.clip(np.searchsorted(edges, ages[:, 0], side="right") - 1, 0, _WINDOWS - 1)
    rows = []
    for window in np.unique(number):
        within = ages[number == window, 1]
        rows.append(((edges[window] + edges[window + 1]) / 2, *np.percentile(within, (10, 50, 90))))
    at, low, middle, high = np.array(rows).T
    return Ages(at, low, middle, high, len(ages))

"""Thousands of agents as of the last sample: how their budgets are spread, quantiles, groups, extremes."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mechanisms.vectors import Vector
from scenarios.console.model import Cohort, Crowd
from scenarios.console.scene import percentiles
from scenarios.console.source import Source

_SEVEN = (0, 1, 10, 50, 90, 99, 100)
_BINS = (
    "0–10%",
    "10–20%",
    "20–30%",
    "30–40%",
    "40–50%",
    "50–60%",
    "60–70%",
    "70–80%",
    "80–90%",
    "90–99%",
    "spent ■",
)
_OUTLIERS = 8


class Crowds:
    """Looks once for every sample."""

    def __init__(self, source: Source, caps: Vector) -> None:
        self._source = source
        self._facts = source.facts
        self._caps = caps
        self._crowd: tuple[int, Crowd | None] = (-1, None)

    def now(self, epsilons: Vector) -> Crowd | None:
        last = self._source.scene.last
        if last is None:
            return None
        if self._crowd[0] != last.seq:
            self._crowd = last.seq, self._of(epsilons, last.t / 1e9)
        return self._crowd[1]

    def _of(self, epsilons: Vector, sampled_s: float) -> Crowd:
        scene, size = self._source.scene, self._facts.size
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = epsilons / self._caps
        full = (shares >= 0.99) | np.array([scene.state(i) == "spent" for i in range(size)])
        cells = np.minimum(9, np.nan_to_num(shares, nan=0.0, posinf=1.0) * 10).astype(int)
        counts = Counter(np.where(full, 10, cells)[~np.isnan(shares)].tolist())
        losses = np.array(scene.losses())
        stale = np.array([self._source.stale(i) for i in range(size)])
        inbox = np.array([self._source.inbox(i) for i in range(size)], dtype=np.float64)
        releases = np.array([self._source.releases(i) for i in range(size)], dtype=np.float64)
        measured = {
            "ε spent": epsilons,
            "loss*": losses,
            "stale s": stale,
            "inbox": inbox,
            "releases": releases,
        }
        ranked = {"ε": epsilons, "stale s": stale, "loss*": losses}
        return Crowd(
            sampled_s=sampled_s,
            bins=[(name, counts[at]) for at, name in enumerate(_BINS)],
            quantiles=[(name, percentiles(values, _SEVEN)) for name, values in measured.items()],
            cohorts=[
                self._cohort(n, ids, epsilons, losses) for n, ids in self._facts.members.items()
            ],
            outliers=[(name, self._worst(values)) for name, values in ranked.items()],
        )

    def _cohort(self, name: str, ids: Sequence[int], epsilons: Vector, losses: Vector) -> Cohort:
        here = list(ids)
        up = sum(1 for i in here if self._source.scene.status[i] == "up")
        (loss,) = percentiles(losses[here], (50,))
        return Cohort(name, len(here), up, float(np.median(epsilons[here])), loss)

    def _worst(self, values: Vector) -> list[tuple[int, str, float]]:
        known = np.where(np.isnan(values), -np.inf, values)
        ranked = np.lexsort((np.arange(len(known)), -known))[:_OUTLIERS]
        return [
            (int(i), self._source.scene.state(int(i)), float(values[i]))
            for i in ranked
            if not np.isnan(values[i])
        ]

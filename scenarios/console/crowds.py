"""Thousands of agents as of one instant: how their budgets are spread, quantiles, groups, extremes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Vector
from scenarios.console.ink import HERE
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
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Crowds:
    """Looks when somebody else looked at everybody's ε."""

    def __init__(self, source: Source, caps: Vector) -> None:
        self._source = source
        self._members = source.facts.members
        self._caps = caps
        self.known: tuple[int, str] | None = None
        """Which look it is that is remembered, and at whom."""
        self._crowd: Crowd | None = None

    def now(self, look: int, epsilons: Vector, ids: Sequence[int], passing: str) -> Crowd | None:
        """Look at the agents that pass a filter, once for every look at everybody's ε; nothing before the first sample."""
        if self.known != (look, passing):
            last = self._source.scene.last
            self.known, self._crowd = (look, passing), None
            if last is not None and ids:
                crowd = self._of(epsilons, np.sort(np.array(ids)), last.t / 1e9)
                self._crowd = replace(crowd, filter=passing)
        return self._crowd

    def _of(self, epsilons: Vector, ids: Ids, sampled_s: float) -> Crowd:
        source, scene = self._source, self._source.scene
        spent, losses = epsilons[ids], np.array(scene.losses())[ids]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = spent / self._caps[ids]
        states = [scene.state(i) for i in ids.tolist()]
        full = (shares >= 0.99) | (np.array(states) == "spent")
        cells = np.minimum(9, np.nan_to_num(shares, nan=0.0, posinf=1.0) * 10).astype(int)
        counts = Counter(np.where(full, 10, cells)[~np.isnan(shares)].tolist())
        stale = np.array([source.stale(i) for i in ids.tolist()])
        measured: dict[str, Vector] = {
            "ε spent": spent,
            "loss*": losses,
            "stale s": stale,
            "inbox": np.array([source.inbox(i) for i in ids.tolist()], dtype=np.float64),
            "releases": np.array([source.releases(i) for i in ids.tolist()], dtype=np.float64),
        }
        up = np.array([state in HERE for state in states])
        ranked = {"ε": spent, "stale s": stale, "loss*": losses}
        return Crowd(
            at_s=source.now / 1e9,
            sampled_s=sampled_s,
            bins=[(name, counts[at]) for at, name in enumerate(_BINS)],
            quantiles=[(name, percentiles(values, _SEVEN)) for name, values in measured.items()],
            cohorts=[
                _cohort(name, np.isin(ids, listed), up, spent, losses)
                for name, listed in self._members.items()
                if np.isin(ids, listed).any()
            ],
            outliers=[(name, _worst(ids, states, values)) for name, values in ranked.items()],
        )


def _cohort(name: str, here: Mask, up: Mask, spent: Vector, losses: Vector) -> Cohort:
    (loss,) = percentiles(losses[here], (50,))
    return Cohort(name, int(here.sum()), int(up[here].sum()), float(np.median(spent[here])), loss)


def _worst(ids: Ids, states: Sequence[str], values: Vector) -> list[tuple[int, str, float]]:
    known = np.where(np.isnan(values), -np.inf, values)
    ranked = np.lexsort((ids, -known))[:_OUTLIERS]
    return [
        (int(ids[at]), states[at], float(values[at])) for at in ranked if not np.isnan(values[at])
    ]

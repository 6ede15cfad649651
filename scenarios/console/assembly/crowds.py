"""Thousands of agents as of one instant: how their budgets are spread, quantiles, groups, extremes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Vector
from scenarios.console.assembly.survey import Survey
from scenarios.console.drawing.model import Cohort, Crowd
from scenarios.console.drawing.styled_text import HERE
from scenarios.console.sources.state import percentiles

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


class CrowdBuilder:
    """Counts and ranks the agents of a survey."""

    def __init__(self, members: Mapping[str, Sequence[int]], caps: Vector) -> None:
        self._members = members
        self._caps = caps
        self.known: tuple[int, int, str] | None = None
        """Of which look the crowd is remembered, and of which filter."""
        self._crowd: Crowd | None = None

    def of(self, seen: Survey, ids: Sequence[int], passing: str) -> Crowd | None:
        """Return the agents that pass a filter, found once for each survey; None before the first sample, and where none passes."""
        if self.known != (seen.seq, seen.t, passing):
            self.known, self._crowd = (seen.seq, seen.t, passing), None
            if seen.sampled_t is not None and ids:
                crowd = self._of(seen, np.sort(np.array(ids)), seen.sampled_t / 1e9)
                self._crowd = replace(crowd, filter=passing)
        return self._crowd

    def _of(self, seen: Survey, ids: Ids, sampled_s: float) -> Crowd:
        spent, losses, stale = seen.epsilons[ids], seen.losses[ids], seen.stale[ids]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = spent / self._caps[ids]
        states = [seen.states[i] for i in ids.tolist()]
        full = (shares >= 0.99) | (np.array(states) == "spent")
        cells = np.minimum(9, np.nan_to_num(shares, nan=0.0, posinf=1.0) * 10).astype(int)
        counts = Counter(np.where(full, 10, cells)[~np.isnan(shares)].tolist())
        measured: dict[str, Vector] = {
            "ε spent": spent,
            "loss*": losses,
            "stale s": stale,
            "inbox": seen.inbox[ids],
            "releases": seen.releases[ids],
        }
        up = np.array([state in HERE for state in states])
        ranked = {"ε": spent, "stale s": stale, "loss*": losses}
        return Crowd(
            at_s=seen.t / 1e9,
            sampled_s=sampled_s,
            bins=[(name, counts[at]) for at, name in enumerate(_BINS)],
            quantiles=[(name, percentiles(values, _SEVEN)) for name, values in measured.items()],
            cohorts=[
                _cohort(name, np.isin(ids, listed), up, spent, losses)
                for name, listed in self._members.items()
                if np.isin(ids, listed).any()
            ],
            outliers=[(name, _worst(ids, states, values)) for name, values in ranked.items()],
            states=Counter(states),
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

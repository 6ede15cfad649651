"""What a metric is compared with: learning alone, the central optimum, a cap. All but the cap are an oracle's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.language.json_numbers import number
from scenarios.records.world_facts import Facts

ALONE, CENTRAL, CAP = "alone", "central", "cap"


@dataclass(frozen=True, slots=True)
class References:
    """Scores of purely local learning and of the central optimum, by name; empty where they are not known."""

    alone: Mapping[str, float]
    central: Mapping[str, float]

    def of(self, metric: str, facts: Facts) -> list[tuple[str, float]]:
        """Return the lines that a chart of a metric has: a word and a value each."""
        if metric == "epsilon":
            caps = {part.cap for part in facts.budgets}
            (cap,) = caps if len(caps) == 1 else (None,)
            return [] if cap is None else [(CAP, cap)]
        if metric == "gain":
            return [(ALONE, 0.0)]
        known = ((ALONE, self.alone.get(metric)), (CENTRAL, self.central.get(metric)))
        return [(word, value) for word, value in known if value is not None]


NO_REFERENCES = References({}, {})


def from_summary(summary: Mapping[str, Any]) -> References:
    """Return the references that a summary names."""
    return References(_scores(summary.get("local")), _scores(summary.get("central")))


def _scores(figures: Mapping[str, Any] | None) -> dict[str, float]:
    """Return loss and score by the names of their metrics."""
    if figures is None:
        return {}
    known = {name: number(value) for name, value in figures.items() if value is not None}
    return {name if name == "loss" else f"{name}.test": value for name, value in known.items()}


def from_snapshot(snapshot: Any) -> References:
    """Return the references of a world that goes on: what its summary will say, within the same effort."""
    if not snapshot.scores.has_test:
        return NO_REFERENCES
    models = {"local": snapshot.local, "central": snapshot.optimum_theta}
    return from_summary({k: None if m is None else snapshot.judged(m) for k, m in models.items()})

"""The runs that claims are judged by: the ends and the courses of finished sweeps."""

import math
from collections.abc import Mapping
from typing import Any

from scenarios.records.sample_values import value_in
from scenarios.records.sweep_record import Row, SweepRecord
from scenarios.reproduction.judgement import Absent


class Evidence:
    """Finished sweeps by the names of their experiments; what is missing is told by why it is.

    `quick` is whether the sweeps were cut down to a few minutes.
    """

    def __init__(
        self,
        sweeps: Mapping[str, SweepRecord],
        missing: Mapping[str, str] | None = None,
        *,
        quick: bool = False,
    ) -> None:
        self.quick = quick
        self._sweeps = sweeps
        self._missing = missing or {}

    def sweep(self, scenario: str) -> SweepRecord:
        """Return the sweep of a scenario. Raises Absent where it was not run."""
        if scenario not in self._sweeps:
            raise Absent(self._missing.get(scenario, f"{scenario} was not run"))
        return self._sweeps[scenario]

    def rows(self, scenario: str, match: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the finished runs with these values of axes, of settings that were chosen. Raises Absent where there is none.

        A table of the scenario is known by its kind, or by how its name begins: "cd" and "cd(mu=1" stand for `cd(mu=1, …`.
        """
        found = []
        for row in self.sweep(scenario).chosen:
            if all(
                is_named(row.settings.get(axis), value) for axis, value in (match or {}).items()
            ):
                if row.status != "finished":
                    said = f"{scenario}: seed {row.seed} ended as {row.status}: {row.message}"
                    raise Absent(said)
                found.append(row)
        if not found:
            said = ", ".join(f"{axis} = {value}" for axis, value in (match or {}).items())
            raise Absent(f"{scenario} has no run with {said}")
        return found

    def labels(self, scenario: str, axis: str) -> list[Any]:
        """Return the values of an axis in their order, as the table names them."""
        seen = dict.fromkeys(row.settings[axis] for row in self.sweep(scenario).rows)
        return list(seen)

    def ends(
        self, scenario: str, metric: str, match: Mapping[str, Any] | None = None
    ) -> dict[int, float]:
        """Return a metric at the end of each run, by its seed; one run for each seed must match."""
        rows = self.rows(scenario, match)
        ends = {row.seed: row.metrics[metric] for row in rows}
        if len(ends) < len(rows):
            raise ValueError(f"{scenario}: several settings match {match}")
        return ends

    def mean(self, scenario: str, metric: str, match: Mapping[str, Any] | None = None) -> float:
        """Return the mean over seeds of a metric at the end."""
        ends = self.ends(scenario, metric, match)
        return math.fsum(ends.values()) / len(ends)

    def courses(
        self, scenario: str, metric: str, match: Mapping[str, Any] | None = None
    ) -> dict[int, list[tuple[float, float]]]:
        """Return, for each seed, the samples of a metric with their instants in seconds."""
        sweep, courses = self.sweep(scenario), {}
        for row in self.rows(scenario, match):
            samples = sweep.run(row).curves()
            course = [(t, value_in(metric, values, {})) for t, values in samples]
            courses[row.seed] = [(t, value) for t, value in course if not math.isnan(value)]
        return courses


def is_named(label: Any, value: Any) -> bool:
    """Whether the table names a value so; a table of the scenario is known by its kind, or by how its name begins."""
    if isinstance(value, str) and isinstance(label, str):
        return label == value or label.startswith(value if "(" in value else f"{value}(")
    return bool(label == value)

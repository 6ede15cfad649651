"""What invariants and faults cost: the same world with and without them, in turns.

Without invariants and faults; with all invariants; with a table of faults that never touch anything (intervals longer than the
run, conditions that never hold, faults at the very end); with a trouble on every link.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks import asynchronous
from benchmarks.measuring import Case, Setting, interleaved, micros, ratio
from benchmarks.report import Row
from scenarios.running import run_observers
from scenarios.running.observers.checks import Checks
from scenarios.running.observers.invariants import Verdict


class NoChecks(Checks):
    """Stands where the invariants stand, and looks at nothing."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.routes = {}

    def finish(self, *, complete: bool) -> dict[str, Verdict]:
        del complete
        return self.verdicts


def idle(ticks: int) -> list[dict[str, Any]]:
    """Faults of every class that touch nothing."""
    end = float(ticks)
    return [
        {"every": 2 * end, "loss": {"on": "all", "p": 0.5}},
        {"every": 2 * end, "partition": {"isolate": "minority"}},
        {"at": end, "crash": "one"},
        {"at": end, "churn": {"on": "all", "session": "1h", "downtime": "1h"}},
        {"every": 2 * end, "pause": "one"},
        {"when": 'kind == "crashed" and node == 3', "for": 1.0, "crash": "event"},
        {"when": 'kind == "sampled" and epsilon.max > 1e9', "for": 1.0, "leave": "one"},
    ]


def measure(setting: Setting, name: str, n: int, ticks: int) -> Iterator[Row]:
    """Yield each world over the one without invariants and faults."""
    from benchmarks import hush_runs

    if setting.quick:
        n, ticks = 30, 2
    world = asynchronous.world(n, 100, ticks)
    everywhere = [{"at": 0.0, "loss": {"on": "all", "p": 0.01}}]
    tables: dict[str, list[dict[str, Any]]] = {
        "nothing": [],
        "invariants": [],
        "idle faults": idle(ticks),
        "a trouble on every link": everywhere,
    }

    def case_of(key: str, faults: list[dict[str, Any]]) -> Case:
        plan = hush_runs.plan_of(world | {"fault": faults}, "events")
        checks: Any = NoChecks if key == "nothing" else Checks

        def case() -> float:
            run_observers.Checks = checks  # type: ignore[attr-defined]
            try:
                ran = hush_runs.execute(plan)
            finally:
                run_observers.Checks = Checks  # type: ignore[attr-defined]
            return ran.loop / ran.run.members.updates

        return case

    times = interleaved(
        {key: case_of(key, faults) for key, faults in tables.items()}, setting.repeat
    )
    for key in list(tables)[1:]:
        what = f"detailed, with {key}, over a run without invariants and faults"
        detail = {"µs": micros(times[key]), "without": micros(times["nothing"])}
        yield ratio(f"{name}/{key}", what, times[key], times["nothing"], detail=detail)

"""From what a user asks of a sweep to its order: the scenarios' own [sweep] tables, and what was said on top of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.experiments.grid import grid_of
from scenarios.experiments.sweep import Order, goals_of, metrics_asked
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import read_source
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.context import Options
from scenarios.planning.scenario import read_again
from scenarios.planning.sweep_table import SweepTable, seeds_of

Scenario = str | Path | Mapping[str, Any]


def order_of(
    scenarios: Sequence[Scenario],
    settings: Mapping[str, Any],
    options: Options,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    zips: Sequence[Sequence[str]] | None = None,
    seeds: str | Sequence[int] | None = None,
    metrics: Sequence[str] = (),
    jobs: int | None = None,
    command: str = "",
    given: str = "",
) -> Order:
    """Return the order of a sweep. Raises `ScenarioError` with what is wrong with the scenarios or with what varies.

    `grid`, `seeds` and `metrics` come before what the [sweep] of the scenarios says; a key of `grid` replaces that key
    there and leaves the others. Files are read once.
    """
    if not scenarios:
        raise ScenarioError.of("sweep", "needs at least one scenario")
    sources = [read_source(scenario, settings) for scenario in scenarios]
    reads = [checked(read_again(source)) for source in sources]
    table = _common(reads)
    values = dict(table.axes) | {key: list(several) for key, several in (grid or {}).items()}
    groups = table.zip if zips is None else zips
    made = grid_of(values, groups, _seeds(seeds, table), len(sources))
    goals = goals_of(reads)
    asked = metrics_asked(metrics or table.metrics, goals, "--metric" if metrics else "metrics")
    return Order(
        tuple(sources), _names(reads), made, options, asked, jobs, command=command, given=given
    )


def _common(reads: Sequence[CheckedScenario]) -> SweepTable:
    """Return the one [sweep] of several scenarios: those that have one agree in it."""
    tables = [read.read.sweep for read in reads if read.given.get("sweep")]
    if any(table != tables[0] for table in tables[1:]):
        said = "the [sweep] of the scenarios differ: give scenarios with one, or without any, and --grid"
        raise ScenarioError.of("sweep", said)
    return tables[0] if tables else reads[0].read.sweep


def _seeds(asked: str | Sequence[int] | None, table: SweepTable) -> Sequence[int]:
    if isinstance(asked, str) or (asked is None and table.seeds is not None):
        return seeds_of(asked if isinstance(asked, str) else str(table.seeds))
    if asked is None:
        said = 'say which: --seeds 0..9, or [sweep] seeds = "0..9" in the file'
        raise ScenarioError.of("--seeds", said)
    seeds = [int(seed) for seed in asked]
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise ScenarioError.of(
            "seeds", f"must be different whole numbers >= 0, got {asked!r}"[:200]
        )
    return seeds


def _names(reads: Sequence[CheckedScenario]) -> tuple[str, ...]:
    """Return what the table calls the scenarios: their names, numbered where two have one."""
    names = list[str]()
    for read in reads:
        name, number = read.name, 2
        while name in names:
            name, number = f"{read.name} ({number})", number + 1
        names.append(name)
    return tuple(names)

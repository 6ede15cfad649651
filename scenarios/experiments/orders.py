"""From what a user asks of a sweep to its order: the scenarios' own [sweep] tables, and what was said on top of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from types import NoneType
from typing import Any

from scenarios.experiments.choose import Choice, choice_of, is_higher_better
from scenarios.experiments.grid import Grid, grid_of
from scenarios.experiments.racing import Race
from scenarios.experiments.table_metrics import column_of
from scenarios.language.problems import Report, ScenarioError, shown
from scenarios.language.reader import Source, read_source
from scenarios.language.table_rules import read_table
from scenarios.planning.context import Options
from scenarios.planning.given_scenario import for_points
from scenarios.planning.sweep_table import ChooseTable, SweepRule, SweepTable, seeds_of

Scenario = str | Path | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user says of a sweep beside its scenarios; what is None or empty is as their [sweep] has it."""

    grid: Mapping[str, Sequence[Any]] | None = None
    zips: Sequence[Sequence[str]] | None = None
    seeds: str | Sequence[int] | None = None
    metrics: Sequence[str] = ()
    choose: Mapping[str, Any] | None = None
    """The keys of [sweep] choose."""
    race: str | None = None
    curves: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What a sweep is to do.

    `sources` are the scenarios as they were written, `names` what the table calls them. Without `metrics` the table has
    the usual ones; those of `choice` and `race` are added.
    """

    sources: tuple[Source, ...]
    names: tuple[str, ...]
    grid: Grid
    options: Options
    metrics: tuple[str, ...] = ()
    choice: Choice | None = None
    race: Race | None = None
    curves: bool = False
    jobs: int | None = None
    cluster: str | None = None
    """The address of the scheduler of a Dask cluster; None: processes of this machine."""
    command: str = ""
    given: str = ""
    """The checksum of data that were handed over in Python."""


def order_of(
    scenarios: Sequence[Scenario],
    settings: Mapping[str, Any],
    options: Options,
    wishes: Wishes,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    command: str = "",
    given: str = "",
) -> Order:
    """Return the order of a sweep. Raises `ScenarioError` with what is wrong with the scenarios or with what varies.

    Wishes come before what the [sweep] of the scenarios says; a key of `grid` replaces that key there and leaves the others.
    Files are read once: they may change while the sweep goes on.
    """
    if not scenarios:
        raise ScenarioError.of("sweep", "needs at least one scenario")
    sources = [read_source(scenario, settings) for scenario in scenarios]
    if options.data is not None:
        sources = [for_points(source, settings) for source in sources]
    table = _common(sources)
    grid = _grid(table, wishes, len(sources))
    choice, race = _choice(table, wishes, grid), _race(table, wishes, grid)
    return Order(
        sources=tuple(sources),
        names=_names(sources),
        grid=grid,
        options=options,
        metrics=tuple(_several(wishes.metrics, "metrics") or table.metrics),
        choice=choice,
        race=race,
        curves=wishes.curves,
        jobs=jobs,
        cluster=cluster,
        command=command,
        given=given,
    )


def _common(sources: Sequence[Source]) -> SweepTable:
    """Return the one [sweep] of several scenarios: those that have one agree in it."""
    tables = list[SweepTable]()
    for source in sources:
        report = source.report()
        tables.append(SweepRule().read(source.tree.get("sweep", {}), ("sweep",), report))
        report.stop_if_any()
    own = [t for t, source in zip(tables, sources, strict=True) if source.tree.get("sweep")]
    if any(table != own[0] for table in own[1:]):
        said = "the [sweep] of the scenarios differ: only one of them may have one, or all the same"
        raise ScenarioError.of("sweep", said)
    return own[0] if own else tables[0]


def _grid(table: SweepTable, wishes: Wishes, scenarios: int) -> Grid:
    if not isinstance(wishes.grid or {}, Mapping):
        raise ScenarioError.of("grid", f"must be a table of keys, got {shown(wishes.grid)}")
    wished = {key: _several(several, key) for key, several in (wishes.grid or {}).items()}
    for key, several in wished.items():
        if any(value is None for value in several):
            raise ScenarioError.of(key, "None is no value of a scenario")
    groups = table.zip
    if wishes.zips is not None:
        groups = [_several(group, "zip") for group in wishes.zips]
    return grid_of(dict(table.axes) | wished, groups, _seeds(wishes.seeds, table), scenarios)


def _several(values: Any, place: str) -> list[Any]:
    """Return values as a list; a text is one value, and so is what cannot be counted through."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise ScenarioError.of(place, f"must be a list of values, got {shown(values)}")
    return list(values)


def _seeds(asked: str | Sequence[int] | None, table: SweepTable) -> Sequence[int]:
    if isinstance(asked, str) or (asked is None and table.seeds is not None):
        return seeds_of(asked if isinstance(asked, str) else str(table.seeds))
    if asked is None:
        said = 'say which: --seeds 0..9, or [sweep] seeds = "0..9" in the file'
        raise ScenarioError.of("--seeds", said)
    try:
        seeds = [index(seed) for seed in asked if not isinstance(seed, bool)]
    except TypeError:
        seeds = []
    if (
        not seeds
        or len(seeds) < len(asked)
        or len(set(seeds)) < len(seeds)
        or not 0 <= min(seeds) <= max(seeds) < 2**63
    ):
        said = f"must be different whole numbers from 0 to 2^63 - 1, got {asked!r}"
        raise ScenarioError.of("seeds", said[:200])
    return seeds


def _choice(table: SweepTable, wishes: Wishes, grid: Grid) -> Choice | None:
    """Return what is to be chosen; the keys that were wished for come before those of the file."""
    keys = ("by", "over", "better", "epsilon")
    if not isinstance(wishes.choose, (Mapping, NoneType)):
        raise ScenarioError.of("choose", f"must be a table, got {shown(wishes.choose)}")
    own = table.choose
    written = {} if own is None else {key: getattr(own, key) for key in keys}
    merged = written | dict(wishes.choose or {})
    if not merged:
        return None
    if not merged.get("by"):
        raise ScenarioError.of("choose.by", "say by which metric: such as accuracy.validation")
    over = merged.get("over") or ()
    if isinstance(over, (str, tuple)):
        merged["over"] = [over] if isinstance(over, str) else list(over)
    said = {key: value for key, value in merged.items() if value is not None}
    report = Report({}, {})  # what Python says is held to the rules of [sweep]
    made = read_table(ChooseTable, said, ("choose",), report)
    report.stop_if_any()
    return choice_of(column_of(made.by), made.over, made.better, made.epsilon, grid)


def _race(table: SweepTable, wishes: Wishes, grid: Grid) -> Race | None:
    by = wishes.race or table.race
    if by is None:
        return None
    name, _, better = str(by).partition(":")
    if better not in {"", "higher", "lower"}:
        raise ScenarioError.of("race", f"must be METRIC, METRIC:higher or METRIC:lower, got {by}")
    return Race(column_of(name), is_higher_better(name, better or None, "race"), len(grid.seeds))


def _names(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return what the table calls the scenarios: their names, numbered where two have one."""
    names = list[str]()
    for source in sources:
        own = source.tree.get("name")
        name = stem = own if isinstance(own, str) and own else source.name
        number = 2
        while name in names:
            name, number = f"{stem} ({number})", number + 1
        names.append(name)
    return tuple(names)

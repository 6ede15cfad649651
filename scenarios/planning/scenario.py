"""A scenario, read: what its author wrote, with all defaults, and as checked values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios.language.problems import Report
from scenarios.language.reader import Replaced, Source, read_source
from scenarios.language.table_rules import fill_table, read_table
from scenarios.planning.scenario_tables import ScenarioTable


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario: `given` as it was written, `raw` with all defaults, `read` as the plan wants it."""

    name: str
    text: str
    folder: Path
    given: dict[str, Any]
    raw: dict[str, Any]
    read: ScenarioTable
    report: Report = field(repr=False)
    replaced: tuple[Replaced, ...] = ()
    """The tables whose kind `--set` changed."""


def load(
    scenario: str | Path | Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    named: bool = True,
) -> Scenario:
    """Read a library name, a file or a plain dict; `settings` and `named` are those of `read_source`.

    What is wrong with single values is in the scenario's report.
    """
    return read_again(read_source(scenario, settings, named=named))


def read_again(source: Source) -> Scenario:
    """Read the values of a source; what is wrong with single values is in the scenario's report."""
    report = source.report()
    read = read_table(ScenarioTable, source.tree, (), report)
    raw = source.tree if report.problems else fill_table(ScenarioTable, source.tree)
    name = read.name or source.name
    replaced = tuple(source.draft.replaced)
    return Scenario(name, source.text, source.folder, source.tree, raw, read, report, replaced)

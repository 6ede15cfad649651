"""Small files in the form of each published set: what a loader reads can be compared with what was written."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.planning.columns import Categorical, Numeric
from scenarios.planning.data_sources import SOURCES, SourceInputs
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Tables
from scenarios.planning.named_sets import NamedTable
from scenarios.planning.pool import Pool
from tests.support.kinds import read_kind

NAMED = [name for name, kind in SOURCES.items() if issubclass(kind.table, NamedTable)]
"""The published sets that become a pool by their layout."""


def every_point(table: NamedTable) -> NamedTable:
    """Let a table draw no points, whatever its default is: small files have fewer."""
    object.__setattr__(table, "points", None)
    return table


def named_table(name: str, **keys: Any) -> NamedTable:
    """Read the table of a set as an author writes it."""
    table = read_kind(Tables(SOURCES), {"source": name, **keys}, "source")
    assert isinstance(table, NamedTable)
    return table


@dataclass(frozen=True)
class SmallSet:
    """A set whose files hold `rows`, each a value of every column and a word of the label."""

    name: str
    rows: list[dict[str, str]]

    def text(self, rows: list[dict[str, str]]) -> str:
        """Return rows as the text of a file, with a header where the format has one."""
        layout = named_table(self.name).layout()
        names = layout.how.names
        names = names or (*(column.name for column in layout.columns), layout.label)
        written = io.StringIO()
        writer = csv.writer(written, delimiter=layout.how.separator, lineterminator="\n")
        if layout.how.names is None:
            writer.writerow(names)
        writer.writerows([row.get(name, "7") for name in names] for row in rows)
        return written.getvalue()

    def write(self, folder: Path, rows: list[dict[str, str]] | None = None) -> list[Path]:
        """Write the files that the set's table reads, each with a part of the rows."""
        rows = self.rows if rows is None else rows
        files = named_table(self.name).chosen()
        home = folder / SOURCES[self.name].published.folder  # type: ignore[union-attr] # a named set
        home.mkdir(parents=True, exist_ok=True)
        cuts = np.array_split(np.arange(len(rows)), len(files))
        paths = []
        for file, cut in zip(files, cuts, strict=True):
            paths.append(home / file.name)
            paths[-1].write_text(self.text([rows[i] for i in cut.tolist()]))
        return paths


def small_set(name: str, count: int = 40, seed: int = 0) -> SmallSet:
    """Draw rows of a set: numbers up to their maximum in magnitude and of both signs, categories and labels that it knows."""
    layout, rng = named_table(name).layout(), np.random.default_rng(seed)

    def value(column: object) -> str:
        if isinstance(column, Categorical):
            return str(rng.choice(column.categories))
        assert isinstance(column, Numeric)
        return repr(float(np.round(rng.uniform(-column.maximum, column.maximum), 3)))

    rows = []
    for _ in range(count):
        row = {column.name: value(column) for column in layout.columns}
        rows.append(row | {layout.label: str(rng.choice(list(layout.labels)))})
    return SmallSet(name, rows)


def pool_of(name: str, folder: Path, seed: int = 0, most: float = np.inf, **keys: Any) -> Pool:
    """Read the pool of a set whose files lie below a folder."""
    table = every_point(named_table(name, **({"checksum": "any"} | keys)))
    return table.pool(SourceInputs(1, seed, Folders(folder, most=most)))

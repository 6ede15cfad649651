"""Published data sets as data sources: what a scenario may say of one, and how its files become a pool of points."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import key, values_of
from scenarios.language.value_rules import Choice, Flag, Text
from scenarios.planning.columns import Categorical, Column, Numeric, encode
from scenarios.planning.data_sources import SOURCES, Amount, PooledTable, SourceInputs, SourceTable
from scenarios.planning.delimited import DelimitedText, Format, TextTable
from scenarios.planning.files import MOST_BYTES, BadData, Folders
from scenarios.planning.kept_pools import kept
from scenarios.planning.published import (
    Located,
    PublishedFile,
    PublishedSet,
    locate,
    read_published,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scenarios.planning.pool import Pool


@dataclass(frozen=True, slots=True)
class Layout:
    """How the text of a set becomes points: its format, the columns that become features, the label.

    `labels` are the words of the label and what they become, −1 or 1. A row in which a value is `missing` is left out;
    empty where values are never missing.
    """

    how: Format
    columns: tuple[Column, ...]
    label: str
    labels: Mapping[str, float]
    missing: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for column in self.columns for name in column.features)


class PublishedTable(SourceTable):
    """A published data set, read from its files: `path` is the folder that holds them, None the set's own."""

    path: str | None = key(
        Text("a path"),
        words="The folder that holds the files; left out, the set's own name in a folder of `--data`.",
    )
    checksum: str = key(
        Choice("published", "any"),
        "published",
        words="Whether the files must be those that were published.",
    )

    @property
    def published(self) -> PublishedSet:
        """What is known of the set."""
        known = SOURCES[self.kind].published
        if known is None:
            raise NotImplementedError(f"nothing is known of the files of {self.kind!r}")
        return known

    def chosen(self) -> tuple[PublishedFile, ...]:
        """Return the files that are read, in the order of their points."""
        return self.published.files

    def located(self, folders: Folders) -> list[Located]:
        """Find the files. Raises BadData."""
        return locate(self.published, folders, self.path, self.chosen())

    def content(self, found: Located, most: float) -> tuple[bytes, str]:
        """Return the text of a file that was found, and how it differs from what was published. Raises BadData."""
        return read_published(found, self.checksum, most)

    def files(self, folders: Folders) -> Iterator[tuple[str, Path]]:
        for found in self.located(folders):
            yield found.name, found.path


class NamedTable(PublishedTable, PooledTable):
    """A published data set that is one pool of points.

    Each row is scaled to norm at most 1, after a constant feature was appended with `bias`.
    """

    scale: str = key(
        Choice("refuse", "row"),
        "row",
        words="What becomes of a row above norm 1: it is refused, or scaled to norm 1.",
    )
    bias: bool = key(Flag(), False, words="Whether a constant feature is appended.")

    def layout(self) -> Layout:
        """Return how the text of the files becomes points."""
        raise NotImplementedError(f"no layout is written for {self.kind!r}")

    def amount(self, _: int) -> Amount:
        points = self.points or sum(file.records for file in self.chosen())
        tests = round(self.test * points)
        return Amount(points - tests, tests, len(self.layout().features) + self.bias)

    def pool(self, inputs: SourceInputs) -> "Pool":
        found, layout = self.located(inputs.folders), self.layout()
        first = not layout.missing  # then rows are drawn before they are read: all of them count
        dealing = {"split", "test", "validation", "scale", "points", "path"}
        options = {k: v for k, v in values_of(self).items() if k not in dealing}
        drawn = (inputs.seed, self.points) if first and self.points else ()
        key = (*options.items(), *drawn)
        read = partial(_read, self, found, inputs, draw=first)
        return kept(key, [one.path for one in found], read)


def _read(
    table: NamedTable, found: Sequence[Located], inputs: SourceInputs, *, draw: bool
) -> "Pool":
    """Read the pool of files: the rows that are drawn, or all."""
    import numpy as np

    from scenarios.planning.datasets import drawn_rows
    from scenarios.planning.pool import WHICH_IS_PUBLIC, Pool

    layout, most, notes = table.layout(), inputs.folders.most, list[str]()
    texts = list[DelimitedText]()
    for one in found:
        read, difference = table.content(one, most)
        if difference:
            notes.append(f"{one.name} is not the file as published: {difference}")
        texts.append(DelimitedText(one.path.name, read, layout.how, most=most))
        texts[-1].require([*(column.name for column in layout.columns), layout.label])
    total, width = sum(map(len, texts)), len(layout.features)
    rows = drawn_rows(table, total, inputs.seed) if draw else None
    count = total if rows is None else len(rows)
    needed = count * (width + table.bias) * 8
    if needed > most:
        limit = f"above {MOST_BYTES / 1e9:.3g} GB for all files together"
        raise BadData(
            f"{count:,} points would take {needed / 1e9:.3g} GB; {limit} needs --allow-large"
        )
    x, y, at = np.zeros((count, width + table.bias)), np.empty(count), 0
    values: dict[str, list[NDArray[Any]]] = {column.name: [] for column in layout.columns}
    for block in _blocks(texts, rows):
        kept = _complete(block, layout)
        to = at + len(kept)
        encoded = encode(kept, layout.columns, x[at:to, :width])
        y[at:to] = _labels(kept, layout)
        for name, read_values in encoded.values.items():
            values[name].append(read_values)
        at = to
    if not at:
        raise BadData(f"{found[0].name}: every row has a missing value ('{layout.missing}')")
    if at < count:
        missing = f"have a missing value ('{layout.missing}') and were left out{WHICH_IS_PUBLIC}"
        notes.append(f"{table.kind}: {count - at:,} of {count:,} rows {missing}")
    if table.bias:
        x[:, width] = 1.0
    columns = {name: np.concatenate(parts) for name, parts in values.items()}
    notes.extend(_above(layout, columns))
    return Pool(x[:at], y[:at], columns, notes=tuple(notes))


def _blocks(
    texts: Sequence[DelimitedText], rows: "NDArray[np.int64] | None"
) -> Iterator[TextTable]:
    """Yield the rows of all texts, one text after another, in small tables."""
    first = 0
    for text in texts:
        last = first + len(text)
        own = None if rows is None else (rows[(rows >= first) & (rows < last)] - first).tolist()
        yield from text.blocks(own)
        first = last


def _complete(table: TextTable, layout: Layout) -> TextTable:
    """Return the rows without a missing value."""
    if not layout.missing:
        return table
    used = [table.column(column.name) for column in layout.columns]
    gaps = {
        row
        for values in used
        if layout.missing in values
        for row, value in enumerate(values)
        if value == layout.missing
    }
    return table.take(row for row in range(len(table)) if row not in gaps) if gaps else table


def _labels(table: TextTable, layout: Layout) -> "NDArray[np.float64]":
    """Return the labels as numbers. Raises BadData."""
    import numpy as np

    codes = Categorical(layout.label, tuple(layout.labels)).codes(table)
    numbers: NDArray[np.float64] = np.array(list(layout.labels.values()))[codes]
    return numbers


def _above(layout: Layout, columns: "Mapping[str, NDArray[Any]]") -> Iterator[str]:
    """Say which columns hold values above their published maximum: a file that is not the published one may."""
    for column in layout.columns:
        if isinstance(column, Numeric):
            above = int((abs(columns[column.name]) > column.maximum).sum())
            if above:
                limit = f"above the published maximum {column.maximum:g}"
                yield f"{column.name}: {above:,} values are {limit}, by which they are divided"

"""Points in a delimited text file whose first row names the columns."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Choice, Text
from scenarios.planning.data_sources import SourceInputs, SourceKind
from scenarios.planning.delimited import Format, beginning, read_delimited
from scenarios.planning.files import BadData, Folders
from scenarios.planning.kept_pools import kept
from scenarios.planning.tabular import TabularTable

if TYPE_CHECKING:
    from scenarios.planning.pool import Pool


_SEPARATORS = (",", ";", "\t", "|", " ")
_FIRST = 100_000
"""So many bytes of a file are looked at for its first line."""


class CsvTable(TabularTable):
    """Points in a delimited text file whose first row names the columns; it may be compressed with gzip."""

    path: str = key(Text("a path"), REQUIRED, words="The file.")
    label: str = key(Text("the name of a column"), REQUIRED, words="The column of the labels.")
    separator: str = key(Choice(*_SEPARATORS), ",", words="What stands between two cells.")

    def files(self, folders: Folders) -> Iterator[tuple[str, Path]]:
        yield self.path, folders.find(self.path)

    def pool(self, inputs: SourceInputs) -> "Pool":
        path, most = inputs.folders.find(self.path), inputs.folders.most
        try:
            return kept((self.of_pool(), most), [path], partial(self._read, path, most))
        except BadData as error:
            raise BadData(f"{error}{self._other_separator(path)}") from None

    def _other_separator(self, path: Path) -> str:
        """Return a hint where the first line has another separator and not this one; empty where it has this one."""
        first = beginning(path, _FIRST).decode(errors="replace").partition("\n")[0]
        others = [sign for sign in _SEPARATORS if sign in first]
        if self.separator in first or not others:
            return ""
        likely = max(others, key=first.count)
        return f"; its first line has no {self.separator!r}, and {likely!r}: data.separator = {likely!r}"

    def _read(self, path: Path, most: float) -> "Pool":
        from scenarios.planning.tabular_pool import column_of, pool_of
        from scenarios.planning.value_table import ValueTable

        text = read_delimited(path, Format(self.separator), most=most)
        categorical = {*(self.categorical or ()), *self.categories}
        columns = {
            name: column_of(cells, as_words=name in categorical)
            for name, cells in text.columns.items()
        }
        values = ValueTable(text.name, columns, text.place, len(text))
        return pool_of(values, self.label, self, most)


KIND = SourceKind("csv", CsvTable, example={"path": "people.csv", "label": "income"})

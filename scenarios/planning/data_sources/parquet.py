"""Points in a Parquet file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Text
from scenarios.planning.data_sources import SourceInputs, SourceKind
from scenarios.planning.files import Folders
from scenarios.planning.kept_pools import kept
from scenarios.planning.tabular import TabularTable

if TYPE_CHECKING:
    from scenarios.planning.pool import Pool


class ParquetTable(TabularTable):
    """Points in a Parquet file, whose columns are numbers, truth values or words."""

    path: str = key(Text("a path"), REQUIRED, words="The file.")
    label: str = key(Text("the name of a column"), REQUIRED, words="The column of the labels.")

    def files(self, folders: Folders) -> Iterator[tuple[str, Path]]:
        yield self.path, folders.find(self.path)

    def pool(self, inputs: SourceInputs) -> "Pool":
        path, most = inputs.folders.find(self.path), inputs.folders.most
        return kept((self.of_pool(), most), [path], partial(self._read, path, most))

    def _read(self, path: Path, most: float) -> "Pool":
        from scenarios.planning.parquet_files import read_parquet
        from scenarios.planning.tabular_pool import pool_of

        return pool_of(read_parquet(path, most), self.label, self, most)


KIND = SourceKind("parquet", ParquetTable, example={"path": "people.parquet", "label": "income"})

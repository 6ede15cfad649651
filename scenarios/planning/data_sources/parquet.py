"""Points in a Parquet file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Text
from scenarios.planning.data_sources import SourceInputs, SourceKind
from scenarios.planning.files import Folders
from scenarios.planning.tabular import TabularTable

if TYPE_CHECKING:
    from scenarios.planning.pool import Pool


class ParquetTable(TabularTable):
    """Points in a Parquet file, whose columns are numbers, truth values or words."""

    path: str = key(Text("a path"), REQUIRED)
    label: str = key(Text("the name of a column"), REQUIRED)

    def files(self, folders: Folders) -> Iterator[tuple[str, Path]]:
        yield self.path, folders.find(self.path)

    def pool(self, inputs: SourceInputs) -> "Pool":
        from scenarios.planning.parquet_files import read_parquet
        from scenarios.planning.tabular_pool import pool_of

        most = inputs.folders.most
        values = read_parquet(inputs.folders.find(self.path), most)
        return pool_of(values, self.label, self, most)


KIND = SourceKind("parquet", ParquetTable, example={"path": "people.parquet", "label": "income"})

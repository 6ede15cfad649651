"""Members of families, made from tables as an author writes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.vectors import Matrix
from scenarios.language.problems import Report
from scenarios.language.table_rules import Kinds, KindTable
from scenarios.planning.data_sources import SOURCES, SourceInputs, SourceTable
from scenarios.planning.datasets import Demands, Shards, tidy
from scenarios.planning.files import Folders
from scenarios.planning.graphs import Edge
from scenarios.planning.kinds import Tables
from scenarios.planning.splits import SPLITS, SplitTable
from scenarios.planning.topologies import TOPOLOGIES, TopologyInputs, TopologyTable


def read_kind(family: Mapping[str, type[KindTable]], table: Any, tag: str = "kind") -> Any:
    """Read a table of a family; raise what is wrong with it."""
    report = Report({}, {}, "table")
    read = Kinds("kind", family, tag=tag).read(table, (), report)
    report.stop_if_any()
    return read


def split_table(table: dict[str, Any]) -> SplitTable:
    """Read a split."""
    split: SplitTable = read_kind(Tables(SPLITS), table)
    return split


def load(data: dict[str, Any], n: int, seed: int, folders: Folders, demands: Demands) -> Shards:
    """Make or read the points of n agents."""
    table: SourceTable = read_kind(Tables(SOURCES), data, "source")
    return tidy(table.build(SourceInputs(n, seed, folders)), demands)


def edges_of(
    topology: dict[str, Any], n: int, rng: np.random.Generator, targets: Matrix | None
) -> Sequence[Edge]:
    """Make the edges of a topology over n agents."""
    table = read_kind(Tables(TOPOLOGIES), topology)
    inputs = TopologyInputs(n, rng, targets, Folders(Path()))
    assert isinstance(table, TopologyTable)
    return table.join(inputs)

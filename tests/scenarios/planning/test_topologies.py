"""Graphs of one form have the edges that their names say, and need no networkx."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from scenarios.language.problems import Report
from scenarios.language.table_rules import read_table
from scenarios.planning.files import Folders
from scenarios.planning.graphs import NoGraph
from scenarios.planning.topologies import TOPOLOGIES, Edges, TopologyInputs


def edges(kind: str, n: int, **table: Any) -> Edges:
    made = read_table(TOPOLOGIES[kind].table, table | {"kind": kind}, (), Report({}, {}))
    folders = Folders(Path(), (), None, 0)
    return made.join(TopologyInputs(n, np.random.default_rng(1), None, folders))


def of_networkx(graph: Any) -> Edges:
    plain = nx.convert_node_labels_to_integers(graph)
    return tuple(sorted((min(i, j), max(i, j), 1.0) for i, j in plain.edges if i != j))


SECOND: dict[str, Callable[[int], Any]] = {
    "ring": nx.cycle_graph,
    "path": nx.path_graph,
    "complete": nx.complete_graph,
    "star": lambda n: nx.star_graph(n - 1),
}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("kind", SECOND)
def test_a_graph_of_one_form_is_that_of_networkx(kind: str, n: int) -> None:
    assert edges(kind, n) == of_networkx(SECOND[kind](n))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 4), (4, 3)])
def test_a_grid_is_that_of_networkx(rows: int, columns: int) -> None:
    found = edges("grid", rows * columns, rows=rows, columns=columns)
    assert found == of_networkx(nx.grid_2d_graph(rows, columns))
    assert len(found) == rows * (columns - 1) + columns * (rows - 1)


def test_a_grid_of_another_size_is_refused() -> None:
    with pytest.raises(NoGraph, match="a 2 × 3 grid has 6 agents, not 5"):
        edges("grid", 5, rows=2, columns=3)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("ring", lambda n: n),
        ("path", lambda n: n - 1),
        ("star", lambda n: n - 1),
        ("complete", lambda n: n * (n - 1) // 2),
    ],
)
def test_a_graph_of_one_form_has_so_many_edges(kind: str, count: Callable[[int], int]) -> None:
    for n in range(3, 20):
        assert len(edges(kind, n)) == count(n)


def test_graphs_of_one_form_need_no_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    for kind in SECOND:
        assert edges(kind, 5)
    assert edges("grid", 6, rows=2, columns=3)
    with pytest.raises(ModuleNotFoundError):
        edges("erdos-renyi", 6, p=0.5)

"""Topologies, data sources and random streams: counts, sums, distributions."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from clocks.durations import bits_of
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.datasets import Demands
from scenarios.planning.files import BadData, Folders
from scenarios.planning.graphs import NoGraph, from_graph, listed
from scenarios.planning.seeds import draws, generator, keys
from scenarios.planning.topologies.similarity import NEGLIGIBLE
from tests.support.builders import perform, scenario
from tests.support.kinds import edges_of, load


def rng() -> np.random.Generator:
    return generator(3, "test")


def edges(n: int = 12, **topology: Any) -> set[tuple[int, int]]:
    targets = generator(1, "targets").standard_normal((n, 4))
    return {(i, j) for i, j, _ in edges_of(topology, n, rng(), targets)}


def degrees(found: set[tuple[int, int]], n: int = 12) -> list[int]:
    return [sum(i in e for e in found) for i in range(n)]


def test_topologies_are_what_they_are_called() -> None:
    assert len(edges(kind="complete")) == 66
    assert degrees(edges(kind="ring")) == [2] * 12
    assert sorted(degrees(edges(kind="path"))) == [1, 1] + [2] * 10
    assert sorted(degrees(edges(kind="star"))) == [1] * 11 + [11]
    assert len(edges(kind="grid", rows=3, columns=4)) == 3 * 3 + 2 * 4
    assert degrees(edges(kind="regular", degree=5)) == [5] * 12
    assert edges(kind="erdos-renyi", p=0.0) == set()
    assert len(edges(kind="erdos-renyi", p=1.0)) == 66
    assert len(edges(kind="small-world", degree=4, rewire=0.0)) == 24
    assert len(edges(kind="scale-free", attach=2)) == 2 * 10
    assert edges(kind="edges", edges=[[2, 1], [0, 1, 0.5]]) == {(1, 2), (0, 1)}
    assert min(degrees(edges(kind="knn", k=3))) >= 3


def test_similarity_weights_are_the_papers() -> None:
    """W_ij = exp((cos φ_ij − 1)/γ), negligible ones left out (Bellet et al. 2018, 5.1)."""
    angles = np.array([0.0, 0.3, 2.0])
    targets = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [[1], [5], [2]]
    (edge,) = edges_of({"kind": "similarity", "gamma": 0.1}, 3, rng(), targets)
    assert edge[:2] == (0, 1)
    assert edge[2] == pytest.approx(math.exp((math.cos(0.3) - 1) / 0.1))
    assert math.exp((math.cos(1.7) - 1) / 0.1) < NEGLIGIBLE


def test_a_networkx_graph_is_taken_as_it_is() -> None:
    import networkx as nx

    graph: Any = nx.Graph()
    graph.add_edge(0, 2, weight=0.25)
    graph.add_edge(2, 1)
    assert from_graph(graph, 3) == ((0, 2, 0.25), (1, 2, 1.0))


@pytest.mark.parametrize("edge", [[0, 0], [0, 12], [-1, 2], [0.5, 1], [0, 1, 0], [0, 1, -2.0]])
def test_edges_that_are_none(edge: list[float]) -> None:
    with pytest.raises(NoGraph):
        listed([edge], 12)


DATA: dict[str, Any] = {
    "source": "separators",
    "dimension": 6,
    "points": {"min": 10, "max": 100},
    "test_points": 100,
    "flip": 0.05,
    "bias": False,
    "scale": "refuse",
}


def made(n: int = 200, **changes: Any) -> Any:
    return load(DATA | changes, n, 7, Folders(Path()), Demands(labelled=True))


def test_separators_are_the_papers_task() -> None:
    shards = made()
    assert min(shards.sizes) >= 10
    assert max(shards.sizes) <= 100
    assert stats.kstest(shards.sizes, stats.randint(10, 101).cdf).statistic < 0.15
    assert shards.targets is not None
    assert (shards.targets[:, 2:] == 0).all()
    wrong = total = 0
    for (x, y), (tx, ty), target in zip(shards.train, shards.test, shards.targets, strict=True):
        wrong += int((np.sign(x @ target) != y).sum())
        total += len(y)
        assert (np.sign(tx @ target) == ty).all()
        assert len(ty) == 100
    assert wrong / total == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / total))


def test_points_fill_the_unit_ball_evenly() -> None:
    x = np.concatenate([x for x, _ in made().train])
    norms = np.linalg.norm(x, axis=1)
    assert norms.max() <= 1.0
    assert stats.kstest(norms**6, "uniform").pvalue > 1e-6
    assert np.abs(x.mean(axis=0)).max() < 6 * x.std() / math.sqrt(len(x))


def test_a_bias_is_a_constant_and_keeps_the_bound() -> None:
    x = np.concatenate([x for x, _ in made(bias=True).train])
    assert x.shape[1] == 7
    assert np.ptp(x[:, -1]) == 0
    assert np.linalg.norm(x, axis=1).max() <= 1.0


def archive(folder: Path, name: str, x: Any, y: Any) -> None:
    (folder / "nodes").mkdir(exist_ok=True)
    np.savez(folder / "nodes" / name, x=np.array(x, float), y=np.array(y, float))


def files(folder: Path, n: int = 2, scale: str = "refuse", bound: str = "noise rests on it") -> Any:
    data = {"source": "files", "path": "nodes"}
    return load(data, n, 1, Folders(folder), Demands(labelled=True, scale=scale, bound=bound))


def test_files_are_read_as_they_are(tmp_path: Path) -> None:
    for i in range(2):
        archive(tmp_path, f"{i:03d}.npz", [[0.1 * i, 0.2]], [1])
    shards = files(tmp_path)
    assert shards.sizes == (1, 1)
    assert shards.train[1][0].tolist() == [[0.1, 0.2]]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[3.0, 0.0]], [1], "norm above the declared bound"),
        ([[math.nan, 0.0]], [1], "NaN"),
        ([[0.1, 0.0], [0.2, 0.0]], [2, 3], r"labels take 3 values \(1, 2, 3\)"),
        (np.zeros((0, 2)), [], "no points"),
        ([0.1, 0.2], [1, 1], "m × d"),
        ([[0.1, 0.2, 0.3]], [1], "one dimension"),
    ],
)
def test_bad_data_are_refused(tmp_path: Path, x: Any, y: Any, message: str) -> None:
    archive(tmp_path, "000.npz", [[0.1, 0.2]], [1])
    archive(tmp_path, "001.npz", x, y)
    with pytest.raises(BadData, match=message):
        files(tmp_path)


def test_rows_are_scaled_on_request_and_it_is_said(tmp_path: Path) -> None:
    archive(tmp_path, "000.npz", [[3.0, 4.0], [0.3, 0.4]], [1, -1])
    archive(tmp_path, "001.npz", [[0.1, 0.2]], [1])
    shards = files(tmp_path, scale="row")
    assert shards.train[0][0] == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4]]))
    assert shards.notes == ("1 rows had a norm above 1 and were scaled to norm 1",)


def test_rows_above_norm_1_are_left_alone_where_nothing_rests_on_it(tmp_path: Path) -> None:
    archive(tmp_path, "000.npz", [[3.0, 4.0]], [1])
    shards = files(tmp_path, n=1, bound="")
    assert shards.train[0][0].tolist() == [[3.0, 4.0]]
    assert shards.notes == ()


LONG: list[Any] = [
    (np.array([[3.0, 4.0], [0.1, 0.2]]), [1, -1]),
    (np.array([[0.1, 0.2], [0.2, 0.1]]), [1, -1]),
]
"""Points of two agents; one row has norm 5."""
TWO: dict[str, Any] = {
    "nodes": [{"count": 2, "clock": "synchronous"}],
    "network": {"topology": "path"},
}


def test_a_smoothness_by_the_bound_needs_it() -> None:
    mechanism = {"kind": "cd", "mu": 1.0, "smoothness": "bound"}
    with pytest.raises(ScenarioError, match='smoothness = "bound" rests on it'):
        make_plan(scenario(**TWO, mechanism=mechanism), data={"nodes": LONG})
    make_plan(scenario(**TWO, mechanism=mechanism | {"smoothness": "data"}), data={"nodes": LONG})


def test_test_points_may_lie_anywhere() -> None:
    """No noise and no charge rests on them."""
    nodes = [TWO["nodes"][0] | {"budget": {"epsilon": 4.0, "delta": 1e-3}}]
    world = scenario(**(TWO | {"nodes": nodes}), mechanism={"kind": "dvp", "releases": 3}, task={})
    near = [(x / 10, y) for x, y in LONG]
    make_plan(world, data={"nodes": near, "test": LONG})


class Drawn:
    """A data source of a scenario's own: two points for each agent, and one to test it by, where that is asked for."""

    def __init__(self, tests: bool = False) -> None:  # noqa: FBT001, FBT002 # a key of the file
        self._tests = tests

    def __call__(self, n: int, rng: np.random.Generator) -> Any:
        points = [(rng.uniform(-0.5, 0.5, (2, 3)), np.array([1.0, -1.0])) for _ in range(n)]
        if not self._tests:
            return points
        return {"nodes": points, "test": [(np.full((1, 3), 0.1), np.ones(1))] * n}


@pytest.mark.parametrize("tests", [True, False])
def test_a_source_of_ones_own_may_bring_test_points(tests: bool, tmp_path: Path) -> None:  # noqa: FBT001
    world = scenario(data={"source": f"{__name__}:Drawn", "tests": tests})
    made = perform(world, tmp_path, allow_code=True)
    assert made.outcome.code == 0
    assert (made.outcome.summary["accuracy"]["test"] is not None) == tests
    assert len(made.run.plan.shards.test) == (6 if tests else 0)


def test_what_a_source_of_ones_own_gets_wrong_is_said_with_its_name() -> None:
    for bad, said in (
        (LONG, "points for 6 agents, got 2"),
        ({"test": LONG}, 'got a dict with "test"'),
    ):
        world = scenario(data={"source": f"{__name__}:Fixed", "number": 0})
        Fixed.points = bad
        with pytest.raises(ScenarioError, match=f":Fixed: data must be .*{re.escape(said)}"):
            make_plan(world, allow_code=True)


class Fixed:
    """A source that returns what it is told to."""

    points: Any = None

    def __init__(self, number: int) -> None:
        pass

    def __call__(self, n: int, rng: np.random.Generator) -> Any:  # noqa: ARG002 # asked so
        return self.points


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "nodes").symlink_to(tmp_path / "outside")
    with pytest.raises(BadData):
        files(tmp_path / "in")


def test_a_folder_named_by_data_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    archive(tmp_path, "000.npz", [[0.1, 0.2]], [1])
    folders = Folders(tmp_path / "in", (tmp_path,))
    assert folders.find("nodes/000.npz").exists()


def test_streams_are_functions_of_seed_name_and_number() -> None:
    bits = draws(1, "a")(0, 1000)
    assert draws(1, "a")(500, 10).tolist() == bits[500:510].tolist()
    assert draws(1, "b")(0, 10).tolist() != bits[:10].tolist()
    assert draws(2, "a")(0, 10).tolist() != bits[:10].tolist()
    both = bits_of(keys(1, ["b", "a"])[:, None], 0, 1000)
    assert both[1].tolist() == bits.tolist()


@pytest.mark.slow
def test_streams_are_uniform_and_uncorrelated() -> None:
    names = keys(1, [f"link/{i}→{j}" for i in range(20) for j in range(20)])
    streams = bits_of(names[:, None], 0, 2000) / 2.0**64
    values = [stats.kstest(row, "uniform").pvalue for row in streams]
    assert stats.kstest(values, "uniform").pvalue > 1e-6
    correlations = np.asarray(np.corrcoef(streams))[np.triu_indices(400, 1)] * math.sqrt(2000)
    assert stats.kstest(correlations, "norm").pvalue > 1e-6


def test_matrix_and_trace_latencies_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "\n".join(",".join(str(0.1 * (i + j)) for j in range(6)) for i in range(6))
    )
    (tmp_path / "t.csv").write_text("# seconds\n0.25\n0.5\n")
    for kind in ("matrix", "trace"):
        law = {"kind": kind, "path": f"{kind[0]}.csv"}
        world = scenario(network={"topology": "ring", "latency": law})
        ran = perform(world, tmp_path / kind, folders=(tmp_path,))
        for e in ran.events("sent"):
            late = [(a - e["t"]) / 1e9 for a in e["arrives"]]
            if kind == "matrix":
                assert late == pytest.approx([0.1 * (e["node"] + j) for j in e["to"]])
            else:
                assert set(late) <= {0.25, 0.5}

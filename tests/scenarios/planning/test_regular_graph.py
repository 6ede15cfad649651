"""Random regular graphs: simple, of the right degrees, as likely as each other, and those that networkx makes of a seed."""

import sys
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scenarios.planning.graphs import EdgeArrays, NoGraph
from scenarios.planning.regular_graph import regular_graph
from scenarios.planning.seeds import generator


def made(degree: int, n: int, seed: int = 0) -> EdgeArrays:
    return regular_graph(degree, n, generator(seed, "network/topology"))


SHAPES = st.tuples(st.integers(0, 8), st.integers(1, 60)).filter(
    lambda shape: shape[0] < shape[1] and shape[0] * shape[1] % 2 == 0
)


@given(SHAPES, st.integers(0, 2**32))
def test_every_agent_has_its_degree_and_no_edge_stands_twice(
    shape: tuple[int, int], seed: int
) -> None:
    degree, n = shape
    edges = made(degree, n, seed)
    assert len(edges) == len(set(edges)) == n * degree // 2
    assert all(0 <= i < j < n and w == 1.0 for i, j, w in edges)
    ends = Counter(end for i, j, _ in edges for end in (i, j))
    assert [ends[i] for i in range(n)] == [degree] * n
    assert list(edges) == sorted(edges)


@given(SHAPES, st.integers(0, 2**32))
def test_a_seed_has_the_graph_that_networkx_makes_of_it(shape: tuple[int, int], seed: int) -> None:
    degree, n = shape
    graph = nx.random_regular_graph(degree, n, seed=generator(seed, "network/topology"))
    assert [(i, j) for i, j, _ in made(degree, n, seed)] == sorted(map(_ordered, graph.edges))


def _ordered(edge: tuple[int, int]) -> tuple[int, int]:
    return min(edge), max(edge)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_seed_has_the_graph_of_networkx_at_many_agents_too(seed: int) -> None:
    graph = nx.random_regular_graph(10, 7_000, seed=generator(seed, "network/topology"))
    assert [(i, j) for i, j, _ in made(10, 7_000, seed)] == sorted(map(_ordered, graph.edges))


def regular_graphs(degree: int, n: int) -> set[tuple[tuple[int, int], ...]]:
    """Every graph over n agents with that degree, by trying all sets of edges."""
    pairs = list(combinations(range(n), 2))
    return {
        edges
        for edges in combinations(pairs, n * degree // 2)
        if all(sum(i in edge for edge in edges) == degree for i in range(n))
    }


@pytest.mark.slow
def test_every_ring_of_five_agents_is_as_likely_as_another() -> None:
    """There are 4!/2 of them, all alike but for the names of agents, which no draw knows."""
    every = regular_graphs(2, 5)
    assert len(every) == 12
    times = 1200
    counted = Counter(tuple((i, j) for i, j, _ in made(2, 5, seed)) for seed in range(times))
    assert counted.keys() == every
    off = sum((counted[one] - times / 12) ** 2 / (times / 12) for one in every)
    assert stats.chi2(11).sf(off) > 1e-4


@pytest.mark.parametrize(("degree", "n"), [(3, 5), (5, 5), (2, 2)])
def test_what_is_no_graph_is_refused(degree: int, n: int) -> None:
    with pytest.raises(NoGraph, match=f"regular over {n} agents"):
        made(degree, n)


def test_more_ends_than_a_word_can_choose_from_are_refused_before_they_are_made() -> None:
    with pytest.raises(NoGraph, match="below 2\\^32"):
        made(1 << 16, 1 << 17)


def calls(degree: int, n: int, seed: int) -> int:
    """Count calls of Python and of C while a graph is made."""
    rng, counted = generator(seed, "network/topology"), 0

    def count(_: object, kind: str, __: object) -> None:
        nonlocal counted
        counted += kind in {"call", "c_call"}

    sys.setprofile(count)
    try:
        regular_graph(degree, n, rng)
    finally:
        sys.setprofile(None)
    return counted


def test_calls_grow_with_blocks_of_words_and_not_with_agents() -> None:
    """At four times the agents, the calls of twenty graphs are fewer than twice as many: pairs are compared as arrays."""
    few, many = (sum(calls(4, n, seed) for seed in range(20)) for n in (500, 2000))
    assert many < 2 * few


def test_edges_as_arrays_read_as_their_tuples() -> None:
    edges = ((0, 2, 1.0), (1, 2, 0.5), (3, 4, 2.0))
    arrays = EdgeArrays.of(edges)
    assert tuple(arrays) == edges
    assert arrays[1] == edges[1]
    assert tuple(arrays[1:]) == edges[1:]
    assert EdgeArrays.of(arrays) is arrays
    assert len(EdgeArrays.of(())) == 0
    assert arrays.heads.dtype == arrays.tails.dtype == np.int64

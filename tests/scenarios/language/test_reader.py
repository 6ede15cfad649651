"""Reading: positions, extends, --set, defaults, and a writer that is the reader's inverse."""

import tomllib
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.language.positions import locate
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import library_names
from scenarios.language.table_rules import keys_of
from scenarios.language.value_rules import number_of_seconds
from scenarios.language.writer import to_toml
from scenarios.planning.check_scenario import checked
from scenarios.planning.scenario import load
from tests.support.builders import scenario

TEXT = '''schema = 1
name = "ring" # a comment with [brackets] and = signs
[run]
horizon = "5s"
seeds.data = 3
[[nodes]]
name = "a"
clock = { kind = "poisson", rate = 1.0 }
[[nodes]]
name = 'b'
wakes = [[1, 0],
  [2, 1]]
text = """
[not a header]
x = 1
"""
'''


def test_every_value_has_its_line_and_column() -> None:
    values = {path: (s.line, s.column) for path, s in locate(TEXT, "f").values.items()}
    assert values["name",] == (2, 8)
    assert values["run", "horizon"] == (4, 11)
    assert values["run", "seeds", "data"] == (5, 14)
    assert values["nodes", 0, "clock", "rate"] == (8, 36)
    assert values["nodes", 1, "name"] == (10, 8)
    assert values["nodes", 1, "wakes", 1, 0] == (12, 4)
    assert ("nodes", 1, "x") not in values


KEYS = st.text("abcxyz_-09", min_size=1, max_size=6)
LEAVES = st.one_of(
    st.integers(-(10**9), 10**9), st.booleans(), st.floats(allow_nan=False), st.text(max_size=20)
)
TREES = st.dictionaries(
    KEYS,
    st.one_of(LEAVES, st.lists(LEAVES, max_size=3), st.dictionaries(KEYS, LEAVES, max_size=3)),
    max_size=5,
)


@given(TREES)
def test_writing_and_reading_are_inverse(tree: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(tree)) == tree


def paths(tree: Any, base: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    found = {base} if base else set()
    items = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    for key, value in items:
        found |= paths(value, (*base, key))
    return found


@given(TREES)
def test_the_scanner_finds_every_path_of_the_parser(tree: dict[str, Any]) -> None:
    text = to_toml(tree)
    found = locate(text, "f")
    assert found.end == len(text)
    assert paths(tomllib.loads(text)) <= set(found.values) | set(found.keys)


@given(st.text(max_size=200))
def test_no_text_is_too_strange_for_the_scanner(text: str) -> None:
    assert 0 <= locate(text, "f").end <= len(text)


@pytest.mark.slow
def test_a_megabyte_is_scanned_in_linear_time() -> None:
    """The least time of several: in a long session a collection of garbage takes longer than the scan."""
    import gc
    import time

    def once(n: int) -> float:
        begun = time.process_time()
        locate("x = [" + "1, " * n + "1]", "f")
        return time.process_time() - begun

    def cost(n: int) -> float:
        gc.collect()
        gc.disable()
        try:
            return min(once(n) for _ in range(3))
        finally:
            gc.enable()

    once(1000)
    assert cost(80_000) < 40 * max(cost(8_000), 1e-3)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


BASE = 'schema = 1\n[network]\nloss = 0.1\ntopology = { kind = "small-world", degree = 2, rewire = 0.5 }\n[mechanism]\nkind = "cd"\nmu = 3\n[[nodes]]\nname = "a"\ncount = 3\nclock = { kind = "poisson", rate = 2 }\n[[nodes]]\nname = "b"\n[[fault]]\nat = 1\ncrash = [0]\n'


def test_tables_merge_named_arrays_merge_by_name_unnamed_ones_are_replaced(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", BASE)
    child = write(
        tmp_path,
        "child.toml",
        'schema = 1\nextends = "base.toml"\n[network]\nloss = 0.2\n[[nodes]]\nname = "b"\ncount = 9\n[[nodes]]\nname = "c"\n[[fault]]\nat = 2\nleave = [1]\n',
    )
    read = load(child).read
    assert read.network.loss == 0.2
    assert getattr(read.network.topology, "degree", None) == 2
    assert [(group.name, group.count) for group in read.nodes] == [("a", 3), ("b", 9), ("c", 1)]
    assert getattr(read.nodes[0].clock, "rate", None) == 2
    assert [(fault.at, fault.kind.name if fault.kind else None) for fault in read.fault] == [
        (2.0, "leave")
    ]


def test_another_kind_replaces_the_parameters_of_the_former(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", BASE)
    child = write(
        tmp_path,
        "child.toml",
        'schema = 1\nextends = "base.toml"\n[network]\ntopology = { kind = "ring" }\n',
    )
    loaded = load(child)
    assert loaded.report.problems == []
    topology = loaded.read.network.topology
    assert (topology.kind, keys_of(type(topology))) == ("ring", {})


def test_a_problem_points_into_the_file_it_is_in(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", BASE.replace("loss = 0.1", "loss = 7"))
    child = write(
        tmp_path, "child.toml", 'schema = 1\nextends = "base.toml"\n[mechanism]\nmu = -1\n'
    )
    told = [str(p) for p in load(child).report.problems]
    assert any("base.toml:3:8: network.loss" in p for p in told)
    assert any("child.toml:4:6: mechanism.mu" in p for p in told)


def test_files_that_extend_each_other_for_ever_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.toml", 'schema = 1\nextends = "b.toml"\n')
    write(tmp_path, "b.toml", 'schema = 1\nextends = "a.toml"\n')
    with pytest.raises(ScenarioError, match="at most 8 deep"):
        load(tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("key", "value", "where", "expected"),
    [
        ("network.loss", 0.3, ("network", "loss"), 0.3),
        ("nodes.a.count", 7, ("nodes", 0, "count"), 7),
        ("nodes.1.count", 7, ("nodes", 1, "count"), 7),
        ("nodes.all.count", 7, ("nodes", 1, "count"), 7),
        ("nodes.a.clock.rate", 5.0, ("nodes", 0, "clock", "rate"), 5.0),
        ("nodes.b.budget.epsilon", 5.0, ("nodes", 1, "budget", "epsilon"), 5.0),
        ("mechanism.kind", "local", ("mechanism", "kind"), "local"),
        ("network.latency", "250ms", ("network", "latency", "value"), 0.25),
        ("run.horizon", "1h", ("run", "horizon"), 3600.0),
    ],
)
def test_set_comes_last(
    tmp_path: Path, key: str, value: Any, where: tuple[Any, ...], expected: Any
) -> None:
    loaded = load(write(tmp_path, "x.toml", BASE), {key: value})
    assert loaded.report.problems == []
    tree: Any = loaded.read
    for part in where:
        tree = tree[part] if isinstance(part, int) else getattr(tree, part)
    assert tree == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("1.5s", 1.5),
        ("2m", 120),
        ("1h", 3600),
        ("3d", 259200),
        ("7us", 7e-6),
        (4, 4),
        (0.5, 0.5),
    ],
)
def test_durations(text: float | str, seconds: float) -> None:
    assert number_of_seconds(text) == pytest.approx(seconds)


def test_rates_are_per_unit() -> None:
    loaded = load(scenario(nodes=[{"count": 2, "clock": {"kind": "poisson", "rate": "2/h"}}]))
    assert getattr(loaded.read.nodes[0].clock, "rate", None) == pytest.approx(2 / 3600)


@pytest.mark.parametrize("name", library_names())
def test_the_library_reads_without_a_complaint_and_says_what_it_shows(name: str) -> None:
    loaded = load(name)
    assert loaded.report.problems == []
    assert loaded.name == name.rpartition("/")[2]
    assert len(loaded.read.summary) > 20


def test_set_reaches_into_lists_by_number_and_by_name() -> None:
    tree = scenario(fault=[{"at": 1.0, "crash": [0]}, {"name": "cut", "at": 2.0, "leave": [1]}])
    found = load(tree, {"fault.0.at": 5, "fault.cut.for": 3.0}).read.fault
    assert (found[0].at, getattr(found[1].for_, "value", None)) == (5, 3.0)
    with pytest.raises(ScenarioError, match="no entry '7'; known: 0, 1, cut"):
        load(tree, {"fault.7.at": 5})
    with pytest.raises(ScenarioError, match=r"fault.0.at: must be a duration"):
        load(tree, {"fault.0.at": "soon"}).report.stop_if_any()


def test_a_table_is_a_frozen_dataclass_of_its_keys() -> None:
    """The base class makes it when it is first used; its values cannot be set, nor one that it does not have."""
    table = load(scenario()).read.network
    assert {part.name for part in fields(table)} > {"topology", "latency", "loss", "place", "given"}
    with pytest.raises(FrozenInstanceError):
        table.loss = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError, match="los"):
        type(table)(los=0.1)  # type: ignore[call-arg]


def test_a_key_that_does_not_read_hides_no_contradiction_of_the_others() -> None:
    """Every error at once: also those that a table finds in itself."""
    tree = scenario(
        nodes=[{"count": 2, "clock": {"kind": "trace", "wakes": 5, "path": "wakes.csv"}}],
        data={"source": "blobs", "points": {"min": 9, "max": 3}, "flip": 7},
    )
    problems = "\n".join(map(str, load(tree).report.problems))
    assert "must be an array, got 5" in problems
    assert "needs exactly one of wakes and path" in problems
    assert "must be a number from 0 to 0.5, got 7" in problems
    assert "min must be at most max, got 9 and 3" in problems


def test_a_group_that_is_no_table_has_neither_a_clock_nor_computing_time() -> None:
    """Its defaults break no other rule: the only problem is that it is no table."""
    tree = scenario(
        nodes=[7],
        run={"seed": 1, "rounds": 3},
        mechanism={"kind": "local"},
        fault=[{"at": 1, "slow": {"on": "all", "factor": 2}}],
    )
    with pytest.raises(ScenarioError) as error:
        checked(load(tree))
    problems = [str(problem) for problem in error.value.problems]
    assert len(problems) == 1, problems
    assert "nodes.0: must be a table" in problems[0]

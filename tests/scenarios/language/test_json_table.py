"""A table of columns reads, is written and is explained as the list of its rows."""

import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.language.json_table import JsonTable
from scenarios.language.null_reasons import with_reasons
from scenarios.language.visible_text import say_json
from scenarios.records import run_folder
from scenarios.records.run_folder import json_parts

cells = st.none() | st.integers() | st.sampled_from(['a "word"', "two\nlines", "nodes"])
tables = st.lists(st.tuples(cells, cells), max_size=9).map(
    lambda rows: JsonTable({"cap": [a for a, _ in rows], "loss": [b for _, b in rows]})
)
RULES = {"nodes.*.cap": "no cap", "groups.*.cap": "none either", "left": "nothing"}


@settings(max_examples=40)
@given(tables)
def test_a_table_is_the_list_of_its_rows(table: JsonTable) -> None:
    rows = [
        {"cap": a, "loss": b}
        for a, b in zip(table.columns["cap"], table.columns["loss"], strict=True)
    ]
    assert list(table) == rows
    assert table == rows
    assert [table[i] for i in range(len(table))] == rows
    assert list(table[1:3]) == rows[1:3]
    assert list(table.at(range(len(rows))[::-1])) == rows[::-1]


def test_columns_have_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        JsonTable({"a": [1], "b": []})


@settings(max_examples=40)
@given(tables, st.sampled_from([RULES, {}]))
def test_nulls_of_a_table_have_the_reasons_of_its_rows(
    table: JsonTable, rules: dict[str, str]
) -> None:
    """In the same order, too, where one column has a rule and the other has none."""
    tree: dict[str, Any] = {"left": None, "groups": [{"cap": None}], "nodes": table}
    as_rows = with_reasons(tree | {"nodes": list(table)}, rules)["reasons"]
    assert list(with_reasons(tree, rules)["reasons"].items()) == list(as_rows.items())


@settings(max_examples=40)
@given(tables)
def test_a_file_with_a_table_is_that_with_its_rows(table: JsonTable) -> None:
    tree = {"nodes_": [], "a": {"nodes": [1]}, "nodes": table, "z": [{"nodes": []}]}
    whole = msgspec.json.format(msgspec.json.encode(tree | {"nodes": list(table)}), indent=2)
    assert b"".join(json_parts(tree)) == whole + b"\n"


def test_parts_of_a_file_are_small_however_long_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "_ROWS", 16)
    table = JsonTable({"id": range(1000), "loss": [i / 7 for i in range(1000)]})
    parts = list(json_parts({"nodes": table}))
    assert max(map(len, parts)) < 16 * 80
    assert msgspec.json.decode(b"".join(parts)) == {"nodes": list(table)}


def test_a_table_is_printed_as_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"nodes": JsonTable({"id": [0, 1]})}, indent=None)
    assert msgspec.json.decode(capsys.readouterr().out) == {"nodes": [{"id": 0}, {"id": 1}]}
    with pytest.raises(TypeError, match="no form for set"):
        say_json({"nodes": {1}})


def calls(work: Any) -> int:
    """Count the calls of functions that some work takes."""
    made = [0]

    def count(_: Any, event: str, __: Any) -> None:
        made[0] += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made[0]


@pytest.mark.parametrize("rules", [RULES, {}])
def test_reasons_take_a_time_that_grows_with_the_nulls(rules: dict[str, str]) -> None:
    """Twice the nulls are twice the calls, also where no rule names them, and each has a line of its own."""
    few, many = (
        calls(lambda n=n: with_reasons({"nodes": [{"cap": None} for _ in range(n)]}, rules))
        for n in (300, 600)
    )
    assert many < 2.1 * few

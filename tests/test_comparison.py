"""The page that compares hush with other tools says where each of its facts stands."""

import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/comparison.md").read_text("utf-8")
TABLES, NOTES = PAGE.split("## Where each fact stands")
ROWS = [line for line in TABLES.splitlines() if line.startswith("| **")]
MARK = re.compile(r"\b[A-Z]\d\b")


def test_it_has_a_date() -> None:
    assert re.search(r"Looked up on \d+ [A-Z][a-z]+ 20\d\d", PAGE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:40])
def test_every_cell_has_a_mark_or_says_that_nothing_was_found(row: str) -> None:
    _, *cells = (cell.strip() for cell in row.strip("|").split("|"))
    for cell in cells:
        plain = re.sub(r"\*\*no\*\*.*", "no", cell)
        assert MARK.search(cell) or "not found" in cell or cell == "–" or plain == "no", cell


def test_every_mark_is_explained_and_every_explanation_is_used() -> None:
    used = set(MARK.findall(" ".join(ROWS)))
    explained = set(re.findall(r"\*\*([A-Z]\d)\*\*", NOTES))
    assert used == explained


def test_every_tool_stands_in_the_same_tables() -> None:
    tools = [re.findall(r"^\| \*\*(.+?)\*\*", part, re.MULTILINE) for part in TABLES.split("\n## ")]
    tables = [names for names in tools if names]
    assert len(tables) == 3
    assert all(names == tables[0] and names[0] == "hush" for names in tables)


def test_no_address_stands_on_it() -> None:
    assert "http" not in PAGE
    assert "www." not in PAGE

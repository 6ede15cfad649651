"""The page that compares hush with other tools says where each of its facts stands, and in which copy it was read."""

import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/comparison.md").read_text("utf-8")
TABLES, NOTES = PAGE.split("## Where each fact stands")
ROWS = [line for line in TABLES.splitlines() if line.startswith("| **")]
MARK = re.compile(r"\b[A-Z]\d\b")
NOTE = {
    mark: text
    for line in NOTES.splitlines()
    for mark, text in re.findall(r"\*\*([A-Z]\d)\*\*(.*?)(?=\*\*[A-Z]\d\*\*|$)", line)
}
COPY = re.compile(
    r"\b[0-9a-f]{7}\b|\bversions? \d|, main\b|\bno (?:commit|version) stored|\b20\d\d\b"
)
"""A commit, a version, a date, or the plain words that none is stored."""


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_it_has_a_date() -> None:
    assert re.search(r"Looked up on \d+ [A-Z][a-z]+ 20\d\d", PAGE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:40])
def test_every_cell_has_a_mark_or_is_empty(row: str) -> None:
    for cell in cells(row):
        plain = re.sub(r"\*\*no\*\*.*", "no", cell)
        assert MARK.search(cell) or cell == "–" or plain == "no", cell


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:40])
def test_what_was_not_found_says_what_was_searched(row: str) -> None:
    for cell in cells(row):
        for part in cell.split(";"):
            if "not found" in part:
                marks = MARK.findall(part) or MARK.findall(cell)
                assert any("searched" in NOTE[mark] for mark in marks), cell


@pytest.mark.parametrize("mark", [mark for mark in NOTE if not mark.startswith("H")])
def test_every_fact_names_the_copy_that_was_read(mark: str) -> None:
    assert COPY.search(NOTE[mark]), NOTE[mark]


def test_every_mark_is_explained_and_every_explanation_is_used() -> None:
    assert set(MARK.findall(TABLES)) == set(NOTE)


def test_every_tool_stands_in_the_same_tables() -> None:
    tools = [re.findall(r"^\| \*\*(.+?)\*\*", part, re.MULTILINE) for part in TABLES.split("\n## ")]
    tables = [names for names in tools if names]
    assert len(tables) == 3
    assert all(names == tables[0] and names[0] == "hush" for names in tables)


def test_the_nearest_tools_are_on_it() -> None:
    """A page that leaves out what is nearest says nothing about hush."""
    named = {match[1] for row in ROWS if (match := re.match(r"\| \*\*(.+?)\*\*", row))}
    assert named >= {"DLS", "decent-bench", "fluke", "APPFL", "NVFlare", "jax_privacy"}


@pytest.mark.parametrize(
    ("folders", "what"),
    [(("hush", "actors", "clocks", "mechanisms", "scenarios"), "packages"), (("tests",), "tests")],
)
def test_its_figures_of_size_are_those_of_the_code(folders: tuple[str, ...], what: str) -> None:
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    lines = sum(path.read_text("utf-8").count("\n") for path in files)
    said = {
        "packages": re.search(r"packages have about ([\d,]+) lines", PAGE),
        "tests": re.search(r"the tests about ([\d,]+) more", PAGE),
    }[what]
    assert said
    assert int(said[1].replace(",", "")) == pytest.approx(lines, rel=0.05)


def test_no_address_stands_on_it() -> None:
    assert "http" not in PAGE
    assert "www." not in PAGE

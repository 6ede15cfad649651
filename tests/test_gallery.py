"""The gallery shows what the library does: its entries are the runs of today, its page and pictures are what the entries say."""

import json
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from scenarios.language.reader import library_names
from tests.support.documents import writer
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
SAMPLE = ("ring5-dropout", "crash-between-charge-and-send", "errata/e10-time-reversed")
"""Entries that are compared with fresh runs: a curve with a band, a metric of a ledger, and one on a scale of logarithms."""


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    return writer("write_gallery")


@pytest.fixture(scope="module")
def entries(gallery: ModuleType) -> dict[str, Any]:
    kept: dict[str, Any] = gallery.read()
    return kept


def test_every_scenario_of_the_library_has_an_entry_and_each_entry_is_of_one() -> None:
    assert (
        sorted(json.loads((DOCS / "gallery.json").read_text("utf-8"))["entries"]) == library_names()
    )


def test_every_entry_is_of_the_run_that_the_scenario_makes_today(entries: dict[str, Any]) -> None:
    """A scenario whose schedule changed needs a new entry: python docs/write_gallery.py --run NAME."""
    today = json.loads((ROOT / "tests/worlds/library_digests.json").read_text("utf-8"))
    assert {name: entry["schedule"] for name, entry in entries.items()} == today


def test_the_page_is_what_the_entries_say(gallery: ModuleType, entries: dict[str, Any]) -> None:
    text = (DOCS / "gallery.md").read_text("utf-8")
    assert gallery.page(entries) == text, "run docs/write_gallery.py"
    for name in entries:
        assert f"### {name}\n" in text
        assert f"`hush run {name}" in text


def test_the_pictures_are_what_the_entries_say(
    gallery: ModuleType, entries: dict[str, Any]
) -> None:
    kept = {file.name: file.read_text("utf-8") for file in (DOCS / "gallery").iterdir()}
    made = {gallery.file_of(name): gallery.svg(name, e["picture"]) for name, e in entries.items()}
    assert len(made) == len(entries), "two names of the library share a file"
    assert made == kept, "run docs/write_gallery.py"


def test_every_picture_is_small_and_asks_nothing_of_anybody_else() -> None:
    for file in (DOCS / "gallery").iterdir():
        text = file.read_text("utf-8")
        assert len(text.encode()) < 6_000, file
        assert set(re.findall(r"https?://[^\"'<> )]+", text)) == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"<script|<image|url\(|@import|\bon\w+=", text), file
    assert (DOCS / "gallery.json").stat().st_size < 250_000


def test_every_mark_of_a_picture_is_on_its_card(gallery: ModuleType) -> None:
    for file in (DOCS / "gallery").iterdir():
        root = fromstring(file.read_text("utf-8"))  # noqa: S314 # a picture of this repository
        for mark in root.iter():
            for x, y in re.findall(r"([\d.]+) ([\d.]+)", mark.get("d", "")):
                assert 0 <= float(x) <= gallery.WIDE, file
                assert 0 <= float(y) <= gallery.HIGH, file
            if mark.tag.endswith("text"):
                assert 0 <= float(mark.get("y", "-1")) <= gallery.HIGH, file
                start, size = float(mark.get("x", "-1")), 4.4 * len(mark.text or "")
                anchor = {"start": 0.0, "middle": -size / 2, "end": -size}[
                    mark.get("text-anchor", "")
                ]
                assert start + anchor >= 0, (file, mark.text)
                assert start + anchor + size <= gallery.WIDE, (file, mark.text)


def test_a_larger_value_stands_higher_on_both_scales(gallery: ModuleType) -> None:
    values = [0.001, 0.5, 3.0, 40.0]
    for is_log in (False, True):
        scale = gallery._scale(values, 100.0, is_log=is_log)
        heights = [scale(value) for value in values]
        assert heights == sorted(heights, reverse=True)
        assert gallery.TOP < heights[-1] < heights[0] < 100.0


def test_kept_points_are_spread_from_the_first_to_the_last(gallery: ModuleType) -> None:
    for count in (1, 2, 40, 41, 42, 1000):
        places = gallery._spread(count, 41)
        assert (places[0], places[-1]) == (0, count - 1)
        assert len(places) == min(count, 41)
        gaps = [b - a for a, b in pairwise(places)]
        assert max(gaps, default=1) - min(gaps, default=1) <= 1


@pytest.mark.parametrize("name", SAMPLE)
def test_an_entry_is_what_a_fresh_run_gives(
    name: str, gallery: ModuleType, entries: dict[str, Any], tmp_path: Path
) -> None:
    fresh = json.loads(json.dumps(gallery.entry_of(name, tmp_path / "run")))
    assert _texts(fresh) == _texts(entries[name])
    assert _numbers(fresh) == pytest.approx(_numbers(entries[name]), rel=2e-3, abs=1e-9)


def _texts(entry: Any) -> Any:
    """Return an entry without its numbers, those in sentences included: these may differ in their last digit."""
    match entry:
        case dict():
            return {key: _texts(value) for key, value in entry.items()}
        case list():
            return [_texts(value) for value in entry]
        case str():
            return re.sub(r"\d[\d.,e+-]*", "#", entry) if " " in entry else entry
        case _:
            return type(entry).__name__ if isinstance(entry, bool) else "#"


def _numbers(entry: Any) -> list[float]:
    """Return the numbers of an entry, in its order."""
    match entry:
        case dict():
            return [number for value in entry.values() for number in _numbers(value)]
        case list():
            return [number for value in entry for number in _numbers(value)]
        case int() | float():
            return [float(entry)]
        case _:
            return []

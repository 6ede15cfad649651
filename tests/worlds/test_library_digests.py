"""The schedule of every library scenario is what it was: it is equal on every machine, and changes only on purpose."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios import run_sync
from scenarios.experiments.scenario_tests import NEEDS_FILES
from scenarios.language.reader import library_names
from scenarios.planning.named_sets import PublishedTable
from scenarios.planning.scenario import load
from tests.support.paths import PUBLISHED, needs_data

SCHEDULES = json.loads(Path(__file__).with_name("library_digests.json").read_text("utf-8"))
"""Scenario → schedule digest (version 2). A change of one is named in the CHANGELOG."""


def test_the_table_holds_the_whole_library() -> None:
    assert sorted(SCHEDULES) == library_names()


def params(names: list[str]) -> list[Any]:
    """The scenarios of the library; those that need a published data set are skipped without it."""
    marks = {"adult": needs_data("adult/adult.data")}
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


def test_a_scenario_has_the_tag_of_published_data_if_it_reads_some() -> None:
    for name in library_names():
        read = load(name).read
        assert isinstance(read.data, PublishedTable) == (NEEDS_FILES in read.tags), name


@pytest.mark.slow
@pytest.mark.parametrize("name", params(sorted(SCHEDULES)))
def test_a_run_has_the_schedule_that_it_had(name: str, tmp_path: Path) -> None:
    run_sync(name, out=tmp_path / "run", folders=[PUBLISHED] if PUBLISHED.is_dir() else [])
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert (manifest["digests"]["version"], manifest["digests"]["schedule"]) == (2, SCHEDULES[name])

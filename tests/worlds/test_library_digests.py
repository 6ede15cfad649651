"""The schedule of every library scenario is what it was: it is equal on every machine, and changes only on purpose."""

import json
from pathlib import Path

import pytest

from scenarios import run_sync
from scenarios.language.reader import library_names

SCHEDULES = json.loads(Path(__file__).with_name("library_digests.json").read_text("utf-8"))
"""Scenario → schedule digest (version 2). A change of one is named in the CHANGELOG."""


def test_the_table_holds_the_whole_library() -> None:
    assert sorted(SCHEDULES) == library_names()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_a_run_has_the_schedule_that_it_had(name: str, tmp_path: Path) -> None:
    run_sync(name, out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert (manifest["digests"]["version"], manifest["digests"]["schedule"]) == (2, SCHEDULES[name])

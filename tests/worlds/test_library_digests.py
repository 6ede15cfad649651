"""The schedule of every library scenario is what it was: it is equal on every machine, and changes only on purpose."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scenarios import run_sync
from scenarios.api.runs import make_plan
from scenarios.experiments.scenario_tests import NEEDS_FILES
from scenarios.language.reader import library_names
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import metric_of
from scenarios.planning.named_sets import PublishedTable
from scenarios.planning.scenario import load
from tests.support.paths import PUBLISHED, needs_data

SCHEDULES = json.loads(Path(__file__).with_name("library_digests.json").read_text("utf-8"))
"""Scenario → schedule digest (version 2). A change of one is named in the CHANGELOG."""


def test_the_table_holds_the_whole_library() -> None:
    assert sorted(SCHEDULES) == library_names()


def params(names: list[str]) -> list[Any]:
    """The scenarios of the library; those that need a published data set are skipped without it."""
    return [pytest.param(name, marks=_marks(name)) for name in names]


def _marks(name: str) -> Any:
    table = load(name).read.data
    if not isinstance(table, PublishedTable):
        return ()
    known = SOURCES[table.kind].published
    assert known is not None
    if name.startswith("papers/") and not os.environ.get("HUSH_NIGHTLY"):
        return pytest.mark.skip(reason="sweeps of the papers on published data run at night")
    places = [f"{known.folder}/{own}" for file in known.files for own in file.names]
    return needs_data(next((p for p in places if (PUBLISHED / p).is_file()), places[0]))


def test_a_scenario_has_the_tag_of_published_data_if_it_reads_some() -> None:
    for name in library_names():
        read = load(name).read
        assert isinstance(read.data, PublishedTable) == (NEEDS_FILES in read.tags), name


def _audits(expectation: dict[str, Any]) -> bool:
    metric = metric_of(expectation["metric"]) if "metric" in expectation else None
    return metric is not None and metric.taken is Taken.AGAIN


@pytest.mark.slow
@pytest.mark.parametrize("name", params(sorted(SCHEDULES)))
def test_a_run_has_the_schedule_that_it_had(name: str, tmp_path: Path) -> None:
    """Audits that a scenario expects something of are left out: they come after the run, and take most of its time."""
    folders = [PUBLISHED] if PUBLISHED.is_dir() else []
    tree = dict(make_plan(name, folders=folders).resolved)
    tree["expect"] = [one for one in tree.get("expect", ()) if not _audits(one)]
    whole = len(tree["expect"]) == len(make_plan(name, folders=folders).resolved.get("expect", ()))
    run_sync(name if whole else tree, out=tmp_path / "run", folders=folders)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert (manifest["digests"]["version"], manifest["digests"]["schedule"]) == (2, SCHEDULES[name])

"""The library's runs are the same before and after the modules moved: kept for the time of the move."""

import json
from pathlib import Path

import pytest

from scenarios import run_sync
from scenarios.language.reader import library_names

DIGESTS = json.loads(Path(__file__).with_name("library_digests.json").read_text("utf-8"))


def test_the_table_holds_the_whole_library() -> None:
    assert sorted(DIGESTS) == library_names()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_a_run_has_the_digests_that_it_had(name: str, tmp_path: Path) -> None:
    run_sync(name, out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert manifest["digests"] == DIGESTS[name]

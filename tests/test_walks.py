"""One wake-up reads downwards: it visits few files, and calls nothing against the direction of imports."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PATH = Path(__file__).parent.parent / "docs" / "print_walks.py"
MOST_FILES = 18


@pytest.fixture(scope="module")
def walks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("print_walks", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_wake_visits_few_files_and_calls_nothing_upward(walks: ModuleType) -> None:
    calls = walks.one_wake()
    functions = {"Wake.sleep", "Mailbox._accept", "Agent._release", "admit", "release"}
    assert functions <= {call.function for call in calls}
    assert len(walks.files(calls)) <= MOST_FILES
    assert walks.upward(calls) == []


def test_a_call_upward_is_seen(walks: ModuleType) -> None:
    """A mailbox that called the membership would be found: that imports it."""
    call = walks.Call("actors/membership.py", "f", "actors/mailbox.py", "g", resumed=False, depth=1)
    assert walks.upward([call]) == [call]
    assert walks.upward([call._replace(resumed=True)]) == []
    assert walks.upward([call._replace(calling=walks.EMIT)]) == []


def test_the_page_names_every_room(walks: ModuleType) -> None:
    numbers = {10: "ten", 11: "eleven", 12: "twelve"}
    page = walks.PAGE.read_text(encoding="utf-8")
    rooms = sorted(place.parent.name for place in (ROOT / "scenarios").glob("*/__init__.py"))
    assert f"`scenarios/` has {numbers[len(rooms)]} rooms" in page
    table = page.partition("| room | its one job |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `scenarios/(\w+)/`", table, re.MULTILINE)) == rooms


def test_the_page_has_the_walks(walks: ModuleType) -> None:
    """It holds a section that the script wrote. Calls change often: the script is run before a release."""
    page = walks.PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(walks.BEGIN)
    section, _, _ = rest.partition(walks.END)
    assert before
    assert all(f"### {title}" in section for title, _, _ in walks.OTHERS)

"""A family is the records in the files of a package: a file without one, or a name twice, is an error."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scenarios.planning.kinds import Family

RECORD = "from tests.scenarios.planning.test_kinds import Colour\n"


@dataclass(frozen=True)
class Colour:
    """A kind of the family under test."""

    name: str


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Write a package of modules, given by their text, and return its name."""

    def write(**modules: str) -> str:
        folder = tmp_path / "colours_of_a_test"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(RECORD + text)
        return folder.name

    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for name in [name for name in sys.modules if name.startswith("colours_of_a_test")]:
        del sys.modules[name]


def test_a_file_is_a_kind_and_its_name_is_known_without_reading_it(
    package: Callable[..., str],
) -> None:
    name = package(dark_red="KIND = Colour('dark-red')", blue="1 / 0")
    family = Family(name, Colour)
    assert family.names() == tuple(family) == ("blue", "dark-red")
    assert family["dark-red"] == Colour("dark-red")
    with pytest.raises(KeyError):
        family["green"]


def test_a_file_may_hold_several_kinds(package: Callable[..., str]) -> None:
    name = package(
        warm="KINDS = (Colour('red'), Colour('amber'))", cold="KINDS = (Colour('blue'),)"
    )
    assert list(Family(name, Colour, several=True)) == ["blue", "red", "amber"]


@pytest.mark.parametrize("several", [True, False])
def test_a_file_without_a_record_is_named(package: Callable[..., str], *, several: bool) -> None:
    family = Family(package(red="KIND = 'red'\nKINDS = ('red',)"), Colour, several=several)
    attribute = "KINDS" if several else "KIND"
    with pytest.raises(TypeError, match=f"red.py has no Colour called {attribute}"):
        family["red"]


def test_two_kinds_of_one_name_are_an_error(package: Callable[..., str]) -> None:
    name = package(one="KINDS = (Colour('red'),)", two="KINDS = (Colour('red'),)")
    with pytest.raises(ValueError, match="holds a second Colour 'red'"):
        Family(name, Colour, several=True).names()


def test_a_record_has_the_name_of_its_file(package: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match="another name"):
        Family(package(red="KIND = Colour('blue')"), Colour)["red"]

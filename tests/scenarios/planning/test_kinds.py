"""Families of kinds: what a file must hold."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from scenarios.planning.kinds import Family


@dataclass(frozen=True)
class Animal:
    name: str


def test_a_record_with_another_name_than_its_file_says_both_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoo = tmp_path / "zoo_of_a_test"
    zoo.mkdir()
    (zoo / "__init__.py").touch()
    code = f"from {__name__} import Animal\nKIND = Animal('red-fox')\n"
    (zoo / "red_wolf.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    said = "red_wolf holds the Animal 'red-fox': name the file red_fox.py, or the record 'red-wolf'"
    with pytest.raises(ValueError, match=said):
        Family("zoo_of_a_test", Animal)["red-wolf"]
    (zoo / "red_wolf.py").rename(zoo / "red_fox.py")
    assert Family("zoo_of_a_test", Animal)["red-fox"] == Animal("red-fox")

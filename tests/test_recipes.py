"""The recipes of docs/architecture.md are followed to the letter, each in a copy of the packages."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.marks import one_in
from tests.support.paths import ROOT

PACKAGES = ("actors", "clocks", "hush", "mechanisms", "scenarios")


class Recipe(NamedTuple):
    """A section that says how to add something: files by their paths, and scenarios that use it."""

    title: str
    files: dict[str, str]
    scenarios: list[str]


def recipes() -> Iterator[Recipe]:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    for section in re.split(r"^### (?=Add )", page, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(python|toml)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        files = [text.split("\n", 1) for kind, text in blocks if kind == "python"]
        yield Recipe(
            section.split("\n")[0],
            {path.removeprefix("# "): text for path, text in files},
            [text for kind, text in blocks if kind == "toml"],
        )


RECIPES = list(recipes())


@pytest.mark.parametrize("recipe", one_in(4, RECIPES), ids=[recipe.title for recipe in RECIPES])
def test_a_recipe_adds_what_it_says(recipe: Recipe, tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for path, text in recipe.files.items():
        assert not (tmp_path / path).exists(), f"{path} is there already"
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert recipe.scenarios
    for number, text in enumerate(recipe.scenarios):
        scenario = tmp_path / f"world{number}.toml"
        scenario.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "hush", "run", str(scenario), "--quiet"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        scenario.unlink()


def test_without_its_files_the_scenario_of_a_recipe_is_refused(tmp_path: Path) -> None:
    for number, recipe in enumerate(RECIPES):
        (tmp_path / f"world{number}.toml").write_text(recipe.scenarios[0], encoding="utf-8")
        command = [sys.executable, "-m", "hush", "check", str(tmp_path / f"world{number}.toml")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 2, recipe.title

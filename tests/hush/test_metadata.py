"""What the distribution says of itself agrees with what it holds."""

import importlib.metadata
import re
import tomllib

import hush
from hush.packages import PACKAGES
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ABOUT = PROJECT["project"]


def test_the_version_is_the_same_everywhere() -> None:
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited == [ABOUT["version"]]
    newest = re.search(
        r"^## \[?(\d[\w.]*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert newest is not None
    assert newest[1] == ABOUT["version"]
    assert hush.__version__ == importlib.metadata.version("hush-sim")


def test_the_licence_is_the_same_everywhere() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert ABOUT["license"] == "Apache-2.0"
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "Copyright the hush contributors" in text
    assert "license: Apache-2.0\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_every_package_is_in_the_wheel_and_all_that_a_builder_needs_in_the_sources() -> None:
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert set(targets["wheel"]["packages"]) == {"hush", *PACKAGES}
    sources = set(targets["sdist"]["only-include"])
    assert {"hush", *PACKAGES, "tests", "LICENSE", "CITATION.cff", "SECURITY.md"} <= sources


def test_the_extra_for_all_names_every_extra_of_users() -> None:
    extras = ABOUT["optional-dependencies"]
    named = re.search(r"\[(.*)\]", extras["all"][0])
    assert named is not None
    assert set(named[1].split(",")) == set(extras) - {"all", "test", "lint", "docs"}


def test_the_versions_of_python_are_those_that_nox_and_the_workflow_check() -> None:
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(ABOUT["classifiers"]))
    for file in ("noxfile.py", ".github/workflows/checks.yml"):
        checked = re.search(r"(?:PYTHONS =|python:) \[(.*)\]", (ROOT / file).read_text("utf-8"))
        assert checked is not None
        assert re.findall(r"3\.\d+", checked[1]) == classified
    assert ABOUT["requires-python"] == f">={classified[0]}"

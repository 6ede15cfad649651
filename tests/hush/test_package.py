"""The package `hush`: the interface, the command, and what is said where another package has one of our names."""

import shutil
import subprocess
from pathlib import Path

import pytest

import hush
import scenarios
from hush.packages import PACKAGES
from tests.support.marks import one_in
from tests.support.paths import ROOT
from tests.support.python import python


def test_the_interface_is_that_of_scenarios() -> None:
    names = set(hush.__all__) - {"__version__"}
    assert names == set(scenarios.__all__)
    assert all(getattr(hush, name) is getattr(scenarios, name) for name in names)
    with pytest.raises(AttributeError, match="module 'hush' has no attribute 'swoop'"):
        hush.swoop  # noqa: B018


def test_the_command_is_the_module_too(tmp_path: Path) -> None:
    told = python("-m", "hush", "--version", cwd=tmp_path)
    assert told.stdout == f"hush {hush.__version__}\n"
    assert python("-m", "scenarios", "--version", cwd=tmp_path).stdout == told.stdout


def test_types_are_seen() -> None:
    """PEP 561: a type checker reads the annotations of a package only beside this file."""
    assert all((ROOT / name / "py.typed").is_file() for name in ("hush", *PACKAGES))


# another package has one of our names


def foreign(folder: Path, name: str) -> str:
    """Write a package of somebody else, and return the sentence about it."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text('"""My own."""\n\nOWN = True\n')
    return (
        f"hush: {name!r} is a package of hush, but Python finds another one at {folder / name / '__init__.py'}: "
        "rename or remove that one, or run hush where Python does not find it"
    )


@pytest.mark.parametrize("name", one_in(4, PACKAGES))
def test_the_command_names_the_other_package_in_one_sentence(name: str, tmp_path: Path) -> None:
    sentence = foreign(tmp_path, name)
    told = python("-m", "hush", "list", cwd=tmp_path)
    assert (told.returncode, told.stdout, told.stderr) == (2, "", sentence + "\n")


@pytest.mark.parametrize("name", one_in(4, PACKAGES))
def test_python_code_is_told_when_it_asks_for_a_name(name: str, tmp_path: Path) -> None:
    sentence = foreign(tmp_path, name)
    code = "import hush\ntry:\n    from hush import run\nexcept ImportError as error:\n    print(error)"
    assert python("-c", code, cwd=tmp_path).stdout == sentence + "\n"


def test_a_package_that_overwrote_ours_is_named(tmp_path: Path) -> None:
    """`pip install scenarios` writes its `__init__` over ours, in our own folder."""
    shutil.copytree(ROOT / "hush", tmp_path / "hush")
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / name / "__init__.py", tmp_path / name)
    code = "from hush.packages import shadowed; print(shadowed())"
    assert python("-c", code, cwd=tmp_path).stdout == "None\n"
    shutil.rmtree(tmp_path / "scenarios")
    sentence = foreign(tmp_path, "scenarios")
    assert python("-c", code, cwd=tmp_path).stdout == sentence + "\n"


def test_a_folder_that_is_no_package_shadows_nothing(tmp_path: Path) -> None:
    for name in PACKAGES:
        (tmp_path / name).mkdir()
    assert python("-m", "hush", "--version", cwd=tmp_path).returncode == 0


# pytest where hush is installed


def under_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as it starts there, with the plugin that the installed hush announces."""
    return python("-m", "pytest", "-q", "-p", "no:cacheprovider", *words, cwd=folder, ours=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project of somebody else with a folder `scenarios` of its own."""
    foreign(tmp_path, "scenarios")
    text = "import scenarios\n\n\ndef test_mine() -> None:\n    assert scenarios.OWN\n"
    (tmp_path / "test_own.py").write_text(text)
    return tmp_path


def test_a_project_with_scenarios_of_its_own_can_run_its_tests(project: Path) -> None:
    told = under_pytest(project, "--trace-config")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "1 passed" in told.stdout
    assert "hush.pytest_plugin" in told.stdout


THEIRS = {
    "a table": b"[a]\nb = 1\n",
    "nothing": b"",
    "a schema of another tool": b'schema = "v2"\n[server]\nport = 80\n',
    "an extension of another tool": b'extends = "base"\n',
    "keys of ours below a table": b"[graph]\nschema = 1\nnodes = 3\n",
    "no TOML": b"[a\nb = = 1\n",
    "no TOML, with a schema": b"schema = [\n",
    "no text": b"\xff\xfe\x00",
    "no end": b"a = " + b"[" * 100_000,
}
"""TOML files of other programs, whole and broken."""


def test_toml_of_other_programs_is_left_alone_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_mine() -> None:\n    pass\n")
    before = under_pytest(tmp_path)
    for at, content in enumerate(THEIRS.values()):
        (tmp_path / f"test_theirs_{at}.toml").write_bytes(content)
    (tmp_path / "test_gone.toml").symlink_to("nowhere")
    after = under_pytest(tmp_path)
    assert (before.returncode, after.returncode) == (0, 0), after.stdout
    assert after.stdout.split(" in ")[0] == before.stdout.split(" in ")[0]
    assert after.stderr == ""


@pytest.mark.slow
def test_a_scenario_in_such_a_project_is_an_error_of_one_sentence(project: Path) -> None:
    (project / "test_world.toml").write_text("schema = 1\nnodes = []\n")
    told = under_pytest(project)
    assert "Python finds another one at" in told.stdout
    assert str(project / "scenarios" / "__init__.py") in told.stdout
    assert "Traceback" not in told.stdout + told.stderr
    assert told.returncode == 2
    assert "1 passed" in under_pytest(project, "--continue-on-collection-errors").stdout


def test_seeds_in_such_a_project_are_a_usage_error(project: Path) -> None:
    told = under_pytest(project, "--scenario-seeds", "0..2")
    assert told.returncode == 4
    assert "Python finds another one at" in told.stderr
    assert "Traceback" not in told.stderr


def test_pytest_loads_nothing_of_ours_before_a_scenario_is_collected(tmp_path: Path) -> None:
    loaded = "[m for m in sys.modules if m.split('.')[0] in " + repr(set(PACKAGES)) + "]"
    text = f"import sys\n\n\ndef test_it() -> None:\n    assert {loaded} == []\n"
    (tmp_path / "test_own.py").write_text(text)
    told = under_pytest(tmp_path)
    assert told.returncode == 0, told.stdout

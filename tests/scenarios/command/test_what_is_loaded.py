"""What a command loads, and what it says where an extra is not installed."""

import ast
import subprocess
from pathlib import Path

import pytest

from scenarios.experiments.random_worlds import Dice
from scenarios.language.writer import to_toml
from scenarios.planning.fault_kinds import fault_kinds
from tests.support.builders import scenario
from tests.support.marks import one_in
from tests.support.python import python


def hush_and(
    after: str, *words: str, before: str = "pass", cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that runs some code before it and after it."""
    code = f"import sys; {before}; from scenarios.command.main import main; code = main({list(words)!r}); {after}"
    return python("-c", code + "; sys.exit(code)", cwd=cwd)


MEASURED = "import atexit; atexit.register(lambda: print([*sys.modules], file=sys.stderr))"
"""Told when Python ends, however a command does: every module that it loaded."""


def loaded_by(*words: str, cwd: Path) -> set[str]:
    """Return the names of the modules that a command loads, with those of the packages that they stand in."""
    told = hush_and("pass", *words, before=MEASURED, cwd=cwd)
    modules: list[str] = ast.literal_eval(told.stderr.splitlines()[-1])
    return set(modules)


SLOW = {"matplotlib", "pandas", "sklearn", "polars", "distributed", "dask", "PIL", "joblib"}
"""Packages of extras and of tests: no command loads them that does not say so."""
SCIENCE = SLOW | {"scipy", "networkx", "dp_accounting", "numba", "llvmlite"}
RECORDS = {"pyarrow", "rich", "simpy", "asyncio", "email", "importlib.metadata"}
NUMBERS = {"numpy", "msgspec", "threadpoolctl", "clocks.activation", "mechanisms.noise"}
MAY_NOT_LOAD = {
    ("--help",): SCIENCE | RECORDS | NUMBERS | {"scenarios.planning.scenario", "tomllib"},
    ("check", "./wrong.toml"): SCIENCE | RECORDS | NUMBERS,
    ("list",): SCIENCE | RECORDS | NUMBERS,
    ("show", "cd"): SCIENCE | RECORDS | (NUMBERS - {"msgspec"}),
    ("show", "quickstart"): SCIENCE | RECORDS | (NUMBERS - {"msgspec"}),
    ("data",): SCIENCE | {"rich", "simpy", "asyncio"},
    ("check", "quickstart"): SCIENCE | RECORDS | {"mechanisms.federated", "numpy.ma"},
    ("run", "ring5-dropout", "-q", "--out", "r"): SCIENCE | {"rich", "numpy.ma"},
    ("run", "quickstart", "--until", "2", "--out", "r"): SCIENCE | {"rich", "numpy.ma"},
}
"""What each command has no need of: a module stands for all that lies in it."""


@pytest.mark.slow
@pytest.mark.parametrize("words", MAY_NOT_LOAD, ids=" ".join)
def test_a_command_loads_what_it_needs(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("schema = 1\nnodez = 3\n")
    loaded = loaded_by(*words, cwd=tmp_path)
    assert "scenarios.command.main" in loaded
    assert loaded & MAY_NOT_LOAD[words] == set()


def test_networkx_is_loaded_for_a_graph_that_is_drawn(tmp_path: Path) -> None:
    topology = {"kind": "erdos-renyi", "p": 0.9}
    (tmp_path / "x.toml").write_text(to_toml(scenario(network={"topology": topology})))
    assert "networkx" in loaded_by("check", "./x.toml", cwd=tmp_path)


NO_GRAPH = {
    "a server": {"mechanism": {"kind": "fedavg"}, "network": {}, "run": {"seed": 1, "rounds": 2}},
    "listed edges": {"network": {"topology": {"kind": "edges", "edges": [[0, 1], [1, 2]]}}},
    "a ring": {"network": {"topology": "ring"}},
}


@pytest.mark.parametrize("verb", one_in(2, ["check", "run"]))
@pytest.mark.parametrize("sections", NO_GRAPH.values(), ids=NO_GRAPH)
def test_networkx_is_not_loaded_without_a_graph_to_draw(
    sections: dict[str, object], verb: str, tmp_path: Path
) -> None:
    base = {"nodes": [{"count": 3}], "run": {"seed": 1, "horizon": 2.0}}
    (tmp_path / "x.toml").write_text(to_toml(scenario(**(base | sections))))
    assert "networkx" not in loaded_by(verb, "./x.toml", cwd=tmp_path)


def test_an_error_in_a_file_is_told_before_numpy_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("schema = 1\nnodez = 3\n")
    heavy = "print([m for m in ('numpy', 'networkx', 'simpy', 'scipy', 'msgspec') if m in sys.modules], file=sys.stderr)"
    told = hush_and(heavy, "check", "./x.toml", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1] == "[]"


def test_every_fault_is_read_without_numpy(tmp_path: Path) -> None:
    """Records import what acts inside of `build`."""
    faults = [kind.examples[0].make(Dice(1, 1), 3) | {"at": 1.0} for kind in fault_kinds()]
    (tmp_path / "x.toml").write_text(to_toml(scenario(fault=faults) | {"nodez": 3}))
    heavy = "print([m for m in ('numpy', 'networkx', 'simpy', 'scipy') if m in sys.modules], file=sys.stderr)"
    told = hush_and(heavy, "check", "./x.toml", cwd=tmp_path)
    assert told.returncode == 2
    assert "nodez" in told.stderr
    assert told.stderr.splitlines()[-1] == "[]"


HIDDEN = "sys.modules['matplotlib'] = None"
"""Python then raises what it raises where matplotlib is not installed."""
INSTALL = "pictures need matplotlib, which is not installed: pip install 'hush-sim[plot]'"


def test_plot_without_matplotlib_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(to_toml(scenario()))
    ran = hush_and("pass", "run", "./x.toml", "--quiet", "--out", "r", before=HIDDEN, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = hush_and("pass", "plot", "r", "loss", before=HIDDEN, cwd=tmp_path)
    assert (told.returncode, told.stdout, told.stderr) == (2, "", INSTALL + "\n")


@pytest.mark.slow
def test_an_audit_without_matplotlib_keeps_its_verdict(tmp_path: Path) -> None:
    words = ("audit", "errata/e01-dvp-zeta-as-printed", "--runs", "60", "--jobs", "1", "--out", "a")
    told = hush_and("pass", *words, before=HIDDEN, cwd=tmp_path)
    assert told.returncode in {0, 1}, told.stderr
    assert told.stderr.splitlines()[-1] == f"hush: {INSTALL}"
    assert (tmp_path / "a" / "audit.json").exists()
    assert not (tmp_path / "a" / "audit.png").exists()

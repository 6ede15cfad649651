"""Imports point down, engines stay in their rooms, and names say what a module holds."""

import ast
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = ("hush", "actors", "clocks", "mechanisms", "scenarios")
MAY_IMPORT = {
    "clocks": {"clocks"},
    "mechanisms": {"mechanisms"},
    "actors": {"actors", "clocks", "mechanisms"},
    "scenarios": {"scenarios", "actors", "clocks", "mechanisms"},
    "hush": {"hush", "scenarios"},
}
ONLY_IN = {
    "simpy": ("clocks.virtual",),
    "asyncio": ("clocks.virtual", "clocks.wall", "scenarios"),
    "time": ("clocks.virtual", "clocks.wall", "scenarios"),
    "networkx": ("scenarios.planning.graphs",),
    "rich": ("scenarios.console.screens.screen",),
    "msgspec": ("actors.events", "actors.messages", "scenarios"),
    "joblib": ("scenarios.running.worker_processes",),
    "dp_accounting": ("mechanisms.accounting.export",),
    "matplotlib": ("scenarios.pictures",),
    "random": (),
    "pickle": (),
    "logging": ("scenarios.experiments.cluster",),  # to turn off what Dask's client logs
}


def modules() -> list[Path]:
    return sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


def name_of(path: Path, root: Path = ROOT) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add(node.module or "")
    return found


def violations(module: str, text: str) -> list[str]:
    """What the imports of a module break."""
    package, found = module.split(".", maxsplit=1)[0], []
    for imported in sorted(imports(text)):
        top = imported.split(".")[0]
        if top in (*PACKAGES, "tests") and top not in MAY_IMPORT[package]:
            found.append(f"{module} imports {imported}: imports point down")
        rooms = ONLY_IN.get(top)
        if rooms is not None and not any(module == r or module.startswith(r + ".") for r in rooms):
            found.append(f"{module} imports {imported}: only {rooms or 'nobody'} may")
    return found


@pytest.mark.slow
def test_the_house_keeps_its_rules() -> None:
    assert [
        v for path in modules() for v in violations(name_of(path), path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("mechanisms.noise", "from actors.agent import Agent"),
        ("mechanisms.noise", "import clocks.clock"),
        ("clocks.clock", "from mechanisms import noise"),
        ("clocks.activation", "import simpy"),
        ("actors.agent", "import asyncio"),
        ("actors.agent", "from scenarios.planning.plan import Plan"),
        ("actors.mailbox", "import random"),
        ("scenarios.planning.plan", "import networkx as nx"),
        ("scenarios.running.expectations", "from rich.console import Console"),
        ("mechanisms.descent", "import time"),
        ("scenarios.running.world", "import tests.support"),
    ],
)
def test_a_planted_import_is_found(module: str, line: str) -> None:
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    assert violations(module, path.read_text("utf-8")) == []
    assert violations(module, line + "\n" + path.read_text("utf-8")) != []


def test_only_seeds_makes_generators() -> None:
    makers = (
        "default_rng",
        "np.random.Generator(",
        "np.random.PCG64(",
        "np.random.Philox(",
        "RandomState",
    )
    found = [
        name_of(path)
        for path in modules()
        if any(maker in path.read_text("utf-8") for maker in makers)
    ]
    assert found == ["scenarios.planning.seeds"]


def test_names_say_which_noun() -> None:
    nothing = {
        "utils",
        "util",
        "helpers",
        "helper",
        "common",
        "misc",
        "manager",
        "managers",
        "base",
    }
    assert [name_of(p) for p in modules() if p.stem in nothing] == []


def test_importing_the_packages_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    code = "import hush, actors, clocks, mechanisms, scenarios, sys; print([m for m in ('numpy', 'rich', 'simpy', 'scipy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def defaults(text: str) -> list[int]:
    """The lines of cases that match anything, and neither raise nor call `assert_never`."""
    found = []
    for case in (c for m in ast.walk(ast.parse(text)) if isinstance(m, ast.Match) for c in m.cases):
        pattern, last = case.pattern, case.body[-1]
        if not isinstance(pattern, ast.MatchAs) or pattern.pattern is not None:
            continue  # a value, a class, a sequence: it does not match anything
        call = last.value if isinstance(last, ast.Expr) else None
        called = call.func if isinstance(call, ast.Call) else None
        refuses = isinstance(called, ast.Name) and called.id == "assert_never"
        if not (isinstance(last, ast.Raise) or refuses):
            found.append(pattern.lineno)
    return found


@pytest.mark.slow
def test_no_member_of_a_family_is_the_default_of_the_others() -> None:
    """A forgotten member raises: it never does what another member does."""
    assert {
        name_of(path): lines for path in modules() if (lines := defaults(path.read_text("utf-8")))
    } == {}


@pytest.mark.parametrize(
    ("body", "is_default"),
    [
        ("case _:\n  f()", True),
        ("case _ if y:\n  f()", True),
        ("case name:\n  f(name)", True),
        ("case _:\n  raise ValueError", False),
        ("case name:\n  assert_never(name)", False),
        ("case 1 | 2 as name:\n  f(name)", False),
        ("case int():\n  f()", False),
    ],
)
def test_a_default_is_seen(body: str, *, is_default: bool) -> None:
    text = "match x:\n " + body.replace("\n", "\n ")
    assert bool(defaults(text)) is is_default


def test_a_run_with_all_its_totals_loads_no_statistics_package(tmp_path: Path) -> None:
    """scipy.stats takes 0.7 s of processor time, which a run of 0.05 s would pay at its end."""
    import subprocess
    import sys

    code = (
        "import sys; from scenarios import run_sync; "
        f"done = run_sync('ring5-dropout', out={str(tmp_path / 'run')!r}); "
        "assert 'pld' in done.summary['epsilon']['side_by_side']; "
        "print([m for m in ('scipy.stats', 'dp_accounting') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


FILES_OF_A_RUN = {
    "manifest.json",
    "world.json",
    "data.json",
    "ledger.jsonl",
    "inputs.jsonl",
    "metrics.csv",
    "summary.json",
    "verdicts.json",
    "models.npz",
    "record-00000.hush",
}


def test_one_module_names_the_files_of_a_run() -> None:
    """What is read of a folder goes through the reader of records, so that the format can change behind it."""
    named = {
        name_of(path)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in FILES_OF_A_RUN
    }
    # the reader of scenarios lies below the records: it asks whether a file is the one that a run resolved
    assert named == {"scenarios.records.run_folder", "scenarios.language.reader"}


def test_only_the_reader_and_the_writers_know_where_a_run_keeps_what() -> None:
    """The names of these files serve messages elsewhere; only these modules put them behind a folder."""
    names = ("MANIFEST", "RESOLVED", "WORLD", "LEDGER", "METRICS", "INPUTS", "SUMMARY", "VERDICTS")
    behind = {
        name_of(path)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and isinstance(node.right, ast.Name)
        and node.right.id in names
    }
    assert behind == {
        "scenarios.records.gate",
        "scenarios.records.reader",
        "scenarios.records.run_folder",
        "scenarios.running.observers.recorder",
        "scenarios.command.run_plans",  # the file that a session by hand is run again from
    }


def _needs() -> dict[str, set[str]]:
    """What each module imports of the product when it runs, lazily or not; imports for types only do not count."""
    known = {name_of(path): path for path in modules()}
    needs: dict[str, set[str]] = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text("utf-8"))
        for block in ast.walk(tree):
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                block.body = []
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                parts = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= (parts & known.keys()) or {node.module}
        needs[name] = (imported & known.keys()) - {name}
    return needs


def _longest(needs: dict[str, set[str]]) -> list[str]:
    """Return the longest chain of imports; raise ValueError where there is a cycle."""
    chains: dict[str, list[str]] = {}
    open_: list[str] = []

    def chain(name: str) -> list[str]:
        if name in open_:
            raise ValueError(f"a cycle: {' → '.join([*open_[open_.index(name) :], name])}")
        if name not in chains:
            open_.append(name)
            chains[name] = [
                name,
                *max((chain(n) for n in sorted(needs[name])), key=len, default=[]),
            ]
            open_.pop()
        return chains[name]

    return max((chain(name) for name in needs), key=len)


def test_no_chain_of_imports_is_longer_than_twenty_modules_and_none_is_a_cycle() -> None:
    longest = _longest(_needs())
    assert len(longest) <= 20, " → ".join(longest)


def test_a_chain_and_a_cycle_are_seen() -> None:
    assert _longest({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="a cycle: b → c → b"):
        _longest({"a": {"b"}, "b": {"c"}, "c": {"b"}})


def test_git_holds_texts_of_less_than_a_quarter_of_a_megabyte_only() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    contents = {path.name: path.read_bytes() for path in files if path.is_file()}
    assert len(contents) > 100
    assert [name for name, c in contents.items() if len(c) > 250_000 or b"\0" in c] == []


CHARGES = {"charge", "noise", "noise_stream", "generator", "draw_ahead"}


def test_ledgers_are_charged_and_noise_is_drawn_in_one_module() -> None:
    """`X.charge(…)` of a ledger, and calls of a stream of noise, stand in actors/release.py and nowhere else in a run."""
    found = list[str]()
    for package in ("actors", "mechanisms", "scenarios/running"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    owner, name = node.func.value, node.func.attr
                    of = (
                        owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                    )
                    charges = name == "charge" and "ledger" in of
                    draws = name in {"noise", "noise_stream"} or (
                        name == "generator" and "stream" in of
                    )
                    if charges or draws:
                        found.append(path.relative_to(ROOT).as_posix())
    assert set(found) == {"actors/release.py"}


def test_the_page_shows_the_order_of_a_release_as_it_is() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    shown = page.partition("<!-- release:")[2].partition("```text\n")[2].partition("```")[0]
    code = (ROOT / "actors/release.py").read_text("utf-8")
    begin, end = code.index("def admit("), code.index("def release_jointly(")
    assert shown.strip() == code[begin:end].strip()

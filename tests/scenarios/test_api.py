"""The Python interface, and code of the author's own."""

import asyncio
import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios import check, open_run, run, run_sync
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from tests.support.builders import private, scenario
from tests.support.command import hush


@pytest.mark.slow
def test_a_run_lets_its_loop_breathe_and_can_be_cancelled(tmp_path: Path) -> None:
    import time

    async def beside() -> float:
        task = asyncio.ensure_future(
            run("quickstart", set={"run.horizon": "1h"}, out=tmp_path / "r")
        )
        await asyncio.sleep(0.3)
        begun = time.perf_counter()
        await asyncio.sleep(0.05)
        late = time.perf_counter() - begun - 0.05
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return late

    assert asyncio.run(beside()) < 1.0
    assert open_run(tmp_path / "r").status == "interrupted"


@pytest.mark.parametrize(
    "world",
    [
        {"nodes": [{"count": 1}], "network": {"topology": "complete"}},
        {"network": {"topology": {"kind": "edges", "edges": []}}},
        {"network": {"topology": {"kind": "erdos-renyi", "p": 0.0}}},
        {"mechanism": {"kind": "cd", "mu": 1e-12}},
    ],
)
def test_worlds_in_which_nothing_can_happen(world: dict[str, Any]) -> None:
    assert run_sync(scenario(**world)).code == 0


@pytest.mark.parametrize("seed", [-4, "4", 1.5, 10**40])
def test_seeds_from_python_are_judged_too(seed: Any) -> None:
    with pytest.raises(ScenarioError, match="seed"):
        run_sync(scenario(), seed=seed)
    assert (
        run_sync(scenario(run={"horizon": np.float64(3.0)}), seed=np.int64(4)).summary["seed"] == 4
    )


@pytest.mark.parametrize(
    "data",
    [{}, {"nodes": [1, 2]}, {"nodes": [("a", "b")] * 6}, [1], {"nodes": [([[0.1]], [1, 1])] * 6}],
)
def test_data_from_python_are_judged_too(data: Any) -> None:
    with pytest.raises(ScenarioError):
        run_sync(scenario(), data=data)


def test_a_resolved_file_reads_only_what_it_lists_and_only_unchanged(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "edges.csv").write_text("0,1\n1,2\n2,3\n3,4\n4,5\n")
    import tomllib

    from scenarios.language.writer import to_toml

    world = scenario(network={"topology": {"kind": "file", "path": "edges.csv"}})
    (tmp_path / "w" / "x.toml").write_text(to_toml(world))
    first = run_sync(tmp_path / "w" / "x.toml", out=tmp_path / "r")
    again = run_sync(tmp_path / "r" / "resolved.toml")
    assert again.manifest["digests"] == first.manifest["digests"]
    assert tomllib.loads((tmp_path / "r" / "resolved.toml").read_text())["origin"]["sha256"]
    (tmp_path / "w" / "edges.csv").write_text("0,1\n")
    with pytest.raises(ScenarioError, match="has changed since the run"):
        run_sync(tmp_path / "r" / "resolved.toml")


@pytest.mark.slow
def test_from_python_in_a_script_and_in_a_running_loop(tmp_path: Path) -> None:
    plain = run_sync("ring5-dropout", seed=7, set={"network.loss": 0.1}, out=tmp_path / "a")

    async def notebook() -> tuple[Any, Any]:
        return await run("ring5-dropout", seed=7, set={"network.loss": 0.1}), run_sync(
            "ring5-dropout", seed=7
        )

    awaited, threaded = asyncio.run(notebook())
    assert plain.manifest["digests"] == awaited.manifest["digests"]
    assert plain.manifest["digests"] != threaded.manifest["digests"]
    assert plain.models.shape == (5, 6)
    assert plain.verdicts["expectations"][0]["verdict"] == "pass"
    assert sum(1 for _ in awaited.events()) > 100


def test_data_and_graphs_of_ones_own() -> None:
    import networkx as nx

    rng = np.random.Generator(np.random.PCG64(0))
    nodes = [
        (0.3 * rng.standard_normal((9, 3)), np.where(rng.random(9) < 0.5, 1, -1)) for _ in range(6)
    ]
    nodes = [(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1), y) for x, y in nodes]
    result = run_sync(scenario(), data={"nodes": nodes}, graph=nx.star_graph(5))
    assert result.models.shape == (6, 3)
    again = run_sync(result.path / "resolved.toml", data={"nodes": nodes}, graph=nx.star_graph(5))
    assert again.manifest["digests"] == result.manifest["digests"]
    with pytest.raises(ScenarioError, match="handed over in Python"):
        run_sync(result.path / "resolved.toml")
    assert {tuple(e["to"]) for e in result.events() if e["kind"] == "sent" and e["node"] == 3} == {
        (0,)
    }
    with pytest.raises(ScenarioError, match="for 6 agents"):
        run_sync(scenario(), data={"nodes": nodes[:2]})


def test_check_from_python() -> None:
    assert check(private()).ok
    broken = check(private(run={"seed": -1}))
    assert not broken.ok
    assert broken.problems == ("scenario: run.seed: must be a whole number >= 0, got -1",)


OWN = """
import numpy as np
from dataclasses import dataclass
from mechanisms.accounting.spend import unprotected
from mechanisms.strategy import RELEASE, Step

@dataclass(frozen=True)
class Cube:
    margin = False; lipschitz = float("inf"); curvature_bound = 2.0; convex = True
    def value(self, t): return t * t
    def slope(self, t): return 2 * t
    def curvature(self, t): return 2 + 0 * t

@dataclass(frozen=True)
class Halving:
    rate: float = 1.0
    def instants(self, draws):
        return (10**9 * k * k for k in range(1, 100))

@dataclass(frozen=True)
class Pairs:
    def __call__(self, n, rng):
        return [(i, i + 1) for i in range(0, n - 1)]

@dataclass(frozen=True)
class Tiny:
    d: int = 2
    def __call__(self, n, rng):
        return [(0.1 * rng.standard_normal((5, self.d)), rng.standard_normal(5)) for _ in range(n)]

@dataclass(frozen=True)
class Average:
    objective: object
    confidence: float
    pull: float = 0.5
    planned = None
    def begin(self, start): return start
    def model(self, state): return state
    def propose(self, state, heard, made):
        def finish(_):
            moved = self.pull * heard.mean() - 0.1 * self.objective.gradient(state)
            return moved, moved
        return Step(RELEASE, unprotected("average", len(state)), finish)
    def without_data(self, state, heard):
        return self.propose(state, heard, 0)
"""


def test_code_of_ones_own_runs_when_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "my_own_things.py").write_text(OWN)
    text = """schema = 1
[run]
seed = 1
horizon = 30
[data]
source = "my_own_things:Tiny"
d = 3
[task]
loss = "my_own_things:Cube"
l2 = 0.1
[network]
topology = "my_own_things:Pairs"
[[nodes]]
count = 4
clock = "my_own_things:Halving"
[mechanism]
kind = "my_own_things:Average"
pull = 0.9
"""
    (tmp_path / "x.toml").write_text(text)
    refused = hush("check", "x.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "runs only with --allow-code" in refused.stderr
    done = hush("run", "./x.toml", "--quiet", "--allow-code", "--out", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = open_run(tmp_path / "r")
    assert [e["t"] for e in result.events() if e["kind"] == "woke" and e["node"] == 0] == [
        10**9 * k * k for k in range(1, 6)
    ]
    assert result.summary["epsilon"]["max"] == "inf"
    assert result.models.shape == (4, 3)


@pytest.mark.parametrize("function", [run, run_sync, check, make_plan])
def test_signatures_show_every_option(function: Any) -> None:
    """As the reference has them: `inspect.signature` and editors show what can be given."""
    options: dict[str, Any] = {
        "seed": None,
        "set": None,
        "until": None,
        "engine": None,
        "data": None,
        "graph": None,
        "folders": (),
        "allow_code": False,
        "allow_large": False,
        "path": "auto",
    }
    if function in {run, run_sync}:
        options |= {"out": None, "keep": None, "speed": math.inf, "profile": False}
    (_, *shown) = inspect.signature(function).parameters.values()
    assert {p.name: p.default for p in shown} == options
    assert all(p.kind is p.KEYWORD_ONLY for p in shown)
    assert inspect.iscoroutinefunction(function) == (function is run)


def test_a_wrong_option_names_the_nearest() -> None:
    for function in (run_sync, check, make_plan):
        with pytest.raises(TypeError, match="has no option 'sed'; did you mean 'seed'"):
            function("quickstart", sed=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"run\(\) has no option 'outt'; did you mean 'out'"):
        asyncio.run(run("quickstart", outt="x"))  # type: ignore[call-arg]

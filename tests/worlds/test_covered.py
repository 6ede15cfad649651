"""A run says whether its ε covers it, and why not: graphs made of data, rows of several agents, times an oracle chose."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios import run_sync
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.forecast import forecast
from scenarios.records.summary_text import in_words
from tests.support.builders import perform, private


def told(tree: dict[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """The summary as its file has it, and in words."""
    ran = perform(tree, folder)
    summary = json.loads((ran.outcome.folder / "summary.json").read_text())
    return summary, "\n".join(in_words(summary))


@pytest.mark.parametrize("kind", [{"kind": "knn", "k": 2}, {"kind": "similarity"}])
def test_a_graph_made_of_data_is_not_covered_unless_it_is_declared_public(
    kind: dict[str, Any], tmp_path: Path
) -> None:
    data = {"source": "separators", "dimension": 3, "points": 30}
    made, words = told(private(data=data, network={"topology": kind}), tmp_path / "made")
    assert made["epsilon"]["covered"] is False
    assert len(made["epsilon"]["not_covered"]) == 1
    assert "graph is made of what agents learn" in made["epsilon"]["not_covered"][0]
    assert f"NOT COVERED: {made['epsilon']['not_covered'][0]}" in words
    public = private(data=data, network={"topology": kind | {"public": True}})
    declared, words = told(public, tmp_path / "public")
    assert declared["epsilon"]["covered"] is True
    assert declared["epsilon"]["not_covered"] == []
    assert "declared public" in words
    assert "NOT COVERED" not in words
    warned = forecast(make_plan(private(data=data, network={"topology": kind})))["warnings"]
    assert [w for w in warned if w.startswith("not covered: ")]


def test_without_noise_there_is_nothing_to_cover() -> None:
    data = {"source": "separators", "dimension": 3, "points": 30}
    tree = private(
        data=data,
        network={"topology": {"kind": "knn", "k": 2}},
        mechanism={"kind": "cd"},
        nodes=[{"count": 6}],
    )
    assert make_plan(tree).uncovered == ()


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.Generator(np.random.PCG64(3))
    x = rng.standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def covered(data: dict[str, Any]) -> list[str]:
    done = run_sync(private(nodes=[{"count": 3, "budget": {"epsilon": 4.0}}]), data=data, seed=1)
    return list(done.summary["epsilon"]["not_covered"])


def test_a_row_in_several_hands_is_not_covered_and_equal_values_are_no_identity() -> None:
    x, y = points(90)
    apart = [(x[30 * i : 30 * i + 30], y[30 * i : 30 * i + 30]) for i in range(3)]
    assert covered({"nodes": apart}) == []
    over = [(x[20 * i : 20 * i + 30], y[20 * i : 20 * i + 30]) for i in range(3)]
    (said,) = covered({"nodes": over})
    assert said.startswith("20 source rows are held by several agents")
    copies = [(a.copy(), b.copy()) for a, b in over]
    assert covered({"nodes": copies}) == []  # equal values: two people may be alike
    numbers = [list(range(20 * i, 20 * i + 30)) for i in range(3)]
    (said,) = covered({"nodes": copies, "rows": numbers})
    assert said.startswith("20 source rows")


def _kept(x: np.ndarray, container: str) -> Any:
    """The same memory in another container."""
    if container == "array":
        return x
    module = pytest.importorskip(container)
    return module.DataFrame(dict(zip("abc", x.T, strict=True)))


@pytest.mark.parametrize("container", ["array", "pandas", "polars"])
@pytest.mark.parametrize("gap", [None, 5, 25])
def test_a_row_in_several_hands_is_found_in_every_container_and_beside_rows_left_out(
    container: str, gap: int | None
) -> None:
    """Rows 20 to 29 and 40 to 49 are in two hands each; row 25 is in none where it is left out."""
    x, y = points(90)
    if gap is not None:
        x[gap, 1] = np.nan
    pool = _kept(x, container)
    over = [(pool[20 * i : 20 * i + 30], y[20 * i : 20 * i + 30]) for i in range(3)]
    tree = private(
        nodes=[{"count": 3, "budget": {"epsilon": 4.0}}],
        data={"source": "given", "missing": "drop"},
    )
    (said,) = make_plan(tree, data={"nodes": over}).uncovered
    assert said.startswith(f"{19 if gap == 25 else 20} source rows")


def test_a_row_that_one_agent_holds_twice_is_not_covered() -> None:
    """Who replaces it replaces two records: ε is of one."""
    x, y = points(60)
    apart = [(x[20 * i : 20 * i + 20], y[20 * i : 20 * i + 20]) for i in range(3)]
    numbers = [[0, 0, *range(2, 20)], list(range(20, 40)), list(range(40, 60))]
    (said,) = covered({"nodes": apart, "rows": numbers})
    assert said.startswith("1 source rows")
    alike = (np.broadcast_to(x[0], (20, 3)), y[:20])
    (said,) = covered({"nodes": [alike, *apart[1:]]})
    assert said.startswith("1 source rows")


@pytest.mark.parametrize(
    "rows", ["abc", [[0, 1]] * 3, [list(range(20))] * 2, [np.arange(20) + 0.5] * 3, [None] * 3]
)
def test_numbers_that_are_none_of_the_points_are_refused_not_ignored(rows: Any) -> None:
    x, y = points(60)
    apart = [(x[20 * i : 20 * i + 20], y[20 * i : 20 * i + 20]) for i in range(3)]
    with pytest.raises(ScenarioError, match="rows"):
        covered({"nodes": apart, "rows": rows})


def test_one_file_for_two_agents_or_numbers_in_two_files_are_not_covered(tmp_path: Path) -> None:
    x, y = points(60)
    tree = private(
        nodes=[{"count": 3, "budget": {"epsilon": 4.0}}], data={"source": "files", "path": "nodes"}
    )
    folder = tmp_path / "nodes"
    folder.mkdir()
    for i in range(3):
        part = slice(20 * i, 20 * i + 20)
        np.savez(folder / f"{i:03d}.npz", x=x[part], y=y[part], rows=np.arange(60)[part])
    assert _plan(tree, tmp_path).uncovered == ()
    (folder / "002.npz").unlink()
    (folder / "002.npz").hardlink_to(folder / "001.npz")
    (said,) = _plan(tree, tmp_path).uncovered
    assert said.startswith("20 source rows")
    (folder / "002.npz").unlink()
    np.savez(folder / "002.npz", x=x[40:], y=y[40:], rows=np.arange(15, 35))
    (said,) = _plan(tree, tmp_path).uncovered
    assert said.startswith("20 source rows")


def _plan(tree: dict[str, Any], folder: Path) -> Any:
    from scenarios.language.writer import to_toml

    (folder / "world.toml").write_text(to_toml(tree))
    return make_plan(str(folder / "world.toml"))


@pytest.mark.parametrize("kind", ["cd", "warm-cd"])
@pytest.mark.parametrize("smoothness", ["data", "bound", 7.0])
def test_a_step_size_made_of_data_is_not_covered(kind: str, smoothness: Any) -> None:
    """Two data sets whose longest rows differ move by other steps: the ledger counts the noise of one gradient alone."""
    table = {"kind": kind, "noise": "norm-gamma", "releases": 4, "calibration": "as_printed"}
    tree = private(
        mechanism=table | {"smoothness": smoothness}, task={"loss": "logistic", "l2": 0.1}
    )
    reasons = [reason for reason in make_plan(tree).uncovered if "smoothness" in reason]
    assert len(reasons) == (smoothness == "data")


def test_an_epsilon_at_a_time_that_an_oracle_chose_says_so(tmp_path: Path) -> None:
    tree = private(targets={"good": {"metric": "loss.mean", "at_most": 0.69}})
    summary, words = told(tree, tmp_path)
    assert summary["targets_not_covered"] == {
        "epsilon_to.good": "an oracle's loss.mean chose the time"
    }
    assert "epsilon_to.good" in words
    line = next(line for line in words.splitlines() if "epsilon_to.good" in line)
    assert line.endswith("(not covered: an oracle's loss.mean chose the time)")
    assert summary["epsilon"]["covered"] is True  # the whole run's ε does not rest on it

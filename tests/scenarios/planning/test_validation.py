"""Points that are held out of training: how many, which, and what is judged by them."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.api.runs import check, make_plan
from scenarios.auditing.neighbouring_data import neighbours
from scenarios.language.problems import ScenarioError
from scenarios.language.table_rules import keys_of
from scenarios.planning.context import Options
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.datasets import Shards, held_out
from scenarios.planning.packed_points import Points
from scenarios.planning.plan import Plan
from tests.support.builders import private, scenario
from tests.support.finished_runs import finished

SIZES = (1, 2, 3, 10, 57, 1)
N = len(SIZES)
BLOBS = {"source": "blobs", "dimension": 3}
"""Where points are handed over, any source may stand here."""


def points(sizes: tuple[int, ...] = SIZES) -> list[Points]:
    """Each agent's points; no two of them are equal."""
    numbers = iter(range(1, 10_000))
    made = []
    for size in sizes:
        first = np.array([next(numbers) for _ in range(size)], float) / 1e4
        made.append(
            (np.stack([first, np.full(size, 0.1)], axis=1), np.where(first * 1e4 % 3, 1.0, -1.0))
        )
    return made


def shards(sizes: tuple[int, ...] = SIZES) -> Shards:
    return Shards(tuple(points(sizes)), (), None, None, ())


def as_rows(*each: Points) -> list[tuple[float, ...]]:
    return [
        (*row, label) for x, y in each for row, label in zip(x.tolist(), y.tolist(), strict=True)
    ]


def wanted(share: float, size: int) -> int:
    return min(max(1, round(share * size)), size - 1)


class Given:
    """A data source of a scenario's own, which returns the points above."""

    def __call__(self, n: int, rng: np.random.Generator) -> Any:  # noqa: ARG002 # asked so
        return points()[:n]


def sources(folder: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Every way to points: a table of [data] and options of `make_plan`."""
    drawn: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        name: ({"source": name, "dimension": 2, "points": {"min": 1, "max": 9}}, {})
        for name in ("separators", "blobs")
    }
    (folder / "nodes").mkdir()
    for i, (x, y) in enumerate(points()):
        np.savez(folder / f"nodes/{i:03d}.npz", x=x, y=y)
    named = {"source": "files", "path": "nodes"}, {"folders": (folder,)}
    own = {"source": f"{__name__}:Given"}, {"allow_code": True}
    return drawn | {
        "files": named,
        "own": own,
        "handed over": ({"source": "blobs"}, {"data": {"nodes": points()}}),
    }


@given(
    st.floats(0, 1, exclude_min=True, exclude_max=True), st.lists(st.integers(1, 40), min_size=1)
)
def test_a_share_of_each_agents_points_is_held_out_and_no_point_is_lost(
    share: float, sizes: list[int]
) -> None:
    whole = shards(tuple(sizes))
    parted = held_out(whole, share, 3)
    for before, train, held in zip(whole.train, parted.train, parted.validation, strict=True):
        size = len(before[1])
        assert len(held[1]) == wanted(share, size)
        assert len(train[1]) >= 1
        assert sorted(as_rows(train, held)) == sorted(as_rows(before))


def test_nothing_is_held_out_where_no_share_is_given() -> None:
    whole = shards()
    assert held_out(whole, 0.0, 3) is whole


@pytest.mark.parametrize("way", ["separators", "blobs", "files", "own", "handed over"])
def test_every_source_holds_out_the_same_share_and_trains_on_the_rest(
    way: str, tmp_path: Path
) -> None:
    data, options = sources(tmp_path)[way]

    def plan(share: float) -> Plan:
        return make_plan(scenario(data=data | {"validation": share}), **options)

    whole, parted = plan(0.0), plan(0.25)
    assert whole.shards.validation == ()
    held = [len(y) for _, y in parted.shards.validation]
    assert held == [wanted(0.25, size) for size in whole.shards.sizes]
    assert parted.shards.sizes == tuple(
        size - out for size, out in zip(whole.shards.sizes, held, strict=True)
    )
    assert parted.shards.sizes == tuple(objective.points for objective in parted.objectives)
    pooled = Counter(as_rows(*parted.shards.train, *parted.shards.validation))
    assert pooled == Counter(as_rows(*whole.shards.train))


def test_every_kind_of_source_has_the_key() -> None:
    assert all("validation" in keys_of(SOURCES[name].table) for name in SOURCES)


def test_what_an_agent_holds_out_does_not_depend_on_the_others() -> None:
    few, many = held_out(shards((9, 8)), 0.3, 5), held_out(shards((9, 8, 7, 6)), 0.3, 5)
    for i in range(2):
        assert as_rows(few.validation[i]) == as_rows(many.validation[i])


def test_every_point_is_held_out_as_often_as_any_other() -> None:
    """Over 2,000 seeds: counts of a share of 1/4 are within five deviations."""
    counts = Counter[tuple[float, ...]]()
    for seed in range(2000):
        counts.update(as_rows(*held_out(shards((8,)), 0.25, seed).validation))
    assert len(counts) == 8
    assert max(abs(count - 500) for count in counts.values()) < 5 * math.sqrt(2000 * 0.25 * 0.75)


def test_scores_are_means_over_held_out_points_and_none_without_any() -> None:
    data = {"source": f"{__name__}:Given", "validation": 0.3}
    for loss, score in (("logistic", "accuracy"), ("squared", "rmse")):
        ran = finished(scenario(data=data, task={"loss": loss, "l2": 0.1}), allow_code=True)
        *_, last = ran.result.samples()
        got = last["values"][f"{score}.validation"]
        for theta, (x, y), value in zip(
            ran.theta, ran.run.plan.shards.validation, got, strict=True
        ):
            if not len(y):
                assert value is None
            elif score == "accuracy":
                assert value == pytest.approx(np.mean(np.sign(x @ theta) == y))
            else:
                assert value == pytest.approx(math.sqrt(np.mean((x @ theta - y) ** 2)))
        assert [value is None for value in got] == [size == 1 for size in SIZES]
        told = ran.outcome.summary[score]["validation"]
        assert told == pytest.approx(np.mean([value for value in got if value is not None]))


def test_a_score_without_validation_points_says_what_would_give_some() -> None:
    ask = {"expect": [{"metric": "accuracy.validation.mean", "at_least": 0.5}]}
    summary = finished(scenario(**ask)).outcome.summary
    (judged,) = summary["expectations"]
    assert judged["verdict"] == "unknown"
    assert "no validation points: give data.validation" in judged["note"]
    assert "validation" not in summary["accuracy"]
    one = {"source": "blobs", "dimension": 3, "points": 1, "validation": 0.5}
    summary = finished(scenario(data=one, **ask)).outcome.summary
    assert "every agent has one point" in summary["expectations"][0]["note"]
    assert summary["accuracy"]["validation"] is None
    assert "every agent has one point" in summary["reasons"]["accuracy.validation"]


def test_a_score_of_another_loss_names_its_own() -> None:
    squared = scenario(
        task={"loss": "squared", "l2": 0.1},
        expect=[{"metric": "accuracy.validation.mean", "at_least": 0.5}],
    )
    (problem,) = check(squared).problems
    assert "did you mean 'rmse.validation.mean'" in problem


@pytest.mark.parametrize("share", [1, -0.1, "much"])
@pytest.mark.parametrize("source", ["blobs", f"{__name__}:Given"])
def test_a_share_is_at_least_0_and_below_1(share: Any, source: str) -> None:
    with pytest.raises(ScenarioError, match=r"data\.validation"):
        make_plan(scenario(data={"source": source, "validation": share}), allow_code=True)


def test_delta_is_judged_by_the_points_that_are_left() -> None:
    """δ = 1/25 is below 1/20 and not below 1/25: of 25 points, 5 are held out."""
    nodes = [{"count": 6, "budget": {"epsilon": 4.0, "delta": 0.04}}]
    data = {"source": "blobs", "dimension": 3, "points": 25}
    assert any("1/m" in problem for problem in check(private(nodes=nodes, data=data)).problems)
    assert not check(private(nodes=nodes, data=data | {"validation": 0.2})).problems


def test_validation_points_may_lie_anywhere_and_are_scaled_with_the_others() -> None:
    """One far point each: where it is held out no noise rests on it, and scaling on request takes all."""
    far = [(np.array([[30.0, 40.0], [0.1, 0.2]]), np.array([1.0, -1.0]))] * N
    mechanism = {"kind": "cd", "mu": 1.0, "smoothness": "bound"}
    world = scenario(mechanism=mechanism, data=BLOBS | {"validation": 0.5, "scale": "row"})
    made = make_plan(world, data={"nodes": far})
    norms = [np.linalg.norm(x) for x, _ in (*made.shards.train, *made.shards.validation)]
    assert max(norms) == pytest.approx(1.0)
    held = [float(np.linalg.norm(x)) > 0.9 for x, _ in made.shards.validation]
    with pytest.raises(ScenarioError, match=f"node {held.index(False)}: 1 of 1 rows have a norm"):
        make_plan(world | {"data": BLOBS | {"validation": 0.5}}, data={"nodes": far})


def test_an_audit_trains_on_as_many_points_as_the_scenario() -> None:
    plan = make_plan(
        private(data={"source": "blobs", "dimension": 3, "points": 30, "validation": 0.2})
    )
    pair = neighbours(plan, how="canary", more=Options()).plans()
    assert plan.shards.sizes == (24,) * 6
    assert pair.one.shards.sizes == pair.other.shards.sizes == plan.shards.sizes


def test_points_of_a_wrong_form_are_named_before_any_is_held_out() -> None:
    bad = [(np.zeros((3, 2)), np.ones(2))] * N
    with pytest.raises(ScenarioError, match="X of agent 0 has 3 rows and y of agent 0 2 labels"):
        make_plan(scenario(data=BLOBS | {"validation": 0.5}), data={"nodes": bad})

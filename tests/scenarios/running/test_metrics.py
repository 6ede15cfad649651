"""Metrics against their definitions (reference.md, section 5), from the models and the points themselves."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import check
from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.json_numbers import aggregate
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import METRICS
from tests.support.builders import Ran, perform, private, scenario

DATA = {"source": "separators", "dimension": 3, "points": {"min": 5, "max": 20}, "test_points": 30}
ALL = [
    "loss.pooled.mean",
    "gap.relative",
    "gap.present",
    "bias",
    "distance",
    "staleness.mean",
    "lag.mean",
    "noise.ratio.mean",
    "epsilon.kov.max",
]


def last(ran: Ran) -> dict[str, Any]:
    *_, sample = ran.result.samples()
    found: dict[str, Any] = sample["values"]
    return found


def world(loss: Any = "logistic", **sections: Any) -> dict[str, Any]:
    expect = [{"metric": metric, "above": -1e9} for metric in ALL]
    base = {"data": DATA, "task": {"loss": loss, "l2": 0.1}, "expect": expect}
    return private(**(base | sections))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return perform(world(), tmp_path_factory.mktemp("metrics"))


def test_losses_and_accuracies_are_means_over_points(ran: Ran) -> None:
    values, shards = last(ran), ran.run.plan.shards
    pool = np.concatenate([x * y[:, None] for x, y in shards.train])
    for i, theta in enumerate(ran.theta):
        (x, y), (tx, ty) = shards.train[i], shards.test[i]
        assert values["loss"][i] == pytest.approx(np.mean(np.log1p(np.exp(-y * (x @ theta)))))
        assert values["loss.pooled"][i] == pytest.approx(np.mean(np.log1p(np.exp(-(pool @ theta)))))
        assert values["accuracy.train"][i] == pytest.approx(np.mean(np.sign(x @ theta) == y))
        assert values["accuracy.test"][i] == pytest.approx(np.mean(np.sign(tx @ theta) == ty))


def test_errors_are_roots_of_mean_squares(tmp_path: Path) -> None:
    squared = perform(scenario(data=DATA, task={"loss": "squared", "l2": 0.1}), tmp_path)
    values = last(squared)
    for i, theta in enumerate(squared.theta):
        x, y = squared.run.plan.shards.test[i]
        assert values["rmse.test"][i] == pytest.approx(math.sqrt(np.mean((x @ theta - y) ** 2)))
    assert "accuracy.test" not in values


def test_gaps_are_differences_of_objectives(ran: Ran) -> None:
    values, joint = last(ran), ran.run.plan.joint
    assert joint is not None
    best = joint.minimum()
    gap = joint.value(ran.theta) - joint.value(best)
    assert values["objective"] == pytest.approx(joint.value(ran.theta))
    assert values["gap"] == values["gap.present"] == pytest.approx(gap)
    at_start = joint.value(np.zeros((6, 3))) - joint.value(best)
    assert values["gap.relative"] == pytest.approx(gap / at_start)


def test_spreads_are_root_mean_squares(ran: Ran) -> None:
    values, theta, joint = last(ran), ran.theta, ran.run.plan.joint
    assert joint is not None
    best, mean = joint.minimum(), theta.mean(axis=0)
    assert values["consensus"] == pytest.approx(math.sqrt(((theta - mean) ** 2).sum() / 6))
    assert values["bias"] == pytest.approx(np.linalg.norm(mean - best.mean(axis=0)))
    assert values["distance"] == pytest.approx(math.sqrt(((theta - best) ** 2).sum() / 6))


def test_gain_is_against_everybodys_own_minimum(ran: Ran, tmp_path: Path) -> None:
    alone = perform(scenario(data=DATA, task={"l2": 0.1}, mechanism={"kind": "local"}), tmp_path)
    together, apart = last(ran), last(alone)
    gain = np.array(together["accuracy.test"]) - np.array(apart["accuracy.test"])
    assert together["gain"] == pytest.approx(gain)
    assert together["harmed"] == pytest.approx((gain < 0).mean())
    assert ran.outcome.summary["local"]["accuracy"] == pytest.approx(
        np.mean(apart["accuracy.test"])
    )
    assert ran.outcome.summary["local"]["loss"] == pytest.approx(np.mean(apart["loss"]))


def test_a_gain_in_errors_is_an_error_that_fell(tmp_path: Path) -> None:
    task, ask = {"loss": "squared", "l2": 0.1}, [{"metric": "harmed", "above": -1.0}]
    ran = perform(scenario(data=DATA, task=task, expect=ask), tmp_path / "together")
    alone = scenario(data=DATA, task=task, mechanism={"kind": "local"})
    together, apart = last(ran), last(perform(alone, tmp_path / "alone"))
    gain = np.array(apart["rmse.test"]) - np.array(together["rmse.test"])
    assert together["gain"] == pytest.approx(gain)
    assert together["harmed"] == pytest.approx((gain < 0).mean())


def test_the_gap_of_those_present_counts_crashed_agents_and_none_that_left(tmp_path: Path) -> None:
    fault = [{"at": 4.0, "crash": [1]}, {"at": 12.0, "leave": [3]}]
    ran = perform(world(fault=fault), tmp_path)
    joint, here = ran.run.plan.joint, [0, 1, 2, 4, 5]
    assert joint is not None
    among = joint.among(np.array(here))
    gap = among.value(ran.theta[here]) - among.value(among.minimum())
    assert last(ran)["gap.present"] == pytest.approx(gap)


def test_counts_are_the_events(tmp_path: Path) -> None:
    fault = [{"at": 4.0, "for": 5.0, "crash": [1]}, {"at": 12.0, "leave": [3]}]
    network = {"topology": "complete", "latency": {"kind": "exponential", "mean": 0.2}, "loss": 0.2}
    ran = perform(world(fault=fault, network=network), tmp_path)
    values = last(ran)
    for kind in ("delivered", "superseded", "lost", "rejected"):
        assert values[f"messages.{kind}"] == len(ran.events(kind))
    assert values["messages.sent"] == sum(len(e["to"]) for e in ran.events("sent"))
    assert values["bytes.sent"] == sum(len(e["to"]) * e["bytes"] for e in ran.events("sent"))
    assert values["derived"] == [
        sum(e["node"] == i for e in ran.events("derived")) for i in range(6)
    ]
    assert values["updates"] == [sum(e["node"] == i for e in ran.events("woke")) for i in range(6)]
    assert values["releases"] == [
        sum(e["node"] == i for e in ran.events("released")) for i in range(6)
    ]
    assert (values["nodes.up"], values["nodes.down"], values["nodes.left"]) == (5, 0, 1)
    assert values["availability"] == pytest.approx([1, 15 / 20, 1, 12 / 20, 1, 1])


@pytest.mark.parametrize(("mechanism", "planned"), [({}, 0), ({"noise": "laplace"}, 50)])
def test_planned_releases_are_those_of_the_plan_and_0_without_one(
    tmp_path: Path, mechanism: dict[str, Any], planned: int
) -> None:
    budget = {"budget": {"epsilon": 3.0}} if mechanism else {}
    releases = {"releases": 50} if mechanism else {}
    tree = world(nodes=[{"count": 6} | budget], mechanism={"kind": "cd"} | mechanism | releases)
    values = last(perform(tree, tmp_path))
    assert values["releases.planned"] == [planned] * 6


def test_staleness_and_lag_follow_the_version_that_is_held(tmp_path: Path) -> None:
    """Two agents on traces: what 1 holds of 0 was published at 3 s, and 0 published once since."""
    wakes = [[1, 0], [3, 0], [4, 1], [6, 0], [4, 0]]
    nodes = [{"count": 2, "clock": {"kind": "trace", "wakes": wakes}}]
    expect = [{"metric": "staleness.mean", "above": 0.0}, {"metric": "lag.mean", "above": 0.0}]
    ran = perform(
        scenario(
            nodes=nodes,
            network={"topology": "path"},
            expect=expect,
            run={"seed": 1, "horizon": 10.0},
        ),
        tmp_path,
    )
    values = last(ran)
    assert values["staleness"][1] == pytest.approx(3.0)  # the run ends with the last wake, at 6 s
    assert values["lag"][1] == 2  # published at 4 s and at 6 s, neither read
    assert values["staleness"][0] == pytest.approx(2.0)
    assert values["lag"][0] == 0


@pytest.mark.parametrize(
    ("how", "expected"),
    [("mean", 2.5), ("min", 1.0), ("max", 4.0), ("sum", 10.0), ("p50", 2.5), ("p99", 3.97)],
)
def test_aggregates_leave_out_what_is_not_there(how: str, expected: float) -> None:
    values = np.array([1.0, math.nan, 2.0, 3.0, 4.0])
    assert aggregate(values, how) == pytest.approx(expected)
    assert math.isnan(aggregate(np.array([math.nan]), how))


def test_percentiles_of_infinite_budgets() -> None:
    assert aggregate(np.full(5, math.inf), "p50") == math.inf


def test_a_group_has_a_share_of_harmed_agents_of_its_own(tmp_path: Path) -> None:
    nodes = [
        {"name": "left", "count": 2},
        {"name": "right", "count": 3},
        {"name": "late", "present": False},
    ]
    claims = [{"metric": "harmed", "group": g, "at_least": 0.0} for g in ("left", "right", "late")]
    claims += [
        {"metric": "harmed", "at_least": 0.0},
        {"metric": "harmed", "group": "left", "up": True, "at_least": 0.0},
    ]
    fault = [{"at": 3.0, "crash": [0]}]
    made = perform(scenario(data=DATA, nodes=nodes, expect=claims, fault=fault), tmp_path)
    gains = last(made)["gain"]
    assert any(g < 0 for g in gains[:5])
    assert gains[5] is None

    def share(*ids: int) -> float:
        return sum(1.0 for i in ids if gains[i] < 0) / len(ids)

    judged = made.outcome.summary["expectations"]
    assert [e["got"] for e in judged] == [
        share(0, 1),
        share(2, 3, 4),
        None,
        share(*range(5)),
        share(1),
    ]
    assert judged[0]["wanted"] == "harmed of left >= 0 (end)"
    told = check(scenario(expect=[{"metric": "harmed", "node": 1, "at_least": 0.0}]))
    assert "harmed is a share of agents: give a group, or leave node out" in told.problems[0]


def test_every_metric_that_runs_the_plan_again_has_a_way_to() -> None:
    again = {metric.name for metric in METRICS.values() if metric.taken is Taken.AGAIN}
    assert again == set(AT_END_METRICS)

"""Agents that are online by the hour, in whole runs: how many, which, and what ε says of it."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from scenarios.api.runs import make_plan
from scenarios.command.main import main
from scenarios.language.problems import ScenarioError
from scenarios.planning.cities import CITIES
from tests.support.builders import Ran, perform, private, scenario

SECOND = 10**9
DAY = 24.0
"""A period of seconds that stand for hours."""


def world(
    tmp_path: Path, fault: dict[str, Any], agents: int = 6, days: int = 2, **sections: Any
) -> Ran:
    nodes = [{"name": "peers", "count": agents, "clock": {"kind": "poisson", "rate": 0.01}}]
    base: dict[str, Any] = {
        "run": {"seed": 5, "horizon": days * DAY, "sample_every": DAY},
        "nodes": nodes,
        "data": {"source": "blobs", "dimension": 1, "points": 4 * agents, "test_points": 0},
        "mechanism": {"kind": "local"},
    }
    timing = {"at": 0} | {k: fault.pop(k) for k in ("at", "for") if k in fault}
    day = {"on": "all", "period": DAY} | fault
    made = perform(scenario(**(base | sections), fault=[timing | {"availability": day}]), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def online(made: Ran, instants: list[float]) -> Any:
    """Return which agents are up from each instant on: a row for each."""
    up = np.ones(made.run.plan.size, dtype=bool)
    rows, events = [], made.events("left", "joined", "crashed", "restarted")
    for instant in instants:
        while events and events[0]["t"] <= round(instant * SECOND):
            event = events.pop(0)
            up[event["node"]] = event["kind"] in {"joined", "restarted"}
        rows.append(up.copy())
    return np.array(rows)


def tent(t: float, phase: float = 0.0) -> float:
    """How far a day has risen: 0 at its phase, 1 half a period later."""
    return 1 - abs(1 - 2 * ((t - phase) / DAY % 1))


HOURS = [0.0, 3.0, 6.0, 12.0, 15.5, 21.0, 24.0, 30.0, 36.0, 45.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "share"),
    [
        ({"phase": "same", "low": 0.1, "high": 0.6}, lambda t: 0.1 + 0.5 * tent(t)),
        ({"phase": "same", "low": 0.0, "high": 1.0}, tent),
        ({"phase": "uniform", "low": 0.2, "high": 0.8}, lambda _: 0.5),
        (
            {"phase": "same", "low": 0.1, "high": 0.8, "bias": "beta"},
            lambda t: 0.1 + 0.7 * 2 / 7 * tent(t),
        ),
        (
            {
                "phase": "same",
                "low": 0.1,
                "high": 0.6,
                "session": {"kind": "weibull", "scale": 3.0, "shape": 0.6},
            },
            lambda t: 0.1 + 0.5 * tent(t),
        ),
        ({"low": 0.3, "high": 0.3, "session": 1.0, "by": "crash"}, lambda _: 0.3),
    ],
)
def test_the_share_that_is_online_is_that_of_the_formula(
    fault: dict[str, Any], share: Any, tmp_path: Path
) -> None:
    """Of 250 independent agents the share is off by 0.17 with a probability below 2 exp(−2·250·0.17²) = 1e-6 (Hoeffding)."""
    made = world(tmp_path, dict(fault), agents=250)
    for t, row in zip(HOURS, online(made, HOURS), strict=True):
        assert row.mean() == pytest.approx(share(t), abs=0.17), t


@pytest.mark.slow
def test_the_tolerance_shrinks_with_the_number_of_looks(tmp_path: Path) -> None:
    """Over 20 days of draws of their own 200 agents are off by 0.03 with a probability below 2 exp(−2·4000·0.03²) = 2e-3 an hour."""
    made = world(tmp_path, {"phase": "same", "low": 0.2, "high": 0.7}, agents=200, days=20)
    for hour in (0.5, 6.0, 12.0, 20.0):
        rows = online(made, [DAY * day + hour for day in range(20)])
        assert rows.mean() == pytest.approx(0.2 + 0.5 * tent(hour), abs=0.03)


@pytest.mark.slow
def test_how_long_an_agent_stays_does_not_hang_on_its_last_draw(tmp_path: Path) -> None:
    """Where the share stays p, exponential sessions of the mean m make exponential spells of the mean m/(1 − p) and m/p."""
    p, mean = 0.4, 1.0
    session = {"kind": "exponential", "mean": mean}
    fault = {"low": p, "high": p, "session": session}
    made = world(tmp_path, fault, agents=40, days=4)
    spells: dict[str, list[float]] = {"left": [], "joined": []}
    for node in range(40):
        turns = [e for e in made.events("left", "joined") if e["node"] == node]
        for one, other in itertools.pairwise(turns):
            spells[one["kind"]].append((other["t"] - one["t"]) / SECOND)
    for kind, share in (("left", p), ("joined", 1 - p)):
        assert len(spells[kind]) > 500
        assert stats.kstest(spells[kind], stats.expon(scale=mean / share).cdf).pvalue > 1e-4


def test_agents_go_and_come_once_a_day(tmp_path: Path) -> None:
    """With low = 0 and one draw a day each agent is there once a day, around noon: as long before it as after it."""
    made = world(tmp_path, {"phase": "same", "low": 0.0, "high": 1.0}, agents=40, days=3)
    for node in range(40):
        turns = [e["t"] for e in made.events("left", "joined") if e["node"] == node]
        assert turns[0] == 0
        for comes, goes in zip(turns[1::2], turns[2::2], strict=False):
            noon = comes // round(DAY * SECOND) * round(DAY * SECOND) + round(DAY / 2 * SECOND)
            assert goes - noon == noon - comes + 1


def test_a_phase_that_follows_labels_is_half_a_day_times_their_share(tmp_path: Path) -> None:
    """Agents with low = 0, high = 1 are sure to be there at their noon, and sure to be away at their midnight."""
    sections = {
        "data": {
            "source": "blobs",
            "dimension": 1,
            "points": 600,
            "test_points": 0,
            "split": {"kind": "dirichlet", "alpha": 0.2},
        }
    }
    made = world(
        tmp_path, {"phase": "label", "low": 0.0, "high": 1.0}, agents=30, days=3, **sections
    )
    day, labels = round(DAY * SECOND), [y for _, y in made.run.plan.shards.train]
    shares = [float((y > 0).mean()) for y in labels]
    assert min(shares) < 0.1
    assert max(shares) > 0.9
    for node, y in enumerate(labels):
        midnight = day * int((y > 0).sum()) // (2 * len(y))
        for late in (0, day, 2 * day):
            assert not online(made, [(midnight + late) / SECOND])[0][node]
        for late in (day // 2, day + day // 2):
            assert online(made, [(midnight + late) / SECOND])[0][node]


def test_of_numbers_the_share_above_the_median_counts() -> None:
    """Of 0 0 1 2 99 and 0 the median is ½ and the mean 17: three of the first agent's five are above."""
    data = {"nodes": [(np.eye(5), np.array([0.0, 0, 1, 2, 99])), (np.ones((1, 5)), np.zeros(1))]}
    fault = {"at": 0, "availability": {"on": "all", "phase": "label", "period": 100.0}}
    tree = scenario(
        nodes=[{"count": 2}],
        network={"topology": "path"},
        task={"loss": "squared", "l2": 0.1},
        mechanism={"kind": "local"},
        fault=[fault],
    )
    do: Any = make_plan(tree, data=data).faults[0].action.do
    assert do.__self__.phases == {0: 30 * SECOND, 1: 0}


def test_what_follows_labels_is_not_covered(tmp_path: Path) -> None:
    labels = {"at": 0, "availability": {"on": "all", "phase": "label", "period": 8.0}}
    plan = make_plan(private(fault=[labels]))
    assert not plan.covered
    assert plan.uncovered[-1].startswith(
        "fault 0 lets agents be online by the share of their labels"
    )
    made = perform(plan, tmp_path)
    assert made.outcome.summary["epsilon"]["covered"] is False
    for phase in ("uniform", "same", "region"):
        fault = {"at": 0, "availability": {"on": "all", "phase": phase, "period": 8.0}}
        assert make_plan(private(fault=[fault])).covered


def test_no_audit_of_what_follows_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """Of two neighbouring data sets the schedules would differ, and the loss of a release is no longer that of its noise."""
    assert main(["audit", "night-shift", "--runs", "4"]) == 2
    assert "fault.0: lets agents be online by the share of their labels" in capsys.readouterr().err


def test_values_that_are_no_labels_count_from_their_median() -> None:
    sections = {
        "task": {"loss": {"kind": "squared", "clip": 2.0}, "l2": 0.1},
    }
    x = [[0.5]] * 4
    data = {"nodes": [(x, [float(i)] * 4) for i in range(6)]}
    fault = {"at": 0, "availability": {"on": "all", "phase": "label", "period": 8.0}}
    plan = make_plan(scenario(**sections, fault=[fault]), data=data)
    begin = plan.faults[0].action.do
    phases = begin.__self__.phases  # type: ignore[attr-defined]
    assert phases == {i: (4 * SECOND if i > 2 else 0) for i in range(6)}


def test_midnight_goes_round_the_earth() -> None:
    """Midnight comes to Tokyo 139.69/360 of a day before it comes to longitude 0; an hour is a second here."""
    of = ["London", "Tokyo", "New York", "Auckland", "Lima", "Paris"]
    network = {"topology": "ring", "latency": {"kind": "cities", "of": of}}
    fault = {"at": 0, "availability": {"on": "all", "phase": "region", "period": DAY}}
    plan = make_plan(scenario(network=network, fault=[fault]))
    phases = plan.faults[0].action.do.__self__.phases  # type: ignore[attr-defined]
    for i, name in enumerate(of):
        wanted = -CITIES[name].longitude / 360 % 1 * DAY
        assert phases[i] / SECOND == pytest.approx(wanted, abs=1e-8)
    groups = [{"name": name, "count": 2} for name in ("east", "middle", "west")]
    plan = make_plan(scenario(nodes=groups, fault=[fault]))
    phases = plan.faults[0].action.do.__self__.phases  # type: ignore[attr-defined]
    assert phases == {i: i // 2 * 8 * SECOND for i in range(6)}


def test_what_is_undone_brings_all_back(tmp_path: Path) -> None:
    made = world(
        tmp_path, {"for": 30.0, "phase": "same", "low": 0.0, "high": 0.5, "by": "crash"}, agents=20
    )
    assert online(made, [30.0]).all()
    assert not online(made, [29.9]).all()
    assert all(e["t"] <= 30 * SECOND for e in made.events("crashed", "restarted"))


def test_one_agent_more_leaves_all_others_alone(tmp_path: Path) -> None:
    fault: dict[str, Any] = {"low": 0.2, "high": 0.9, "bias": "beta", "session": 5.0}
    few = online(world(tmp_path, dict(fault), agents=6), HOURS)
    more = online(world(tmp_path, dict(fault), agents=7), HOURS)
    assert (more[:, :6] == few).all()


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ({"low": 0.7}, "low must be at most high, got 0.7 and 0.6"),
        ({"phase": "noon"}, 'must be one of its names, got "noon"'),
        ({"bias": "gamma"}, 'must be "beta", or \\[a, b\\] of another Beta'),
        ({"bias": [2.0]}, 'must be "beta", or \\[a, b\\] of another Beta'),
        ({"period": "1ms"}, "comes about"),
        ({"session": "bittorrent-debain"}, "did you mean 'bittorrent-debian'"),
    ],
)
def test_a_wrong_day_is_named(day: dict[str, Any], said: str) -> None:
    fault = {"at": 0, "availability": {"on": "all"} | day}
    with pytest.raises(ScenarioError, match=said):
        make_plan(scenario(fault=[fault]))


@pytest.mark.parametrize("phase", ["label", "region"])
def test_a_server_has_no_labels_and_no_group(phase: str) -> None:
    fault = {"at": 0, "availability": {"on": "server", "phase": phase}}
    with pytest.raises(ScenarioError, match="the server"):
        make_plan(scenario(mechanism={"kind": "fedavg"}, fault=[fault]))


def test_a_mean_day_is_between_low_and_high() -> None:
    """The formula's own mean over a period is low + (high − low)/2: what docs promise."""
    steps = [tent(t / 1000 * DAY) for t in range(1000)]
    assert sum(steps) / 1000 == pytest.approx(0.5)
    assert math.isclose(max(steps), 1)

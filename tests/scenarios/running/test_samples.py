"""A sample of every agent at once says what a formula for each agent says, to the last bit, in a time that is linear."""

import asyncio
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.agent import ABSENT
from clocks.clock import SAMPLE
from mechanisms.accounting.disclosure import Reader, at_risk, epsilon_of
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Tally
from mechanisms.accounting.views import add_in
from scenarios.api.runs import make_plan
from scenarios.language.json_numbers import plain
from scenarios.planning.seeds import generator
from scenarios.planning.totals import claimed
from scenarios.running.control import RunGovernor
from scenarios.running.observers.invariants import InvariantBroken
from scenarios.running.observers.progress_lines import Lines
from scenarios.running.run import Run
from tests.support.builders import Ran, private, scenario
from tests.support.catalogue import EVERY, world
from tests.support.finished_runs import finished
from tests.support.marks import one_in


def last(ran: Ran) -> dict[str, Any]:
    *_, sample = ran.result.samples()
    values: dict[str, Any] = sample["values"]
    return values


def listed(values: list[float]) -> list[Any]:
    return [plain(float(value)) for value in values]


def mean(values: Any) -> float:
    """The mean of an agent's values, added up as all agents' values are: the first, then the rest."""
    return float(np.add.reduceat(values, [0])[0] / len(values))


class Plainly:
    """The formulas of metrics, each written for one agent, from its model, its points and its ledger."""

    def __init__(self, ran: Ran) -> None:
        self.plan, self.run = ran.run.plan, ran.run
        self.theta = [agent.model for agent in ran.run.agents]
        self.gone = [
            agent.status == ABSENT or not np.isfinite(agent.model).all() for agent in ran.run.agents
        ]

    def _scores(self, i: int, x: Any) -> Any:
        return x @ self.theta[i]

    def loss(self) -> list[float]:
        loss, each = self.plan.loss, []
        for i, (x, y) in enumerate(self.plan.shards.train):
            s = self._scores(i, x)
            each.append(mean(loss.value(y * s if loss.margin else s - y)))
        return self._of_members(each)

    def score(self, points: Any) -> list[float]:
        each = []
        for i in range(self.plan.size):
            x, y = points[i] if isinstance(points, list) else points
            s = self._scores(i, x)
            if self.plan.loss.margin:
                each.append(mean((np.where(s >= 0, 1.0, -1.0) == y).astype(float)))
            else:
                each.append(math.sqrt(mean((s - y) ** 2)))
        return self._of_members(each)

    def _of_members(self, values: list[float]) -> list[float]:
        return [math.nan if gone else v for gone, v in zip(self.gone, values, strict=True)]

    def objective(self) -> float | None:
        joint = self.plan.joint
        if joint is None:
            return None
        theta = np.array(self.theta)
        if self.plan.server is not None:
            theta = np.tile(self.run.members.agents[self.plan.size].model, (self.plan.size, 1))
        return joint.value(theta)  # without the values of agents it asks every objective

    def reader(self, i: int) -> Reader:
        node, privacy = self.plan.nodes[i], self.plan.privacy
        return Reader(
            privacy.view,
            privacy.accountant,
            node.delta,
            node.cap,
            privacy.adaptive,
            privacy.shows_unreleased_model,
        )

    def epsilon(self) -> list[float]:
        each = []
        for i, agent in enumerate(self.run.agents):
            ledger, reader, stopped = agent.store.ledger, self.reader(i), agent.diverged
            planned = self.plan.nodes[i].planned if stopped else None
            bag = add_in(reader.view, Tally(), ledger.spends)
            whole = at_risk(bag, planned, len(ledger), reader, stopped=stopped)
            each.append(epsilon_of(whole, reader, unplanned_stop=stopped and planned is None)[0])
        return each

    def left(self) -> list[float]:
        each = []
        for agent in self.run.agents:
            cap = agent.settings.cap
            spent = math.nan if cap is None else cap.spent(agent.store.ledger.tally)
            each.append(math.nan if cap is None else max(0.0, cap.epsilon - spent))
        return each


@pytest.mark.parametrize("name", one_in(6, EVERY))
def test_every_kind_has_the_metrics_of_each_agent(name: str) -> None:
    """Loss, score, objective, ε, what is claimed and what is left."""
    ran = finished(world(name))
    values, plainly, shards = last(ran), Plainly(ran), ran.run.plan.shards
    score = "accuracy" if ran.run.plan.loss.margin else "rmse"
    with np.errstate(over="ignore", invalid="ignore"):
        assert values["loss"] == listed(plainly.loss())
        assert values[f"{score}.train"] == listed(plainly.score(list(shards.train)))
        if shards.test or shards.common_test is not None:
            test = list(shards.test) if shards.test else shards.common_test
            assert values[f"{score}.test"] == pytest.approx(listed(plainly.score(test)), rel=1e-14)
        objective = plainly.objective()
        assert values["objective"] == (None if objective is None else plain(objective))
    assert values["epsilon"] == listed(plainly.epsilon())
    assert values["epsilon.left"] == listed(plainly.left())
    assert values["releases"] == [len(agent.store.ledger) for agent in ran.run.agents]
    for i, agent in enumerate(ran.run.agents):
        if (
            agent.mechanism.planned
            and not agent.diverged
            and ran.run.plan.privacy.view != "outsider"
        ):
            told = claimed(ran.run.plan, agent.store.ledger.spends, ran.run.plan.nodes[i].delta)
            assert float(values["epsilon.claimed"][i]) == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "smoothed-hinge", "squared", "welsch"])
@pytest.mark.parametrize("more", [{}, {"validation": 0.3}, {"test_points": 0}])
def test_every_loss_has_the_metrics_of_each_agent(loss: str, more: dict[str, Any]) -> None:
    """With unequal numbers of points, with points that are held out, and without test points."""
    data = {"source": "separators", "dimension": 7, "points": {"min": 1, "max": 40}} | more
    source = scenario(
        run={"seed": 3, "horizon": 4.0},
        data=data,
        task={"loss": loss, "l2": 0.1},
        nodes=[{"count": 9}],
    )
    ran = finished(source)
    values, plainly, shards = last(ran), Plainly(ran), ran.run.plan.shards
    score = "accuracy" if ran.run.plan.loss.margin else "rmse"
    assert values["loss"] == listed(plainly.loss())
    assert values[f"{score}.train"] == listed(plainly.score(list(shards.train)))
    assert values["objective"] == plainly.objective()
    if shards.test:
        assert values[f"{score}.test"] == listed(plainly.score(list(shards.test)))
    if shards.validation:
        held = [(x, y) if len(y) else (np.zeros((1, 7)), np.ones(1)) for x, y in shards.validation]
        means = plainly.score(held)
        none = [not len(y) for _, y in shards.validation]
        each = [math.nan if no else m for no, m in zip(none, means, strict=True)]
        assert values[f"{score}.validation"] == listed(each)


# what a sample costs


def crowd(n: int, sample_every: float = 0.1) -> dict[str, Any]:
    return private(
        run={"seed": 1, "horizon": 3.0, "sample_every": sample_every},
        data={"source": "separators", "dimension": 4, "points": {"min": 3, "max": 6}},
        nodes=[{"count": n, "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    )


def calls_of_a_sample(n: int, folder: Path) -> int:
    """Count the calls of the second of two samples of a world that has released."""
    run = Run(make_plan(crowd(n), path="events"), folder, RunGovernor(), 1.0)
    for agent in run.agents:
        step = agent.mechanism.propose(agent.state, agent.heard, 0)
        assert step.spend is not None
        run.observers.budget.charge(agent.id, step.spend)
        run.observers.checks._told.charged[agent.id] += 1
        agent.store.ledger.charge(step.spend)
    made = counted_sample(run)
    run.log.drain()
    run.recorder.close()
    return made


def counted_sample(run: Run) -> int:
    """Take two samples, and return how many calls the second one made."""
    run.observers.sample()
    made = [0]

    def count(_: Any, event: str, __: Any) -> None:
        made[0] += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        run.observers.sample()
    finally:
        sys.setprofile(None)
    return made[0]


def calls_of_a_sample_in_columns(n: int, folder: Path) -> int:
    """Count the calls of a sample in the middle of a run whose wakes are computed in columns."""
    run, calls = Run(make_plan(crowd(n, 3.0), path="columns"), folder, RunGovernor(), math.inf), []
    run.clock.at(1_500_000_000, SAMPLE, lambda: calls.append(counted_sample(run)))
    assert asyncio.run(run.perform()).code == 0
    assert all(agent.in_columns for agent in run.agents)  # type: ignore[attr-defined]
    return int(calls[0])


@pytest.mark.slow
def test_a_sample_takes_calls_that_grow_with_agents_and_few_of_them(tmp_path: Path) -> None:
    """Twenty calls an agent beside what no number of agents changes: what costs more is done for all at once."""
    few, many, most = (calls_of_a_sample(n, tmp_path / str(n)) for n in (200, 400, 800))
    assert most - many <= 2.1 * (many - few)
    assert (most - many) / 400 < 22


@pytest.mark.slow
def test_a_sample_takes_few_calls_for_each_agent_of_columns(tmp_path: Path) -> None:
    few, many = (calls_of_a_sample_in_columns(n, tmp_path / str(n)) for n in (200, 600))
    assert (many - few) / 400 < 15


# every break is found, also among agents that are judged together


def charge(run: Run, i: int, spend: Any = None) -> None:
    """Charge a true release of an agent, in its ledger and in what is told."""
    agent = run.agents[i]
    if spend is None:
        spend = agent.mechanism.propose(agent.state, agent.heard, 0).spend
    agent.store.ledger.charge(spend)
    run.observers.budget.charge(i, spend)
    run.observers.checks._told.charged[i] += 1


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> Run:
    """Forty agents with one plan; each has released twice, and a sample was taken."""
    run = Run(make_plan(crowd(40)), tmp_path / "run", RunGovernor(), 1.0)
    for _ in range(2):
        for i in range(40):
            charge(run, i)
    run.observers.sample()
    return run


CHOSEN = [int(i) for i in generator(1, "data/breaks").permutation(40)[:3]]


@pytest.mark.parametrize("i", CHOSEN)
def test_one_agent_over_its_cap_is_found(run: Run, i: int) -> None:
    for _ in range(30):
        charge(run, i)
    with pytest.raises(InvariantBroken, match=f"^budget: agent {i} spent"):
        run.observers.sample()


@pytest.mark.parametrize("i", CHOSEN)
def test_one_agent_over_its_cap_is_found_at_the_end(run: Run, i: int) -> None:
    for _ in range(30):
        charge(run, i)
    with pytest.raises(InvariantBroken, match=f"^budget: agent {i} spent"):
        run.observers.checks.finish(complete=True)


@pytest.mark.parametrize("i", CHOSEN)
@pytest.mark.parametrize("k", [0, 1])
def test_one_spend_that_is_one_per_cent_cheaper_is_found(run: Run, i: int, k: int) -> None:
    """An old one at the end, which compares everything; a new one at the next sample."""
    ledger, other = run.agents[i].store.ledger, Ledger()
    for at, spend in enumerate(ledger.spends):
        other.charge(replace(spend, charged=0.99 * spend.charged) if at == k else spend)
    run.agents[i].store.ledger = other
    with pytest.raises(InvariantBroken, match=f"^charged once: agent {i}"):
        run.observers.checks.finish(complete=True)


@pytest.mark.parametrize("i", CHOSEN)
def test_a_charge_that_was_not_told_is_found(run: Run, i: int) -> None:
    agent = run.agents[i]
    agent.store.ledger.charge(agent.store.ledger.at(0))
    with pytest.raises(InvariantBroken, match=f"^charged once: agent {i}"):
        run.observers.sample()


@pytest.mark.parametrize("i", CHOSEN)
def test_a_new_charge_of_another_cost_is_found(run: Run, i: int) -> None:
    charge(run, i)
    agent = run.agents[i]
    first, second, third = agent.store.ledger.spends
    agent.store.ledger = Ledger()
    for spend in (first, second, replace(third, charged=0.99 * third.charged)):
        agent.store.ledger.charge(spend)
    with pytest.raises(InvariantBroken, match=f"^charged once: agent {i}"):
        run.observers.sample()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("i", CHOSEN)
def test_one_number_of_one_model_that_is_not_finite_is_found(
    run: Run, i: int, value: float
) -> None:
    state = run.agents[i].state.copy()
    state[2] = value
    run.agents[i].state = state
    with pytest.raises(InvariantBroken, match=f"^finite: agent {i} holds"):
        run.observers.sample()


@pytest.mark.parametrize("i", CHOSEN)
def test_one_gradient_that_is_one_per_cent_too_long_is_found(run: Run, i: int) -> None:
    agent: Any = run.agents[i]
    longest, bound = agent.mechanism.longest_gradient(agent.model)
    (first, *_) = agent.mechanism.spends
    short = replace(first, sensitivity=first.sensitivity * longest / bound / 1.01)
    agent.mechanism = replace(agent.mechanism, spends=(short,))
    with pytest.raises(InvariantBroken, match=f"^sensitivity: agent {i} has"):
        run.observers.sample()


def test_agents_that_are_down_are_not_compared_but_their_caps_are(run: Run) -> None:
    """A ledger that is read again at the restart is compared then."""
    agent = run.agents[7]
    agent.status = "down"
    agent.store.ledger.charge(agent.store.ledger.at(0))
    run.observers.sample()
    for _ in range(30):
        agent.store.ledger.charge(agent.store.ledger.at(0))
    with pytest.raises(InvariantBroken, match=r"^budget: agent 7 spent"):
        run.observers.sample()


def test_what_a_line_says_stands_in_the_record(tmp_path: Path) -> None:
    """A process that is killed right behind a line leaves a record of all that the line says."""
    plan = make_plan(private(run={"seed": 3, "horizon": 12.0, "sample_every": 2.0}))
    run = Run(plan, tmp_path / "run", RunGovernor(), 1.0)
    told: list[tuple[int, int]] = []

    def write(text: str) -> None:
        told.append((json.loads(text).get("releases", 0), run.recorder.record.releases))

    terms = run.observers.budget.terms
    run.log.subscribe(Lines(plan, write, terms, as_json=True), is_patient=True)
    asyncio.run(run.perform())
    assert max(said for said, _ in told) == 6 * 8
    assert all(said <= recorded for said, recorded in told)

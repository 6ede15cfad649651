"""What a world is made of: its agents share what is equal, and write into nothing that they share."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from actors.agent import Agent
from actors.log import Log
from clocks.virtual import VirtualClock
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import NoiseSource, draws
from scenarios.records.world_facts import facts_of
from scenarios.running.world import build
from tests.support.builders import private
from tests.support.catalogue import EVERY, family, world


def agents_of(plan: Plan) -> list[Agent]:
    clock = VirtualClock()
    return build(plan, clock, Log(clock), lambda _: None).agents


def many(n: int, **more: Any) -> Plan:
    budget = {"epsilon": 4.0, "delta": 1e-5}
    return make_plan(private(nodes=[{"count": n, "budget": budget}], **more))


@pytest.mark.parametrize("name", EVERY)
def test_agents_hold_the_openings_of_their_neighbours_each_in_its_own_memory(name: str) -> None:
    """Before anything is sent, row j is what neighbour j begins with; writing into it changes no other agent's rows."""
    plan = make_plan(world(name))
    agents = agents_of(plan)
    for agent in agents[: plan.size]:
        assert agent.heard.values.shape == agent.first.shape
        assert np.array_equal(agent.heard.values, agent.first, equal_nan=True)
        for slot, j in enumerate(agent.neighbours):
            if family(name) != "server":
                d = plan.dimension
                assert agent.first[slot, :d].tolist() == plan.nodes[j].start.tolist()
    before = [agent.first.copy() for agent in agents]
    for number, agent in enumerate(agents):
        agent.heard.values[:] = float(number + 1)
    for number, agent in enumerate(agents):
        assert (agent.heard.values == float(number + 1)).all()
        assert np.array_equal(agent.first, before[number], equal_nan=True)


def test_an_agent_that_starts_elsewhere_is_held_so_by_its_neighbours() -> None:
    plan = make_plan(private(task={"l2": 0.1, "start": "random"}))
    for agent in agents_of(plan):
        starts = [plan.nodes[j].start.tolist() for j in agent.neighbours]
        assert agent.first.tolist() == agent.heard.values.tolist() == starts


@pytest.mark.parametrize("name", ["cd", next(n for n in EVERY if family(n) == "server")])
def test_keys_of_an_agent_are_those_of_its_named_streams(name: str) -> None:
    plan = make_plan(world(name))
    seeds = plan.seeds
    for agent in agents_of(plan):
        who = "server" if agent.id == plan.size else str(agent.id)
        choices = "sample" if agent.id == plan.size else "partner"
        streams, links = agent.streams, agent.outbox.links
        for mine, seed, path in (
            (streams.clock, "clock", f"clock/{who}"),
            (streams.compute, "clock", f"compute/{who}"),
            (streams.choices, "network", f"{choices}/{who}"),
        ):
            assert mine(5, 9).tolist() == draws(seeds[seed], path)(5, 9).tolist()
        for slot, j in enumerate(agent.neighbours):
            bits = draws(seeds["link"], f"link/{agent.id}→{j}")(8, 2)
            told = int(links.policy_of(slot).verdicts(bits, 4)[0])
            assert links.verdicts(4)[slot] == told
        alone = NoiseSource(seeds["noise"]).of(agent.id)(3).random(4).tolist()
        assert streams.noise(3).random(4).tolist() == alone


def test_nothing_that_agents_share_is_changed_by_a_fault_on_one_of_them() -> None:
    one, other, *_ = agents_of(many(6))
    one.fault_state.down_by |= {7}
    one.fault_state.without_edge |= {1}
    assert not other.fault_state.down_by
    assert not other.fault_state.without_edge
    assert one.settings is other.settings
    assert other.outbox.touched.total() == 0


def test_facts_of_a_world_tell_every_edge_once_and_every_budget() -> None:
    plan = many(40, network={"topology": {"kind": "regular", "degree": 4}})
    facts = facts_of(plan, agents_of(plan), numerical=False)
    edges = zip(plan.graph.heads.tolist(), plan.graph.tails.tolist(), strict=True)
    assert sorted(facts.edges) == sorted(edges)
    assert facts.misfit() == ""
    numbers = [part.plan for part in facts.budgets for _ in range(part.count)]
    assert [facts.planned(number) for number in numbers] == [node.planned for node in plan.nodes]
    assert facts.caps == [4.0] * 40


@pytest.mark.slow
def test_a_world_takes_few_bytes_for_each_agent() -> None:
    """At degree 10 and d = 20 the rows of neighbours are 1.6 kB of this, which a run writes into."""
    n, data = 2_000, {"source": "separators", "dimension": 20, "points": 10, "test_points": 0}
    plan = many(n, data=data, network={"topology": {"kind": "regular", "degree": 10}})
    agents_of(plan)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = agents_of(plan)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(kept) == n
    assert (after - before) / n < 6_500

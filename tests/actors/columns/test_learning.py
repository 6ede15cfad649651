"""Agents that learn in a stretch: what is charged when, what an end in the middle leaves, and where vectors lie."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from actors.agent import Agent
from actors.columns.forecast import Stretch
from actors.columns.world import ColumnWorld
from actors.events import Charged, Diverged, Event, Refused, Released
from actors.log import Batch
from clocks.virtual import VirtualClock
from mechanisms.accounting.filter import Cap
from mechanisms.descent import CoordinateDescent
from mechanisms.noise import Law, NormGamma
from mechanisms.vectors import Vector
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.running.simulation import Simulation
from tests.support.builders import private, scenario
from tests.support.column_worlds import assert_same, passed

WORLD = private(network={"loss": 0.1, "latency": {"kind": "exponential", "mean": 0.7}})


class Watched(NormGamma):
    """The law of noise, which calls a function before each draw."""

    before: Callable[[], None]

    def __init__(self, before: Callable[[], None]) -> None:
        object.__setattr__(self, "before", before)

    def fill(self, rng: np.random.Generator, scale: float, row: Vector) -> None:
        self.before()
        super().fill(rng, scale, row)


def with_law(plan: Plan, law_of: Callable[[int], Law], path: str) -> Plan:
    """Return a plan whose agents draw noise by laws of their own."""
    nodes = []
    for node in plan.nodes:
        kind = node.mechanism
        assert isinstance(kind, CoordinateDescent)
        nodes.append(
            dataclasses.replace(node, mechanism=dataclasses.replace(kind, law=law_of(node.id)))
        )
    return dataclasses.replace(plan, nodes=tuple(nodes), path=path)


def test_a_release_is_charged_before_its_noise_is_drawn() -> None:
    """Event by event; in columns, charges and releases are taken over together, in their order."""
    agents: list[Agent] = []
    drawn = [0] * 6
    plan = make_plan(WORLD)

    def look(i: int) -> Callable[[], None]:
        def before() -> None:
            drawn[i] += 1
            assert len(agents[i].store.ledger) >= drawn[i]
            assert agents[i].store.counter >= drawn[i]

        return before

    plan = with_law(plan, lambda i: Watched(look(i)), "events")
    simulation = Simulation(plan, VirtualClock())
    agents += simulation.agents
    simulation.complete()
    assert drawn == [len(agent.store.ledger) for agent in agents]
    assert min(drawn) > 0


class Broken(Exception):
    """What a law of noise raises here."""


@pytest.mark.parametrize("which", [0, 2, 5])
def test_what_was_charged_when_a_draw_fails_stays_on_record(which: int) -> None:
    """The events and ledgers are those of wakes that are taken one by one, up to the charge whose noise failed."""
    ends = []
    for path in ("events", "columns"):

        def fail() -> None:
            raise Broken

        plan = with_law(
            make_plan(WORLD), lambda i: Watched(fail if i == which else lambda: None), path
        )
        simulation, kept = Simulation(plan, VirtualClock()), list[Event]()
        simulation.log.subscribe(Kept(kept))
        with pytest.raises(Broken):
            simulation.complete()
        simulation.log.drain()
        assert isinstance(kept[-1], Charged)
        charged = [e for e in kept if isinstance(e, Charged)]
        assert len(charged) == sum(isinstance(e, Released) for e in kept) + 1
        assert [e.node for e in charged].count(which) == 1
        ends.append((kept, [agent.store.ledger.spends for agent in simulation.agents]))
    assert ends[0] == ends[1]


class Kept:
    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def fold(self, batch: Batch) -> None:
        self._events += batch.events


@pytest.mark.parametrize("settled_at", [(), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize("fault", [[], [{"at": 5.0, "crash": [2], "lose": "all", "for": 1.0}]])
def test_an_agent_that_diverges_sends_nothing_until_a_crash_takes_its_model(
    fault: list[Any], settled_at: tuple[float, ...]
) -> None:
    """One agent has a step so long that its model leaves the numbers; all else goes on as by single steps."""
    world: Any = scenario(
        data={"source": "blobs", "dimension": 3, "points": 24},
        task={"loss": "squared", "l2": 0.1},
        network={"latency": 0.3},
        mechanism={"kind": "cd"},
        fault=fault,
    )
    plan = make_plan(world)
    wild = plan.nodes[2].mechanism
    assert isinstance(wild, CoordinateDescent)
    wild = dataclasses.replace(wild, smoothness=1e-300, mu=1e200)
    nodes = tuple(
        dataclasses.replace(node, mechanism=wild) if node.id == 2 else node for node in plan.nodes
    )
    plan = dataclasses.replace(plan, nodes=nodes)
    detailed, plain = (passed(plan, by, settled_at=settled_at) for by in ("events", "columns"))
    assert plain.events == detailed.events
    assert plain.ends == detailed.ends
    assert sum(isinstance(event, Diverged) for event in plain.events) == 1 + len(fault)
    assert np.array_equal(plain.models, detailed.models, equal_nan=True)


def test_vectors_that_are_needed_are_never_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of vectors that nothing needs are filled with NaN as soon as they are free: no model shows any of that."""
    make_free = ColumnWorld._make_free

    def poison(world: ColumnWorld, count: int) -> None:
        world._free = world._free[:0]  # look for free places each time
        make_free(world, count)
        world.vectors[world._free] = math.nan

    monkeypatch.setattr(ColumnWorld, "_make_free", poison)
    for fault in (
        [],
        [{"at": 3.0, "crash": [2], "for": 4.0}, {"at": 2.0, "leave": [4], "for": 3.0}],
    ):
        assert_same(WORLD | {"fault": fault}, settled_at=(2.0, 4.0, 4.5))


def test_a_stretch_changes_nothing_before_agents_had_its_wakes() -> None:
    """What is planned and not served leaves no trace in the world."""
    simulation = Simulation(dataclasses.replace(make_plan(WORLD), path="columns"), VirtualClock())
    simulation.open()
    clock = simulation.clock
    assert isinstance(clock, VirtualClock)
    assert clock.ahead is not None
    assert clock.ahead.upcoming is not None
    world = simulation.agents[0].world  # type: ignore[attr-defined]
    before = (world.agents.copy(), world.links.copy(), world.awake, world.first)
    stretch = world._begin_stretch(10**10, 6)
    assert isinstance(stretch, Stretch)
    assert len(stretch) > 10
    world._end_stretch()
    assert (world.agents == before[0]).all()
    assert (world.links == before[1]).all()
    assert (world.awake, world.first) == before[2:]
    assert not len(world._messages.link)


def test_a_cap_that_refuses_a_release_of_the_schedule_keeps_an_agent_out() -> None:
    """Half of the agents have a cap of half their budget: what is refused is that of single steps, and no ledger passes a cap."""
    plan = make_plan(WORLD)
    nodes = tuple(
        dataclasses.replace(
            node, cap=Cap(node.cap.epsilon / 2, node.cap.delta, node.cap.accountant)
        )
        if node.cap is not None and node.id % 2
        else node
        for node in plan.nodes
    )
    plan = dataclasses.replace(plan, nodes=nodes)
    detailed, other = passed(plan, "events"), passed(plan, "columns")
    assert other.events == detailed.events
    assert other.ends == detailed.ends
    assert {e.node for e in other.events if isinstance(e, Refused)} == {1, 3, 5}
    for node, agent in zip(nodes, other.simulation.agents, strict=True):
        assert node.cap is not None
        assert node.cap.holds(agent.store.ledger.tally)
        assert not (node.id % 2 and agent.in_columns)  # type: ignore[attr-defined]

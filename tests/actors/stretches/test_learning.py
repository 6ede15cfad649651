"""Agents that learn in a stretch: what is charged when, what an end in the middle leaves, and where vectors lie."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from actors.agent import Agent
from actors.events import Charged, Diverged, Event, Refused, Released
from actors.log import Batch
from actors.stretches.arena import StretchArena
from actors.stretches.stretch import Stretch
from clocks.virtual import VirtualClock
from mechanisms.accounting.filter import Cap
from mechanisms.descent import CoordinateDescent
from mechanisms.noise import Law, NormGamma
from mechanisms.vectors import Vector
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.running.simulation import Simulation
from tests.support.arenas import ARENAS, assert_same, passed
from tests.support.builders import private, scenario

WORLD = private(network={"loss": 0.1, "latency": {"kind": "exponential", "mean": 0.7}})


class Watched(NormGamma):
    """The law of noise, which calls a function before each draw."""

    before: Callable[[], None]

    def __init__(self, before: Callable[[], None]) -> None:
        object.__setattr__(self, "before", before)

    def draw(self, rng: np.random.Generator, scale: float, dimension: int) -> Vector:
        self.before()
        return super().draw(rng, scale, dimension)


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
    agents: list[Agent] = []
    drawn = [0] * 6
    plan = make_plan(WORLD)

    def look(i: int) -> Callable[[], None]:
        def before() -> None:
            drawn[i] += 1
            assert len(agents[i].store.ledger) >= drawn[i]
            assert agents[i].store.counter >= drawn[i]

        return before

    plan = with_law(plan, lambda i: Watched(look(i)), "plain")
    simulation = Simulation(plan, VirtualClock())
    agents += simulation.agents
    simulation.complete()
    assert drawn == [len(agent.store.ledger) for agent in agents]
    assert min(drawn) > 0


class Broken(Exception):
    """What a law of noise raises here."""


@pytest.mark.parametrize("which", [1, 3, 17])
def test_what_was_charged_when_a_draw_fails_stays_on_record(which: int) -> None:
    """The events and ledgers are those of wakes that are taken one by one, up to the charge whose noise failed."""
    ends = []
    for path in ("auto", "plain"):
        drawn = [0]

        def fail(drawn: list[int] = drawn) -> None:
            drawn[0] += 1
            if drawn[0] == which:
                raise Broken

        plan = with_law(make_plan(WORLD), lambda _, fail=fail: Watched(fail), path)  # type: ignore[misc]
        simulation, kept = Simulation(plan, VirtualClock()), list[Event]()
        simulation.log.subscribe(Kept(kept))
        with pytest.raises(Broken):
            simulation.complete()
        simulation.log.drain()
        assert isinstance(kept[-1], Charged)
        charged = [e for e in kept if isinstance(e, Charged)]
        assert len(charged) == which == sum(isinstance(e, Released) for e in kept) + 1
        ends.append((kept, [agent.store.ledger.spends for agent in simulation.agents]))
    assert ends[0] == ends[1]


class Kept:
    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def fold(self, batch: Batch) -> None:
        self._events += batch.events


@pytest.mark.parametrize("settled_at", [(), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize("fault", [[], [{"at": 5.0, "crash": [2], "lose": "all", "for": 1.0}]])
@pytest.mark.parametrize("path", ARENAS)
def test_an_agent_that_diverges_sends_nothing_until_a_crash_takes_its_model(
    path: str, fault: list[Any], settled_at: tuple[float, ...]
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
    detailed, plain = (passed(plan, by, settled_at=settled_at) for by in ("detailed", path))
    assert plain.events == detailed.events
    assert plain.ends == detailed.ends
    assert sum(isinstance(event, Diverged) for event in plain.events) == 1 + len(fault)
    if path == "plain":
        assert np.array_equal(plain.models, detailed.models, equal_nan=True)


def test_vectors_that_are_needed_are_never_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of vectors that nothing needs are filled with NaN as soon as they are free: no model shows any of that."""
    make_free = StretchArena._make_free

    def poison(arena: StretchArena, count: int) -> None:
        arena._free = arena._free[:0]  # look for free places each time
        make_free(arena, count)
        arena._vectors[arena._free] = math.nan

    monkeypatch.setattr(StretchArena, "_make_free", poison)
    for fault in (
        [],
        [{"at": 3.0, "crash": [2], "for": 4.0}, {"at": 2.0, "leave": [4], "for": 3.0}],
    ):
        assert_same(WORLD | {"fault": fault}, "plain", settled_at=(2.0, 4.0, 4.5))


@pytest.mark.parametrize(("rest", "comes_back"), [(1 << 20, False), (1, True)])
def test_short_stretches_are_given_up_for_a_while(
    rest: int, *, comes_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where samples cut stretches, wakes are computed one by one for some events; later the arena tries again."""
    entered, enter = list[int](), StretchArena.enter_arena

    def count(arena: StretchArena, agent: int, *more: Any) -> None:
        entered.append(agent)
        enter(arena, agent, *more)

    monkeypatch.setattr(StretchArena, "enter_arena", count)
    monkeypatch.setattr("actors.stretches.arena._LOOKED_AT", 3)
    monkeypatch.setattr("actors.stretches.arena._REST", rest)
    assert_same(WORLD, "plain", settled_at=tuple(0.25 * i for i in range(60)))
    assert (max(map(entered.count, entered)) > 1) is comes_back


def test_a_stretch_changes_nothing_before_agents_had_its_wakes() -> None:
    """What is planned and not served leaves no trace in the arena."""
    simulation = Simulation(dataclasses.replace(make_plan(WORLD), path="plain"), VirtualClock())
    simulation.open()
    clock = simulation.clock
    assert isinstance(clock, VirtualClock)
    assert clock.ahead is not None
    assert clock.ahead.upcoming is not None
    arena = simulation.agents[0].arena  # type: ignore[attr-defined]
    before = (arena.agents.copy(), arena.links.copy(), arena.awake, arena.first)
    stretch = arena._begin_stretch(10**10, 6)
    assert isinstance(stretch, Stretch)
    assert len(stretch) > 10
    arena._end_stretch()
    assert (arena.agents == before[0]).all()
    assert (arena.links == before[1]).all()
    assert (arena.awake, arena.first) == before[2:]
    assert not len(arena._messages.link)


@pytest.mark.parametrize("path", ARENAS)
def test_a_cap_that_refuses_a_release_of_the_schedule_keeps_an_agent_out(path: str) -> None:
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
    detailed, other = passed(plan, "detailed"), passed(plan, path)
    assert other.events == detailed.events
    assert other.ends == detailed.ends
    assert {e.node for e in other.events if isinstance(e, Refused)} == {1, 3, 5}
    for node, agent in zip(nodes, other.simulation.agents, strict=True):
        assert node.cap is not None
        assert node.cap.holds(agent.store.ledger.tally)
        assert not (node.id % 2 and agent.in_arena)  # type: ignore[attr-defined]

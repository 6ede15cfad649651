"""Worlds whose wakes are computed in columns, beside the same worlds event by event."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from actors.events import Event
from actors.log import Batch
from actors.turns import Turns
from clocks.virtual import VirtualClock
from mechanisms.vectors import Matrix
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.running.simulation import Simulation


class Passed(NamedTuple):
    """What one simulation left."""

    simulation: Simulation
    events: list[Event]
    rows: list[list[int] | Event]
    """The same as rows, as far as they fit."""

    @property
    def models(self) -> Matrix:
        return np.array([agent.model for agent in self.simulation.agents])

    @property
    def ends(self) -> dict[str, Any]:
        """What the agents and the run are at the end, beside models."""
        agents = self.simulation.agents
        return {
            "reason": self.simulation.reason,
            "now": self.simulation.clock.now,
            "updates": [agent.updates for agent in agents],
            "rounds": [agent.rounds for agent in agents],
            "charged": [agent.store.ledger.spends for agent in agents],
            "counter": [agent.store.counter for agent in agents],
            "version": [agent.store.version for agent in agents],
            "published": [agent.store.published_version for agent in agents],
            "spent": [agent.spent for agent in agents],
            "diverged": [agent.diverged for agent in agents],
            "status": [agent.status for agent in agents],
            "in flight": [agent.inbox.in_flight for agent in agents],
            "unread": [agent.inbox.unread for agent in agents],
        }


class _Kept:
    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def fold(self, batch: Batch) -> None:
        self.batches.append(batch)


def passed(plan: Plan, path: str, settled_at: tuple[float, ...] = (), stride: int = 0) -> Passed:
    """Let a world pass by a path, on `events` with every event by itself; mailboxes are settled at some instants, as samples do.

    With a `stride` no call serves more wakes than that.
    """
    simulation, kept = Simulation(dataclasses.replace(plan, path=path), VirtualClock()), _Kept()
    clock, members = simulation.clock, simulation.members
    assert isinstance(clock, VirtualClock)
    simulation.log.subscribe(kept)
    if path == "events":
        simulation.log.demand_events(kept)
    for at in settled_at:
        clock.at(round(at * 1e9), 3 << 32, lambda: members.settle(clock.now))
    if clock.ahead is not None and stride:
        serve = clock.ahead.serve
        clock.ahead.serve = lambda until, priority, most: serve(  # type: ignore[method-assign]
            until, priority, min(most, stride)
        )
    simulation.complete()
    members.settle(clock.now)
    simulation.log.drain()
    rows: list[list[int] | Event] = []
    for part in (part for batch in kept.batches for part in batch.parts):
        rows += part.rows() if isinstance(part, Turns) else [part]
    return Passed(simulation, [e for batch in kept.batches for e in batch.events], rows)


def assert_same(world: Mapping[str, Any] | str, path: str = "columns", **options: Any) -> Passed:
    """Assert that a path does what single events do, event by event and bit for bit; return the run by that path."""
    plan = make_plan(world)
    events, other = passed(plan, "events", **options), passed(plan, path, **options)
    assert other.events == events.events
    assert other.ends == events.ends
    assert np.array_equal(other.models, events.models, equal_nan=True)
    return other

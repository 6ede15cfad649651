"""Worlds whose wakes an arena computes, compiled or in stretches, beside the same worlds by other paths."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from actors.events import Event
from actors.log import Batch
from actors.turns import Turns
from clocks.virtual import VirtualClock
from mechanisms.vectors import Matrix
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.planning.wake_paths import has_compiler
from scenarios.running.simulation import Simulation

needs_numba = pytest.mark.skipif(not has_compiler(), reason="numba is not installed")
ARENAS = ["plain", pytest.param("fast", marks=needs_numba)]
"""The paths that compute wakes in an arena."""


@pytest.fixture(scope="module")
def stay_in_stretches() -> Iterator[None]:
    """Let small worlds stay in stretches, which samples cut short: else they are given up, for wakes one by one are faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.stretches.arena._LOOKED_AT", 1 << 40)
        yield


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
    """Let a world pass by a path; mailboxes are settled at some instants, as samples do.

    With a `stride` no call serves more wakes than that.
    """
    simulation, kept = Simulation(dataclasses.replace(plan, path=path), VirtualClock()), _Kept()
    clock, members = simulation.clock, simulation.members
    assert isinstance(clock, VirtualClock)
    simulation.log.subscribe(kept)
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


def assert_same(world: Mapping[str, Any] | str, path: str, **options: Any) -> Passed:
    """Assert that a path does what the detailed steps do, event by event; return the run by that path.

    Compiled models may differ by a step of the release grid, or by 1e-9 where there is none.
    """
    plan = make_plan(world)
    detailed, other = passed(plan, "detailed", **options), passed(plan, path, **options)
    assert other.events == detailed.events
    assert other.ends == detailed.ends
    if path == "plain":
        assert np.array_equal(other.models, detailed.models, equal_nan=True)
        return other
    grids = [getattr(node.mechanism, "grid", None) or 0.0 for node in plan.nodes]
    one, two = detailed.models, other.models
    assert np.array_equal(np.isfinite(one), np.isfinite(two))
    with np.errstate(invalid="ignore"):
        largest = np.abs(one).max(axis=1, initial=0.0)
        near = np.abs(one - two) <= np.maximum(np.array(grids), 1e-9 * largest)[:, None]
    assert (near | ~np.isfinite(one)).all()
    return other

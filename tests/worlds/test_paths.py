"""Wakes in columns leave what single events leave: every event with its number and cause, digests, ledgers, models, summaries.

`HUSH_PATHS=500 python -m pytest tests/worlds/test_paths.py` looks at more worlds.
"""

import asyncio
import math
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from actors.events import Event, Released, Woke
from actors.log import Batch
from actors.turns import Row, Turns
from mechanisms.abilities import Participates
from scenarios.api.runs import make_plan
from scenarios.experiments.random_worlds import KINDS, Dice, small_world
from scenarios.planning.mechanism import family_of_table, read_mechanism, record_of
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.plan import Plan
from scenarios.planning.wake_paths import obstacle_to_columns
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import Ran, private, scenario
from tests.support.marks import one_in
from tests.worlds.test_random_worlds import worlds

WORLDS = int(os.environ.get("HUSH_PATHS", "100"))


class Kept:
    """Keeps all events, and counts the wakes that rows stood for."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.rows = 0

    def fold(self, batch: Batch) -> None:
        self.events += batch
        rows = Turns.joined([*map(as_turns, batch._items)])
        self.rows += int(rows.woke.sum())


def as_turns(item: Event | Row | Turns) -> Turns:
    """Return a row, or several; none of an event."""
    if isinstance(item, Turns):
        return item
    return Turns.of([] if isinstance(item, Event) else [item])


def told(plan: Plan, path: str, folder: Path, *, engine: str = "virtual") -> tuple[Ran, Kept]:
    """Run a plan by a path, and keep what it told: on `events` every event by itself, as an observer of each sees it."""
    speed = math.inf if engine == "virtual" else 1e12
    run = Run(replace(plan, path=path, engine=engine), folder / path, RunGovernor(), speed)
    kept = Kept()
    run.log.subscribe(kept)
    if path == "events":
        run.log.demand_events(kept)
    return Ran(run, asyncio.run(run.perform())), kept


def by_columns(plan: Plan) -> str:
    """Return the path `columns` where a plan can take it, however few its wakes are."""
    return "auto" if obstacle_to_columns(plan) else "columns"


def differences(one: tuple[Ran, Kept], other: tuple[Ran, Kept]) -> list[str]:
    """Return in what two runs differ; how late wall time served them does not count."""
    (first, seen), (second, known) = one, other
    for event in (*seen.events, *known.events):
        event.complete(0)
    found = [] if seen.events == known.events else ["events"]
    if (first.outcome.code, first.outcome.message) != (second.outcome.code, second.outcome.message):
        found.append("outcome")
    if timeless(first.outcome.summary) != timeless(second.outcome.summary):
        found.append("summary")
    if first.run.recorder.digests() != second.run.recorder.digests():
        found.append("digests")
    for a, b in zip(first.run.members.agents, second.run.members.agents, strict=True):
        if not np.array_equal(a.model, b.model, equal_nan=True):
            found.append(f"model {a.id}")
        if a.store.ledger.spends != b.store.ledger.spends:
            found.append(f"ledger {a.id}")
    return found


def timeless(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary without what the clock on the wall says."""
    return {name: value for name, value in summary.items() if name not in _OF_THE_WALL}


_OF_THE_WALL = {"wall_s", "updates_per_s"}
FAMILIES = {name: family_of_table(read_mechanism(table)) for name, table in KINDS.items()}


@pytest.mark.parametrize("number", one_in(10, range(WORLDS)))
@pytest.mark.parametrize("engine", ["virtual", pytest.param("wall", marks=pytest.mark.slow)])
def test_both_paths_leave_the_same(tmp_path: Path, number: int, engine: str) -> None:
    plan = make_plan(small_world(Dice(17, number)))
    detailed = told(plan, "events", tmp_path, engine=engine)
    plain = told(plan, by_columns(replace(plan, engine=engine)), tmp_path, engine=engine)
    assert differences(detailed, plain) == []
    assert detailed[1].rows == 0


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(worlds())
def test_hypothesis_finds_no_world_that_differs(
    tmp_path_factory: Any, world: dict[str, Any]
) -> None:
    plan, folder = make_plan(world), tmp_path_factory.mktemp("world")
    assert differences(told(plan, "events", folder), told(plan, by_columns(plan), folder)) == []


@pytest.mark.parametrize(
    "name", one_in(4, sorted(n for n, f in FAMILIES.items() if f not in {"server", "pairs"}))
)
def test_every_broadcast_kind_leaves_rows(tmp_path: Path, name: str) -> None:
    """Every wake in a world without faults and computing times is a row, and both paths leave the same.

    Wakes of kinds whose releases follow participation are single events on both.
    """
    table = read_mechanism(KINDS[name])
    assert isinstance(table, MechanismTable)
    kind = record_of(table)
    nodes: dict[str, Any] = {"count": 1 if kind.pooled else 4}
    if kind.needs_budget(table):
        nodes["budget"] = {"epsilon": 4.0, "delta": 1e-5}
    network = {"topology": "ring", "loss": 0.1, "latency": "100ms"}
    task = {} if FAMILIES[name] == "consensus" else {"l2": 0.1}
    plan = make_plan(scenario(mechanism=KINDS[name], nodes=[nodes], network=network, task=task))
    detailed, plain = told(plan, "events", tmp_path), told(plan, by_columns(plan), tmp_path)
    assert differences(detailed, plain) == []
    kinds = Counter(map(type, plain[1].events))
    by_steps = isinstance(plan.nodes[0].mechanism, Participates)
    assert kinds[Woke] > 0
    assert plain[1].rows == (0 if by_steps else kinds[Woke])


def test_a_listener_that_comes_and_goes_changes_nothing(tmp_path: Path) -> None:
    """Agents go step by step while one asks for single events, and in one go before and after."""
    plan = make_plan(private(network={"topology": "ring", "latency": "200ms", "loss": 0.1}))
    alone = told(plan, "events", tmp_path / "alone")
    run = Run(replace(plan, path="columns"), tmp_path / "watched", RunGovernor(), math.inf)
    kept, heard = Kept(), list[Event]()
    run.log.subscribe(kept)
    at = [5, 12]
    hear = heard.append
    run.clock.at(at[0] * 10**9, 2, lambda: run.log.watch(hear, (Released,)))
    run.clock.at(at[1] * 10**9, 2, lambda: run.log.ignore(hear, (Released,)))
    watched = Ran(run, asyncio.run(run.perform())), kept
    assert differences(alone, watched) == []
    expected = [
        event
        for event in kept.events
        if isinstance(event, Released) and at[0] * 10**9 <= event.t < at[1] * 10**9
    ]
    assert heard == expected
    assert 0 < kept.rows < sum(isinstance(event, Woke) for event in kept.events)

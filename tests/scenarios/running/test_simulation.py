"""One composition root: what is recorded and judged is the very simulation that audits run."""

import gc
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.events import KINDS, Event, Sampled
from actors.log import Batch
from clocks.virtual import VirtualClock
from clocks.wall import WallClock
from scenarios.api.runs import make_plan
from scenarios.running.simulation import Simulation
from tests.support.builders import perform, private, scenario
from tests.support.catalogue import EVERY, world

SERVER = {"mechanism": {"kind": "fedavg"}, "run": {"seed": 3, "rounds": 4}, "network": {}}
WORLDS: list[dict[str, Any]] = [
    private(fault=[{"at": 3.0, "crash": [2], "for": 4.0}], network={"loss": 0.1}),
    scenario(**SERVER),
]


class Collector:
    """An observer that wants batches."""

    def __init__(self, collected: list[Event]) -> None:
        self._collected = collected

    def fold(self, batch: Batch) -> None:
        self._collected.extend(batch)


@pytest.mark.parametrize("world", WORLDS, ids=["private", "server"])
def test_a_run_is_the_simulation_that_audits_run(world: dict[str, Any], tmp_path: Path) -> None:
    """Equal models, ledgers and turns: samples, judges and the recorder change nothing."""
    run = perform(world, tmp_path).run
    simulation = Simulation(make_plan(world), VirtualClock())
    simulation.complete()
    for mine, theirs in zip(run.members.agents, simulation.members.agents, strict=True):
        assert np.array_equal(mine.model, theirs.model)
        assert mine.store.ledger.spends == theirs.store.ledger.spends
        assert mine.updates == theirs.updates
    assert simulation.members.updates == run.members.updates > 0


def test_a_simulation_hands_over_everything_that_happened_once(tmp_path: Path) -> None:
    """Between slices and at the end of a run: a batch is never kept back, and never told twice."""
    told: list[Event] = []
    collected: list[Event] = []
    simulation = Simulation(make_plan(private()), VirtualClock())
    simulation.log.watch(told.append, KINDS)
    simulation.log.subscribe(Collector(collected))
    simulation.complete()
    simulation.log.drain()
    assert collected == told
    assert [event.seq for event in told] == list(range(1, simulation.log.seq + 1))
    assert not any(isinstance(event, Sampled) for event in told)
    ran = perform(private(), tmp_path)
    assert [e["seq"] for e in ran.events()] == list(range(1, ran.run.log.seq + 1))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("clock", [VirtualClock, WallClock])
def test_a_world_that_is_opened_and_never_runs_leaves_nothing_unawaited(
    name: str, clock: type[VirtualClock | WallClock], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends a run between its opening and its first instant, a Ctrl-C say, prints no warning."""
    left = list[str]()
    monkeypatch.setattr(sys, "unraisablehook", lambda told: left.append(str(told.exc_value)))
    simulation = Simulation(make_plan(world(name)), clock())
    simulation.open()
    del simulation
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()
    assert not left

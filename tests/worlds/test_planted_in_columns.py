"""Faults that are planted where wakes are computed in columns: an invariant ends the run with 3."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.columns.table import MADE
from actors.columns.world import ColumnWorld
from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private

WORLD = private(network={"loss": 0.1, "latency": {"kind": "exponential", "mean": 0.7}})
HALF = 6_500_000_000


def charged_twice(world: ColumnWorld) -> None:
    """The counter of releases goes back by one: release and noise of that number come again."""
    world.agents[2, MADE] -= 1


def charge_left_out(world: ColumnWorld) -> None:
    """A release is counted that was never made."""
    world.agents[2, MADE] += 1


def message_lost(world: ColumnWorld) -> None:
    """An agent takes messages, and tells nothing of it."""
    world.take_messages(2)


PLANTED: list[tuple[str, Callable[[ColumnWorld], None]]] = [
    ("charged once", charged_twice),
    ("charged once", charge_left_out),
    ("conservation", message_lost),
]


def ran(plant: Callable[[ColumnWorld], None], folder: Path) -> Any:
    plan = make_plan(WORLD)
    run = Run(replace(plan, path="columns"), folder / "run", RunGovernor(), math.inf)
    agent: Any = run.agents[0]
    run.clock.at(HALF, 2, lambda: plant(agent.world))
    return asyncio.run(run.perform())


@pytest.mark.parametrize(("invariant", "plant"), PLANTED)
def test_a_planted_fault_ends_the_run(
    invariant: str, plant: Callable[[ColumnWorld], None], tmp_path: Path
) -> None:
    outcome = ran(plant, tmp_path)
    assert outcome.code == 3
    assert outcome.message.startswith(f"an invariant broke: {invariant}: ")


def test_noise_that_a_stretch_draws_twice_ends_the_run(tmp_path: Path) -> None:
    plan = make_plan(WORLD)
    run = Run(replace(plan, path="columns"), tmp_path / "run", RunGovernor(), math.inf)
    agent = run.agents[2]

    def draw() -> None:
        agent.noise(0)

    run.clock.at(HALF, 2, draw)
    outcome = asyncio.run(run.perform())
    assert outcome.code == 3
    assert outcome.message.startswith(
        "an invariant broke: noise once: agent 2 drew the noise of release 0 after "
    )

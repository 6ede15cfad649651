"""Faults that are planted where an arena computes wakes: an invariant ends the run with 3."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.arena.arena import Arena
from actors.arena.columns import DRAWN, MADE
from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.arenas import ARENAS
from tests.support.builders import private

pytestmark = pytest.mark.usefixtures("stay_in_stretches")
WORLD = private(network={"loss": 0.1, "latency": {"kind": "exponential", "mean": 0.7}})
HALF = 6_500_000_000


def drawn_twice(arena: Arena) -> None:
    """The noise of the next release was drawn already."""
    arena.agents[2, DRAWN] += 1


def charged_twice(arena: Arena) -> None:
    """The counter of releases goes back by one: release and noise of that number come again."""
    arena.agents[2, MADE] -= 1


def charge_left_out(arena: Arena) -> None:
    """A release is counted that was never made."""
    arena.agents[2, MADE] += 1


def message_lost(arena: Arena) -> None:
    """An agent takes messages, and tells nothing of it."""
    arena.take_messages(2)


PLANTED: list[tuple[str, Callable[[Arena], None]]] = [
    ("charged once", charged_twice),
    ("charged once", charge_left_out),
    ("conservation", message_lost),
]


def ran(path: str, plant: Callable[[Arena], None], folder: Path) -> Any:
    plan = make_plan(WORLD)
    run = Run(replace(plan, path=path), folder / "run", RunGovernor(), math.inf)
    arena: Any = run.agents[0]
    run.clock.at(HALF, 2, lambda: plant(arena.arena))
    return asyncio.run(run.perform())


@pytest.mark.parametrize("path", ARENAS)
@pytest.mark.parametrize(("invariant", "plant"), PLANTED)
def test_a_planted_fault_ends_the_run(
    path: str, invariant: str, plant: Callable[[Arena], None], tmp_path: Path
) -> None:
    outcome = ran(path, plant, tmp_path)
    assert outcome.code == 3
    assert outcome.message.startswith(f"an invariant broke: {invariant}: ")


def test_noise_that_a_compiled_wake_draws_twice_ends_the_run(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    outcome = ran("fast", drawn_twice, tmp_path)
    assert outcome.code == 3
    assert outcome.message.startswith(
        "an invariant broke: noise once: agent 2 drew the noise of release "
    )


def test_noise_that_a_stretch_draws_twice_ends_the_run(tmp_path: Path) -> None:
    plan = make_plan(WORLD)
    run = Run(replace(plan, path="plain"), tmp_path / "run", RunGovernor(), math.inf)
    agent = run.agents[2]

    def draw() -> None:
        agent.noise(0)

    run.clock.at(HALF, 2, draw)
    outcome = asyncio.run(run.perform())
    assert outcome.code == 3
    assert outcome.message.startswith(
        "an invariant broke: noise once: agent 2 drew the noise of release 0 after "
    )

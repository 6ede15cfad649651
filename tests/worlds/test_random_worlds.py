"""Random worlds of every family under random faults: every invariant holds, the books balance, and it is all the same twice.

`HUSH_WORLDS=50000 python -m pytest tests/worlds/test_random_worlds.py -s` looks for longer.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios.experiments.random_worlds import KINDS, Dice, small_world
from scenarios.planning.fault_kinds import FAULTS
from tests.support.builders import Ran, perform
from tests.support.marks import one_in

T = TypeVar("T")
WORLDS = int(os.environ.get("HUSH_WORLDS", "1200"))
SHARES = 4
"""The worlds are run in so many tests, so that cores may share them."""


class Drawn:
    """Hypothesis draws: what fails is made small."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def whole(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


def holds(made: Ran) -> Counter[str]:
    """Judge what is true of every run, whatever was done to it; count the faults that happened."""
    assert made.outcome.code == 0, made.outcome.message
    summary, plan = made.outcome.summary, made.run.plan
    assert {v["verdict"] for v in summary["invariants"].values()} <= {"pass", "unknown"}
    m = summary["messages"]
    assert (
        m["sent"] + m["duplicated"] == m["delivered"] + m["lost"] + m["rejected"] + m["in_flight"]
    )
    last = 0
    happened, charged = Counter[str](), Counter[int]()
    windows: dict[int, int] = {}
    for event in made.events():
        assert event["t"] >= last
        last = event["t"]
        if event["kind"] == "charged":
            assert event["k"] == charged[event["node"]]
            charged[event["node"]] += 1
        elif event["kind"] == "fault_began":
            fault = plan.faults[event["fault"]]
            happened[fault.name] += 1
            windows[event["seq"]] = event.get("until", -1)
            assert fault.timing.admits(event["t"] - fault.timing.later)
        elif event["kind"] == "fault_ended":
            assert windows.pop(event["cause"]) == event["t"]
    assert all(until < 0 or until > last for until in windows.values())
    assert [charged[a.id] for a in made.run.agents] == [
        len(a.store.ledger) for a in made.run.agents
    ]
    return happened


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    return small_world(Drawn(draw))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(worlds())
def test_hypothesis_finds_no_world_that_breaks(
    tmp_path_factory: Any, world: dict[str, Any]
) -> None:
    holds(perform(world, tmp_path_factory.mktemp("world")))


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_breaks_in_any_world_and_every_fault_and_family_happens(
    tmp_path: Path, share: int
) -> None:
    """A world that never meets a fault says nothing about it; see the counts with -s."""
    happened, families = Counter[str](), Counter[str]()
    for number in range(share, WORLDS, SHARES):
        made = perform(small_world(Dice(2026, number)), tmp_path)
        happened += holds(made)
        families[made.run.plan.kind] += 1
        for file in made.outcome.folder.iterdir():
            file.unlink()
    print(f"\nshare {share}: faults that happened:", dict(sorted(happened.items())))  # noqa: T201
    print(f"share {share}: worlds by kind:", dict(sorted(families.items())))  # noqa: T201
    assert set(happened) == set(FAULTS)
    assert set(families) == {table["kind"] for table in KINDS.values()}


@pytest.mark.parametrize("number", one_in(5, range(40)))
def test_a_random_world_is_the_same_twice_and_on_the_wall(tmp_path: Path, number: int) -> None:
    world = small_world(Dice(7, number))
    one, two, wall = (perform(world, tmp_path, engine=e) for e in ("virtual", "virtual", "wall"))
    assert one.outcome.code == 0
    assert one.digests == two.digests == wall.digests


def test_dice_are_dice_and_hypothesis_speaks_the_same_language() -> None:
    assert small_world(Dice(3, 4)) == small_world(Dice(3, 4))
    assert small_world(Dice(3, 4)) != small_world(Dice(3, 5))
    for number in range(50):
        world = small_world(Dice(1, number))
        assert sum(group["count"] for group in world["nodes"]) <= 6
        assert world["data"]["dimension"] <= 4
        agents = sum(group["count"] for group in world["nodes"])
        assert world["run"].get("horizon", 10.0) * agents <= 60

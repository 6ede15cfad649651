"""One law over both engines: the same actors see the same time on SimPy and on asyncio."""

import asyncio
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import simpy

from clocks.clock import DELIVERY, FAULT, SAMPLE, WAKE, Cancelled, Engine, nanoseconds
from clocks.virtual import VirtualClock, VirtualTask
from clocks.wall import WallClock
from scenarios.running.control import RunGovernor

Make = Callable[[], Engine]


@pytest.fixture(params=["virtual", "wall", "late wall"])
def make(request: pytest.FixtureRequest) -> Make:
    made: dict[str, Make] = {
        "virtual": VirtualClock,
        "wall": lambda: WallClock(speed=1e6),
        "late wall": lambda: WallClock(speed=1e15),
    }
    return made[request.param]


def run(clock: Engine, until: int | None = None) -> None:
    asyncio.run(clock.run(until, RunGovernor()))


def test_sleeping_reaches_the_very_instant(make: Make) -> None:
    clock, seen = make(), list[int]()

    async def actor() -> None:
        for instant in (3, 7, 1_000_000_007):
            await clock.sleep_until(instant, WAKE)
            seen.append(clock.now)

    clock.spawn(actor)
    run(clock)
    assert seen == [3, 7, 1_000_000_007]


def test_one_instant_has_an_order_of_faults_wakes_by_id_deliveries_samples(make: Make) -> None:
    clock, order = make(), list[str]()
    for name, priority in (
        ("sample", SAMPLE),
        ("delivery", DELIVERY),
        ("wake 9", WAKE | 9),
        ("wake 2", WAKE | 2),
        ("fault", FAULT),
    ):
        clock.at(50, priority, lambda name=name: order.append(name))  # type: ignore[misc]
    run(clock)
    assert order == ["fault", "wake 2", "wake 9", "delivery", "sample"]


def test_equal_priorities_keep_their_order(make: Make) -> None:
    clock, order = make(), list[int]()
    for k in range(20):
        clock.at(5, DELIVERY, lambda k=k: order.append(k))  # type: ignore[misc]
    run(clock)
    assert order == list(range(20))


def test_the_end_is_closed(make: Make) -> None:
    clock, seen = make(), list[int]()
    for instant in (9, 10, 11):
        clock.at(instant, WAKE, lambda instant=instant: seen.append(instant))  # type: ignore[misc]
    run(clock, until=10)
    assert seen == [9, 10]


class Peculiar(Exception):
    """An exception that nobody could make again from its arguments."""

    def __init__(self, *, node: int) -> None:
        super().__init__()
        self.node = node


@pytest.mark.parametrize("where", ["actor", "action"])
def test_an_exception_arrives_as_itself(make: Make, where: str) -> None:
    clock, raised = make(), Peculiar(node=7)

    def fail() -> None:
        raise raised

    async def actor() -> None:
        await clock.sleep_until(4, WAKE)
        fail()

    if where == "actor":
        clock.spawn(actor)
    else:
        clock.at(4, WAKE, fail)
    with pytest.raises(Peculiar) as caught:
        run(clock)
    assert caught.value is raised
    assert caught.value.node == 7


def test_a_cancelled_actor_can_tidy_up_and_others_go_on(make: Make) -> None:
    clock, story = make(), list[tuple[int, str]]()

    async def victim() -> None:
        try:
            await clock.sleep_until(100, WAKE)
            story.append((clock.now, "woke"))
        except Cancelled:
            story.append((clock.now, "cancelled"))
            raise

    async def other() -> None:
        await clock.sleep_until(200, WAKE)
        story.append((clock.now, "other"))

    task = clock.spawn(victim)
    clock.spawn(other)
    clock.at(40, FAULT, task.cancel)
    clock.at(41, FAULT, task.cancel)
    run(clock)
    assert story == [(40, "cancelled"), (200, "other")]


def test_a_signal_resumes_whoever_waits_and_setting_it_twice_changes_nothing(make: Make) -> None:
    clock, story = make(), list[int]()
    signal = clock.signal(DELIVERY)

    async def waiting() -> None:
        await signal
        story.append(clock.now)
        await signal  # what has happened is not waited for
        story.append(clock.now)

    clock.spawn(waiting)
    clock.at(30, WAKE, signal.set)
    clock.at(35, WAKE, signal.set)
    run(clock)
    assert story == [30, 30]


@pytest.mark.parametrize("instant", [-1, math.nan, 2.5, True])
def test_the_past_and_what_is_no_integer_are_refused(make: Make, instant: Any) -> None:
    clock = make()
    with pytest.raises((ValueError, TypeError)):
        clock.sleep_until(instant, WAKE)
    with pytest.raises((ValueError, TypeError)):
        clock.at(instant, WAKE, lambda: None)


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, 1e10])
def test_durations_are_finite_and_not_negative(seconds: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        nanoseconds(seconds)


def test_a_stopped_run_serves_nothing_more(make: Make) -> None:
    clock, governor, seen = make(), RunGovernor(), list[int]()

    async def actor() -> None:
        for instant in range(1, 10_000):
            await clock.sleep_until(instant, WAKE)
            seen.append(instant)
            if instant == 500:
                governor.stop("enough")

    clock.spawn(actor)
    asyncio.run(clock.run(None, governor))
    assert len(seen) == 500


def test_a_paused_run_steps_one_entry_at_a_time(make: Make) -> None:
    clock, governor, seen = make(), RunGovernor(watched=True), list[int]()
    for instant in range(1, 6):
        clock.at(instant, WAKE, lambda instant=instant: seen.append(instant))  # type: ignore[misc]

    async def person() -> None:
        governor.hold()
        task = asyncio.ensure_future(clock.run(None, governor))
        await asyncio.sleep(0.1)
        assert seen == []
        governor.count = lambda: len(seen)
        governor.step()
        await asyncio.sleep(0.1)
        assert seen == [1]
        governor.step()
        await asyncio.sleep(0.2)
        assert seen == [1, 2]
        governor.go()
        await task

    asyncio.run(person())
    assert seen == [1, 2, 3, 4, 5]


def test_what_is_due_between_slices_is_done_at_least_every_64_entries(make: Make) -> None:
    """Also before the first entry, and where the run holds: a recorder never waits for a person."""
    clock, governor, served = make(), RunGovernor(watched=True), 0
    seen: list[int] = []

    def serve() -> None:
        nonlocal served
        served += 1

    for instant in range(1, 1000):
        clock.at(instant, WAKE, serve)

    async def person() -> None:
        governor.hold()
        task = asyncio.ensure_future(clock.run(None, governor, lambda: seen.append(served)))
        await asyncio.sleep(0.2)
        assert len(seen) > 1
        governor.go()
        await task

    asyncio.run(person())
    assert seen[:2] == [0, 0]
    assert all(later - earlier <= 64 for earlier, later in pairwise(seen))
    assert served - seen[-1] <= 64


def test_what_fails_between_slices_ends_the_run(make: Make) -> None:
    clock = make()
    clock.at(1, WAKE, lambda: None)

    def full() -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        asyncio.run(clock.run(None, RunGovernor(), full))


def test_each_actor_is_a_simpy_process_on_the_virtual_engine() -> None:
    clock = VirtualClock()

    async def actor() -> None:
        await clock.sleep_until(1, WAKE)

    task = clock.spawn(actor)
    assert isinstance(task, VirtualTask)
    assert isinstance(task._process, simpy.Process)
    run(clock)


def test_the_wall_engine_takes_the_time_it_says() -> None:
    import time

    clock, seen = WallClock(speed=10.0), list[int]()
    clock.at(nanoseconds(1.0), WAKE, lambda: seen.append(clock.now))
    begun = time.perf_counter()
    run(clock)
    assert time.perf_counter() - begun >= 0.1
    assert seen == [nanoseconds(1.0)]


def test_lateness_is_told_and_does_not_move_the_instant() -> None:
    import time

    clock, seen = WallClock(speed=1e3), list[tuple[int, bool]]()

    def busy() -> None:
        time.sleep(0.02)

    clock.at(1_000, WAKE, busy)
    clock.at(2_000, WAKE, lambda: seen.append((clock.now, clock.late > 10_000_000)))
    run(clock)
    assert seen == [(2_000, True)]

"""Orders about time: hold, step, until, next, breakpoints, paces."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from scenarios.api.runs import make_plan
from scenarios.console.control.commands import carry_out
from scenarios.console.screens.viewer import viewer_of
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private
from tests.support.sessions import schedules, session_for, settle, watched


@pytest.mark.slow
def test_a_step_is_one_event_or_all_that_one_entry_tells(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    seqs: list[int] = []

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        await asyncio.sleep(0.02)
        for _ in range(12):
            carry_out(session, "step")
            await settle(run)
            seqs.append(run.log.seq)
        session.quit()
        await task

    asyncio.run(person())
    assert all(b > a for a, b in pairwise(seqs))


def test_until_holds_at_the_instant_and_next_at_the_event(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 7s")
    assert run.clock.now <= 7_000_000_000
    later, session = session_for(tmp_path / "b")
    watched(later, session, "until 7s", "next refused or released")
    run, session = session_for(tmp_path / "c")
    said = watched(run, session, "until 2s", "next kind == 'released' and node == 3", "until +1s")
    assert "reached at event" in said[1]
    found = [e for e in session.pane.source.run_state.recent if f"event {e.seq}," in said[1]]
    assert [(type(e).__name__, e.node) for e in found] == [("Released", 3)]
    assert session.pane.breaks == []


def test_a_breakpoint_holds_every_time_until_it_is_cleared(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    said = watched(
        run,
        session,
        "break kind == 'sampled' and t > 3000000000",
        "until 9s",
        "until 9s",
        "clear",
        "until 9s",
    )
    assert ["BREAK" in s for s in said] == [False, True, True, False, False]
    assert "sampled" in said[1]


def test_a_condition_on_a_metric_holds_a_run(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until epsilon.max > 1")
    assert float(session.pane.source.epsilons().max()) > 1
    history = run.observers.last.values["epsilon"] if run.observers.last is not None else []
    assert max(float(e) for e in history) > 1


@pytest.mark.slow
def test_a_breakpoint_on_metrics_holds_when_it_becomes_true(tmp_path: Path) -> None:
    """Once for the network; once for each agent where it asks for each; at every event where it asks for events, too."""
    run, session = session_for(tmp_path)
    said = watched(run, session, "break epsilon.max > 1", "until 9s", "until 9s", "until 19s")
    assert ["BREAK" in s for s in said] == [False, True, False, False]
    run, session = session_for(tmp_path / "each")
    said = watched(run, session, "break epsilon > 1", *["until 19s"] * 8)
    hit = [s for s in said if "BREAK" in s]
    assert len(hit) == sum(len(a.store.ledger) > 5 for a in run.agents) == 5
    run, session = session_for(tmp_path / "events")
    said = watched(run, session, "break kind == 'woke' and epsilon.max > 1", *["until 19s"] * 3)
    assert ["BREAK" in s for s in said] == [False, True, True, True]


@pytest.mark.parametrize("order", ["break", "until", "next"])
def test_what_is_not_measured_cannot_be_waited_for(tmp_path: Path, order: str) -> None:
    run, session = session_for(tmp_path)
    said = watched(run, session, "until 2s", f"{order} staleness.p50 >= 0")
    assert "staleness is not measured while this run goes on" in said[1]


def test_a_goal_is_forgotten_when_something_else_is_ordered(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 2s", "speed max")

    async def person() -> list[str]:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        await settle(run)
        carry_out(session, "next finished")
        carry_out(session, "play")
        await settle(run)
        carry_out(session, "until 5s")
        await settle(run)
        assert session.pane.source.now == 5_000_000_000
        carry_out(session, "until 19s")
        await settle(run)
        session.quit()
        await task
        return [session.message]

    run, session = session_for(tmp_path / "b")
    assert "finished" not in asyncio.run(person())[0]


def test_a_pace_is_answered_while_nothing_goes_on(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    said = watched(run, session, "until 2s", "speed 3", "faster", "speed max")
    assert said[1:] == [
        "×3, as soon as it goes on",
        "×6, as soon as it goes on",
        "as fast as can be, as soon as it goes on",
    ]


def test_the_wall_engine_keeps_its_pace_and_says_so(tmp_path: Path) -> None:
    run = Run(
        make_plan(private(), engine="wall"),
        tmp_path / "run",
        RunGovernor(watched=True, looks=True, steers=True),
        50.0,
    )
    session = viewer_of(run).session
    assert session.control.speed == 50.0
    said = watched(run, session, "speed 3", "faster", "step")
    assert all("the wall engine keeps the pace" in words for words in said[:2])
    assert run.log.seq > 1


@pytest.mark.slow
def test_while_it_is_held_nothing_is_served_that_is_due_later(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        for order in ("until 3s", "step", "until +0.25s", "step", "step"):
            await settle(run)
            carry_out(session, order)
            await settle(run)
            assert run.clock.now <= run.governor.now < run.governor.upcoming
        session.quit()
        await task

    asyncio.run(person())


def test_what_is_next_is_said_while_nothing_goes_on(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    said: list[str] = []

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        await settle(run)
        carry_out(session, "until 3s")
        await settle(run)
        said.append(session.pane.builder.build(session.pane.view).model.feed.upcoming)
        carry_out(session, "step")
        await settle(run)
        session.pane.source.refresh()
        said.append(f"▸ {session.pane.source.run_state.recent[-1].t / 1e9:.3f} is next")
        session.quit()
        await task

    asyncio.run(person())
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize("instant", [3.0, 3.0000001, 5.5, 7.123456789])
def test_until_is_that_very_time_and_a_fault_happens_right_after_it(
    tmp_path: Path, instant: float
) -> None:
    """Also where nothing happens then; and a file says the same."""
    run, session = session_for(tmp_path)

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        await settle(run)
        carry_out(session, f"until {instant}")
        await settle(run)
        assert session.pane.source.now == round(instant * 1e9)
        carry_out(session, "until +0.1")
        await settle(run)
        assert session.pane.source.now == round(instant * 1e9) + 100_000_000
        carry_out(session, "crash 1 for=2s")
        await settle(run)
        (window,) = session.pane.source.run_state.windows.lasting()
        assert round((window.begun_s - instant - 0.1) * 1e9) in {1, 2, 3}
        carry_out(session, "speed max")
        carry_out(session, "play")
        await task

    asyncio.run(person())
    mine, theirs = schedules(run, session, tmp_path)
    assert mine == theirs

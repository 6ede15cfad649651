"""What one control does to two runs: to both at one instant, or to neither; and where they hold."""

import asyncio
import json
import math
from pathlib import Path

import pytest

from actors.events import KINDS, Sampled
from scenarios.records.reader import RunRecord
from tests.support.builders import perform
from tests.support.pairs import LARGE, POISSON, RARE, SHORT, SLOW, SYNCHRONOUS, Pair


def test_what_a_hand_does_while_both_go_on_happens_at_one_instant(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS, speed=0.5)

    async def person() -> None:
        for number in range(4):
            await asyncio.sleep(0.1)
            said = pair.order(f"loss {number} p=0.3")
            assert said.startswith(f"loss {number} p=0.3 at "), said
        await asyncio.sleep(0.1)
        said = pair.order("heal 3")
        assert said.startswith("fault 3 (loss) is undone at "), said

    pair.play(person, held=False)
    mine, theirs = pair.faults()
    assert mine == theirs
    assert len(mine) == 4
    healed = [run.journal.scenario["fault"][3]["for"] for run in pair.runs]
    assert healed[0] == healed[1] > 0


def test_what_cannot_be_done_to_both_is_done_to_neither(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, LARGE)

    async def person() -> None:
        pair.order("until 5s")
        await pair.rest()
        assert pair.order("crash 7") == "A: no agent 7: ids run from 0 to 5; nothing was done"
        assert "B: " not in pair.order("crash 1")
        await pair.rest()
        assert pair.order("heal 0").startswith("fault 0 (crash) is undone at 5.0")
        await pair.rest()
        assert [pane.source.run_state.state(1) for pane in pair.panes] == ["up", "up"]

    pair.play(person)
    mine, theirs = pair.faults()
    assert mine == theirs
    assert [name for name, _ in mine] == ["hand-1"]


def test_a_heal_undoes_what_was_done_together_whatever_its_number(tmp_path: Path) -> None:
    """B declares two faults of its own: what is number 0 in A is number 2 in B."""
    own = {"fault": [{"at": 1.0, "pause": [5]}, {"at": 2.0, "pause": [4]}]}
    pair = Pair(tmp_path, POISSON, POISSON | own)

    async def person() -> None:
        for order in ("until 5s", "crash 1"):
            pair.order(order)
            await pair.rest()
        states = [[d.source.run_state.state(i) for i in (1, 4, 5)] for d in pair.panes]
        assert states == [["down", "up", "up"], ["down", "paused", "paused"]]
        pair.order("heal 0")
        await pair.rest()
        states = [[d.source.run_state.state(i) for i in (1, 4, 5)] for d in pair.panes]
        assert states == [["up", "up", "up"], ["up", "paused", "paused"]]

    pair.play(person)


@pytest.mark.slow
def test_two_sessions_are_exported_as_two_files_that_do_the_same(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)

    async def person() -> None:
        for order in ("until 5s", "crash 1 for=2s", "until 9s"):
            pair.order(order)
            await pair.rest()
        said = pair.order(f"export {tmp_path / 'mine.toml'}")
        assert "mine-a.toml" in said
        assert "mine-b.toml" in said
        pair.order("speed max")
        pair.order("play")
        await pair.rest()

    pair.play(person)
    for mark, run in zip("ab", pair.runs, strict=True):
        again = perform(str(tmp_path / f"mine-{mark}.toml"), tmp_path / f"again-{mark}")
        assert (
            again.digests["schedule"] == RunRecord(run.folder.path).manifest["digests"]["schedule"]
        )


def test_holding_holds_at_once_however_rarely_one_of_them_does_something(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON | SLOW, RARE, speed=1.0)

    async def person() -> None:
        await asyncio.sleep(0.4)
        before = max(pair.instants)
        pair.order("play")
        await pair.rest()
        assert max(pair.instants) - before < 500_000_000
        assert pair.instants[0] == pair.instants[1]

    pair.play(person, held=False)


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False])
def test_when_one_is_over_the_other_is_still_under_the_hand(tmp_path: Path, first: bool) -> None:  # noqa: FBT001
    trees = (SHORT, POISSON) if first else (POISSON, SHORT)
    pair = Pair(tmp_path, *trees)
    short, long = pair.runs if first else pair.runs[::-1]

    async def person() -> None:
        pair.order("until 3s")
        await pair.rest()
        assert short.governor.ended
        assert (short.governor.now, long.governor.now) == (1_000_000_000, 3_000_000_000)
        assert "after the end, at 20 s" in pair.order("until 21s")
        assert pair.order("until 6s") == ""
        await pair.rest()
        assert long.governor.now == 6_000_000_000
        seq = long.log.seq
        pair.order("step")
        await pair.rest()
        assert long.log.seq > seq
        mark = "B" if first else "A"
        assert pair.order("crash 2").startswith(f"crash 2 in {mark} alone at ")
        await pair.rest()
        states = [pane.source.run_state.state(2) for pane in pair.panes]
        assert sorted(states) == ["down", "up"]
        assert "is undone in" in pair.order("heal")
        await pair.rest()
        assert [pane.source.run_state.state(2) for pane in pair.panes] == ["up", "up"]
        pair.screen.press("escape")
        assert "q quit" in "".join(text for text, _ in pair.screen.draw(160, 40)[-1])
        pair.order("play")
        await asyncio.sleep(0.05)
        pair.order("play")
        await pair.rest()
        assert short.governor.now == 1_000_000_000
        assert pair.panes[pair.runs.index(short)].source.progress == 1.0

    pair.play(person)


def test_a_goal_that_one_reaches_is_told_and_forgotten_by_both(tmp_path: Path) -> None:
    """Only B has agent 7; it holds right after the event, and A at that instant or before."""
    pair = Pair(tmp_path, POISSON, LARGE)

    async def person() -> None:
        said = pair.order('next kind == "released" and node == 7')
        await pair.rest()
        said = pair.session.message
        assert said.startswith("B: reached at event "), said
        pair.panes[1].source.refresh()
        last = pair.panes[1].source.run_state.recent
        (event,) = [e for e in last if f"event {e.seq:,}," in said]
        assert pair.runs[1].governor.now == event.t
        assert pair.runs[0].governor.now <= event.t + 20_000_000_000 // 400
        assert pair.order("until +2s") == ""
        await pair.rest()
        assert pair.instants[0] == pair.instants[1]
        assert pair.session.message == ""

    pair.play(person)


def test_two_runs_have_one_pace(tmp_path: Path) -> None:
    """Held, let go, and made faster: both are where the one pace has come to, however rarely one of them does something."""
    pair = Pair(tmp_path, POISSON | SLOW, RARE, speed=1.0)

    async def person() -> None:
        for order in ("speed 2", "play", "play", "loss 1 p=0.1", "speed 3"):
            pair.order(order)
            await asyncio.sleep(0.15)
            assert pair.runs[0].governor.pacing is pair.runs[1].governor.pacing
            mine, theirs = pair.instants
            assert abs(mine - theirs) < 100_000_000

    pair.play(person, held=False)


def test_nobody_goes_beyond_a_mark_before_all_have_come_to_it(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)
    stride, ahead = 20_000_000_000 // 400, 0

    def look() -> None:
        nonlocal ahead
        slowest = min(run.governor.upcoming for run in pair.runs)
        if slowest != math.inf:
            mark = -(-slowest // stride) * stride
            ahead += max(run.clock.now for run in pair.runs) > mark

    for run in pair.runs:
        run.between.append(look)
        run.log.watch(lambda _: look(), KINDS)
    asyncio.run(pair.control.perform())
    assert ahead == 0


def test_what_one_of_two_declared_is_healed_there(tmp_path: Path) -> None:
    own = {"fault": [{"at": 1.0, "pause": [5]}]}
    pair = Pair(tmp_path, POISSON, POISSON | own)

    async def person() -> None:
        pair.order("until 5s")
        await pair.rest()
        assert "A: heal: no fault 0: there is none" in pair.order("heal A0")
        assert pair.order("heal b0").startswith("fault 0 (pause) is undone in B alone at 5.0")
        await pair.rest()
        assert [pane.source.run_state.state(5) for pane in pair.panes] == ["up", "up"]

    pair.play(person)


def test_of_two_sessions_both_are_written_or_none(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)
    (tmp_path / "z-b.toml").write_text("mine")

    async def person() -> None:
        pair.order("until 2s")
        await pair.rest()
        assert "z-b.toml exists: nothing was written" in pair.order(f"export {tmp_path / 'z.toml'}")

    pair.play(person)
    assert not (tmp_path / "z-a.toml").exists()


def test_when_one_of_two_breaks_the_other_is_kept(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)

    def spoil(_: Sampled) -> None:
        if pair.runs[1].clock.now > 3e9:
            raise RuntimeError("it broke")

    pair.runs[1].log.watch(spoil, (Sampled,))
    with pytest.raises(RuntimeError, match="it broke"):
        asyncio.run(pair.control.perform())
    assert RunRecord(pair.runs[0].folder.path).manifest["status"] == "interrupted"


@pytest.mark.slow
def test_a_step_is_made_by_the_run_that_is_behind(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, POISSON | {"run": {"seed": 6, "horizon": 20.0}})

    async def person() -> None:
        pair.order("until 5s")
        await pair.rest()
        for _ in range(8):
            upcoming = [run.governor.upcoming for run in pair.runs]
            seqs = [run.log.seq for run in pair.runs]
            pair.order("step")
            await pair.rest()
            moved = [run.log.seq > seq for run, seq in zip(pair.runs, seqs, strict=True)]
            assert moved == [mine == min(upcoming) for mine in upcoming]

    pair.play(person)


def test_every_journal_has_what_was_done_to_its_run(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)

    async def person() -> None:
        for order in ("until 2s", "crash 1", "speed 0", "step", "heal", "speed 7"):
            pair.order(order)
            await pair.rest()

    pair.play(person)
    for run in pair.runs:
        text = (run.folder.path / "inputs.jsonl").read_text()
        done = [json.loads(line)["what"] for line in text.splitlines()]
        assert done == ["until", "fault", "step", "heal", "speed"]
        assert run.governor.speed == 7.0

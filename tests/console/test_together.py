"""What one hand does to two runs: to both at one instant, or to neither; and where they hold."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from actors.events import KINDS, Sampled
from scenarios.console.orders import carry_out
from scenarios.console.pair import PairViewer, in_step
from scenarios.console.viewer import viewer_of
from scenarios.folder import read_manifest
from tests.console.test_pair import GROUP, POISSON, SYNCHRONOUS, both
from tests.support.builders import perform

SHORT = POISSON | {"run": {"seed": 5, "horizon": 1.0}}
SLOW = {"run": {"seed": 5, "horizon": 20.0, "sample_every": 5.0}}
RARE = POISSON | SLOW | {"nodes": [GROUP | {"clock": {"kind": "synchronous", "period": 5.0}}]}
LARGE = POISSON | {"nodes": [GROUP | {"count": 8}]}


class Pair:
    """Two runs under one hand, without a terminal."""

    def __init__(self, folder: Path, one: Any, other: Any, **options: Any) -> None:
        self.runs = both(folder, one, other, **options)
        self.desks = [viewer_of(run).desk for run in self.runs]
        self.screen = PairViewer(*self.desks)

    def order(self, text: str) -> str:
        carry_out(self.screen.one, text)
        return self.screen.one.look.says

    async def rest(self) -> None:
        """Wait until everybody who goes on holds, and has looked again whether to go on."""
        looks = 0

        def look() -> None:
            nonlocal looks
            looks = looks + 1 if all(r.hand.paused or r.hand.ended for r in self.runs) else 0

        for run in self.runs:
            run.hand.every_rest(look)
        for _ in range(20_000):
            if looks >= 8 or all(run.hand.ended for run in self.runs):
                return
            await asyncio.sleep(0.002)
        raise AssertionError("they never held")

    def play(self, person: Callable[[], Awaitable[None]], *, held: bool = True) -> None:
        async def perform() -> None:
            if held:
                self.runs[0].hand.pause()
            task = asyncio.ensure_future(in_step(self.runs, self.screen.meet))
            await asyncio.sleep(0.02)
            await person()
            self.screen.one.leave()
            await task

        asyncio.run(perform())

    def faults(self) -> list[list[tuple[str, float]]]:
        return [[(f["name"], f["at"]) for f in run.amended.get("fault", [])] for run in self.runs]

    @property
    def instants(self) -> list[int]:
        return [desk.source.now for desk in self.desks]


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
    healed = [run.amended["fault"][3]["for"] for run in pair.runs]
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
        assert [desk.source.scene.state(1) for desk in pair.desks] == ["up", "up"]

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
        states = [[d.source.scene.state(i) for i in (1, 4, 5)] for d in pair.desks]
        assert states == [["down", "up", "up"], ["down", "paused", "paused"]]
        pair.order("heal 0")
        await pair.rest()
        states = [[d.source.scene.state(i) for i in (1, 4, 5)] for d in pair.desks]
        assert states == [["up", "up", "up"], ["up", "paused", "paused"]]

    pair.play(person)


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
        assert again.digests["schedule"] == read_manifest(run.folder.path)["digests"]["schedule"]


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


@pytest.mark.parametrize("first", [True, False])
def test_when_one_is_over_the_other_is_still_under_the_hand(tmp_path: Path, first: bool) -> None:  # noqa: FBT001
    trees = (SHORT, POISSON) if first else (POISSON, SHORT)
    pair = Pair(tmp_path, *trees)
    short, long = pair.runs if first else pair.runs[::-1]

    async def person() -> None:
        pair.order("until 3s")
        await pair.rest()
        assert short.hand.ended
        assert (short.hand.now, long.hand.now) == (1_000_000_000, 3_000_000_000)
        assert "after the end, at 20 s" in pair.order("until 21s")
        assert pair.order("until 6s") == ""
        await pair.rest()
        assert long.hand.now == 6_000_000_000
        seq = long.log.seq
        pair.order("step")
        await pair.rest()
        assert long.log.seq > seq
        mark = "B" if first else "A"
        assert pair.order("crash 2").startswith(f"crash 2 in {mark} alone at ")
        await pair.rest()
        states = [desk.source.scene.state(2) for desk in pair.desks]
        assert sorted(states) == ["down", "up"]
        assert "is undone in" in pair.order("heal")
        await pair.rest()
        assert [desk.source.scene.state(2) for desk in pair.desks] == ["up", "up"]
        pair.screen.press("escape")
        assert "q quit" in "".join(text for text, _ in pair.screen.draw(160, 40)[-1])
        pair.order("play")
        await asyncio.sleep(0.05)
        pair.order("play")
        await pair.rest()
        assert short.hand.now == 1_000_000_000
        assert pair.desks[pair.runs.index(short)].source.progress == 1.0

    pair.play(person)


def test_a_goal_that_one_reaches_is_told_and_forgotten_by_both(tmp_path: Path) -> None:
    """Only B has agent 7; it holds right after the event, and A at that instant or before."""
    pair = Pair(tmp_path, POISSON, LARGE)

    async def person() -> None:
        said = pair.order('next kind == "released" and node == 7')
        await pair.rest()
        said = pair.screen.one.look.says
        assert said.startswith("B: reached at event "), said
        last = pair.desks[1].source.scene.recent
        pair.desks[1].source.refresh()
        (event,) = [e for e in last if f"event {e.seq:,}," in said]
        assert pair.runs[1].hand.now == event.t
        assert pair.runs[0].hand.now <= event.t + 20_000_000_000 // 400
        assert pair.order("until +2s") == ""
        await pair.rest()
        assert pair.instants[0] == pair.instants[1]
        assert pair.screen.one.look.says == ""

    pair.play(person)


def test_runs_are_compared_at_one_instant(tmp_path: Path) -> None:
    """Two runs of one scenario never differ, whenever somebody looks; where one is over, it is at its end."""
    pair = Pair(tmp_path / "same", POISSON, POISSON, speed=100.0)
    looked = 0

    async def person() -> None:
        nonlocal looked
        while not all(run.hand.ended for run in pair.runs):
            await asyncio.sleep(0.01)
            pair.screen._due = 0.0  # compare at every meeting
            pair.screen.draw(120, 40)
            _, found, far = pair.screen._met
            apart = [f for f in found if f.apart != 0 and not math.isnan(f.apart)]
            assert apart == []
            assert far == []
            looked += 1

    pair.play(person, held=False)
    assert looked > 5
    pair = Pair(tmp_path / "short", POISSON, SHORT)
    sent: list[float] = []

    def note(event: Sampled) -> None:
        if event.t == 1_000_000_000:
            sent.append(event.values["messages.sent"])

    pair.runs[0].log.watch(note, (Sampled,))

    async def later() -> None:
        pair.order("until 9s")
        await pair.rest()
        pair.screen.draw(120, 40)
        instant, found, _ = pair.screen._met
        assert 1_000_000_000 <= instant <= 1_000_000_000 + 2 * 20_000_000_000 // 400
        assert next(f.other for f in found if f.name == "sent") == sent[0]

    pair.play(later)


def test_two_runs_have_one_pace(tmp_path: Path) -> None:
    """Held, let go, and made faster: both are where the one pace has come to, however rarely one of them does something."""
    pair = Pair(tmp_path, POISSON | SLOW, RARE, speed=1.0)

    async def person() -> None:
        for order in ("speed 2", "play", "play", "loss 1 p=0.1", "speed 3"):
            pair.order(order)
            await asyncio.sleep(0.15)
            assert pair.runs[0].hand._line is pair.runs[1].hand._line
            mine, theirs = pair.instants
            assert abs(mine - theirs) < 100_000_000

    pair.play(person, held=False)


def test_nobody_goes_beyond_a_mark_before_all_have_come_to_it(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)
    stride, ahead = 20_000_000_000 // 400, 0

    def look() -> None:
        nonlocal ahead
        slowest = min(run.hand.upcoming for run in pair.runs)
        if slowest != math.inf:
            mark = -(-slowest // stride) * stride
            ahead += max(run.clock.now for run in pair.runs) > mark

    for run in pair.runs:
        run.hand.every_rest(look)
        run.log.watch(lambda _: look(), KINDS)
    asyncio.run(in_step(pair.runs))
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
        assert [desk.source.scene.state(5) for desk in pair.desks] == ["up", "up"]

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


def test_the_end_of_both_is_told(tmp_path: Path) -> None:
    expecting = {"expect": [{"metric": "loss.mean", "below": 0.001}]}
    pair = Pair(tmp_path, POISSON, SHORT | expecting)
    asyncio.run(in_step(pair.runs, pair.screen.meet))
    lines = ["".join(text for text, _ in line).strip() for line in pair.screen.draw(160, 40)]
    assert lines[-4].startswith("A finished at 20 s (horizon)")
    assert lines[-3].startswith("B finished at 1 s (horizon)")
    assert lines[-2].startswith("B ✕ expected loss.mean < 0.001")
    assert lines[-1].startswith("q leave")


def test_when_one_of_two_breaks_the_other_is_kept(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)

    def spoil(_: Sampled) -> None:
        if pair.runs[1].clock.now > 3e9:
            raise RuntimeError("it broke")

    pair.runs[1].log.watch(spoil, (Sampled,))
    with pytest.raises(RuntimeError, match="it broke"):
        asyncio.run(in_step(pair.runs, pair.screen.meet))
    assert read_manifest(pair.runs[0].folder.path)["status"] == "interrupted"


def test_a_step_is_made_by_the_run_that_is_behind(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, POISSON | {"run": {"seed": 6, "horizon": 20.0}})

    async def person() -> None:
        pair.order("until 5s")
        await pair.rest()
        for _ in range(8):
            upcoming = [run.hand.upcoming for run in pair.runs]
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
        assert run.hand.speed == 7.0

"""The live screen: a task beside the run, ten frames a second, and three keys that matter."""

import asyncio
import math
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style

from actors.agent import UP, Agent
from actors.events import (
    Crashed,
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Lost,
    Refused,
    Restarted,
    RoundAborted,
    Sampled,
    Spent,
)
from scenarios.observers.invariants import INVARIANTS
from scenarios.observers.keyboard import Keyboard
from scenarios.observers.lines import tell
from scenarios.observers.view import Line, Model, Row, frame, rows_that_fit
from scenarios.values import number

if TYPE_CHECKING:
    from scenarios.conduct import Run

_FRAME_S = 0.1
_SLOW_S = 0.005
_TOLD = (
    Crashed, Restarted, Joined, Left, FaultBegan, FaultEnded, Refused, Spent, Lost, RoundAborted,
)  # fmt: skip
STYLES = {
    "good": Style.parse("#56b4e9"),
    "warn": Style.parse("#f0e442"),
    "bad": Style.parse("bold #d55e00"),
    "dim": Style.parse("dim"),
    "plain": Style.null(),
    "head": Style.parse("bold"),
}


class Frame:
    """A renderable of ready lines: no layout, no measuring, no wrapping."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        last = len(self._lines) - 1
        for i, line in enumerate(self._lines):
            for text, style in line:
                yield Segment(text, STYLES[style])
            if i < last:
                yield Segment.line()


class LiveScreen:
    """Draws a run and takes keys, while open."""

    def __init__(
        self, run: "Run", console: Console | None = None, *, ascii_only: bool = False
    ) -> None:
        self._run = run
        self._console = console or Console()
        self._ascii = ascii_only
        self._first = 0
        self._trend: deque[list[float]] = deque(maxlen=8)
        self._recent: deque[str] = deque(maxlen=4)
        self._seen = (0, time.perf_counter(), 0.0)
        self.drawn = 0
        run.log.watch(self._note_sample, (Sampled,))
        run.log.watch(self._note, _TOLD)

    def _note_sample(self, event: Sampled) -> None:
        self._trend.append([number(v) for v in event.values["loss"]])

    def _note(self, event: Event) -> None:
        self._recent.append(f" {tell(event)}")

    async def watch(self, work: Any) -> Any:
        """Await the work of a run, drawing as it goes."""
        live = Live(console=self._console, auto_refresh=False, screen=True, transient=True)
        with Keyboard(self.press), live:
            task = asyncio.ensure_future(self._draw(live))
            try:
                return await work
            finally:
                task.cancel()

    async def _draw(self, live: Live) -> None:
        while True:
            begun = time.perf_counter()
            width, height = self._console.size
            live.update(Frame(frame(self.model(height), width, height)))
            out = self._console.file
            out.write("\x1b[?2026h")  # synchronised output: the terminal shows whole frames only
            live.refresh()
            out.write("\x1b[?2026l")
            out.flush()
            self.drawn += 1
            spent = time.perf_counter() - begun
            await asyncio.sleep(_FRAME_S if spent < _SLOW_S else 2 * _FRAME_S)

    def press(self, key: str) -> None:
        """Do what a key asks."""
        hand, page = self._run.hand, rows_that_fit(self._console.size.height)
        match key:
            case " ":
                hand.paused = not hand.paused
            case ".":
                hand.paused = True
                hand.steps += 1
            case "+":
                hand.faster(2.0)
            case "-":
                hand.faster(0.5)
            case "q":
                hand.interrupt()
            case "up" | "down" | "page-up" | "page-down":
                step = {"up": -1, "down": 1, "page-up": -page, "page-down": page}[key]
                last = max(0, self._run.plan.size - page)
                self._first = min(last, max(0, self._first + step))

    def model(self, height: int) -> Model:
        """Look at the run as it stands."""
        self._run.log.drain()
        run, plan, traffic = self._run, self._run.plan, self._run.traffic
        shown = run.agents[self._first : self._first + rows_that_fit(height)]
        losses = self._trend[-1] if self._trend else [math.nan] * plan.size
        known = [v for v in losses if not math.isnan(v)]
        share, now = self._share(), run.clock.now
        everybody = run.members.agents
        unnoticed = sum(agent.inbox.unnoticed(now) for agent in everybody if agent.status == UP)
        return Model(
            name=plan.name,
            mechanism=plan.kind,
            seed=plan.seed,
            paused=run.hand.paused,
            speed=run.hand.speed,
            now_s=run.clock.now / 1e9,
            share=share,
            events_per_s=self._pace(),
            privacy=run.budget.terms(),
            broken=", ".join(n for n, v in run.checks.verdicts.items() if v.verdict == "fail"),
            invariants=len(INVARIANTS),
            rows=[self._row(agent) for agent in shown],
            first=self._first,
            count=plan.size,
            up=sum(1 for agent in run.agents if agent.status == UP),
            epsilon_worst=float(run.budget.headline().max()),
            loss_mean=sum(known) / len(known) if known else math.nan,
            sent=traffic.counts["sent"],
            delivered=traffic.counts["delivered"] + unnoticed,
            lost=traffic.counts["lost"],
            rejected=traffic.counts["rejected"],
            flying=sum(a.inbox.in_flight + a.outbox.links.holds for a in run.members.agents)
            - unnoticed,
            copies=traffic.counts["duplicated"],
            releases=run.checks.released_count,
            charged=sum(run.budget.counts),
            recorded_mb=run.recorder.bytes_written / 1e6,
            recent=list(self._recent),
            ascii=self._ascii,
        )

    def _row(self, agent: Agent) -> Row:
        state = "spent" if agent.spent and agent.status == UP else agent.status
        if agent.plight.paused and agent.status == UP:
            state = "paused"
        trend = [losses[agent.id] for losses in self._trend]
        cap = agent.habits.cap
        return Row(
            id=agent.id,
            state="diverged" if agent.diverged else state,
            epsilon=self._run.budget.epsilon_of(agent.id),
            cap=None if cap is None else cap.epsilon,
            loss=trend[-1] if trend else math.nan,
            trend=trend,
            releases=len(agent.store.ledger),
            inbox=agent.inbox.waiting(self._run.clock.now) if agent.status == UP else 0,
        )

    def _share(self) -> float | None:
        plan, run = self._run.plan, self._run
        if plan.horizon is not None:
            return run.clock.now / plan.horizon
        if plan.updates is not None:
            return run.members.updates / plan.updates
        if plan.rounds is not None:
            return max(agent.rounds for agent in run.agents) / plan.rounds
        return None

    def _pace(self) -> float:
        """Events per second, over at least half a second."""
        seq, then, pace = self._seen
        now = time.perf_counter()
        if now - then > 0.5:
            pace = (self._run.log.seq - seq) / (now - then)
            self._seen = (self._run.log.seq, now, pace)
        return pace


def can_be_full() -> bool:
    """Whether there are a real keyboard and a real screen."""
    import os

    dumb = os.environ.get("TERM", "") in {"", "dumb"} or bool(os.environ.get("CI"))
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb

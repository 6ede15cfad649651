"""Moves a recording through its simulated time, at any speed, forwards and back."""

import asyncio
import math
import time
from collections.abc import Sequence
from types import FrameType

from actors.events import Event
from scenarios.console.control.breakpoints import Breakpoint, OnHit
from scenarios.console.sources.recording import Recording

_SLICE_S = 0.005
_TICK_S = 0.01
_STRIDE = 64


class ReplayControl:
    """Plays, holds, steps and seeks a recording, and holds it at breakpoints."""

    def __init__(self, source: Recording, speed: float) -> None:
        """Play a recording from where it stands, at `speed` simulated seconds for each second on the wall."""
        self.source = source
        self.speed = speed
        self.paused = False
        self.ended = False
        self.interrupted = False
        self._edge: float = math.inf
        self._hurries = False
        self._anchor: tuple[float, int] | None = None
        self._breakpoints: Sequence[Breakpoint] = ()
        self._on_hit: OnHit = lambda _breakpoint, _event: None

    @property
    def hurries(self) -> bool:
        return self._hurries and not self.paused

    def play(self) -> None:
        """Go on at the speed; at the end of the recording from its beginning."""
        self._move(paused=False)
        if self.source.upcoming is None:
            self.source.rewind()

    def hold(self) -> None:
        self._move(paused=True)

    def hurry(self) -> None:
        self._move(paused=False, hurries=True)

    def _move(self, *, paused: bool, hurries: bool = False, edge: float = math.inf) -> None:
        self.paused, self._hurries, self._edge, self._anchor = paused, hurries, edge, None

    def step(self) -> None:
        self.hold()
        if self.source.upcoming is not None:
            self.source.step()

    def go_to(self, instant: int) -> str:
        if instant < self.source.now:
            self.hold()
            self.source.seek(max(0, instant))
        else:
            self._move(paused=False, hurries=True, edge=instant)
        return ""

    def set_speed(self, speed: float) -> None:
        self.speed, self._anchor = speed, None

    def restart_pace(self) -> None:
        self._anchor = None

    def watch(self, _number: int, breakpoints: Sequence[Breakpoint], on_hit: OnHit) -> None:
        self._breakpoints, self._on_hit = breakpoints, on_hit

    def stop(self) -> None:
        self.ended = True

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """Close early: a signal."""
        self.ended = self.interrupted = True

    async def perform(self) -> None:
        """Play until it is stopped."""
        while not self.ended:
            self._advance()
            await asyncio.sleep(_TICK_S if self.paused or not self._rushes else 0)

    @property
    def _rushes(self) -> bool:
        return self._hurries or self.speed == math.inf

    def _advance(self) -> None:
        """Fold what is due, for a slice of wall time."""
        source, ends = self.source, time.perf_counter() + _SLICE_S
        if self.paused:
            return
        limit = self._edge if self._rushes else min(self._edge, self._reached())
        while time.perf_counter() < ends:
            for _ in range(_STRIDE):
                upcoming = source.upcoming
                if upcoming is None or upcoming.t > limit:
                    self._rest(limit)
                    return
                event = source.step()
                if self._breakpoints and self._holds_at(event):
                    return

    def _rest(self, limit: float) -> None:
        """Let time go on to the limit (ns), where nothing is due by it; hold at an edge and at the end."""
        source = self.source
        source.now = int(max(source.now, min(limit, source.length)))
        if source.upcoming is None or limit == self._edge:
            self.hold()

    def _reached(self) -> float:
        """Return the instant (ns) that the pace has reached."""
        if self._anchor is None:
            self._anchor = time.perf_counter(), self.source.now
        wall, start = self._anchor
        return start + (time.perf_counter() - wall) * self.speed * 1e9

    def _holds_at(self, event: Event) -> bool:
        hit = [b for b in self._breakpoints if type(event) in b.kinds and b.hits(event)]
        for breakpoint_ in hit:
            self.hold()
            self._on_hit(breakpoint_, event)
        return bool(hit)

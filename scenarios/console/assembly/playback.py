"""What moves a run: play, hold, step, until; the same for a run that goes on and for a recording."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Protocol

from actors.events import Event
from scenarios.console.assembly.breakpoints import Breakpoint
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.source import LiveSource
from scenarios.console.sources.view_state import NotThere
from scenarios.running.control import RunGovernor

Hit = Callable[[Breakpoint, Event], None]
_SLICE_S = 0.005
_TICK_S = 0.01
_STRIDE = 64


class Deck(Protocol):
    """Who holds time."""

    @property
    def paused(self) -> bool: ...

    @property
    def hurries(self) -> bool:
        """Whether it goes as fast as can be, to a time or an event."""
        ...

    @property
    def interrupted(self) -> bool:
        """Whether it was ended early."""
        ...

    @property
    def speed(self) -> float:
        """Simulated seconds for each on the wall; ∞ is as fast as can be."""
        ...

    def play(self) -> None: ...

    def hold(self) -> None: ...

    def pace(self, speed: float) -> None: ...

    def set_out(self) -> None:
        """Begin the pace anew: time that was spent away does not count."""
        ...

    def step(self) -> None:
        """Go on by one event."""
        ...

    def until(self, instant: int) -> str:
        """Go on to an instant, or back where that can be; return what is wrong."""
        ...

    def watch(self, stops: Sequence[Breakpoint], hit: Hit) -> None:
        """Hold, and tell whoever asks, when an event hits a breakpoint; those of before are forgotten."""
        ...

    def hurry(self) -> None:
        """Go on as fast as can be, until something holds."""
        ...

    def stop(self) -> None: ...


class LiveDeck:
    """The hand of a run that goes on."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source
        self._hand = source.run.governor
        self._observers: list[Callable[[Event], None]] = []

    @property
    def _lead(self) -> RunGovernor:
        """The hand that tells how time goes: of this run, or of one abreast of it when this one is over."""
        return next(iter(self._hand.together), self._hand)

    @property
    def paused(self) -> bool:
        return self._lead.paused

    @property
    def hurries(self) -> bool:
        return self._lead.hurries

    @property
    def speed(self) -> float:
        return self._hand.speed if self._changes else self._source.run.speed

    @property
    def _changes(self) -> bool:
        """Whether its pace can be changed: that of wall time is its clock's."""
        return self._source.run.plan.engine == "virtual"

    @property
    def interrupted(self) -> bool:
        return self._hand.interrupted

    def play(self) -> None:
        self._going().resume()

    def hold(self) -> None:
        self._going()
        max(self._hand.together, key=lambda hand: hand.now).pause()

    def _going(self) -> RunGovernor:
        """Return the hand of a run that is not over."""
        if not self._hand.together:
            raise NotThere("the run is over: q leaves")
        return self._lead

    def pace(self, speed: float) -> None:
        hand = self._going()
        if not self._changes:
            raise NotThere("the wall engine keeps the pace that it began with: --speed X")
        hand.pace(speed)

    def set_out(self) -> None:
        self._hand.set_out()

    def hurry(self) -> None:
        self._going().hurry()

    def step(self) -> None:
        self._going().step()

    def until(self, instant: int) -> str:
        hand = self._going()
        if instant < max(other.now for other in hand.together):
            return "that is past: a run goes on only; hush replay goes back"
        hand.hurry(edge=instant)
        return ""

    def watch(self, stops: Sequence[Breakpoint], hit: Hit) -> None:
        log = self._source.run.log
        for observer in self._observers:
            log.ignore(observer)
        self._observers = []
        for stop in stops:

            def look(event: Event, stop: Breakpoint = stop) -> None:
                if stop.hits(event):
                    self._hand.pause()
                    hit(stop, event)

            self._observers.append(look)
            log.watch(look, stop.kinds)

    def stop(self) -> None:
        self._hand.interrupt()


class Player:
    """Plays a recording, at any speed."""

    def __init__(self, source: Recording, speed: float) -> None:
        self.source = source
        self.speed = speed
        self.paused = False
        self.ended = False
        self.interrupted = False
        self._edge: float = math.inf
        self._hurries = False
        self._anchor: tuple[float, int] | None = None
        self._stops: Sequence[Breakpoint] = ()
        self._hit: Hit = lambda _stop, _event: None

    @property
    def hurries(self) -> bool:
        return self._hurries and not self.paused

    def play(self) -> None:
        self.paused, self._hurries, self._edge, self._anchor = False, False, math.inf, None
        if self.source.upcoming is None:
            self.source.rewind()

    def hold(self) -> None:
        self.paused, self._hurries, self._edge, self._anchor = True, False, math.inf, None

    def pace(self, speed: float) -> None:
        self.speed, self._anchor = speed, None

    def set_out(self) -> None:
        self._anchor = None

    def hurry(self) -> None:
        self.paused, self._hurries, self._edge = False, True, math.inf

    def step(self) -> None:
        self.hold()
        if self.source.upcoming is not None:
            self.source.step()

    def until(self, instant: int) -> str:
        if instant < self.source.now:
            self.hold()
            self.source.seek(max(0, instant))
        else:
            self.hurry()
            self._edge = instant
        return ""

    def watch(self, stops: Sequence[Breakpoint], hit: Hit) -> None:
        self._stops, self._hit = stops, hit

    def stop(self) -> None:
        self.ended = True

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """Close early: a signal."""
        self.ended = self.interrupted = True

    async def perform(self) -> None:
        """Play until somebody stops it."""
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
        limit = self._edge if self._rushes else min(self._edge, self._due())
        while time.perf_counter() < ends:
            for _ in range(_STRIDE):
                upcoming = source.upcoming
                if upcoming is None or upcoming.t > limit:
                    self._rest(limit)
                    return
                event = source.step()
                if self._stops and self._breaks(event):
                    return

    def _rest(self, limit: float) -> None:
        """Nothing is due by now: time goes on, or the end was reached."""
        source = self.source
        source.now = int(max(source.now, min(limit, source.length)))
        if source.upcoming is None or limit == self._edge:
            self.hold()

    def _due(self) -> float:
        if self._anchor is None:
            self._anchor = time.perf_counter(), self.source.now
        wall, start = self._anchor
        return start + (time.perf_counter() - wall) * self.speed * 1e9

    def _breaks(self, event: Event) -> bool:
        hit = [stop for stop in self._stops if type(event) in stop.kinds and stop.hits(event)]
        for stop in hit:
            self.hold()
            self._hit(stop, event)
        return bool(hit)

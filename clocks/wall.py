"""Wall time: the same actors in scaled real time, under asyncio."""

import asyncio
import heapq
import time
from collections.abc import Callable, Coroutine, Generator
from itertools import count
from typing import Any

from clocks.clock import NANOSECONDS, Actor, Cancelled, Governor, due, nothing

STRIDE = 64


class WallSignal:
    """A thing that happens once; the waiting actor resumes through the queue, in order."""

    __slots__ = ("_clock", "_fires", "_resume", "_state")

    def __init__(self, clock: "WallClock", priority: int) -> None:
        self._clock = clock
        self._fires = priority
        self._resume: Callable[[], None] | None = None
        self._state = "waiting"

    def set(self) -> None:
        if self._state == "waiting":
            self._state = "due"
            self._clock.push(self._clock.now, self._fires, self.fire)

    def fire(self) -> None:
        """Happen: the actor that waits goes on."""
        self._state = "past"
        if self._resume is not None:
            self._resume()

    def schedule(self, instant: int) -> None:
        """Let it happen at an instant."""
        self._state = "due"
        self._clock.push(instant, self._fires, self.fire)

    def attach(self, resume: Callable[[], None] | None) -> bool:
        """Set what resumes the waiting actor; False when the signal has already happened."""
        self._resume = resume
        return self._state != "past"

    def __await__(self) -> Generator[Any, Any, None]:
        yield self


class WallTask:
    """An actor driven by hand: each await names the signal that resumes it."""

    __slots__ = ("_actor", "_awaited", "_clock", "_done", "_running")

    def __init__(self, clock: "WallClock", actor: Actor) -> None:
        self._clock = clock
        self._actor = actor
        self._running: Coroutine[Any, Any, None] | None = None
        """What the actor does; None until it first runs."""
        self._awaited: WallSignal | None = None
        self._done = False
        clock.push(clock.now, 0, self._resume)

    def cancel(self) -> None:
        if not self._done:
            self._clock.push(self._clock.now, 0, self._interrupt)

    def _interrupt(self) -> None:
        if self._done:
            return
        if self._awaited is not None:
            self._awaited.attach(None)
        if self._running is None:
            self._done = True
            return
        running = self._running
        self._advance(lambda: running.throw(Cancelled()))

    def _resume(self) -> None:
        if self._done:
            return
        running = self._running
        if running is None:
            running = self._running = self._actor()
        self._advance(lambda: running.send(None))

    def _advance(self, move: Callable[[], Any]) -> None:
        try:
            while True:
                awaited = move()
                if not isinstance(awaited, WallSignal):
                    raise TypeError(f"an actor may only await its clock's signals, got {awaited!r}")
                self._awaited = awaited
                if awaited.attach(self._resume):
                    return
        except (StopIteration, Cancelled):
            self._done = True
        except BaseException:
            self._done = True
            raise


class WallClock:
    """Its own queue of (ns, priority, sequence); asyncio only wakes it.

    `now` is the due time of the entry that is served, however late that is, so that a run has the
    same schedule as on simulated time.
    """

    def __init__(self, speed: float = 1.0) -> None:
        if not speed > 0:
            raise ValueError(f"speed must be > 0 simulated seconds per second, got {speed!r}")
        self.now = 0
        self.late = 0
        self._speed = speed
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []
        self._sequence = count()
        self._origin = 0.0

    def push(self, instant: int, priority: int, action: Callable[[], None]) -> None:
        """Queue an action."""
        heapq.heappush(
            self._queue, (due(self.now, instant), priority, next(self._sequence), action)
        )

    def sleep_until(self, instant: int, priority: int) -> WallSignal:
        signal = WallSignal(self, priority)
        signal.schedule(instant)
        return signal

    def at(self, instant: int, priority: int, action: Callable[[], None]) -> None:
        self.push(instant, priority, action)

    def signal(self, priority: int) -> WallSignal:
        return WallSignal(self, priority)

    def spawn(self, actor: Actor) -> WallTask:
        return WallTask(self, actor)

    @property
    def queue(self) -> int:
        return len(self._queue)

    def is_taken(self, instant: int, priority: int) -> bool:
        return any(e[0] == instant and e[1] <= priority for e in self._queue)

    @property
    def upcoming(self) -> tuple[int, int] | None:
        return self._queue[0][:2] if self._queue else None

    @property
    def idle(self) -> bool:
        return not self._queue

    async def run(
        self, until: int | None, governor: Governor, between: Callable[[], object] = nothing
    ) -> None:
        """Serve entries when they are due. A hold moves the origin: held time does not count."""
        self._origin = time.perf_counter()
        served = 0
        while not governor.ended:
            if served % STRIDE == 0:
                between()
                if not governor.poll(self.now):
                    break
            if not self._queue or (until is not None and self._queue[0][0] > until):
                break
            held = governor.allowance(self._queue[0][0])
            if held > 0:
                await self._wait(min(held, 0.05), held=held == float("inf"))
                served = 0
                continue
            early = self._due(self._queue[0][0]) - time.perf_counter()
            if early > 0:
                await asyncio.sleep(min(early, 0.05))
                served = 0
                continue
            self._serve()
            served += 1
            if served % STRIDE == 0:
                await asyncio.sleep(0)

    def _due(self, instant: int) -> float:
        return self._origin + instant / (self._speed * NANOSECONDS)

    async def _wait(self, seconds: float, *, held: bool) -> None:
        """Wait: time that is held does not count; time in which another run catches up does."""
        begun = time.perf_counter()
        await asyncio.sleep(seconds)
        if held:
            self._origin += time.perf_counter() - begun

    def _serve(self) -> None:
        instant, _, _, action = heapq.heappop(self._queue)
        self.now = instant
        self.late = max(0, round((time.perf_counter() - self._due(instant)) * NANOSECONDS))
        action()

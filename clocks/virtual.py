"""Simulated time: SimPy jumps from event to event."""

import asyncio
import time
from collections.abc import Callable, Generator
from typing import Any, Protocol

import simpy

from clocks.clock import Actor, Cancelled, Governor, due, nothing

SLICE_S = 0.005
STRIDE = 64
NEVER = 1 << 62
INFINITE = float("inf")


class ActorFailed(Exception):
    """Carries no arguments, because SimPy re-creates exceptions; the original is kept aside."""


class VirtualSignal(simpy.Event):
    """A SimPy event that any actor can await, with the priority of its kind."""

    __slots__ = ("_fires",)

    def __init__(self, env: simpy.Environment, priority: int) -> None:
        super().__init__(env)
        self._fires = priority

    def set(self) -> None:
        if not self.triggered:
            self._ok = True
            self._value = None
            self.env.schedule(self, priority=self._fires)  # type: ignore[arg-type] # any integer orders

    def __await__(self) -> Generator[Any, Any, None]:
        try:
            yield self
        except simpy.Interrupt:
            raise Cancelled from None


class VirtualTask:
    """An actor as a SimPy process."""

    __slots__ = ("_process",)

    def __init__(self, process: simpy.Process) -> None:
        self._process = process

    def cancel(self) -> None:
        process = self._process
        if not process.is_alive:
            return
        if process.env.active_process is not process:
            process.interrupt()
            return
        when_it_rests = VirtualSignal(process.env, 0)  # it stops itself: where it waits next
        assert when_it_rests.callbacks is not None, "a new event has its callbacks"  # noqa: S101
        when_it_rests.callbacks.append(lambda _: self.cancel())
        when_it_rests.set()


class Ahead(Protocol):
    """A second source of entries, beside those of the engine: each comes before the first entry of SimPy that is later."""

    @property
    def upcoming(self) -> tuple[int, int] | None:
        """The instant and the priority of its next entry; None without one."""
        ...

    @property
    def count(self) -> int:
        """How many entries it has."""
        ...

    def serve(self, until: int, priority: int, most: int) -> None:
        """Serve its next entries that come before an instant and a priority: one at least, `most` at most.

        It moves the clock to the last of them, and returns after some milliseconds.
        """
        ...


class VirtualClock:
    """The same actors, in jumps. Entries are SimPy's own: (time, priority, sequence)."""

    late = 0

    def __init__(self) -> None:
        self.ahead: Ahead | None = None
        """Serves entries of its own between those of SimPy; None where nothing does."""
        self._env = simpy.Environment()
        self._failure: BaseException | None = None
        self.now = 0

    def sleep_until(self, instant: int, priority: int) -> VirtualSignal:
        env, now = self._env, self.now
        if type(instant) is not int or instant < now:
            due(now, instant)  # raises
        signal = VirtualSignal(env, priority)
        signal._ok = True  # noqa: SLF001 # a triggered event, as SimPy's own Timeout makes itself
        signal._value = None  # noqa: SLF001
        env.schedule(signal, priority=priority, delay=instant - now)  # type: ignore[arg-type]
        return signal

    def at(self, instant: int, priority: int, action: Callable[[], None]) -> None:
        def act(_: simpy.Event) -> None:
            try:
                action()
            except BaseException as failure:
                self._failure = failure
                raise ActorFailed from None

        callbacks = self.sleep_until(instant, priority).callbacks
        assert callbacks is not None, "a new event has its callbacks"  # noqa: S101
        callbacks.append(act)

    def signal(self, priority: int) -> VirtualSignal:
        return VirtualSignal(self._env, priority)

    def spawn(self, actor: Actor) -> VirtualTask:
        return VirtualTask(self._env.process(self._drive(actor)))

    def _drive(self, actor: Actor) -> Generator[Any, Any, None]:
        try:
            yield from actor().__await__()
        except (Cancelled, simpy.Interrupt):
            return
        except GeneratorExit:  # thrown away unfinished, when the run is over
            raise
        except BaseException as failure:
            self._failure = failure
            raise ActorFailed from None

    def move_to(self, instant: int) -> None:
        """Let it be a later instant: `ahead` serves it."""
        self.now = self._env._now = instant  # noqa: SLF001 # SimPy moves by its own entries only

    @property
    def queue(self) -> int:
        ahead = 0 if self.ahead is None else self.ahead.count
        return len(self._env._queue) + ahead  # noqa: SLF001 # SimPy counts nothing

    def is_taken(self, instant: int, priority: int) -> bool:
        if self.ahead is not None:
            first = self.ahead.upcoming
            if first is not None and first[0] == instant and first[1] <= priority:
                return True
        return any(e[0] == instant and e[1] <= priority for e in self._env._queue)  # noqa: SLF001 # SimPy shows no entries

    @property
    def upcoming(self) -> tuple[int, int] | None:
        queue, ahead = self._env._queue, None if self.ahead is None else self.ahead.upcoming  # noqa: SLF001
        first = (int(queue[0][0]), queue[0][1]) if queue else None
        if first is None or ahead is None:
            return ahead if first is None else first
        return min(first, ahead)

    @property
    def idle(self) -> bool:
        if self.ahead is not None and self.ahead.upcoming is not None:
            return False
        return not self._env._queue  # noqa: SLF001 # peeking costs a call

    def _upcoming(self) -> float:
        """Return the instant of the next entry, infinite where there is none."""
        first = None if self.ahead is None else self.ahead.upcoming
        upcoming: float = self._env.peek()
        return upcoming if first is None else min(upcoming, first[0])

    async def run(
        self, until: int | None, governor: Governor, between: Callable[[], object] = nothing
    ) -> None:
        """Advance in slices of 5 ms of wall time; without a pause where no screen watches."""
        try:
            while _goes_on(governor, between, self.now):
                upcoming = self._upcoming()
                if upcoming == float("inf") or (until is not None and upcoming > until):
                    break
                wait = self._slice(until, governor, between)
                if wait > 0:
                    await asyncio.sleep(min(wait, 0.05))
                elif governor.watched:
                    await asyncio.sleep(0)
        except ActorFailed:
            assert self._failure is not None, "the driver keeps what it raises for"  # noqa: S101
            raise self._failure from None
        if (
            self._failure is not None
        ):  # it came with what ended the run: the engine had no turn to raise it
            raise self._failure

    def _first_ahead(self, limit: float) -> tuple[int, int] | None:
        """Return the instant and priority of the next entry where that is one of `ahead`; else None."""
        first, queue = None if self.ahead is None else self.ahead.upcoming, self._env._queue  # noqa: SLF001
        if first is None or first[0] > limit or (queue and queue[0][:2] <= first):
            return None
        return first

    def _pass(self, limit: float, most: int) -> None:
        """Let `ahead` serve what comes before the next entry of SimPy, at most so many."""
        assert self.ahead is not None, "it has an entry"  # noqa: S101
        queue = self._env._queue  # noqa: SLF001
        until, priority = (queue[0][0], queue[0][1]) if queue else (NEVER, 0)
        if until > limit:
            until, priority = int(limit), NEVER
        try:
            self.ahead.serve(int(until), int(priority), most)
        except BaseException as failure:
            self._failure = failure
            raise ActorFailed from None

    def _slice(self, until: int | None, governor: Governor, between: Callable[[], object]) -> float:
        """Serve entries for 5 ms; return how long the governor wants to wait before the next."""
        ends = time.perf_counter() + SLICE_S
        limit = float("inf") if until is None else until
        stride = self._stride if self.ahead is None else self._stride_with_ahead
        while True:
            wait = stride(limit, governor)
            if wait is not None:
                return wait
            if time.perf_counter() > ends or not _goes_on(governor, between, self.now):
                return 0.0

    def _stride(self, limit: float, governor: Governor) -> float | None:
        """Serve 64 entries; return how long to wait where it ended before that."""
        queue, step = self._env._queue, self._env.step  # noqa: SLF001 # peeking costs a call
        for _ in range(STRIDE):
            if not queue or queue[0][0] > limit:
                return 0.0
            if not governor.free:
                wait = governor.allowance(int(queue[0][0]))
                if wait > 0:
                    return wait
            self.now = queue[0][0]  # type: ignore[assignment] # integers throughout
            step()
            if governor.ended:
                return 0.0
        return None

    def _stride_with_ahead(self, limit: float, governor: Governor) -> float | None:
        """Do the same with the entries of `ahead` among them, which are served many at once where nothing paces the run."""
        queue = self._env._queue  # noqa: SLF001
        for _ in range(STRIDE):
            first = self._first_ahead(limit)
            upcoming = first[0] if first is not None else queue[0][0] if queue else INFINITE
            if upcoming > limit or upcoming == INFINITE:
                return 0.0
            free = governor.free
            if not free:
                wait = governor.allowance(int(upcoming))
                if wait > 0:
                    return wait
            if first is not None:
                self._pass(limit, NEVER if free else 1)
            else:
                self.now = queue[0][0]  # type: ignore[assignment] # integers throughout
                self._env.step()
            if governor.ended:
                return 0.0
            if first is not None and free:
                return None  # that may have taken long
        return None


def _goes_on(governor: Governor, between: Callable[[], object], now: int) -> bool:
    """Do what is done between slices; return whether the run may go on."""
    between()
    return governor.poll(now)

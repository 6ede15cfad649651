"""Simulated time: SimPy jumps from event to event."""

import asyncio
import time
from collections.abc import Callable, Generator
from typing import Any

import simpy

from clocks.clock import Actor, Cancelled, Governor, due, nothing

SLICE_S = 0.005
STRIDE = 64


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


class VirtualClock:
    """The same actors, in jumps. Entries are SimPy's own: (time, priority, sequence)."""

    late = 0

    def __init__(self) -> None:
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
            yield from actor.__await__()
        except (Cancelled, simpy.Interrupt):
            return
        except GeneratorExit:  # thrown away unfinished, when the run is over
            raise
        except BaseException as failure:
            self._failure = failure
            raise ActorFailed from None

    @property
    def queue(self) -> int:
        return len(self._env._queue)  # noqa: SLF001 # SimPy counts nothing

    def is_taken(self, instant: int, priority: int) -> bool:
        return any(e[0] == instant and e[1] <= priority for e in self._env._queue)  # noqa: SLF001 # SimPy shows no entries

    @property
    def idle(self) -> bool:
        return not self._env._queue  # noqa: SLF001 # peeking costs a call

    async def run(
        self, until: int | None, governor: Governor, between: Callable[[], object] = nothing
    ) -> None:
        """Advance in slices of 5 ms of wall time; without a pause where no screen watches."""
        try:
            while _goes_on(governor, between, self.now):
                upcoming = self._env.peek()
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

    def _slice(self, until: int | None, governor: Governor, between: Callable[[], object]) -> float:
        """Serve entries for 5 ms; return how long the governor wants to wait before the next."""
        queue, step = self._env._queue, self._env.step  # noqa: SLF001 # peeking costs a call
        ends = time.perf_counter() + SLICE_S
        limit = float("inf") if until is None else until
        while True:
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
            if time.perf_counter() > ends or not _goes_on(governor, between, self.now):
                return 0.0


def _goes_on(governor: Governor, between: Callable[[], object], now: int) -> bool:
    """Do what is done between slices; return whether the run may go on."""
    between()
    return governor.poll(now)

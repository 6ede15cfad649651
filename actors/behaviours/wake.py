"""The steps of a wake that every behaviour shares: wait for the clock, count the wake, compute, act."""

from collections.abc import Callable, Coroutine
from fractions import Fraction
from typing import Any, Protocol

from actors.agent import UP, Agent
from actors.events import Woke
from actors.log import Log
from actors.settings import Address
from clocks.clock import WAKE
from mechanisms.mixing import Heard

Life = Coroutine[Any, Any, None]
"""What an agent does while it is up."""


class WakeCount:
    """Counts the wakes of all agents; a run that is to have so many updates ends with the last of them."""

    __slots__ = ("_finish", "_most", "count")

    def __init__(self, most: int | None, finish: Callable[[str], None]) -> None:
        self.count = 0
        self._most = most
        self._finish = finish

    def admit(self) -> bool:
        """Count one more wake; False when the run has had them all."""
        if self._most is not None and self.count >= self._most:
            return False
        self.count += 1
        if self.count == self._most:
            self._finish("updates")
        return True


class Members(Protocol):
    """What a behaviour tells the membership of a run."""

    @property
    def wakes(self) -> WakeCount:
        """Counts the wakes of the run."""
        ...

    def retire(self, agent: Agent, cause: int) -> None:
        """Let an agent leave of its own accord."""
        ...

    def conclude(self, agent: Agent) -> None:
        """Count an agent out that only waits until its last message is read."""
        ...

    def end(self, reason: str) -> None:
        """End the run: its purpose is reached."""
        ...


class Wake:
    """The wakes of one agent, one after the other. A behaviour calls `next`, `open` and `act` in this order."""

    __slots__ = ("_count", "_instants", "_log", "agent")

    def __init__(self, agent: Agent, log: Log, count: WakeCount) -> None:
        self.agent = agent
        self._log = log
        self._count = count
        self._instants = None if agent.settings.has_barrier else agent.instants()

    async def next(self) -> bool:
        """Sleep until the agent's own clock wakes it, and settle its mailbox; False when its clock has no more wakes."""
        agent = self.agent
        clock, priority, local_clock = agent.clock, WAKE | agent.id, agent.fault_state.local_clock
        assert self._instants is not None, "a barrier has no instants"  # noqa: S101
        for instant in self._instants:
            if instant < (clock.now if local_clock is None else local_clock.now):
                continue  # missed while down, or while computing: skipped, never made up
            if instant <= agent.last_wake:
                continue
            if local_clock is None:
                await clock.sleep_until(instant, priority)
            else:
                await local_clock.wait(instant, priority)
                if local_clock.now - instant > max(Fraction(1), local_clock.rate):
                    continue  # the clock was set forward over it
            if agent.fault_state.paused:
                continue
            agent.last_wake = instant
            agent.inbox.settle(clock.now - 1)
            return True
        return False

    def open(self) -> int | None:
        """Count a wake and return the number of its event; None when the run has had them all."""
        if not self._count.admit():
            return None
        self.agent.updates += 1
        return self._log.emit(Woke, self.agent.id, None)

    async def act(self, woke: int, to: Address | None = None) -> bool:
        """Freeze the messages heard, compute for as long as it takes, and take one step; False when nothing was sent."""
        agent = self.agent
        state, heard = agent.state, agent.heard
        if agent.compute_time is not None:
            busy = agent.compute_time.draw(agent.fault_state.slowdown)
            if busy:
                heard = heard.frozen()
                await self._compute(busy)
        sent = agent.act(state, heard, woke, to)
        if agent.fault_state.twin_state is not None and agent.status == UP:
            _act_as_twin(agent, heard, woke)
        return sent

    async def _compute(self, busy: int) -> None:
        agent = self.agent
        agent.busy = True
        try:
            await agent.clock.sleep_until(agent.clock.now + busy, WAKE | agent.id)
            if agent.fault_state.paused:
                await agent.fault_state.wait_until_resumed(agent.clock, WAKE | agent.id)
        finally:
            agent.busy = False


async def run_life(life: Life, ended: Callable[[], None]) -> None:
    """Run what an agent does while it is up, and say when that has ended, or was cut off."""
    try:
        await life
    finally:
        ended()


def _act_as_twin(agent: Agent, heard: Heard, woke: int) -> None:
    """Let a second instance act from its own state; both are charged to the one ledger."""
    fault_state, mine = agent.fault_state, agent.state
    agent.state = fault_state.twin_state
    agent.act(agent.state, heard, woke)
    if agent.status == UP:
        fault_state.twin_state, agent.state = agent.state, mine

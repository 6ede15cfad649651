"""The steps of a wake that every behaviour shares: wait for the clock, count the wake, compute, act."""

from collections.abc import Callable, Coroutine, Sequence
from fractions import Fraction
from typing import Any, Protocol

from actors.agent import UP, Agent
from actors.events import Charged, Proposed, Woke
from actors.log import Log
from actors.settings import Address
from clocks.clock import WAKE, Signal
from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard

Life = Callable[[], Coroutine[Any, Any, bool | None]]
"""Returns what an agent does while it is up; that returns True where something else does it from then on."""
_ENDLESS = 1 << 62


class WakeCount:
    """Counts the wakes of all agents; a run that is to have so many updates ends with the last of them."""

    __slots__ = ("_act", "_every", "_finish", "_most", "count")

    def __init__(self, most: int | None, finish: Callable[[str], None]) -> None:
        self.count = 0
        self._most = most
        self._finish = finish
        self._every = 1
        self._act: Callable[[], None] | None = None

    def call_every(self, wakes: int, act: Callable[[], None]) -> None:
        """Call a function at every so many wakes, before the event of the wake."""
        self._every, self._act = wakes, act

    def admit_together(self, wakes: int) -> bool:
        """Count several wakes at once; False, and nothing is counted, where something happens at one of them."""
        if self._act is not None or (self._most is not None and self.count + wakes >= self._most):
            return False
        self.count += wakes
        return True

    @property
    def left(self) -> int:
        """How many wakes may be counted together by `add`: at the last of them something may happen; 0: there are no more."""
        left = _ENDLESS if self._most is None else max(0, self._most - self.count)
        return left if self._act is None else min(left, self._every - self.count % self._every)

    def add(self, wakes: int) -> None:
        """Count several wakes at once, as many as `left` says at most."""
        self.count += wakes
        if self.count == self._most:
            self._finish("updates")
        if self._act is not None and self.count % self._every == 0:
            self._act()

    def admit(self) -> bool:
        """Count one more wake; False when the run has had them all."""
        if self._most is not None and self.count >= self._most:
            return False
        self.count += 1
        if self.count == self._most:
            self._finish("updates")
        if self._act is not None and self.count % self._every == 0:
            self._act()
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

    def enliven(self, agent: Agent, lives: Sequence[Life]) -> None:
        """Let tasks do what an agent does while it is up, where something else did it before."""
        ...

    takes_over: Callable[[Agent], bool] | None
    """Lets something else do it from now on, where that is possible, and says whether; None: nothing does."""

    def end_life(self, node: int) -> None:
        """Note that an agent has no more wakes, or was cut off."""
        ...


class Sleeping(Protocol):
    """How an agent sleeps until its own clock wakes it."""

    def __call__(self, agent: Agent, instant: int) -> Signal:
        """Return what happens at an instant, or at a later one of the agent's clock."""
        ...


class Wake:
    """The wakes of one agent, one after the other. A behaviour calls `next`, `open` and `act` in this order."""

    __slots__ = ("_log", "_sleep", "agent", "count")

    def __init__(
        self, agent: Agent, log: Log, count: WakeCount, sleep: Sleeping | None = None
    ) -> None:
        """Take the wakes of an agent; `sleep` is how it waits for its true time, by itself where it is None."""
        self.agent = agent
        self._sleep = sleep
        self._log = log
        self.count = count

    async def next(self) -> bool:
        """Sleep until the agent's own clock wakes it, and settle its mailbox; False when its clock has no more wakes."""
        if not await self.sleep():
            return False
        self.settle()
        return True

    def settle(self) -> None:
        """Settle what arrived before this instant."""
        self.agent.inbox.settle(self.agent.clock.now - 1)

    def upcoming(self) -> int | None:
        """Return the next instant of the agent's own clock, as that clock shows time; None where there is none."""
        agent, local_clock = self.agent, self.agent.fault_state.local_clock
        now = agent.clock.now if local_clock is None else local_clock.now
        # those before were missed while down, or while computing: skipped, never made up
        return agent.instants.next_from(max(now, agent.last_wake + 1))

    def begins(self, instant: int) -> bool:
        """Whether the agent wakes at this instant of its clock, which has come; an agent that stands still does not."""
        agent = self.agent
        if agent.fault_state.paused:
            return False
        agent.last_wake = instant
        return True

    async def sleep(self) -> bool:
        """Sleep until the agent's own clock wakes it; False when its clock has no more wakes."""
        agent = self.agent
        clock, priority, local_clock = agent.clock, WAKE | agent.id, agent.fault_state.local_clock
        while (instant := self.upcoming()) is not None:
            if local_clock is not None:
                await local_clock.wait(instant, priority)
            elif self._sleep is None:
                await clock.sleep_until(instant, priority)
            else:
                await self._sleep(agent, instant)
            agent.instants.drop(instant)
            if local_clock is not None:
                if local_clock.now - instant > max(Fraction(1), local_clock.rate):
                    continue  # the clock was set forward over it
                if self.begins(instant):
                    return True
            elif self.begins(clock.now):
                return True
        return False

    def open(self) -> int | None:
        """Count a wake and return the number of its event; None when the run has had them all."""
        if not self.count.admit():
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
    """Run what an agent does while it is up, and say when that has ended, or was cut off; not where something else goes on."""
    goes_on = None
    try:
        goes_on = await life()
    finally:
        if not goes_on:
            ended()


def tell_charge(log: Log, node: int, woke: int, k: int, spend: Spend) -> None:
    """Tell of a charge at a wake whose release failed: it stays on record."""
    charged = log.spends.charged[log.spends.place(spend)]
    proposed = log.emit(Proposed, node, woke, k, charged)
    log.emit(Charged, node, proposed, k, charged, spend)


def _act_as_twin(agent: Agent, heard: Heard, woke: int) -> None:
    """Let a second instance act from its own state; both are charged to the one ledger."""
    fault_state, mine = agent.fault_state, agent.state
    agent.state = fault_state.twin_state
    agent.act(agent.state, heard, woke)
    if agent.status == UP:
        fault_state.twin_state, agent.state = agent.state, mine

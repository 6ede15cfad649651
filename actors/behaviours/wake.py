"""What every wake has in common, whoever the agent talks to."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from actors.agent import UP, Agent
from actors.events import Woke
from actors.log import Log
from actors.settings import Address
from clocks.clock import WAKE
from mechanisms.mixing import Heard

Life = Coroutine[Any, Any, None]


class Members(Protocol):
    """Who must know that an agent woke, or has had enough."""

    def admit(self) -> bool:
        """Count one more wake; false when the run has had them all."""
        ...

    def retire(self, agent: Agent, cause: int) -> None:
        """Let an agent leave of its own accord."""
        ...

    def conclude(self, agent: Agent) -> None:
        """Count an agent out that only waits to see its last message read."""
        ...

    def end(self, reason: str) -> None:
        """End the run: what it was for is done."""
        ...


def open_wake(agent: Agent, log: Log, members: Members) -> int | None:
    """Count a wake and tell it; None when the run has had them all."""
    if not members.admit():
        return None
    agent.updates += 1
    return log.emit(Woke, agent.id, None)


async def by_clock(agent: Agent, wake: Callable[[], Awaitable[bool]]) -> None:
    """Wake an agent at the instants of its own clock, for as long as it wants to."""
    clock, priority, dial = agent.clock, WAKE | agent.id, agent.plight.dial
    for instant in agent.instants():
        if instant < (clock.now if dial is None else dial.now) or instant <= agent.last_wake:
            continue  # missed while down, or while computing: skipped, never made up
        if dial is None:
            await clock.sleep_until(instant, priority)
        else:
            await dial.wait(instant, priority)
            if dial.now > instant + max(1, dial.rate):
                continue  # the clock was set forward over it
        if agent.plight.paused:
            continue
        agent.last_wake = instant
        agent.inbox.settle(clock.now - 1)
        if not await wake():
            return


async def act_at_wake(agent: Agent, woke: int, to: Address | None = None) -> bool:
    """Freeze what was heard, compute for as long as it takes, and do one step."""
    state, heard = agent.state, agent.heard
    busy = agent.labour.next(agent.plight.pace)
    if busy:
        heard = heard.frozen()
        agent.busy = True
        try:
            await agent.clock.sleep_until(agent.clock.now + busy, WAKE | agent.id)
            if agent.plight.paused:
                await agent.plight.thaw(agent.clock, WAKE | agent.id)
        finally:
            agent.busy = False
    sent = agent.act(state, heard, woke, to)
    if agent.plight.twin is not None and agent.status == UP:
        _act_as_twin(agent, heard, woke)
    return sent


def _act_as_twin(agent: Agent, heard: Heard, woke: int) -> None:
    """Let a second instance act on what it holds; both pay into the one ledger."""
    plight, mine = agent.plight, agent.state
    agent.state = plight.twin
    agent.act(agent.state, heard, woke)
    if agent.status == UP:
        plight.twin, agent.state = agent.state, mine

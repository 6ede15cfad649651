"""What every wake has in common, whoever the agent talks to."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from actors.agent import Agent
from actors.events import Log, Woke
from actors.habits import Address
from clocks.clock import WAKE

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
    clock, priority = agent.clock, WAKE | agent.id
    for instant in agent.instants():
        if instant < clock.now:
            continue  # missed while down, or while computing: skipped, never made up
        await clock.sleep_until(instant, priority)
        agent.inbox.settle(instant - 1)
        if not await wake():
            return


async def act_at_wake(agent: Agent, woke: int, to: Address | None = None) -> bool:
    """Freeze what was heard, compute for as long as it takes, and do one step."""
    state, heard = agent.state, agent.heard
    busy = agent.compute_ns()
    if busy:
        heard = heard.frozen()
        agent.busy = True
        try:
            await agent.clock.sleep_until(agent.clock.now + busy, WAKE | agent.id)
        finally:
            agent.busy = False
    return agent.act(state, heard, woke, to)

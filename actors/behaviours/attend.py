"""Answer the server: when the agent's own clock wakes it, or, at a barrier, when the question arrives."""

from functools import partial

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, act_at_wake, by_clock, open_wake
from actors.log import Log
from actors.settings import Address
from clocks.activation import Barrier
from clocks.clock import WAKE

LAST_WORD = 0
"""The round of a server's last message: nothing is asked any more."""
_SERVER = 0
"""The slot of a client's only neighbour."""


def attend(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One client, until it has read the last model."""
    if isinstance(agent.habits.activation, Barrier):
        return (_when_asked(agent, log, members),)
    return (by_clock(agent, partial(_wake, agent, log, members)),)


async def _when_asked(agent: Agent, log: Log, members: Members) -> None:
    await agent.clock.sleep_until(agent.clock.now, WAKE | agent.id)  # faults of this instant first
    while True:
        await agent.plight.thaw(agent.clock, WAKE | agent.id)
        agent.inbox.settle(agent.clock.now)
        if agent.inbox.unread and not await _wake(agent, log, members):
            return
        await agent.listen(None, WAKE | agent.id)


def has_answered(agent: Agent, round_: int) -> bool:
    """Whether the same bits are the answer: it was lost, or a crash took the memory of it."""
    store, planned = agent.store, agent.mechanism.planned
    if store.published is None:
        return False
    if store.published_round == round_:
        return True
    answers_once = planned is not None and getattr(agent.mechanism, "once", False)
    return answers_once and len(store.ledger) >= (planned or 0)


async def _wake(agent: Agent, log: Log, members: Members) -> bool:
    """Take over the server's model, and answer what it asks."""
    woke = open_wake(agent, log, members)
    if woke is None:
        return False
    message = agent.merge(woke).get(agent.neighbours[_SERVER])
    if message is None or message.vector is None:
        return True
    agent.state = agent.mechanism.hold(agent.state, message.vector)  # type: ignore[attr-defined]
    if not message.asks:
        return message.round != LAST_WORD
    agent.rounds = message.round
    if has_answered(agent, message.round):
        agent.resend(message.sender, woke, message.round)
    else:
        await act_at_wake(agent, woke, Address(_SERVER, message.round, asks=False))
        if agent.status != UP:
            return False
    if agent.wants_to_leave:
        members.retire(agent, woke)
        return False
    return True

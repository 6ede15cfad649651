"""Answer the server: when the agent's own clock wakes it, or, at a barrier, when the question arrives."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, Wake
from actors.log import Log
from actors.settings import Address
from clocks.clock import WAKE
from mechanisms.abilities import AnswersServer

if TYPE_CHECKING:
    from actors.behaviours.together import Together

LAST_ROUND = 0
"""The round of a server's last message: it asks nothing any more."""
_SERVER = 0
"""The slot of a client's only neighbour."""


def run_client(
    agent: Agent, log: Log, members: Members, together: Together | None = None
) -> tuple[Life, ...]:
    """One client, until it has read the last model; with `together` it acts with others at one instant, where it can.

    Raises TypeError where its mechanism answers no server.
    """
    sleep = None if together is None else together.join(agent, members)
    mechanism, wake = agent.mechanism, Wake(agent, log, members.wakes, sleep)
    if not isinstance(mechanism, AnswersServer):
        raise TypeError(f"agent {agent.id}: {type(mechanism).__name__} answers no server")
    if agent.settings.has_barrier:
        return (partial(_when_asked, wake, mechanism, members),)
    return (partial(_by_clock, wake, mechanism, members),)


async def _by_clock(wake: Wake, mechanism: AnswersServer, members: Members) -> None:
    while await wake.next():
        if not await _answer(wake, mechanism, members):
            return


async def _when_asked(wake: Wake, mechanism: AnswersServer, members: Members) -> None:
    agent = wake.agent
    await agent.clock.sleep_until(agent.clock.now, WAKE | agent.id)  # faults of this instant first
    while True:
        await agent.fault_state.wait_until_resumed(agent.clock, WAKE | agent.id)
        agent.inbox.settle(agent.clock.now)
        if agent.inbox.unread and not await _answer(wake, mechanism, members):
            return
        await agent.wait_for_message(None, WAKE | agent.id)


def has_answered(agent: Agent, round_: int) -> bool:
    """Whether the published vector is the answer: it was lost on its way, or a crash took the memory of it."""
    store, mechanism, planned = agent.store, agent.mechanism, agent.mechanism.planned
    if store.published is None:
        return False
    if store.published_round == round_:
        return True
    answers_once = isinstance(mechanism, AnswersServer) and mechanism.once
    return answers_once and planned is not None and len(store.ledger) >= planned


async def _answer(wake: Wake, mechanism: AnswersServer, members: Members) -> bool:
    """Take over the server's model, and answer its question; False after the last wake."""
    agent = wake.agent
    woke = wake.open()
    if woke is None:
        return False
    message = agent.merge(woke).get(agent.neighbours[_SERVER])
    if message is None or message.vector is None:
        return True
    agent.state = mechanism.hold(agent.state, message.vector)
    if not message.asks:
        return message.round != LAST_ROUND
    agent.rounds = message.round
    if has_answered(agent, message.round):
        agent.resend(message.sender, woke, message.round)
    else:
        await wake.act(woke, Address(_SERVER, message.round, asks=False))
        if agent.status != UP:
            return False
    if agent.wants_to_leave:
        members.retire(agent, woke)
        return False
    return True

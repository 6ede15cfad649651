"""Wake, choose one neighbour, exchange vectors with it: the behaviour of pairwise kinds.

The neighbour answers at once, and both ends settle their edge. Where two requests cross, the one of the lower id
counts. An exchange whose answer is lost is settled at one end only; the next one between the two heals it.
"""

from functools import partial

import numpy as np

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, Wake
from actors.log import Log
from actors.messages import Message
from actors.settings import Address
from clocks.clock import WAKE
from mechanisms.abilities import Trades
from mechanisms.vectors import Vector


class _Request:
    """The last request of an agent that has no answer yet; `slot` is −1 when there is none."""

    __slots__ = ("slot", "vector", "version")

    def __init__(self) -> None:
        self.slot, self.version = -1, -1
        self.vector: Vector | None = None

    def close(self) -> None:
        self.slot = -1


def exchange(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One agent, for as long as its clock has wakes; it answers in between.

    Raises TypeError where its mechanism exchanges nothing with single neighbours.
    """
    mechanism, request = agent.mechanism, _Request()
    if not isinstance(mechanism, Trades):
        raise TypeError(f"agent {agent.id}: {type(mechanism).__name__} does not exchange in pairs")
    wake = Wake(agent, log, members.wakes)
    return partial(_by_clock, wake, request), partial(_answer, agent, mechanism, request)


async def _by_clock(wake: Wake, request: _Request) -> None:
    while await wake.next():
        if not await _ask(wake, request):
            return


async def _ask(wake: Wake, request: _Request) -> bool:
    """Ask one of the neighbours that are present; False after the last wake."""
    agent = wake.agent
    woke = wake.open()
    if woke is None:
        return False
    agent.rounds += 1
    present = np.flatnonzero(agent.heard.present)
    if len(present):
        luck = int(agent.choices(agent.rounds, 1)[0] >> np.uint64(32))
        slot = agent.heard.partner = int(present[luck * len(present) >> 32])
        asked = await wake.act(woke, Address(slot, 0, asks=True))
        if agent.status != UP:
            return False
        if asked:
            request.slot, request.version = slot, agent.store.published_version
            request.vector = agent.store.published
    return True


async def _answer(agent: Agent, mechanism: Trades, request: _Request) -> None:
    while True:
        await agent.wait_for_message(None, WAKE | agent.id)
        agent.inbox.settle(agent.clock.now)
        for _, message in sorted(agent.merge(None).items()):
            if message.asks:
                _reply(agent, mechanism, request, message)
            elif request.slot == agent.slots[message.sender] and request.version == message.round:
                _agree(agent, mechanism, request.slot, request.vector, message.vector)
                request.close()


def _reply(agent: Agent, mechanism: Trades, request: _Request, message: Message) -> None:
    slot = agent.slots[message.sender]
    if request.slot == slot:
        if agent.id < message.sender:
            return  # requests crossed, and ours counts
        request.close()
    agent.heard.partner = slot
    to = Address(slot, message.version, asks=False)
    if agent.act(agent.state, agent.heard, message.sent, to) and agent.status == UP:
        _agree(agent, mechanism, slot, agent.store.published, message.vector)


def _agree(
    agent: Agent, mechanism: Trades, slot: int, mine: Vector | None, theirs: Vector | None
) -> None:
    assert mine is not None, "an exchange has two vectors"  # noqa: S101
    assert theirs is not None, "an exchange has two vectors"  # noqa: S101
    agent.state = mechanism.agree(agent.state, slot, mine, theirs)

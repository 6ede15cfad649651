"""Wake, pick one neighbour, trade: the behaviour of pairwise kinds.

Who is asked answers at once, and both agree on what they exchanged. Where two requests cross, the one of the
lower id counts. A trade whose answer is lost is agreed on at one end only; the next one between the two heals it.
"""

from functools import partial

import numpy as np

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, act_at_wake, by_clock, open_wake
from actors.log import Log
from actors.messages import Message
from actors.settings import Address
from clocks.clock import WAKE
from mechanisms.vectors import Vector


class _Talk:
    """What an agent asked last and has no answer to."""

    __slots__ = ("said", "slot", "version")

    def __init__(self) -> None:
        self.slot, self.version = -1, -1
        self.said: Vector | None = None

    def over(self) -> None:
        self.slot = -1


def exchange(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One agent, for as long as its clock has wakes; it answers in between."""
    talk = _Talk()
    return (by_clock(agent, partial(_ask, agent, talk, log, members)), _answer(agent, talk))


async def _ask(agent: Agent, talk: _Talk, log: Log, members: Members) -> bool:
    """Wake, and ask one of those who are present."""
    woke = open_wake(agent, log, members)
    if woke is None:
        return False
    agent.rounds += 1
    present = np.flatnonzero(agent.heard.present)
    if len(present):
        luck = int(agent.choices(agent.rounds, 1)[0] >> np.uint64(32))
        slot = agent.heard.partner = int(present[luck * len(present) >> 32])
        asked = await act_at_wake(agent, woke, Address(slot, 0, asks=True))
        if agent.status != UP:
            return False
        if asked:
            talk.slot, talk.version = slot, agent.store.published_version
            talk.said = agent.store.published
    return True


async def _answer(agent: Agent, talk: _Talk) -> None:
    while True:
        await agent.listen(None, WAKE | agent.id)
        agent.inbox.settle(agent.clock.now)
        for _, message in sorted(agent.merge(None).items()):
            if message.asks:
                _reply(agent, talk, message)
            elif talk.slot == agent.slots[message.sender] and talk.version == message.round:
                _agree(agent, talk.slot, talk.said, message.vector)
                talk.over()


def _reply(agent: Agent, talk: _Talk, message: Message) -> None:
    slot = agent.slots[message.sender]
    if talk.slot == slot:
        if agent.id < message.sender:
            return  # requests crossed, and ours counts
        talk.over()
    agent.heard.partner = slot
    to = Address(slot, message.version, asks=False)
    if agent.act(agent.state, agent.heard, message.sent, to) and agent.status == UP:
        _agree(agent, slot, agent.store.published, message.vector)


def _agree(agent: Agent, slot: int, mine: Vector | None, theirs: Vector | None) -> None:
    agent.state = agent.mechanism.agree(agent.state, slot, mine, theirs)  # type: ignore[attr-defined]

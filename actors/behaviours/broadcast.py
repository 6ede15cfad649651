"""Wake, hear, learn, tell every neighbour: the behaviour of all kinds without a server or a pairing."""

from functools import partial

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, act_at_wake, by_clock, open_wake
from actors.log import Log
from clocks.activation import Barrier
from clocks.clock import NANOSECONDS, WAKE


def broadcast(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One agent, for as long as its clock has wakes."""
    if isinstance(agent.habits.activation, Barrier):
        return (_in_rounds(agent, agent.habits.activation, log, members),)
    return (by_clock(agent, partial(_wake, agent, log, members)),)


async def _in_rounds(agent: Agent, barrier: Barrier, log: Log, members: Members) -> None:
    """Wake when the messages of this round are in; the first wake is at once."""
    clock, priority = agent.clock, WAKE | agent.id
    most = agent.habits.rounds
    agent.inbox.through(agent.rounds)
    while most is None or agent.rounds < most:  # who comes back may have had them all
        await clock.sleep_until(clock.now, priority)
        if agent.plight.paused:
            await agent.plight.thaw(clock, priority)
        woke = clock.now
        if not await _wake(agent, log, members) or agent.rounds == most:
            return
        agent.inbox.through(agent.rounds)
        await _all_in(agent, barrier, woke)
        if agent.inbox.newest_round > agent.rounds + 1:
            agent.rounds = agent.inbox.newest_round - 1  # missed while away: skipped, never made up
            agent.inbox.through(agent.rounds)


async def _all_in(agent: Agent, barrier: Barrier, since: int) -> None:
    """Wait until the barrier is ready; a neighbour that leaves lowers what is expected."""
    clock, inbox = agent.clock, agent.inbox
    deadline = None
    if barrier.timeout_s is not None:
        deadline = max(clock.now, since + round(barrier.timeout_s * NANOSECONDS))
    while True:
        inbox.settle(clock.now)
        agent.suspect()
        here = [j for j, up in zip(agent.neighbours, agent.heard.present, strict=True) if up]
        heard = sum(1 for j in here if inbox.has_round(j, agent.rounds))
        if barrier.ready(heard, len(here), clock.now - since):
            return
        if agent.detector is not None and not here and clock.now >= since + agent.detector.silence:
            return  # everybody is silent: it goes on alone
        await agent.listen(_sooner(deadline, agent, here, since), WAKE | agent.id)


def _sooner(deadline: int | None, agent: Agent, here: list[int], since: int) -> int | None:
    """Return when to look again at the latest: at the deadline, or when somebody has been silent for too long."""
    if agent.detector is None:
        return deadline
    silent = [agent.detector.expires(j) for j in here] or [since + agent.detector.silence]
    expires = max(agent.clock.now, min(silent))
    return expires if deadline is None else min(deadline, expires)


async def _wake(agent: Agent, log: Log, members: Members) -> bool:
    """Do one wake: inputs are frozen now, the release is made after the computing time."""
    woke = open_wake(agent, log, members)
    if woke is None:
        return False
    agent.rounds += 1
    agent.merge(woke)
    if agent.detector is not None:
        agent.suspect()
    sent = await act_at_wake(agent, woke)
    if agent.status != UP:
        return False
    if not sent and (agent.detector is not None or isinstance(agent.habits.activation, Barrier)):
        agent.announce(woke)
    if agent.wants_to_leave:
        members.retire(agent, woke)
        return False
    return True

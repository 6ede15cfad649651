"""Wake, read messages, learn, send to every neighbour: the behaviour of all kinds without a server or a pairing.

Each wake goes in one go where it fits a row (`behaviours.plain`), else step by step.
"""

from functools import partial

from actors.agent import UP, Agent
from actors.behaviours.plain import BY_STEPS, OVER, PlainWake
from actors.behaviours.wake import Life, Members, Wake
from actors.log import Log
from clocks.activation import Barrier
from clocks.clock import NANOSECONDS, WAKE


def broadcast(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One agent, for as long as its clock has wakes."""
    activation = agent.settings.activation
    agent.inbox.may_wait = isinstance(activation, Barrier)
    plain = PlainWake(Wake(agent, log, members.wakes), log)
    if isinstance(activation, Barrier):
        return (partial(_in_rounds, plain, activation, members),)
    return (partial(_by_clock, plain, members),)


async def _by_clock(plain: PlainWake, members: Members) -> bool:
    """Wake at the instants of the agent's own clock, for as long as it has any; True where something else goes on with that."""
    wake = plain.wake
    while await wake.sleep():
        woke = plain.take() if plain.fits else BY_STEPS
        if woke == BY_STEPS:
            wake.settle()
            woke = await _step_by_step(plain)
        if not _goes_on(plain, members, woke):
            return False
        takes_over = members.takes_over
        if takes_over is not None and takes_over(plain.agent):
            return True
    return False


def _goes_on(plain: PlainWake, members: Members, woke: int) -> bool:
    """End a wake; False where it was the last one."""
    agent = plain.agent
    if woke == OVER or agent.status != UP:
        return False
    if not plain.sent and (agent.detector is not None or agent.settings.has_barrier):
        agent.send_control(woke)
    if agent.wants_to_leave:
        members.retire(agent, woke)
        return False
    return True


async def _step_by_step(plain: PlainWake) -> int:
    """Do the same as `PlainWake.take`: inputs are frozen now, the release is made after the computing time."""
    agent, wake = plain.agent, plain.wake
    woke = wake.open()
    if woke is None:
        return OVER
    agent.rounds += 1
    agent.merge(woke)
    if agent.detector is not None:
        agent.update_suspects()
    plain.sent = await wake.act(woke)
    return woke


async def _in_rounds(plain: PlainWake, barrier: Barrier, members: Members) -> None:
    """Wake when the messages of this round are in; the first wake is at once."""
    agent = plain.agent
    clock, priority = agent.clock, WAKE | agent.id
    most = agent.settings.rounds
    agent.inbox.accept_through(agent.rounds)
    while most is None or agent.rounds < most:  # an agent that comes back may have had them all
        await clock.sleep_until(clock.now, priority)
        if agent.fault_state.paused:
            await agent.fault_state.wait_until_resumed(clock, priority)
        woke = clock.now
        number = plain.take(settles=False) if plain.fits else await _step_by_step(plain)
        if not _goes_on(plain, members, number) or agent.rounds == most:
            return
        agent.inbox.accept_through(agent.rounds)
        await _all_in(agent, barrier, woke)
        if agent.inbox.newest_round > agent.rounds + 1:
            agent.rounds = agent.inbox.newest_round - 1  # missed while away: skipped, never made up
            agent.inbox.accept_through(agent.rounds)


async def _all_in(agent: Agent, barrier: Barrier, since: int) -> None:
    """Wait until the barrier is ready; a neighbour that leaves lowers what is expected."""
    clock, inbox = agent.clock, agent.inbox
    deadline = None
    if barrier.timeout_s is not None:
        deadline = max(clock.now, since + round(barrier.timeout_s * NANOSECONDS))
    while True:
        inbox.settle(clock.now)
        agent.update_suspects()
        here = [j for j, up in zip(agent.neighbours, agent.heard.present, strict=True) if up]
        heard = sum(1 for j in here if inbox.has_round(j, agent.rounds))
        if barrier.ready(heard, len(here), clock.now - since):
            return
        if agent.detector is not None and not here and clock.now >= since + agent.detector.silence:
            return  # every neighbour is silent: it goes on alone
        await agent.wait_for_message(_sooner(deadline, agent, here, since), WAKE | agent.id)


def _sooner(deadline: int | None, agent: Agent, here: list[int], since: int) -> int | None:
    """Return when to look again at the latest: at the deadline, or when a neighbour has been silent for too long."""
    if agent.detector is None:
        return deadline
    silent = [agent.detector.expires(j) for j in here] or [since + agent.detector.silence]
    expires = max(agent.clock.now, min(silent))
    return expires if deadline is None else min(deadline, expires)

"""Wake, read messages, learn, send to every neighbour: the behaviour of all kinds without a server or a pairing.

Each wake goes in one go where it fits a row (`behaviours.plain`), else step by step.
"""

from functools import partial

from actors.agent import UP, Agent
from actors.behaviours.plain import BY_STEPS, OVER, PlainWake
from actors.behaviours.ticks import Ticks
from actors.behaviours.wake import Life, Members, Wake
from actors.log import Log
from clocks.activation import Barrier
from clocks.clock import NANOSECONDS, WAKE, Clock


class PlainTicks:
    """The ticks of a world: agents with a synchronous clock that wake in one go do so one after the other, without a task each."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._members: Members | None = None
        self._plain: dict[int, PlainWake] = {}
        self._ticks = Ticks(clock, self)

    def join(self, agent: Agent, members: Members) -> PlainWake:
        """Return the wakes of an agent, which begins (anew)."""
        wake = Wake(agent, self._log, members.wakes, self._ticks.sleep_of(agent))
        plain = self._plain[agent.id] = PlainWake(wake, self._log, members.admissions)
        self._members = members
        return plain

    @property
    def is_off(self) -> bool:
        """Whether every agent acts by itself now."""
        return self._log.needs_events

    def act(self, agents: list[Agent], until: int) -> int:
        """Let the first of these agents wake, until one of them cannot in one go, or something else comes before it."""
        members, now = self._members, until + 1
        assert members is not None, "agents have begun"  # noqa: S101
        for acted, agent in enumerate(agents):
            plain, upcoming = self._plain[agent.id], self._clock.upcoming
            if acted and upcoming is not None and upcoming < (now, WAKE | agent.id):
                return acted  # a sample, say, that an earlier wake of this instant asked for
            if agent.fault_state.paused or not plain.fits:
                return acted
            woke = plain.take()
            if woke == BY_STEPS:
                return acted
            agent.last_wake = now
            if not _goes_on(plain, members, woke) or plain.wake.upcoming() is None:
                plain.wake.is_over = True
        return len(agents)

    def goes_on(self, agent: Agent) -> bool:
        """Whether an agent sleeps until the next tick."""
        return agent.status == UP and not self._plain[agent.id].wake.is_over

    def act_alone(self) -> None:
        """Note nothing: what an agent does by itself changes nothing here."""


def broadcast(
    agent: Agent, log: Log, members: Members, ticks: PlainTicks | None = None
) -> tuple[Life, ...]:
    """One agent, for as long as its clock has wakes; with `ticks`, those of a synchronous clock are taken together."""
    activation = agent.settings.activation
    agent.inbox.may_wait = isinstance(activation, Barrier)
    if isinstance(activation, Barrier):
        plain = PlainWake(Wake(agent, log, members.wakes), log, members.admissions)
        return (partial(_in_rounds, plain, activation, members),)
    if ticks is not None:
        return (partial(_by_clock, ticks.join(agent, members), members),)
    plain = PlainWake(Wake(agent, log, members.wakes), log, members.admissions)
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

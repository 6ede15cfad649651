"""Ask, wait, add up: the behaviour of the server, round by round."""

from actors.agent import Agent
from actors.behaviours.attend import LAST_WORD
from actors.behaviours.wake import Life, Members
from actors.events import Merged, RoundAborted, RoundClosed, RoundOpened
from actors.log import Log
from clocks.clock import WAKE, Cancelled
from mechanisms.federated import Coordinator
from mechanisms.vectors import Vector


def serve(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One server, for as many rounds as it has."""
    return (_preside(agent, log, members),)


async def _preside(agent: Agent, log: Log, members: Members) -> None:
    """Hold the rounds; one that a crash cuts off is aborted."""
    opened = [0]
    try:
        await _hold_rounds(agent, log, members, opened)
    except Cancelled:
        if opened[0]:
            agent.aborted += 1
            log.emit(RoundAborted, agent.id, opened[0], agent.rounds, [], "the server went down")
        raise


async def _hold_rounds(agent: Agent, log: Log, members: Members, under_way: list[int]) -> None:
    hall, mechanism = agent.habits.hall, agent.mechanism
    assert hall is not None, "the plan gives a server its hall"  # noqa: S101
    assert isinstance(mechanism, Coordinator), "and its mechanism"  # noqa: S101
    answers: dict[int, Vector] = {}
    await agent.clock.sleep_until(agent.clock.now, WAKE | agent.id)  # faults of this instant first
    while agent.habits.rounds is None or agent.rounds < agent.habits.rounds:
        await agent.plight.thaw(agent.clock, WAKE | agent.id)
        agent.rounds += 1
        begun = agent.clock.now
        asked = _chosen(agent, hall.sample, once=mechanism.once)
        opened = under_way[0] = log.emit(RoundOpened, agent.id, None, agent.rounds, asked)
        agent.tell([j for j in asked if j not in answers], agent.rounds, opened, asks=True)
        deadline = begun + hall.deadline_ns
        await _gather(agent, log, asked, answers, deadline, opened, once=mechanism.once)
        survivors = sorted(j for j in answers if j in asked)
        under_way[0] = 0
        reason = hall.short(len(survivors), len(asked)) or mechanism.refuses(survivors)
        if reason is None:
            heard = [answers[j] for j in survivors]
            noise = agent.noise(agent.rounds)
            agent.state = mechanism.combine(agent.state, survivors, heard, noise)
            agent.survivors = len(survivors)
            log.emit(RoundClosed, agent.id, opened, agent.rounds, survivors)
            if mechanism.once:
                break
        else:
            agent.aborted += 1
            log.emit(RoundAborted, agent.id, opened, agent.rounds, survivors, reason)
            await agent.clock.sleep_until(max(agent.clock.now, deadline), WAKE | agent.id)
        if not mechanism.once:
            answers.clear()
    agent.tell(agent.neighbours_present, LAST_WORD, log.seq, asks=False)
    members.conclude(agent)
    await agent.clock.sleep_until(agent.clock.now + hall.deadline_ns, WAKE | agent.id)
    members.end("rounds")


def _chosen(agent: Agent, sample: float, *, once: bool) -> list[int]:
    """Choose whom to ask: a public draw over those who are present."""
    present = agent.neighbours_present
    if sample >= 1 or not present:
        return present
    count = max(1, round(sample * len(present)))
    first = 0 if once else agent.rounds * len(agent.neighbours)
    luck = agent.choices(first, len(agent.neighbours)).tolist()
    ranked = sorted(present, key=lambda j: luck[agent.slots[j]])
    return sorted(ranked[:count])


async def _gather(
    agent: Agent,
    log: Log,
    asked: list[int],
    answers: dict[int, Vector],
    deadline: int,
    cause: int,
    *,
    once: bool,
) -> None:
    """Wait until everybody who was asked and is still present has answered, or for the deadline."""
    clock, inbox = agent.clock, agent.inbox
    while True:
        inbox.settle(clock.now)
        taken = inbox.take()
        fitting = {j: m for j, m in taken.items() if once or m.round == agent.rounds}
        for j, message in fitting.items():
            if message.vector is not None:
                answers[j] = message.vector
        if fitting:
            versions = [message.version for message in fitting.values()]
            log.emit(Merged, agent.id, cause, list(fitting), versions)
        here = set(agent.neighbours_present)
        waiting = [j for j in asked if j in here and j not in answers]
        if (asked and not waiting) or clock.now >= deadline:
            return
        await agent.listen(deadline, WAKE | agent.id)

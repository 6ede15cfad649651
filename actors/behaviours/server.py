"""Ask clients, wait for answers, combine them: the behaviour of the server, round by round."""

from actors.agent import Agent
from actors.behaviours.client import LAST_ROUND
from actors.behaviours.wake import Life, Members
from actors.events import Merged, RoundAborted, RoundClosed, RoundOpened
from actors.log import Log
from clocks.clock import WAKE, Cancelled
from mechanisms.federated import Coordinator
from mechanisms.vectors import Vector


def run_server(agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
    """One server, for as many rounds as it has."""
    return (_run(agent, log, members),)


async def _run(agent: Agent, log: Log, members: Members) -> None:
    """Hold the rounds; a round that a crash cuts off is aborted."""
    opened = [0]
    try:
        await _hold_rounds(agent, log, members, opened)
    except Cancelled:
        if opened[0]:
            agent.aborted += 1
            log.emit(RoundAborted, agent.id, opened[0], agent.rounds, [], "the server went down")
        raise


async def _hold_rounds(agent: Agent, log: Log, members: Members, under_way: list[int]) -> None:
    round_rules, mechanism = agent.settings.round_rules, agent.mechanism
    assert round_rules is not None, "the plan gives a server its rules"  # noqa: S101
    assert isinstance(mechanism, Coordinator), "and its mechanism"  # noqa: S101
    answers: dict[int, Vector] = {}
    await agent.clock.sleep_until(agent.clock.now, WAKE | agent.id)  # faults of this instant first
    while agent.settings.rounds is None or agent.rounds < agent.settings.rounds:
        await agent.fault_state.wait_until_resumed(agent.clock, WAKE | agent.id)
        agent.rounds += 1
        begun = agent.clock.now
        asked = _chosen(agent, round_rules.sample, once=mechanism.once)
        opened = under_way[0] = log.emit(RoundOpened, agent.id, None, agent.rounds, asked)
        agent.send_model([j for j in asked if j not in answers], agent.rounds, opened, asks=True)
        deadline = begun + round_rules.deadline_ns
        await _gather(agent, log, asked, answers, deadline, opened, once=mechanism.once)
        survivors = sorted(j for j in answers if j in asked)
        under_way[0] = 0
        reason = round_rules.shortfall(len(survivors), len(asked)) or mechanism.refuses(survivors)
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
    agent.send_model(agent.neighbours_present, LAST_ROUND, log.seq, asks=False)
    members.conclude(agent)
    await agent.clock.sleep_until(agent.clock.now + round_rules.deadline_ns, WAKE | agent.id)
    members.end("rounds")


def _chosen(agent: Agent, sample: float, *, once: bool) -> list[int]:
    """Choose the clients to ask: a public draw over those that are present."""
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
    """Wait until every client that was asked and is still present has answered, or for the deadline."""
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
        await agent.wait_for_message(deadline, WAKE | agent.id)

"""Ask clients, wait for answers, combine them: the behaviour of the server, round by round."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from actors.agent import UP, Agent
from actors.behaviours.client import LAST_ROUND
from actors.behaviours.wake import Life, Members
from actors.events import Merged, RoundAborted, RoundClosed, RoundOpened
from actors.log import Log
from actors.release import draw_for_round
from clocks.clock import DELIVERY, WAKE, Cancelled
from mechanisms.federated import Coordinator
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.behaviours.together import Together


def run_server(
    agent: Agent, log: Log, members: Members, together: Together | None = None
) -> tuple[Life, ...]:
    """One server, for as many rounds as it has; with `together`, clients answer it in one go wherever they can."""
    rounds = Rounds(agent, log, members, together)
    if together is not None:
        together.serve(rounds)
    return (rounds.run,)


class Rounds:
    """The rounds of one server, one after the other, as long as it is up.

    What a round has come to is kept here and not in a coroutine, so that clients that answer together can close one round
    and open the next one while the server waits.
    """

    def __init__(self, agent: Agent, log: Log, members: Members, together: Together | None) -> None:
        rules, mechanism = agent.settings.round_rules, agent.mechanism
        assert rules is not None, "the plan gives a server its rules"  # noqa: S101
        assert isinstance(mechanism, Coordinator), "and its mechanism"  # noqa: S101
        self.agent = agent
        self._log = log
        self._members = members
        self._together = together
        self._rules, self._mechanism = rules, mechanism
        self._asked: list[int] = []
        self._answers: dict[int, Vector] = {}
        self.opened = 0
        """The number of the event that opened the round."""
        self._under_way = False
        self._deadline = 0
        self._waits = 0
        """How often it began to wait: an alarm belongs to one of them."""

    async def run(self) -> None:
        """Hold the rounds; a round that a crash cuts off is aborted."""
        agent = self.agent
        try:
            await self._hold()
        except Cancelled:
            if self._under_way:
                agent.aborted += 1
                reason = "the server went down"
                self._log.emit(RoundAborted, agent.id, self.opened, agent.rounds, [], reason)
            raise

    async def _hold(self) -> None:
        agent, mechanism, clock = self.agent, self._mechanism, self.agent.clock
        await clock.sleep_until(clock.now, WAKE | agent.id)  # faults of this instant first
        while agent.settings.rounds is None or agent.rounds < agent.settings.rounds:
            await agent.fault_state.wait_until_resumed(clock, WAKE | agent.id)
            self._open()
            await self._gather()
            survivors = sorted(j for j in self._answers if j in self._asked)
            reason = self._refused(survivors)
            if reason is None:
                self._close(survivors, [self._answers[j] for j in survivors])
                if mechanism.once:
                    break
            else:
                self._under_way = False
                agent.aborted += 1
                self._log.emit(RoundAborted, agent.id, self.opened, agent.rounds, survivors, reason)
                deadline = max(clock.now, self._deadline)
                await clock.sleep_until(deadline, WAKE | agent.id)
            if not mechanism.once:
                self._answers.clear()
        agent.send_model(agent.neighbours_present, LAST_ROUND, self._log.seq, asks=False)
        self._members.conclude(agent)
        await clock.sleep_until(clock.now + self._rules.deadline_ns, WAKE | agent.id)
        self._members.end("rounds")

    def _open(self) -> None:
        """Open the next round: choose clients, and ask those that have not answered."""
        agent = self.agent
        agent.rounds += 1
        self._asked = _chosen(agent, self._rules.sample, once=self._mechanism.once)
        self.opened = self._log.emit(RoundOpened, agent.id, None, agent.rounds, self._asked)
        self._under_way = True
        self._deadline = agent.clock.now + self._rules.deadline_ns
        receivers = [j for j in self._asked if j not in self._answers]
        if self._together is None or not self._together.ask(receivers):
            agent.send_model(receivers, agent.rounds, self.opened, asks=True)

    async def _gather(self) -> None:
        """Wait until every client that was asked and is still present has answered, or for the deadline.

        Clients that answer together may have opened a later round when this returns.
        """
        agent, clock, inbox, answers = self.agent, self.agent.clock, self.agent.inbox, self._answers
        while True:
            inbox.settle(clock.now)
            taken = inbox.take()
            once = self._mechanism.once
            fitting = {j: m for j, m in taken.items() if once or m.round == agent.rounds}
            for j, message in fitting.items():
                if message.vector is not None:
                    answers[j] = message.vector
            if fitting:
                versions = [message.version for message in fitting.values()]
                self._log.emit(Merged, agent.id, self.opened, list(fitting), versions)
            waiting = self._awaited()
            if (self._asked and not waiting) or clock.now >= self._deadline:
                return
            self._set_alarm()
            await agent.wait_for_message(None, WAKE | agent.id)

    def _set_alarm(self) -> None:
        """Wake the server at the deadline of this round, where it waits as it does from now on."""
        self._waits += 1
        self.agent.clock.at(self._deadline, DELIVERY, partial(self._ring, self._waits))

    def _ring(self, waits: int) -> None:
        if waits == self._waits:
            self.agent.inbox.recheck()

    def _awaited(self) -> list[int]:
        """Return the clients that were asked, are present and have not answered."""
        agent, answers = self.agent, self._answers
        if agent.heard.degree == len(agent.neighbours):
            return [j for j in self._asked if j not in answers] if answers else self._asked
        here = set(agent.neighbours_present)
        return [j for j in self._asked if j in here and j not in answers]

    def _refused(self, survivors: list[int]) -> str | None:
        """Return why a round with these survivors may not be closed; None where it may."""
        short = self._rules.shortfall(len(survivors), len(self._asked))
        return short or self._mechanism.refuses(survivors)

    def _close(self, survivors: list[int], answers: list[Vector] | Matrix) -> None:
        """Combine the answers of survivors, and close the round."""
        agent = self.agent
        noise = draw_for_round(agent)
        agent.state = self._mechanism.combine(agent.state, survivors, answers, noise)
        agent.survivors = len(survivors)
        self._under_way = False
        self._log.emit(RoundClosed, agent.id, self.opened, agent.rounds, survivors)

    # clients that answer together

    def may_go_on(self, answering: list[int]) -> bool:
        """Whether these answers, all of this instant, close the round and another one is opened right after it."""
        agent, rounds = self.agent, self.agent.settings.rounds
        if self._mechanism.once or self._answers or not (rounds is None or agent.rounds < rounds):
            return False
        if agent.status != UP or agent.fault_state.paused or agent.diverged:
            return False
        if not (self._under_way and agent.inbox.is_awaited and agent.inbox.is_empty):
            return False
        assert self._together is not None, "clients answer together"  # noqa: S101
        upcoming, now = agent.clock.upcoming, agent.clock.now
        if upcoming is not None and upcoming[0] == now and upcoming[1] <= self._together.listening:
            return False  # something comes before the server reads them
        return answering == self._awaited() and self._refused(answering) is None

    def go_on(self, survivors: list[int], answers: Matrix) -> None:
        """Close the round with these answers, which the server has read and merged, and open the next one."""
        self._close(survivors, answers)
        self._open()
        self._set_alarm()


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

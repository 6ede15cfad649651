"""Who is a member, who is up, and the verbs that change it."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from actors.agent import ABSENT, DOWN, LEFT, UP, Agent
from actors.behaviours.wake import Life
from actors.edge_reset import meet, share
from actors.events import Crashed, Joined, Left, Paused, Restarted, Resumed, Spent
from actors.log import Log
from clocks.activation import Barrier
from clocks.clock import Clock


class Behaviour(Protocol):
    """What an agent does while it is up."""

    def __call__(self, agent: Agent, log: Log, members: "Membership") -> tuple[Life, ...]:
        """Return the actors to start: the first is its life, the others end with it."""
        ...


class Membership:
    """The agents of a run. Neighbours know at once who joins or leaves; a crash says nothing."""

    def __init__(
        self,
        clock: Clock,
        log: Log,
        behave: Behaviour,
        *,
        updates: int | None = None,
        until_spent: bool = False,
        finish: Callable[[str], None],
    ) -> None:
        self.agents: list[Agent] = []
        self.updates = 0
        self.pending = 0
        self._clock = clock
        self._log = log
        self._behave = behave
        self._updates = updates
        self._until_spent = until_spent
        self._finish = finish
        self._running = 0
        self._lives = Counter[int]()
        self._paused: set[int] = set()
        self._waiting: set[int] = set()
        self._unspent: set[int] = set()
        log.watch(self._note_spent, (Spent,))

    def open(self, agents: Sequence[Agent], present: Sequence[bool]) -> None:
        """Start everybody who is there from the beginning."""
        self.agents = list(agents)
        for agent, here in zip(agents, present, strict=True):
            agent.status = UP if here else ABSENT
        for agent in agents:
            agent.outbox.links.outlets = [agents[j].inbox.post for j in agent.neighbours]
            for j in agent.neighbours:
                if agents[j].status == ABSENT or not share(agent, agents[j]):
                    agent.attend(j, present=False)
        for agent in agents:
            if agent.status == UP:
                self._start(agent)

    def settle(self, until: int) -> None:
        """Settle what has arrived everywhere: before samples, and at the end."""
        for agent in self.agents:
            agent.inbox.settle(until, up=agent.status == UP)

    def admit(self) -> bool:
        if self._updates is not None and self.updates >= self._updates:
            return False
        self.updates += 1
        if self.updates == self._updates:
            self._finish("updates")
        return True

    def crash(self, node: int, lose: str, cause: int) -> bool:
        """Stop an agent without a word; false when it was not up."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        agent.inbox.settle(self._clock.now - 1)
        self._stop(agent, DOWN)
        agent.store.crash()
        self._log.emit(Crashed, node, cause, lose)
        match lose:
            case "nothing":
                pass
            case "volatile" | "all":
                agent.forget(everything=lose == "all")
            case _:
                raise NotImplementedError(f"nothing is written that a crash loses by {lose!r}")
        return True

    def restart(self, node: int, cause: int) -> bool:
        """Bring a crashed agent back: the ledger and the release counter are what they were."""
        agent = self.agents[node]
        if agent.status != DOWN:
            return False
        agent.inbox.settle(self._clock.now - 1, up=False)
        restarted = self._log.emit(Restarted, node, cause, len(agent.store.ledger))
        agent.status = UP
        agent.plight.downs.clear()
        agent.store.recover()
        self._catch_up(agent)
        if agent.store.published is None:
            for j in self._members_around(agent):
                meet(agent, self.agents[j])
        self._greet(agent, restarted)
        self._start(agent)
        return True

    def leave(self, node: int, cause: int) -> bool:
        """Let an agent go; its neighbours stop counting it. Who is down cannot say goodbye."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        agent.inbox.settle(self._clock.now - 1)
        self._stop(agent, LEFT)
        self._part(agent, cause)
        return True

    def pause(self, node: int, cause: int) -> bool:
        """Let an agent stand still; false when it is not up."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        if not agent.plight.paused:
            self._log.emit(Paused, node, cause)
        agent.plight.pause()
        self._paused.add(node)
        self._check_idle()
        return True

    def resume(self, node: int, cause: int) -> bool:
        """Take a pause away, also of who is gone meanwhile; true when no other holds it."""
        last = self.agents[node].plight.resume()
        if last:
            self._paused.discard(node)
            self._log.emit(Resumed, node, cause)
        return last

    def retire(self, agent: Agent, cause: int) -> None:
        agent.inbox.settle(self._clock.now - 1)
        agent.status = LEFT
        for ear in agent.tasks[1:]:
            ear.cancel()
        self._part(agent, cause)

    def join(self, node: int, cause: int, edges: frozenset[int] | None = None) -> bool:
        """Let an agent in, for the first time or again; its neighbours resend what they last said.

        It takes the edges that the topology gives it, or those that are named.
        """
        agent = self.agents[node]
        if agent.status not in {ABSENT, LEFT}:
            return False
        agent.inbox.settle(self._clock.now - 1, up=False)
        joined = self._log.emit(Joined, node, cause)
        agent.status = UP
        agent.plight.aways.clear()
        self._catch_up(agent)
        if edges is not None:
            agent.plight.apart = set(agent.neighbours) - edges
        for j in agent.neighbours:
            other = self.agents[j]
            if edges is not None:
                (other.plight.apart.discard if j in edges else other.plight.apart.add)(node)
            member = other.status in {UP, DOWN} and share(agent, other)
            agent.attend(j, present=member)
            if member:
                other.attend(node, present=True)
                meet(agent, other)
        self._greet(agent, joined)
        self._start(agent)
        return True

    def faults_done(self) -> None:
        """One scripted fault has nothing more to do."""
        self.pending -= 1
        self._check_idle()
        self._check_spent()

    def conclude(self, agent: Agent) -> None:
        """Count an agent out that only waits to see its last message read."""
        self._waiting.add(agent.id)
        self._check_idle()

    def end(self, reason: str) -> None:
        """End the run: what it was for is done."""
        self._finish(reason)

    def _members_around(self, agent: Agent) -> list[int]:
        return [
            j
            for j in agent.neighbours
            if self.agents[j].status in {UP, DOWN} and share(agent, self.agents[j])
        ]

    def _catch_up(self, agent: Agent) -> None:
        """Let who comes to a barrier take part in the newest round: those it missed are not made up."""
        if isinstance(agent.habits.activation, Barrier):
            around = [self.agents[j].rounds for j in self._members_around(agent)]
            agent.rounds = max([agent.rounds, *(rounds - 1 for rounds in around)])

    def _part(self, agent: Agent, cause: int) -> None:
        self._log.emit(Left, agent.id, cause)
        for j in agent.neighbours:
            self.agents[j].attend(agent.id, present=False)
            self.agents[j].inbox.stir()
        self._forget_unspent(agent.id)

    def _greet(self, agent: Agent, cause: int) -> None:
        for j in agent.neighbours:
            neighbour = self.agents[j]
            here = neighbour.status == UP and not neighbour.plight.paused
            if here and share(agent, neighbour):
                neighbour.resend(agent.id, cause)
            if agent.detector is not None:
                agent.detector.greet(j)

    def _start(self, agent: Agent) -> None:
        self._running += 1
        self._lives[agent.id] += 1
        if not agent.spent:
            self._unspent.add(agent.id)
        life, *ears = self._behave(agent, self._log, self)
        listening = tuple(self._clock.spawn(ear) for ear in ears)
        agent.tasks = (self._clock.spawn(self._live(agent, life)), *listening)

    async def _live(self, agent: Agent, life: Life) -> None:
        try:
            await life
        finally:
            self._running -= 1
            self._lives[agent.id] -= 1
            self._waiting.discard(agent.id)
            self._check_idle()

    def _stop(self, agent: Agent, status: str) -> None:
        agent.status = status
        for task in agent.tasks:
            task.cancel()

    def _check_idle(self) -> None:
        """End a run in which nobody can wake any more, or no round can be opened."""
        if self.pending:
            return
        still = sum(1 for i in self._paused - self._waiting if self._lives[i] > 0)
        if self._running - still <= len(self._waiting):
            done = self._waiting or any(_has_had_them(agent) for agent in self.agents)
            self._finish("rounds" if done else "no wake can come")
        server = self.agents[-1]
        gone = server.status != UP or server.plight.paused
        if server.habits.hall is not None and server.habits.rounds is not None and gone:
            self._finish("no round can be opened")

    def _note_spent(self, event: Spent) -> None:
        if event.node is not None:
            self._forget_unspent(event.node)

    def _forget_unspent(self, node: int) -> None:
        self._unspent.discard(node)
        self._check_spent()

    def _check_spent(self) -> None:
        """A fault that is still to come may bring somebody with budget."""
        if self._until_spent and not self._unspent and self.pending == 0:
            self._finish("spent")


def _has_had_them(agent: Agent) -> bool:
    """Whether an agent has had all its rounds."""
    return agent.habits.rounds is not None and agent.rounds >= agent.habits.rounds > 0

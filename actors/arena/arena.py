"""What an arena is: the counters of all agents of a world in one table, and wakes that are computed many in one call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from actors.arena.columns import (
    AGENT_COLUMNS,
    COMING,
    DEGREE,
    DRAWN,
    ELSEWHERE,
    FIRST,
    INBOX,
    LAST_WAKE,
    LINK_COLUMNS,
    MUTE,
    NEIGHBOUR,
    OPEN,
    OWN,
    POLICY,
    PUBLISHED,
    REDRAWN,
    REDRAWN_AFTER,
    SCHEDULE,
    SCHEDULED,
    SEEN,
    SENT_TO,
    SPENT,
    STATE,
    UNREAD,
    Words,
)
from actors.arena.schedules import Schedules, Unfit
from actors.log import Log
from actors.mailbox import Entry
from actors.messages import Message
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.strategy import State
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.agent import Agent

LOW_HALF = (1 << 32) - 1
ENDLESS = 1 << 62
ORDERS = 1 << 20
"""More messages than these are never posted behind one event."""
HAS_DIVERGED, HAS_SPENT, HAS_ENDED = 16, 32, 64
"""What an agent says at a wake that no row can say."""


class Served(NamedTuple):
    """What one call came to: how many wakes it served, the instant of the last one, and what its agent says beside its row."""

    wakes: int
    now: int
    says: int
    agent: int
    cause: int


class WakeFailed(Exception):
    """Computing a wake raised `cause`, after `wakes` wakes with it; `k` is the release that was charged then, −1 for none."""

    def __init__(self, wakes: int, now: int, agent: int, k: int, cause: BaseException) -> None:
        super().__init__(agent, k)
        self.wakes, self.now, self.agent, self.k, self.cause = wakes, now, agent, k, cause


class Arena(ABC):
    """The agents 0 … `size` − 1 of a world, with models of `dimension` numbers.

    `agents` is there at once, so that agents can keep their counters in it; `lay_out` makes the rest.
    """

    def __init__(self, size: int, dimension: int, log: Log) -> None:
        self.size, self.dimension = size, dimension
        self.log = log
        self.is_laid_out = False
        self.agents: Words = np.zeros((size, AGENT_COLUMNS), np.int64)
        self.agents[:, (INBOX, OWN, PUBLISHED, LAST_WAKE, DRAWN, REDRAWN)] = -1
        self.agents[:, STATE] = ELSEWHERE
        self.links: Words = np.zeros((0, LINK_COLUMNS), np.int64)
        self.schedules: dict[int, tuple[Spend, ...]] = {}
        """The spends of each agent whose wakes can be computed here."""
        self._posted_at = -1, 0
        """The number of the event that a message was posted behind last, and how many were posted behind it before."""
        self.reasons: dict[int, str] = {}
        """Why the wakes of the others cannot, in words."""

    def lay_out(self, agents: Sequence[Agent], starts: Sequence[Vector]) -> None:
        """Write down what does not change of all agents; `starts` are their public starts."""
        for agent in agents:
            try:
                self.schedules[agent.id] = self.enrol(agent)
            except Unfit as reason:
                self.reasons[agent.id] = str(reason)
        degrees = np.fromiter((len(agent.neighbours) for agent in agents), np.int64, self.size)
        self.agents[:, DEGREE] = degrees
        self.agents[:, FIRST] = np.cumsum(degrees) - degrees
        self.make([agent.neighbours for agent in agents], keys_of_links(agents), starts)
        self.is_laid_out = True
        for agent in agents:
            self.open_links(agent.id, agent.heard)

    @abstractmethod
    def enrol(self, agent: Agent) -> tuple[Spend, ...]:
        """Write down what does not change of an agent, and return its schedule: its last spend is repeated.

        Raises Unfit where its wakes cannot be computed here.
        """

    @abstractmethod
    def make(
        self, neighbours: Sequence[Sequence[int]], keys: Words, starts: Sequence[Vector]
    ) -> None:
        """Make the arrays of all agents and links; `keys` has those of all links, agent by agent."""

    # wakes

    @property
    @abstractmethod
    def first(self) -> tuple[int, int] | None:
        """The instant of the next wake, and its agent; None without one."""

    @property
    @abstractmethod
    def awake(self) -> int:
        """How many agents have a wake to come."""

    @property
    def is_worth_it(self) -> bool:
        """Whether it is faster to compute wakes here than one by one, in this world and as far as was seen."""
        return True

    @abstractmethod
    def schedule(self, ids: Words, after: Words) -> list[int]:
        """Let agents wake by their own clocks, each not before its instant in `after`; return those that have no more wakes."""

    @abstractmethod
    def drop_wake(self, agent: int) -> None:
        """Let an agent wake no more."""

    @abstractmethod
    def serve(self, until: int, before: int, most: int) -> Served:
        """Let agents wake in order, at most `most` of them: up to an instant, and in it those below the id `before`.

        It ends where an agent says what no row can say. Raises WakeFailed where a wake raises something.
        """

    @abstractmethod
    def settle(self, first: int, last: int, until: int, now: int) -> None:
        """Settle what has arrived at agents `first` up to `last`, as of now, and hand the rows to the log."""

    # agents that come and go

    def open_links(self, agent: int, heard: Heard) -> None:
        """Note which neighbours of an agent are present."""
        row, links = self.agents[agent], self.links_of(agent)
        links[:, POLICY] = (links[:, POLICY] & LOW_HALF) + OPEN * heard.present
        row[SENT_TO] = heard.degree
        row[STATE] = (row[STATE] & ~MUTE) | (0 if heard.total else MUTE)

    def links_of(self, agent: int) -> Words:
        """Return the links of an agent, a row each: a view."""
        first = self.agents[agent, FIRST]
        links: Words = self.links[first : first + self.agents[agent, DEGREE]]
        return links

    @abstractmethod
    def enter_arena(self, agent: int, state: State, model: Vector, heard: Matrix | None) -> None:
        """Take over an agent: its state, its model, and what it holds of its neighbours; None are their starts."""

    @abstractmethod
    def leave_arena(self, agent: int) -> None:
        """Give an agent back: what it holds is needed no longer, and it is not woken. Its messages stay."""

    # what an agent is, as long as it is here

    @abstractmethod
    def state(self, agent: int) -> State:
        """Return the state of the mechanism of an agent."""

    @abstractmethod
    def model(self, agent: int) -> Vector:
        """Return the model of an agent, which is what it published last, once it published something."""

    @abstractmethod
    def models(self, ids: Words) -> Matrix:
        """Return the models of some agents, a row each: a new array."""

    @abstractmethod
    def held(self, agent: int) -> Matrix:
        """Return what an agent mixes of its neighbours, a row each."""

    def redrawn(self, agent: int) -> tuple[int, int] | None:
        """Return the first release whose noise was not drawn in order here, and the last one before it; None without one."""
        row = self.agents[agent]
        return None if row[REDRAWN] < 0 else (int(row[REDRAWN]), int(row[REDRAWN_AFTER]))

    @property
    def first_redrawn(self) -> int | None:
        """The first agent that drew noise out of order here; None without one."""
        agents = np.flatnonzero(self.agents[:, REDRAWN] >= 0)
        return int(agents[0]) if len(agents) else None

    @property
    def odd_noise(self) -> str | None:
        """What is wrong with a scale of noise that was not drawn from the streams of agents; None where nothing is."""
        return None

    # messages

    def order_of(self, sent: int) -> int:
        """Return the number that orders a message, posted now, among those that arrive at one instant: first posted, first.

        It grows with the events of the run: a message that is sent here has that of the event that sent it, `ORDERS` times.
        """
        event = max(sent, self.log.seq)
        self._posted_at = event, self._posted_at[1] + 1 if event == self._posted_at[0] else 0
        return event * ORDERS + self._posted_at[1]

    def coming(self, agent: int) -> int:
        """Count the messages of an agent that are not settled."""
        return int(self.agents[agent, COMING])

    @property
    def in_flight(self) -> int:
        """How many messages are not settled, in all."""
        return int(self.agents[:, COMING].sum())

    def unread_count(self, agent: int) -> int:
        """Count the senders of which an agent has settled something, and not read it."""
        return int(self.agents[agent, UNREAD])

    def note_seen(self, agent: int, versions: dict[int, int]) -> None:
        """Take over which version of each sender, by its slot, was settled last."""
        self.links_of(agent)[list(versions), SEEN] = list(versions.values())

    def forget_seen(self, agent: int) -> dict[int, int]:
        """Return which version of each neighbour was settled last, and know it no longer."""
        links = self.links_of(agent)
        seen = dict(zip(links[:, NEIGHBOUR].tolist(), links[:, SEEN].tolist(), strict=True))
        links[:, SEEN] = -1
        return {j: version for j, version in seen.items() if version >= 0}

    @abstractmethod
    def arrived(self, agent: int, now: int) -> int:
        """Count the messages of an agent that have arrived and are not settled."""

    @abstractmethod
    def post(self, receiver: int, slot: int, entry: Entry) -> None:
        """Let a message of an agent that is elsewhere arrive at one that is here."""

    @abstractmethod
    def take_messages(self, agent: int) -> list[Entry]:
        """Take all messages of an agent that are not settled."""

    @abstractmethod
    def unread(self, agent: int) -> dict[int, Message]:
        """Return what is settled at an agent and not read, by sender, in order."""

    @abstractmethod
    def keep_unread(self, agent: int, slots: Sequence[int], messages: Sequence[Message]) -> None:
        """Take over what is settled at an agent and not read, in order."""


def check_settings(agent: Agent) -> None:
    """Raise Unfit where the settings of an agent ask for more than a row can say."""
    settings = agent.settings
    if settings.compute is not None:
        raise Unfit("agents take time to compute")
    if settings.silence is not None:
        raise Unfit("agents suspect neighbours that are silent")
    if settings.adopt_neighbours:
        raise Unfit("an agent begins with the models of its neighbours")
    if settings.has_barrier:
        raise Unfit("an agent wakes by messages, at barriers")
    if agent.balanced:
        raise Unfit("agents keep duals on their edges")
    if agent.outbox.links.effects:
        raise Unfit("a link has a rate")


def enrol_schedule(
    agent: Agent, kind: CoordinateDescent, row: Words, schedules: Schedules
) -> tuple[Spend, ...]:
    """Write down the releases of an agent, and return what they cost; raise Unfit where a cap may refuse one."""
    spends, cap = kind.spends, agent.settings.cap
    if kind.law is None:
        if kind.free is None:
            raise Unfit("a release has no spend")
        spends = (kind.free,)
    elif not spends:
        row[STATE] |= SPENT  # with nothing planned, nothing is ever spent
    row[SCHEDULE] = start = schedules.place(spends)
    row[SCHEDULED] = len(spends)
    if cap is not None and (kind.law is None or not schedules.admits_all(cap, spends, start)):
        raise Unfit("a cap may refuse a release of the schedule")
    return spends


def keys_of_links(agents: Sequence[Agent]) -> Words:
    """Return the keys of all links, agent by agent."""
    keys = [agent.outbox.links.keys for agent in agents]
    joined = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    return joined.astype(np.uint64).view(np.int64)


def back_places(sources: Words, near: Words, firsts: Words) -> Words:
    """Return, for each link, the place of its sender among the neighbours of its receiver.

    Raises ValueError where an edge has one direction only.
    """
    size = len(firsts)
    keys = sources * size + near
    order = np.argsort(keys, kind="stable")
    wanted = near * size + sources
    places = order[np.searchsorted(keys[order], wanted)]
    if not np.array_equal(keys[places], wanted):
        raise ValueError("a graph has both directions of each edge")
    back: Words = places - firsts[near]
    return back

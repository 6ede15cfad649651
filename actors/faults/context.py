"""Where faults act: the agents, their links, chance, and what an oracle would see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from actors.agent import Agent
from actors.fault_state import LocalClock
from actors.faults.link_effects import LinkEffect
from actors.faults.targets import Measure
from actors.log import Log
from clocks.clock import Clock
from clocks.durations import Draws

if TYPE_CHECKING:
    from actors.membership import Membership


Undo = Callable[[int], None]
"""Undoes one firing of a fault; its argument is the number of the event that says so."""
Link = tuple[int, int]
"""A directed link: sender and receiver."""


@dataclass(slots=True)
class FaultContext:
    """What the faults of one running world act upon."""

    members: Membership
    clock: Clock
    log: Log
    stream: Callable[[str], Draws]
    """Random bits by name: of a fault, its firing, and the link or agent."""
    measure: Measure

    def around(self, node: int) -> list[int]:
        """Return the neighbours that an agent has now."""
        return self.members.agents[node].neighbours_present

    def agents(self, nodes: Iterable[int]) -> list[Agent]:
        """Return the agents of some ids, which a fault is about to act on."""
        chosen = [self.members.agents[i] for i in nodes]
        for agent in chosen:
            agent.leave_columns()
        return chosen

    def links(self) -> Iterator[Link]:
        """Yield every directed link."""
        for agent in self.members.agents:
            for j in agent.neighbours:
                yield agent.id, j

    def lay(self, links: Iterable[Link], make: Callable[[Link], LinkEffect]) -> Undo:
        """Lay an effect on each of some links, once; return what takes them all away."""
        agents, laid = self.members.agents, list[tuple[Agent, int, LinkEffect]]()
        for i, j in dict.fromkeys(links):
            slot = agents[i].slots.get(j)
            if slot is not None:
                laid.append((agents[i], slot, make((i, j))))
        touched = dict.fromkeys(agent for agent, _, _ in laid)

        def change(*, on: bool) -> None:
            for agent in touched:
                agent.note_effects()  # what was sent so far is judged by the effects of until now
            for agent, slot, effect in laid:
                if on:
                    agent.outbox.links.add_effect(slot, effect)
                else:
                    agent.outbox.links.remove_effect(slot, effect, self.clock.now)
            for agent in touched:
                agent.note_effects()

        change(on=True)
        return lambda _: change(on=False)


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing of a fault: its fault, the agents it hits, its event (`cause`), and the name of its chance."""

    fault: int
    hit: tuple[int, ...]
    context: FaultContext
    cause: int
    path: str

    def each(self, do: Callable[[int], bool], undo: Callable[[int, int], object]) -> Undo:
        """Do something to each agent that is hit.

        Return what undoes it, with its own cause, for those agents where `do` returned true.
        """
        done = [i for i in self.hit if do(i)]

        def back(ended: int) -> None:
            for i in done:
                undo(i, ended)

        return back


class Preparation(NamedTuple):
    """What an agent must have before the run begins, so that an action can act on it."""

    prepare: Callable[[Agent, Clock], None]
    is_prepared: Callable[[Agent], bool]


def _give_clock(agent: Agent, clock: Clock) -> None:
    if agent.fault_state.local_clock is None:
        agent.fault_state.local_clock = LocalClock(clock)


def _remember(agent: Agent, clock: Clock) -> None:
    del clock
    agent.outbox.first_messages = {}


OWN_CLOCK = Preparation(_give_clock, lambda agent: agent.fault_state.local_clock is not None)
"""The agent has a clock of its own, which may show another time."""
FIRST_MESSAGES = Preparation(_remember, lambda agent: agent.outbox.first_messages is not None)
"""The outbox remembers the first message of each link."""
PREPARATIONS = (OWN_CLOCK, FIRST_MESSAGES)
"""Everything that an agent needs for faults that a person may add while the world runs."""

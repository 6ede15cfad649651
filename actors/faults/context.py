"""Where faults act: the agents, their links, chance, and what an oracle would see."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from actors.agent import Agent
from actors.faults.link_effects import Trouble
from actors.faults.targets import Measure
from actors.log import Log
from actors.membership import Membership
from clocks.clock import Clock
from clocks.durations import Draws

Undo = Callable[[int], None]
"""Takes a fault back; `cause` is the event that says so."""
Make = Callable[[int, int], Trouble]
"""Makes the trouble of one directed link."""
Link = tuple[int, int]


@dataclass(slots=True)
class Stage:
    """Everything that a fault may lay its hands on."""

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
        return [self.members.agents[i] for i in nodes]

    def links(self) -> Iterator[Link]:
        """Yield every directed link."""
        for agent in self.members.agents:
            for j in agent.neighbours:
                yield agent.id, j

    def burden(self, links: Iterable[Link], make: Make) -> Undo:
        """Put a trouble on each of some links; return what takes it away from all of them."""
        agents, laid = self.members.agents, list[tuple[Agent, int, Trouble]]()
        for i, j in dict.fromkeys(links):
            slot = agents[i].slots.get(j)
            if slot is not None:
                trouble = make(i, j)
                agents[i].outbox.links.trouble(slot, trouble)
                laid.append((agents[i], slot, trouble))

        def relieve(_: int) -> None:
            for agent, slot, trouble in laid:
                agent.outbox.links.relieve(slot, trouble, self.clock.now)

        return relieve


@dataclass(frozen=True, slots=True)
class Strike:
    """One firing of a fault: which, whom it hits, where, what says so, and how its chance is named."""

    fault: int
    hit: tuple[int, ...]
    stage: Stage
    cause: int
    path: str

    def while_it_lasts(self, do: Callable[[int], bool], undo: Callable[[int, int], object]) -> Undo:
        """Do something to each agent that is hit; undo it, with its cause, for those it was done to."""
        struck = [i for i in self.hit if do(i)]

        def back(ended: int) -> None:
            for i in struck:
                undo(i, ended)

        return back

"""What a screen looks at: a run that goes on, or a recording of one. Both give the same figures for the same event."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from actors.agent import DOWN, UP
from actors.conditions import Condition
from actors.events import Event, Sent
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.vectors import Vector
from scenarios.console.drawing.model import Messages
from scenarios.console.sources.ending import ending
from scenarios.console.sources.references import (
    NO_REFERENCES,
    References,
    from_snapshot,
    from_summary,
)
from scenarios.console.sources.state import RunState
from scenarios.running.observers.invariants import INVARIANTS
from scenarios.running.observers.traffic import Traffic

if TYPE_CHECKING:
    from scenarios.records.budget import Budget
    from scenarios.records.world_facts import Facts
    from scenarios.running.run import Run


_JUDGED_LIVE = 1000
"""Of more agents a live run is compared with learning alone and with the optimum when it is over."""


class Source(Protocol):
    """A run as a screen sees it: where live runs and recordings differ is declared, the rest is the same for both."""

    facts: Facts
    run_state: RunState
    mode: str
    """`live` or `replay`; and what became of the run, where it did not simply finish."""
    held: int | None
    """How many invariants hold; None where they were not judged."""
    traffic: Traffic
    budget: Budget
    near: Sequence[Sequence[int]]
    """The neighbours of each agent."""
    invariants: int = len(INVARIANTS)

    @property
    def now(self) -> int: ...

    @property
    def seq(self) -> int:
        """The number of the last event."""
        ...

    @property
    def end(self) -> int | None:
        """When it will be over, where that is known."""
        ...

    @property
    def progress(self) -> float | None:
        """Which share of the run is over."""
        ...

    @property
    def over(self) -> bool: ...

    @property
    def upcoming(self) -> Event | float | None:
        """The next event; where it is not known yet, the instant of the next entry, in nanoseconds."""
        ...

    @property
    def queue(self) -> int | None: ...

    @property
    def recorded_mb(self) -> float: ...

    @property
    def steered(self) -> bool: ...

    @property
    def broken(self) -> str: ...

    def ending(self) -> Sequence[tuple[str, str]]:
        """How it ended: text and style of a few lines; nothing before."""
        ...

    def refresh(self) -> None:
        """Look anew: everything that happened is folded."""
        ...

    @property
    def about(self) -> str:
        """What the scenario says of itself, in a line; empty where it says nothing."""
        ...

    def references(self) -> References:
        """Return what metrics are compared with; nothing before the first sample."""
        ...

    def declared_fault(self, number: int) -> Mapping[str, Any]:
        """Return a fault as its table in the file of the session; empty where the recording has none."""
        ...

    def inbox(self, i: int) -> int:
        """How many messages are on their way to an agent, or lie unnoticed in its mailbox."""
        ...

    def member_neighbours(self, i: int) -> list[int]:
        """Return the neighbours of an agent that are members, up or down."""
        ...

    def ledger_of(self, i: int) -> Ledger: ...

    @property
    def flying(self) -> int:
        """How many messages are on their way."""
        ...

    @property
    def released(self) -> int:
        """How many releases there were."""
        ...

    def metric(self, name: str, agent: int | None) -> float:
        """Return a metric as of the last sample; NaN where it has no value."""
        ...

    def terms(self) -> str:
        """Return what an ε stands with."""
        return self.budget.terms()

    def epsilons(self) -> Vector:
        """Return ε of every agent."""
        return self.budget.headline()

    def epsilon(self, i: int) -> float:
        """Return ε of one agent."""
        return self.budget.epsilon_of(i)

    def releases(self, i: int) -> int:
        """Return how many releases an agent was charged for."""
        return len(self.ledger_of(i))

    def stale(self, i: int, at: int | None = None) -> float:
        """Return the staleness (s) of what an agent holds, now or at an instant (ns) since its last event."""
        instant = self.now if at is None else at
        return self.traffic.stale(i, self.member_neighbours(i), instant)

    def last_to(self, sender: int, receiver: int) -> Sent | None:
        """Return the last message from one agent to another, as far back as is remembered."""
        return self.traffic.last_to(sender, receiver)

    def is_paid(self, sender: int, version: int) -> bool:
        """Whether a message is known to be a release that a ledger was charged for."""
        return self.traffic.is_paid(sender, version)

    def messages(self) -> Messages:
        """Return the counts of the identities."""
        counts = self.traffic.counts
        return Messages(
            sent=counts["sent"],
            copies=counts["duplicated"],
            delivered=counts["delivered"],
            lost=counts["lost"],
            rejected=counts["rejected"],
            flying=self.flying,
            releases=self.released,
            charged=sum(self.budget.counts),
        )

    def ledger(self, i: int, count: int) -> Sequence[tuple[int, Spend]]:
        """Return the last releases of an agent, each with its number."""
        ledger = self.ledger_of(i)
        first = max(0, len(ledger) - count)
        return list(enumerate(ledger.since(first), first))

    def holds(self, condition: Condition, event: Event) -> bool:
        """Whether an event satisfies a condition."""
        return condition.holds(event, self.metric)


class LiveSource(Source):
    """Looks at the agents themselves, and changes nothing."""

    mode = "live"
    held: int | None = len(INVARIANTS)

    def __init__(self, run: Run) -> None:
        self.run = run
        self.facts = run.facts
        self.run_state = RunState(run.facts)
        self.traffic, self.budget = run.observers.traffic, run.observers.budget
        self.near: Sequence[Sequence[int]] = [
            list(agent.neighbours) for agent in run.members.agents
        ]
        run.log.subscribe(self.run_state)
        self._references: References | None = None

    @property
    def now(self) -> int:
        return self.run.governor.now

    @property
    def seq(self) -> int:
        return self.run.log.seq

    @property
    def end(self) -> int | None:
        return self.run.plan.horizon

    @property
    def progress(self) -> float | None:
        plan, run = self.run.plan, self.run
        if plan.horizon is not None:
            return self.now / plan.horizon
        if plan.updates is not None:
            return run.members.updates / plan.updates
        if plan.rounds is not None:
            return max(agent.rounds for agent in run.members.agents) / plan.rounds
        return None

    @property
    def over(self) -> bool:
        return self.run.governor.ended

    @property
    def upcoming(self) -> float:
        return self.run.governor.upcoming

    @property
    def queue(self) -> int | None:
        return self.run.clock.queue

    @property
    def recorded_mb(self) -> float:
        return self.run.recorder.bytes_written / 1e6

    @property
    def steered(self) -> bool:
        return self.run.journal.steered

    @property
    def broken(self) -> str:
        return ", ".join(
            n for n, v in self.run.observers.checks.verdicts.items() if v.verdict == "fail"
        )

    def ending(self) -> Sequence[tuple[str, str]]:
        outcome = self.run.outcome
        if outcome is None:
            return ()
        return ending(outcome.summary, outcome.message, outcome.folder)

    def refresh(self) -> None:
        if self.run.outcome is None:  # what failed takes no more
            self.run.log.drain()

    @property
    def about(self) -> str:
        return str(self.run.plan.resolved.get("summary", ""))

    def references(self) -> References:
        """Find them once, at the first sample; of many agents they are those of the summary, when the run is over.

        Finding them takes a frame as long as it takes: 0.06 s of a hundred agents, a second of three thousand.
        """
        if self._references is None:
            outcome = self.run.outcome
            if self.facts.size <= _JUDGED_LIVE and self.run_state.last is not None:
                self._references = from_snapshot(self.run.observers.snapshot)
            elif outcome is not None and outcome.summary:
                self._references = from_summary(outcome.summary)
        return self._references or NO_REFERENCES

    def declared_fault(self, number: int) -> Mapping[str, Any]:
        return fault_table(self.run.journal.scenario, number)

    def inbox(self, i: int) -> int:
        agent, agents = self.run.agents[i], self.run.members.agents
        held = 0
        for j in agent.neighbours:
            links = agents[j].outbox.links
            if links.held:
                held += len(links.held.get(agents[j].slots[i], ()))
        return agent.inbox.in_flight + held

    def member_neighbours(self, i: int) -> list[int]:
        agents = self.run.members.agents
        return [j for j in self.near[i] if agents[j].status in {UP, DOWN}]

    def ledger_of(self, i: int) -> Ledger:
        return self.run.agents[i].store.ledger

    @property
    def flying(self) -> int:
        agents = self.run.members.agents
        return sum(a.inbox.in_flight + a.outbox.links.held_count for a in agents)

    @property
    def released(self) -> int:
        return self.run.observers.checks.released_count

    def metric(self, name: str, agent: int | None) -> float:
        return self.run.observers.metric(name, agent)


def fault_table(resolved: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """Return a fault of a resolved scenario by its number; empty where there is none."""
    faults = resolved.get("fault", ())
    return faults[number] if number < len(faults) else {}


def is_over(source: Source) -> bool:
    """Whether nothing can happen any more: a recording always plays again."""
    return source.over and source.mode == "live"


def last_delay(source: Source, sender: int, receiver: int) -> float:
    """Return how long (s) the last message of a link takes; −1 where it was lost, −2 where it is held, NaN without one."""
    sent = source.last_to(sender, receiver)
    if sent is None:
        return math.nan
    arrival = sent.arrives[list(sent.to).index(receiver)]
    return (arrival - sent.t) / 1e9 if arrival >= 0 else float(arrival)


def memory_mb() -> float:
    """Return how much memory this process holds; NaN where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 # ten times a second
            return int(file.read().split()[1]) * 4096 / 1e6
    except (OSError, ValueError, IndexError):
        return _most_mb()


def _most_mb() -> float:
    try:
        import resource
    except ImportError:
        return float("nan")
    most: Any = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most) / 1e3

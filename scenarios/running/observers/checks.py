"""Invariants that are on in every run. A broken one is a fault of hush: it ends the run with 3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.agent import DOWN, UP, Agent
from actors.events import (
    Crashed,
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Paused,
    Restarted,
    Resumed,
    RoundClosed,
    Sampled,
    Violated,
)
from actors.log import Batch, Log
from actors.turns import Turns
from clocks.activation import Barrier
from mechanisms.abilities import BoundsGradient, StatesGradientBound, is_scored
from mechanisms.accounting.loss import Tally, tally
from mechanisms.accounting.spend import Spend
from mechanisms.federated import Coordinator
from mechanisms.objectives import GradientBound, LocalObjective, Loss
from mechanisms.packed import PackedBounds
from mechanisms.strategy import Mechanism
from scenarios.language.json_numbers import declared_by
from scenarios.planning.plan import Plan
from scenarios.running.observers.fault_checks import FaultChecks
from scenarios.running.observers.invariants import INVARIANTS, InvariantBroken, Verdict
from scenarios.running.observers.traffic import Traffic
from scenarios.running.observers.turn_checks import Told, TurnChecks

if TYPE_CHECKING:
    from scenarios.records.budget import Budget


_SAMPLE_OF_NODES = 64
_AT_ONCE = 4096
"""The models of so many agents are looked at together."""


class Checks:
    """Checks every event; a broken invariant is recorded as an event `violated`, and raised as `InvariantBroken`."""

    def __init__(
        self, plan: Plan, agents: Sequence[Agent], log: Log, traffic: Traffic, budget: Budget
    ) -> None:
        self._plan = plan
        self._agents = agents
        self._log = log
        self._traffic = traffic
        self._budget = budget
        self._compared = np.zeros(plan.size, np.int64)
        """How many releases of each agent were compared with the charges that events carried."""
        self._judged: set[tuple[int, ...]] = set()
        """The classes of agents whose caps were judged at the last sample."""
        self._bounds = _Bounds()
        self.verdicts = {name: Verdict("unknown") for name in INVARIANTS}
        self._told = Told(plan.seats)
        self.faults = FaultChecks(plan, self._break)
        self._turns = TurnChecks(agents, self._told, self.faults, log.spends, self._break)
        self._draws_unseen = declared_by(plan.kind) is not None
        """Whether noise is drawn by code of a scenario's own, which states its scales itself."""
        self._now = 0
        self.routes: dict[type[Event], Callable[[Any], None]] = {
            **dict.fromkeys(
                (Crashed, Joined, Left, Paused, Restarted, Resumed), self.faults.changed
            ),
            FaultBegan: self.faults.begins,
            FaultEnded: self.faults.ends,
            RoundClosed: self.round_closed,
            Sampled: self.sampled,
        }
        """What is checked when it happens: all else is checked in batches."""

    def _break(self, name: str, event: Event | None, detail: str) -> None:
        seq = None if event is None else event.seq
        self.verdicts[name] = Verdict("fail", seq, detail)
        self._log.emit(Violated, None if event is None else event.node, seq, name, detail)
        raise InvariantBroken(f"{name}: {detail}" + ("" if seq is None else f" (event {seq})"))

    def _noise_once(self, event: Event | None) -> None:
        """Check that noise that is drawn for one release is drawn for no other."""
        for node, agent in enumerate(self._agents):
            redrawn = agent.redrawn
            if redrawn is not None:
                k, last = redrawn
                detail = f"agent {node} drew the noise of release {k} after that of {last}"
                self._break("noise once", event, detail)
            self._as_charged(node, event)

    def _as_charged(self, node: int, event: Event | None) -> None:
        """Check that noise of an agent's own was drawn with the scale that was charged for."""
        odd = self._agents[node].noise_stream.odd
        if odd is None or self._draws_unseen:
            return
        k, drawn, spend = odd
        scales = " and ".join(f"{scale:.9g}" for scale in dict.fromkeys(drawn)) or "none"
        detail = f"agent {node} drew the noise of release {k} with the scale {scales}, its ledger states {spend.scale:.9g}"
        self._break("noise as charged", event, detail)

    def round_closed(self, event: RoundClosed) -> None:
        """Check that the noise of a released sum is what each of its clients was charged for."""
        agents, server = self._agents, self._agents[self._plan.size]
        coordinator = server.mechanism
        assert isinstance(coordinator, Coordinator), "a server closes rounds"  # noqa: S101
        own = [agents[j].noise_stream.scales for j in event.survivors]
        left = coordinator.noise_that_left(event.survivors, own, server.noise_stream.scales)
        if left is None:
            return
        for j in event.survivors:
            ledger = agents[j].store.ledger
            spend = ledger.at(len(ledger) - 1)
            if not coordinator.is_charged(left, j, len(event.survivors), spend):
                detail = (
                    f"round {event.round} has noise of the scale {left:.9g}, the ledger of client {j} states "
                    f"{spend.scale:.9g} and a charge of {spend.charged:.9g}"
                )
                self._break("noise as charged", event, detail)

    @property
    def released_count(self) -> int:
        """How many releases there were in all, of which it was told."""
        return self._told.released

    def fold(self, batch: Batch) -> None:
        """Check the next rows and events, in order."""
        self._in_time(batch)
        singles = self._turns.singles
        for part in batch.parts_of(singles.keys()):
            if isinstance(part, Turns):
                self._turns.take(part)
            else:
                singles[type(part)](part)
        self.faults.forget_changes()

    def _in_time(self, batch: Batch) -> None:
        """Check that time never falls."""
        turns, singles = batch.turns, batch.singles
        seq = np.concatenate([turns.seq, [event.seq for event in singles]])
        order = np.argsort(seq)
        t = np.concatenate([turns.t, [event.t for event in singles]])[order]
        before = np.concatenate([[self._now], t[:-1]])
        if (t < before).any():
            at = int(np.argmax(t < before))
            place = int(order[at])
            if place < len(turns):
                event = self._turns.events(turns, place)[0]
            else:
                event = singles[place - len(turns)]
            self._break("time", event, f"{int(t[at])} ns after {int(before[at])} ns")
        self._now = int(t[-1])

    def sampled(self, event: Sampled) -> None:
        """Check what needs the state of every agent. Batch observers have folded all events before a sample."""
        self._noise_once(event)
        self._same_charges(event)
        self._conserved(event)
        self._finite(event)
        self._within_budget(event)
        self._sensitive(event)

    def _conserved(self, event: Event) -> None:
        flying = type(self._agents[0]).in_flight_of(self._agents)
        flying += sum([a.outbox.links.held_count for a in self._agents])
        if flying != self._traffic.in_flight:
            self._break(
                "conservation",
                event,
                f"{flying} in flight, the sums leave {self._traffic.in_flight}",
            )

    def _same_charges(self, event: Event) -> None:
        """Check that the ledgers of agents are the charges that events carried.

        A sample compares the releases since the last one; not of agents that are down, which read their ledgers when
        they restart. The end compares everything.
        """
        agents, told = self._agents[: self._plan.size], self._budget.counts
        made = type(agents[0]).releases_of(agents, np.arange(len(agents)))
        changed = np.flatnonzero((made != self._compared) | (told != self._compared)).tolist()
        reading = [i for i in changed if agents[i].status != DOWN]
        for i in self._unlike(reading, self._compared[reading].tolist()):
            self._other_charges(i, event)
        self._compared[reading] = made[reading]

    def _unlike(self, ids: Iterable[int], firsts: Iterable[int]) -> list[int]:
        """Return the agents whose ledgers, from a release on, are not the charges that were told."""
        agents, budget = self._agents, self._budget
        counts, courses = budget.counts.tolist(), budget.courses.tolist()
        told: dict[tuple[int, int, int], list[Spend]] = {}
        unlike = []
        for i, first in zip(ids, firsts, strict=True):
            ledger, course = agents[i].store.ledger, courses[i]
            key = course if course >= 0 else -1 - i, first, counts[i]
            if key not in told:  # once for all agents that made the same releases of one course
                told[key] = budget.since(i, first)
            if len(ledger) != counts[i] or ledger.since(first) != told[key]:
                unlike.append(i)
        return unlike

    def _other_charges(self, i: int, event: Event | None) -> None:
        ledger, told = self._agents[i].store.made, self._budget.counts[i]
        self._break(
            "charged once",
            event,
            f"agent {i}: its ledger of {ledger} releases is not that of the {told} charges that were told",
        )

    def _finite(self, event: Event) -> None:
        for first in range(0, len(self._agents), _AT_ONCE):
            some = self._agents[first : first + _AT_ONCE]
            if np.isfinite(type(some[0]).models_of(some)).all():
                continue
            for agent in some:
                known = agent.diverged or not is_scored(agent.mechanism, agent.state)
                if not known and not np.isfinite(agent.model).all():
                    detail = f"agent {agent.id} holds a model that is not finite"
                    self._break("finite", event, detail)

    def _within_budget(self, event: Event) -> None:
        """Check every cap: of agents with equal charges one, for their ledgers were compared with what was told.

        The ledger of an agent that is down was not: it is asked itself.
        """
        classes, nodes = self._budget.classes(), self._plan.nodes
        new = [
            i
            for name, i in zip(classes.names, classes.first.tolist(), strict=True)
            if name not in self._judged and nodes[i].cap is not None
        ]
        over = {i for i, bag in self._budget.bags(new) if not nodes[i].cap.holds(bag)}  # type: ignore[union-attr] # it has one
        down = [agent for agent in self._agents[: self._plan.size] if agent.status == DOWN]
        for agent in down:
            self._judge(agent, agent.store.ledger.tally, event)
        for i in sorted(over):
            self._judge(self._agents[i], self._budget.ledger(i).tally, event)
        self._judged = set(classes.names)

    def _judge(self, agent: Agent, bag: Tally, event: Event | None) -> None:
        cap = agent.settings.cap
        if cap is not None and not cap.holds(bag):
            detail = f"agent {agent.id} spent {cap.spent(bag):g} of {cap.epsilon:g}"
            self._break("budget", event, detail)

    def _sensitive(self, event: Event) -> None:
        """Check a sample of agents: the bound in the ledger against the gradients of all records."""
        step = max(1, len(self._agents) // _SAMPLE_OF_NODES)
        sampled = [agent for agent in self._agents[::step] if not agent.diverged]
        if not sampled:
            return
        theta = type(sampled[0]).models_of(sampled)
        finite = np.logical_and.reduce(np.isfinite(theta), axis=1)
        if not finite.all():
            sampled = [
                agent for agent, known in zip(sampled, finite.tolist(), strict=True) if known
            ]
            theta = theta[finite]
        for agent, mechanism in self._bounds.alone_of(sampled):
            self._compare(agent, *mechanism.longest_gradient(agent.model), event)
        for places, packed in self._bounds.together:
            longest = packed.longest(theta[places])
            for at in np.flatnonzero(longest > packed.bounds).tolist():
                agent = sampled[places[at]]
                self._compare(agent, float(longest[at]), float(packed.bounds[at]), event)

    def _compare(self, agent: Agent, length: float, bound: float, event: Event) -> None:
        if length > bound * (1 + 1e-9):
            self._break(
                "sensitivity",
                event,
                f"agent {agent.id} has a gradient of {length:g}, noise was scaled for {bound:g}",
            )

    def finish(self, *, complete: bool) -> dict[str, Verdict]:
        """Check what can be judged only at the end; what did not break passes."""
        classes, held = self._budget.classes(), set[int]()
        other = set(self._unlike(range(self._plan.size), [0] * self._plan.size))
        class_of: list[int] = classes.of.tolist()
        for agent in self._agents:
            i, made = agent.id, agent.store.made
            if made != self._told.charged[i]:
                detail = f"agent {i} has {made} spends, {self._told.charged[i]} were told"
                self._break("charged once", None, detail)
            if agent.settings.cap is None or (i not in other and class_of[i] in held):
                continue
            self._judge(agent, tally(agent.store.ledger.spends), None)
            if i not in other:
                held.add(class_of[i])
        self._noise_once(None)
        for i in sorted(other):
            self._other_charges(i, None)
        if complete and self._plan.server is None:  # a server's rounds have deadlines
            self._nobody_waits()
        self._conclude(complete=complete)
        looked = len(self._agents[:: max(1, len(self._agents) // _SAMPLE_OF_NODES)])
        if looked < len(self._agents):
            self.verdicts["sensitivity"].detail = f"sampled: {looked} of {len(self._agents)} agents"
        return self.verdicts

    def _conclude(self, *, complete: bool) -> None:
        """Let pass what did not break, as far as it was seen."""
        unseen = set() if complete else {"nobody waits for ever"}
        if self._draws_unseen:
            unseen.add("noise as charged")
            self.verdicts[
                "noise as charged"
            ].detail = f"{self._plan.kind} draws its noise as its own code has it"
        for name, verdict in self.verdicts.items():
            if verdict.verdict == "unknown" and name not in unseen:
                verdict.verdict = "pass"

    def _nobody_waits(self) -> None:
        stuck = [
            agent.id
            for agent in self._agents
            if isinstance(agent.settings.activation, Barrier)
            and agent.status == UP
            and agent.settings.activation.timeout_s is None
            and agent.neighbours
            and not agent.busy
            and not (self._plan.rounds is not None and agent.rounds >= self._plan.rounds)
        ]
        up = sum(1 for agent in self._agents if agent.status == UP)
        if (
            stuck
            and len(stuck) == up
            and not self._traffic.in_flight
            and self._plan.updates is None
        ):
            self._break("nobody waits for ever", None, f"agents {stuck[:8]} wait at a barrier")


class _Bounds:
    """The bounds of gradients of some agents, as long as they are the same ones with the same mechanisms."""

    def __init__(self) -> None:
        self._mechanisms: list[Mechanism] = []
        self._agents: list[Agent] = []
        self._alone: list[tuple[Agent, BoundsGradient]] = []
        self.together: list[tuple[list[int], PackedBounds]] = []
        """For each loss, the places of agents that are compared together, and their bounds."""
        self._abilities: dict[type, type | None] = {}

    def alone_of(self, agents: Sequence[Agent]) -> list[tuple[Agent, BoundsGradient]]:
        """Return those of some agents that are asked one by one; `together` has the others."""
        mechanisms = [agent.mechanism for agent in agents]
        known = len(agents) == len(self._agents)
        known = known and all(map(is_, mechanisms, self._mechanisms))
        if not known or not all(map(is_, agents, self._agents)):
            self._mechanisms, self._agents = mechanisms, list(agents)
            self._sort()
        return self._alone

    def _sort(self) -> None:
        groups: dict[Loss, list[tuple[int, GradientBound]]] = {}
        self._alone = []
        for place, agent in enumerate(self._agents):
            mechanism: Any = agent.mechanism
            ability = self._ability(mechanism)
            if ability is BoundsGradient:
                self._alone.append((agent, mechanism))
            elif ability is StatesGradientBound:
                bounded = mechanism.gradient_bound()
                if bounded is None:
                    continue
                if isinstance(bounded.objective, LocalObjective):
                    groups.setdefault(bounded.objective.loss, []).append((place, bounded))
                else:
                    self._alone.append((agent, mechanism))
        self.together = [
            ([place for place, _ in group], PackedBounds([bounded for _, bounded in group]))
            for group in groups.values()
        ]

    def _ability(self, mechanism: object) -> type | None:
        """Return how a mechanism tells the bound of a gradient, None where it does not: its class is asked once."""
        kind = type(mechanism)
        if kind not in self._abilities:
            ways = (StatesGradientBound, BoundsGradient)
            self._abilities[kind] = next((w for w in ways if isinstance(mechanism, w)), None)
        return self._abilities[kind]

"""Invariants that are on in every run. A broken one is a fault of hush: it ends the run with 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.agent import DOWN, UP, Agent
from actors.events import (
    Charged,
    Crashed,
    Delivered,
    Derived,
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Lost,
    Paused,
    Proposed,
    Refused,
    Released,
    Restarted,
    Resumed,
    Sampled,
    Sent,
    Violated,
    Woke,
)
from actors.log import Log
from clocks.activation import Barrier
from mechanisms.abilities import BoundsGradient
from mechanisms.accounting.loss import tally
from scenarios.planning.plan import Plan
from scenarios.running.observers.fault_checks import FaultChecks
from scenarios.running.observers.invariants import INVARIANTS, InvariantBroken, Verdict
from scenarios.running.observers.traffic import Traffic

if TYPE_CHECKING:
    from scenarios.records.budget import Budget


_SAMPLE_OF_NODES = 64


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
        self._compared = [0] * plan.size
        """How many releases of each agent were compared with the charges that events carried."""
        self.verdicts = {name: Verdict("unknown") for name in INVARIANTS}
        self._charged = [0] * plan.seats
        self._paid: list[tuple[int, int]] = [(-1, -1)] * plan.seats
        self._ready = [-1] * plan.seats
        self._version = [-1] * plan.seats
        self.faults = FaultChecks(plan, self._break)
        self._streams = [agent.noise_stream for agent in agents]
        self._now = 0
        self.released_count = 0
        self.routes: dict[type[Event], Callable[[Any], None]] = {
            Woke: self.woke,
            Proposed: self.timed,
            Charged: self.charged,
            Refused: self.timed,
            Released: self.released,
            Derived: self.derived,
            Sent: self.sent,
            Delivered: self.delivered,
            **dict.fromkeys((Crashed, Joined, Left, Paused, Resumed), self.faults.changed),
            Restarted: self.restarted,
            FaultBegan: self.faults.begins,
            FaultEnded: self.faults.ends,
            Lost: self.lost,
            Sampled: self.sampled,
        }

    def _break(self, name: str, event: Event | None, detail: str) -> None:
        seq = None if event is None else event.seq
        self.verdicts[name] = Verdict("fail", seq, detail)
        self._log.emit(Violated, None if event is None else event.node, seq, name, detail)
        raise InvariantBroken(f"{name}: {detail}" + ("" if seq is None else f" (event {seq})"))

    def _noise_once(self, event: Event | None) -> None:
        """Check that noise that is drawn for one release is drawn for no other."""
        for node, stream in enumerate(self._streams):
            if stream.reused is not None:
                k, last = stream.reused
                detail = f"agent {node} drew the noise of release {k} after that of {last}"
                self._break("noise once", event, detail)

    def timed(self, event: Event) -> None:
        """Check that time never falls."""
        if event.t < self._now:
            self._break("time", event, f"{event.t} ns after {self._now} ns")
        self._now = event.t

    def woke(self, event: Woke) -> None:
        """Check that only agents that are up wake."""
        if event.t < self._now:
            self.timed(event)
        self._now = event.t
        faults = self.faults
        if faults.status[event.node] != UP or faults.paused:  # type: ignore[index] # an agent woke
            faults.acted(event, "woke")

    def charged(self, event: Charged) -> None:
        """Check that charges are numbered without gaps: number k is charged once."""
        node = event.node
        assert node is not None, "an agent was charged"  # noqa: S101
        if event.k != self._charged[node] or len(self._agents[node].store.ledger) != event.k + 1:
            expected = self._charged[node]
            self._break(
                "charged once",
                event,
                f"agent {node} was charged for release {event.k}, not {expected}",
            )
        self._charged[node] = event.k + 1
        self._paid[node] = event.k, event.seq

    def released(self, event: Released) -> None:
        """Check that a release follows its own charge, once."""
        node = event.node
        assert node is not None, "an agent released"  # noqa: S101
        if self._paid[node] != (event.k, event.cause):
            self._break(
                "charged before sent",
                event,
                f"release {event.k} of agent {node} has no charge of its own",
            )
        if self._streams[node].reused is not None:
            self._noise_once(event)
        self._paid[node] = -1, -1
        self.released_count += 1
        self._ready[node] = event.seq

    def derived(self, event: Derived) -> None:
        """Note that a derived message is ready to be sent."""
        self._ready[event.node] = event.seq  # type: ignore[index]

    def sent(self, event: Sent) -> None:
        """Check that a message was just released or derived, or is a resend of the last, or holds nothing."""
        node = event.node
        assert node is not None, "an agent sent"  # noqa: S101
        if self.faults.status[node] != UP or self.faults.paused:
            self.faults.acted(event, "sent")
        if event.by:
            self.faults.touched(event, event.by)
        agent = self._agents[node]
        if event.bytes and agent.outbox.outgoing is not agent.store.published:
            self._break("only releases", event, f"agent {node} sent what it had not published")
        if event.resent:
            if event.version > self._version[node]:
                self._break(
                    "only releases",
                    event,
                    f"agent {node} resent {event.version}, which it never sent",
                )
            return
        if event.bytes and event.cause != self._ready[node]:
            self._break(
                "only releases", event, f"agent {node} sent what is neither release nor derived"
            )
        self._ready[node] = -1
        self._version[node] = event.version

    def delivered(self, event: Delivered) -> None:
        """Check that the receiver was up at the arrival, and noticed the message no earlier."""
        node = event.node
        assert node is not None, "an agent received"  # noqa: S101
        if event.arrived > event.t:
            self._break("time", event, f"noticed at {event.t} ns, arrives at {event.arrived} ns")
        faults = self.faults
        if faults.status[node] != UP or event.arrived < faults.since[node]:
            self._break("silence", event, f"a message reached agent {node} while it was not up")

    def restarted(self, event: Restarted) -> None:
        """Check that the ledger after a crash is the ledger before it."""
        self.faults.changed(event)
        node = event.node
        assert node is not None, "an agent restarted"  # noqa: S101
        if event.releases != self._charged[node]:
            self._break(
                "ledger survives",
                event,
                f"agent {node} had {self._charged[node]} releases, now {event.releases}",
            )

    def lost(self, event: Lost) -> None:
        """Check that faults lose messages only in their windows."""
        if event.by:
            self.faults.touched(event, event.by)

    def sampled(self, event: Sampled) -> None:
        """Check what needs the state of every agent. Batch observers have folded all events before a sample."""
        self.timed(event)
        self._noise_once(event)
        self._same_charges(event)
        self._conserved(event)
        self._finite(event)
        self._within_budget(event)
        self._sensitive(event)

    def _conserved(self, event: Event) -> None:
        flying = sum(a.inbox.in_flight + a.outbox.links.held_count for a in self._agents)
        if flying != self._traffic.in_flight:
            self._break(
                "conservation",
                event,
                f"{flying} in flight, the sums leave {self._traffic.in_flight}",
            )

    def _same_charges(self, event: Event | None) -> None:
        """Check that the ledgers of agents are the charges that events carried.

        A sample compares the releases since the last one; not of agents that are down, which read their ledgers when
        they restart. The end, without an event, compares everything.
        """
        for i, charged in enumerate(self._budget.ledgers):
            agent = self._agents[i]
            if event is not None and agent.status == DOWN:
                continue
            ledger, first = agent.store.ledger, 0 if event is None else self._compared[i]
            if ledger.since(first) != charged.since(first):
                self._break(
                    "charged once",
                    event,
                    f"agent {i}: its ledger of {len(ledger)} releases is not that of the {len(charged)} "
                    "charges that were told",
                )
            self._compared[i] = len(ledger)

    def _finite(self, event: Event) -> None:
        for agent in self._agents:
            if not np.isfinite(agent.model).all() and not agent.diverged:
                self._break("finite", event, f"agent {agent.id} holds a model that is not finite")

    def _within_budget(self, event: Event) -> None:
        for agent in self._agents:
            cap = agent.settings.cap
            if cap is None:
                continue
            bag = agent.store.ledger.tally
            if not cap.holds(bag):
                self._break(
                    "budget",
                    event,
                    f"agent {agent.id} spent {cap.spent(bag):g} of {cap.epsilon:g}",
                )

    def _sensitive(self, event: Event) -> None:
        """Check a sample of agents: the bound in the ledger against the gradients of all records."""
        step = max(1, len(self._agents) // _SAMPLE_OF_NODES)
        for agent in self._agents[::step]:
            mechanism = agent.mechanism
            if not isinstance(mechanism, BoundsGradient) or agent.diverged:
                continue
            if not np.isfinite(agent.model).all():
                continue
            length, bound = mechanism.longest_gradient(agent.model)
            if length > bound * (1 + 1e-9):
                self._break(
                    "sensitivity",
                    event,
                    f"agent {agent.id} has a gradient of {length:g}, noise was scaled for {bound:g}",
                )

    def finish(self, *, complete: bool) -> dict[str, Verdict]:
        """Check what can be judged only at the end; what did not break passes."""
        for agent in self._agents:
            cap, ledger = agent.settings.cap, agent.store.ledger
            recomposed = tally(ledger.spends)
            if len(ledger) != self._charged[agent.id]:
                self._break(
                    "charged once",
                    None,
                    f"agent {agent.id} has {len(ledger)} spends, {self._charged[agent.id]} were told",
                )
            if cap is not None and not cap.holds(recomposed):
                self._break(
                    "budget",
                    None,
                    f"agent {agent.id} spent {cap.spent(recomposed):g} of {cap.epsilon:g}",
                )
        self._noise_once(None)
        self._same_charges(None)
        if complete and self._plan.server is None:  # a server's rounds have deadlines
            self._nobody_waits()
        for name, verdict in self.verdicts.items():
            if verdict.verdict == "unknown" and (complete or name != "nobody waits for ever"):
                verdict.verdict = "pass"
        looked = len(self._agents[:: max(1, len(self._agents) // _SAMPLE_OF_NODES)])
        if looked < len(self._agents):
            self.verdicts["sensitivity"].detail = f"sampled: {looked} of {len(self._agents)} agents"
        return self.verdicts

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

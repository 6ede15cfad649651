"""An agent at an instant, and one of its messages, in words for a person and as values for a program."""

from collections.abc import Sequence
from typing import Any

import msgspec

from actors.agent import ABSENT, DOWN, LEFT, UP
from actors.events import (
    Charged,
    Crashed,
    Derived,
    Event,
    FaultBegan,
    Joined,
    Merged,
    Proposed,
    Refused,
    Rejected,
    Released,
    Restarted,
    RoundAborted,
    RoundClosed,
    RoundOpened,
    Sent,
    Spent,
    Superseded,
    Woke,
)
from mechanisms.accounting.spend import SCALES, UNITS, Spend
from scenarios.language.json_numbers import exact_seconds, figure, number, show
from scenarios.records.agent_moment import (
    DIVERGED,
    DONE,
    PAUSED,
    SLOW,
    SPENT,
    AgentFold,
    Moment,
    Received,
    Since,
)
from scenarios.records.budget import Budget
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.sent_messages import ARRIVED, Copy, Fate, Message

LAST = 5
"""So many of the last messages are told of beside their counts; `hush explain RUN --agent I --message N` tells of each."""
_STATES = {
    UP: "up",
    DOWN: "crashed",
    LEFT: "left",
    ABSENT: "absent: it has not joined",
    DONE: "done: it made all its planned releases, and goes on without data",
    SPENT: "spent: its cap admits no further release",
    SLOW: "slow",
    PAUSED: "paused",
    DIVERGED: "diverged: what it computes is no number any more",
}
_SAMPLED = ("loss", "accuracy.test", "accuracy.train", "rmse.test", "rmse.train")
"""The metrics of an agent that come first; the others follow in the order of samples."""


def _at(instant: int) -> str:
    return f"{instant / 1e9:.6g} s"


def _event(event: Event) -> str:
    return f"event {event.seq}"


class Teller:
    """Tells of the agents of one run."""

    def __init__(self, record: RunRecord, faults: Sequence[str]) -> None:
        """Take a run, and what its scenario calls its faults."""
        self._record = record
        self._facts = record.facts
        self._faults = faults

    def name(self, agent: int) -> str:
        """Return `agent 7`, or `the server`."""
        return f"agent {agent}" if agent < self._facts.size else "the server"

    def _option(self, agent: int) -> str:
        """Return what `--agent` takes for an agent."""
        return str(agent) if agent < self._facts.size else "server"

    # an agent at an instant

    def in_words(self, moment: Moment) -> list[str]:
        """Return lines that tell of an agent at an instant."""
        manifest = self._record.manifest
        end = self._record.length
        when = "the end" if moment.instant == end else _at(moment.instant)
        who = self.name(moment.agent)
        head = (
            f"{who} ({moment.group}) at {when}"
            if moment.agent < self._facts.size
            else f"{who} at {when}"
        )
        lines = [
            f"{head} · {manifest['scenario']} · seed {manifest['seed']} · "
            f"{self._record.ended} at {_at(end)}; {moment.seq:,} events until then",
            "",
        ]
        for place, since in enumerate(moment.states):
            lines.append(f"  {'state' if not place else '':<10} {self._since(since)}")
        lines += self._accounts(moment)
        lines += self._sample(moment)
        lines += self._neighbours(moment)
        lines += self._sent(moment)
        lines += self._received(moment)
        return lines

    def _since(self, since: Since) -> str:
        words, event = _STATES[since.state], since.event
        if event is None:
            return f"{words}, from the start"
        told = f"{words}, since {_at(event.t)} ({_event(event)}{self._detail(event)})"
        cause = since.cause
        if isinstance(cause, FaultBegan):
            until = f", until {_at(cause.until)}" if cause.until >= 0 else ""
            told += f": {self._fault(cause.fault)} began at {_at(cause.t)} ({_event(cause)}){until}"
        return told

    @staticmethod
    def _detail(event: Event) -> str:
        """Return what an event says of a change of state, beyond its kind."""
        if isinstance(event, Crashed):
            return f", lost {event.lost}"
        if isinstance(event, Restarted):
            return f", restarted with {event.releases} releases in its ledger"
        if isinstance(event, Spent):
            return f", {event.reason}"
        return ", joined" if isinstance(event, Joined) else ""

    def _fault(self, fault: int) -> str:
        named = self._faults[fault] if 0 <= fault < len(self._faults) else "?"
        return f"fault {fault}, {named},"

    def _accounts(self, moment: Moment) -> list[str]:
        made = moment.counts
        accounts = moment.accounts
        if accounts is None:
            return ["  ε          a server has no data and no ledger"]
        cap = "no cap" if accounts.cap is None else f"of a cap of {show(accounts.cap)}"
        terms = f"{accounts.view} view, δ = {accounts.delta:g}, accountant: {accounts.accountant}"
        if not made["charged"]:
            terms = f"{accounts.view} view, δ = {accounts.delta:g}: nothing was released yet"
        lines = [f"  ε          {show(accounts.epsilon)} {cap}   ({terms})"]
        if accounts.left is not None:
            lines.append(
                f"             {accounts.left:.4f} is left, as the filter of the cap counts"
            )
        if not accounts.covered:
            lines.append("             NOT COVERED: hush show RUN says why")
        planned = "" if accounts.planned is None else f" of {accounts.planned:,} planned"
        lines.append(
            f"  releases   {made['charged']:,} charged{planned}, {made['refused']:,} refused; "
            f"{made['derived']:,} derived messages (free); {made['wakes']:,} wakes"
        )
        return lines

    def _sample(self, moment: Moment) -> list[str]:
        if moment.sample is None:
            return ["  sample     none was taken until then"]
        if not moment.values:
            return []
        at = f"{_at(moment.sample.t)} ({_event(moment.sample)})"
        first = [name for name in _SAMPLED if name in moment.values]
        rest = [name for name in moment.values if name not in first]
        lines = [
            f"  sample     the last one, at {at}; losses and scores are an oracle's, not released"
        ]
        for name in (*first, *rest):
            value = moment.values[name]
            lines.append(f"             {name} {'—' if value is None else show(number(value))}")
        return lines

    def _neighbours(self, moment: Moment) -> list[str]:
        near = moment.neighbours
        if not near:
            return ["  neighbours none"]
        listed = ", ".join(
            (str(j) if j < self._facts.size else "server")
            + ("" if status == UP else f" ({_STATES[status].partition(':')[0]})")
            for j, status in near.items()
        )
        return [f"  neighbours {len(near)}: {listed}"]

    def _sent(self, moment: Moment) -> list[str]:
        messages = moment.sent.messages
        if not messages:
            return ["  sent       nothing"]
        copies = list(moment.sent.copies())
        lines = [
            f"  sent       {len(messages):,} messages, {len(copies):,} copies: {_counted(copies)}"
        ]
        if len(messages) > LAST:
            lines.append(
                f"             the last {LAST}; hush explain {self._record.path} --agent {self._option(moment.agent)} --message N tells of each"
            )
        lines += [f"             {self._message(message)}" for message in messages[-LAST:]]
        return lines

    def _message(self, message: Message) -> str:
        return (
            f"message {message.number}, {_carried(message)}, at {_at(message.event.t)} "
            f"({_event(message.event)}): {_counted(message.copies)}"
        )

    def _received(self, moment: Moment) -> list[str]:
        received = moment.received
        arrived = sum(not isinstance(one.event, Rejected) for one in received)
        head = f"  received   {arrived:,} arrived, {len(received) - arrived:,} rejected, {moment.coming:,} on the way or not looked at"
        lines = [head] if received or moment.coming else ["  received   nothing"]
        return lines + [f"             {self._taken(one)}" for one in received[-LAST:]]

    def _taken(self, one: Received) -> str:
        event = one.event
        sender = self.name(event.sender)
        told = f"version {event.version} of {sender}, arrived at {_at(event.arrived)}, looked at {_at(event.t)} ({_event(event)}): "
        if isinstance(event, Rejected):
            return told + f"rejected ({event.reason or 'it was not up'})"
        became = one.became
        if isinstance(became, Merged):
            return told + f"merged at {_at(became.t)} ({_event(became)})"
        if isinstance(became, Superseded):
            return told + f"never read: a newer one of {sender} was there ({_event(became)})"
        return told + "not acted upon"

    def as_tree(self, moment: Moment) -> dict[str, Any]:
        """Return the same as plain values: instants in seconds, events in full."""
        accounts = moment.accounts
        return {
            "agent": moment.agent,
            "group": moment.group,
            "t": moment.instant / 1e9,
            "end_s": self._record.length / 1e9,
            "events": moment.seq,
            "state": moment.state,
            "states": [
                {
                    "state": since.state,
                    "since": 0.0 if since.event is None else since.event.t / 1e9,
                    "event": _plain(since.event),
                    "cause": _plain(since.cause),
                }
                for since in moment.states
            ],
            "epsilon": None
            if accounts is None
            else {
                "value": figure(accounts.epsilon),
                "view": accounts.view,
                "delta": accounts.delta,
                "accountant": accounts.accountant,
                "cap": accounts.cap,
                "left": accounts.left,
                "planned_releases": accounts.planned,
                "covered": accounts.covered,
            },
            **moment.counts,
            "sample": None
            if moment.sample is None
            else {
                "t": moment.sample.t / 1e9,
                "seq": moment.sample.seq,
                "values": moment.values,
            },
            "neighbours": [
                {"agent": j, "state": status} for j, status in moment.neighbours.items()
            ],
            "sent": {
                "messages": len(moment.sent.messages),
                "copies": _totals(list(moment.sent.copies())),
                "last": [self._message_tree(message) for message in moment.sent.messages[-LAST:]],
            },
            "received": {
                "arrived": sum(not isinstance(one.event, Rejected) for one in moment.received),
                "rejected": sum(isinstance(one.event, Rejected) for one in moment.received),
                "coming": moment.coming,
                "last": [
                    {
                        "event": _plain(one.event),
                        "sent": _plain(one.sent),
                        "became": _plain(one.became),
                    }
                    for one in moment.received[-LAST:]
                ],
            },
        }

    def _message_tree(self, message: Message) -> dict[str, Any]:
        return {
            "number": message.number,
            "release": message.release,
            "derived": message.derived,
            "event": _plain(message.event),
            "counts": _totals(message.copies),
            "copies": [
                {
                    "receiver": copy.receiver,
                    "fate": copy.fate.value,
                    "due_s": None if copy.due is None else copy.due / 1e9,
                    "arrived_s": None if copy.arrived is None else copy.arrived / 1e9,
                    "decided_s": None if copy.decided_at is None else copy.decided_at / 1e9,
                    "decided_by": copy.decided_by,
                    "duplicate": copy.doubled,
                    "held": copy.held,
                    "reason": copy.reason or None,
                    "faults": list(copy.faults),
                }
                for copy in message.copies
            ],
        }

    # one message

    def message_of(self, fold: AgentFold, number: int) -> Message:
        """Return a message by its number, counted from 1; raise `FolderError` where there is none."""
        messages = fold.sent.messages
        if not 1 <= number <= len(messages):
            who = f"{self._record.path}: {self.name(fold.agent)}"
            sent = f"messages 1 to {len(messages)}" if messages else "no message"
            raise FolderError(f"{who} sent {sent}; there is no message {number}")
        return messages[number - 1]

    def release_of(self, fold: AgentFold, release: int) -> Message:
        """Return the message that carried a release, as ledgers number it; raise `FolderError` where there is none."""
        for message in fold.sent.messages:
            if message.release == release:
                return message
        made = len(fold.spends)
        who = f"{self._record.path}: {self.name(fold.agent)}"
        if 0 <= release < made:
            raise FolderError(f"{who} was charged for release {release}, and never sent it")
        said = f"made releases 0 to {made - 1}" if made else "made no release"
        raise FolderError(f"{who} {said}; there is no release {release}")

    def message_in_words(self, fold: AgentFold, message: Message) -> list[str]:
        """Return lines that tell why a message was sent, what it cost, and what became of each copy."""
        event = message.event
        manifest = self._record.manifest
        lines = [
            f"message {message.number} of {len(fold.sent.messages)} of {self.name(fold.agent)} · "
            f"{manifest['scenario']} · seed {manifest['seed']}",
            "",
            f"  sent       at {_at(event.t)} ({_event(event)}): {_carried(message)}, version {event.version}, "
            f"{event.bytes:,} bytes to {_receivers(len(event.to))}",
        ]
        lines += self._why(fold, message)
        lines += self._cost(fold, message)
        lines.append(f"  copies     {_counted(message.copies)}")
        room = max((len(self.name(copy.receiver)) for copy in message.copies), default=0)
        for copy in sorted(message.copies, key=lambda one: (one.receiver, one.doubled)):
            lines.append(f"    {self.name(copy.receiver):<{room}}  {self._fate(copy, event)}")
        if event.by:
            faults = "; ".join(f"{self._fault(number).rstrip(',')}" for number in event.by)
            lines.append(f"  faults     that touched some of the copies: {faults}")
        return lines

    def _why(self, fold: AgentFold, message: Message) -> list[str]:
        """Return the chain from a message back to a wake, and what was merged there."""
        lines, at, passed = list[str](), message.event.cause, set[int]()
        while at is not None and at not in passed:
            passed.add(at)
            event = fold.own.get(at)
            if event is None:
                began = fold.faults.get(at)
                known = f"{self._fault(began.fault)} began" if began else "see"
                lines.append(
                    f"  because    {known} event {at} (hush explain {self._record.path} {at})"
                )
                break
            lines.append(f"  because    it {_did(event)} at {_at(event.t)} ({_event(event)})")
            if isinstance(event, Woke):
                lines += self._heard(fold, event)
            at = event.cause
        return lines or ["  because    its record names no cause"]

    def _heard(self, fold: AgentFold, woke: Woke) -> list[str]:
        """Return what an agent merged at a wake."""
        merged = [e for e in fold.own.values() if isinstance(e, Merged) and e.cause == woke.seq]
        pairs = [
            f"{self.name(sender)} version {version}"
            for event in merged
            for sender, version in zip(event.senders, event.versions, strict=True)
        ]
        return [f"             having merged {len(pairs)}: {', '.join(pairs)}"] if pairs else []

    def cost_of(self, fold: AgentFold, message: Message) -> dict[str, Any] | None:
        """Return what a release cost, with its unit, and ε before and after it; None where it was free."""
        k = message.release
        if k is None or k >= len(fold.spends):
            return None
        spend, facts = fold.spends[k], self._facts
        budget = Budget(fold.plan, live=facts.numerical)
        before = 0.0
        for place, each in enumerate(fold.spends[: k + 1]):
            if place == k:
                before = budget.stated(fold.agent)[0] if k else 0.0
            budget.charge(fold.agent, each)
        after, accountant = budget.stated(fold.agent)
        return {
            "release": k,
            "law": spend.law,
            "unit": UNITS.get(spend.law, "epsilon"),
            "charged": figure(spend.charged),
            "claimed": figure(spend.claimed),
            "scale": spend.scale,
            "scale_is": SCALES.get(spend.law, ""),
            "sensitivity": figure(spend.sensitivity),
            "alone": figure(float(budget.per_release()[fold.agent])),
            "before": figure(before),
            "after": figure(after),
            "view": facts.view,
            "delta": fold.plan.nodes[fold.agent].delta,
            "accountant": accountant,
            "cap": facts.cap_of(fold.agent),
        }

    def _cost(self, fold: AgentFold, message: Message) -> list[str]:
        cost = self.cost_of(fold, message)
        if cost is None:
            if message.event.resent:
                why = (
                    "the same bits as before: nothing is computed, and nothing leaves that did not"
                )
            elif message.derived:
                why = "a function of what was released and heard before"
            else:
                why = "it carries no release"
            return [f"  cost       free: {why}"]
        spend = fold.spends[cost["release"]]
        terms = f"{cost['view']} view, δ = {cost['delta']:g}, accountant: {cost['accountant']}"
        cap = "" if cost["cap"] is None else f" of a cap of {show(cost['cap'])}"
        lines = [f"  cost       {_charge(spend)}"]
        if cost["unit"] == "mu":
            lines.append(
                f"             alone that is ε = {show(number(cost['alone']))}   ({terms})"
            )
        lines.append(
            f"  ledger     ε = {show(number(cost['before']))} before it, {show(number(cost['after']))} after it{cap}   ({terms})"
        )
        return lines

    def _fate(self, copy: Copy, sent: Sent) -> str:
        kind = "a second copy, " if copy.doubled else ""
        match copy.fate:
            case Fate.LOST:
                faults = ", ".join(self._fault(number).rstrip(",") for number in copy.faults)
                return f"{kind}lost on the way{f' by {faults}' if faults else ', by the link'} (event {copy.decided_by})"
            case Fate.REJECTED:
                return f"{kind}rejected at {_at(copy.decided_at or 0)}: {copy.reason} (event {copy.decided_by})"
            case Fate.ON_THE_WAY if copy.held:
                return f"{kind}held by a fault, and not let go"
            case Fate.ON_THE_WAY:
                due = "" if copy.due is None else f", to arrive at {_at(copy.due)}"
                return f"{kind}on the way{due}; its receiver has not looked"
        taken = 0 if copy.arrived is None else copy.arrived - sent.t
        arrived = f"{kind}arrived after {exact_seconds(max(0, round(taken, -3)))} s"
        match copy.fate:
            case Fate.MERGED:
                return f"{arrived}, merged at {_at(copy.decided_at or 0)} (event {copy.decided_by})"
            case Fate.SUPERSEDED:
                return f"{arrived}, never read: a newer one was there (event {copy.decided_by})"
            case Fate.FORGOTTEN:
                return f"{arrived}, never read: its receiver crashed at {_at(copy.decided_at or 0)} (event {copy.decided_by})"
            case Fate.WAITING:
                return f"{arrived}, not acted upon (looked at by event {copy.decided_by})"
        raise NotImplementedError(f"nothing is written of {copy.fate}")

    def message_tree(self, fold: AgentFold, message: Message) -> dict[str, Any]:
        """Return the same as plain values."""
        causes, at, passed = list[Any](), message.event.cause, set[int]()
        while at is not None and at in fold.own and at not in passed:
            passed.add(at)
            causes.append(_plain(fold.own[at]))
            at = fold.own[at].cause
        return {
            "agent": fold.agent,
            **self._message_tree(message),
            "of": len(fold.sent.messages),
            "causes": causes,
            "cost": self.cost_of(fold, message),
        }


def _receivers(count: int) -> str:
    return "its one receiver" if count == 1 else f"each of {count} receivers"


def _did(event: Event) -> str:
    """Return what an agent did at an event of its own, in the past tense."""
    if isinstance(event, Released):
        return f"drew the noise of release {event.k}, and had it ready"
    if isinstance(event, Charged):
        return f"was charged for release {event.k}"
    if isinstance(event, Proposed | Refused):
        return f"{event.__struct_config__.tag} release {event.k}"
    if isinstance(event, RoundOpened | RoundClosed | RoundAborted):
        return f"{str(event.__struct_config__.tag).removeprefix('round_')} round {event.round}"
    if isinstance(event, Derived):
        return "made a vector of what was released and heard"
    if isinstance(event, Merged):
        return "merged what it had heard"
    return str(event.__struct_config__.tag)


def _carried(message: Message) -> str:
    if message.event.resent:
        return "the bits of before, sent again"
    if message.release is not None:
        return f"release {message.release}"
    return "a derived message" if message.derived else "a message without a release"


def _charge(spend: Spend) -> str:
    if spend.law == "none":
        return "ε = ∞: a release without noise"
    unit = "μ" if UNITS.get(spend.law) == "mu" else "ε"
    claim = (
        ""
        if abs(spend.charged - spend.claimed) <= 1e-4 * abs(spend.charged)
        else f"; its calibration claims {unit} = {show(spend.claimed)}"
    )
    return (
        f"{unit} = {show(spend.charged)}: {spend.law} noise of scale {show(spend.scale)} ({SCALES[spend.law]}), "
        f"sensitivity {show(spend.sensitivity)}{claim}"
    )


def _totals(copies: Sequence[Copy]) -> dict[str, int]:
    """Count copies: what arrived, was lost, rejected and is on the way add up to all of them."""
    fates = [copy.fate for copy in copies]
    return {
        "copies": len(copies),
        "arrived": sum(fate in ARRIVED for fate in fates),
        "lost": fates.count(Fate.LOST),
        "rejected": fates.count(Fate.REJECTED),
        "on_the_way": fates.count(Fate.ON_THE_WAY),
        "merged": fates.count(Fate.MERGED),
        "superseded": fates.count(Fate.SUPERSEDED),
    }


def _counted(copies: Sequence[Copy]) -> str:
    """Return `13 arrived (9 merged, 4 superseded), 0 lost`, and what else became of copies."""
    counts = _totals(copies)
    read = f" ({counts['merged']:,} merged, {counts['superseded']:,} superseded)"
    told = (
        f"{counts['arrived']:,} arrived{read if counts['arrived'] else ''}, {counts['lost']:,} lost"
    )
    if counts["rejected"]:
        told += f", {counts['rejected']:,} rejected"
    if counts["on_the_way"]:
        told += f", {counts['on_the_way']:,} on the way"
    return told


def _plain(event: Event | None) -> Any:
    return None if event is None else msgspec.to_builtins(event)

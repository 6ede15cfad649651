"""What an event is in words: a phrase where many events stand in lines, a sentence where one event is explained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import msgspec

from actors import events
from actors.events import KINDS, Event
from scenarios.language.json_numbers import folded, number, show, without_dust
from scenarios.records.proven_releases import MADE

Name = Callable[[int], str]
"""Names an agent, or the server, by its number."""
_ANY: Any = Union[KINDS]  # noqa: UP007 # a tuple
_METRICS = ("loss", "accuracy.test", "rmse.test", "gap", "epsilon", "releases", "nodes.up")
_LAST_RELEASE = {
    "planned": "all planned releases made",
    "cap": "no budget for more",
    "storage": "its disk is not trusted",
}


def phrase(event: Event, name: Name) -> str:
    """Return what an event says beyond its time, its kind and its agent; nothing where that is all."""
    return PHRASES[type(event)](event, name)


def kind_of(event: Event) -> str:
    """Return the kind of an event, as it stands in the files."""
    return str(event.__struct_config__.tag)


def _few(ids: Sequence[int], name: Name, most: int) -> str:
    return ",".join(map(name, ids[:most])) + ("…" if len(ids) > most else "")


def _arrival(event: events.Delivered | events.Rejected, name: Name) -> str:
    age = (event.t - event.arrived) / 1e6
    late = f" noticed {age:.0f}ms later" if age >= 1 else ""
    return f"←{name(event.sender)} #{event.version}{late}"


def _merging(event: events.Merged, name: Name) -> str:
    pairs = list(zip(event.senders, event.versions, strict=True))[:5]
    return "took over " + ", ".join(f"{name(sender)}#{version}" for sender, version in pairs)


def _fault(event: events.FaultBegan | events.FaultEnded, name: Name) -> str:
    return f"#{event.fault} {event.action} {_few(event.targets, name, 8)}"


def _refusal(event: events.Refused, _: Name) -> str:
    if event.spent is None or event.cap is None:
        return f"release {event.k}: all planned ones are made"
    return f"release {event.k} would cost {event.charged}: ε {event.spent:.4g} of {event.cap:g} is spent"


def _cost(event: events.Proposed | events.Charged, _: Name) -> str:
    return f"release {event.k}: costs {event.charged}"


def _nothing(_event: Event, _: Name) -> str:
    return ""


PHRASES: dict[type[Event], Callable[[Any, Name], str]] = {
    **dict.fromkeys(
        (
            events.Started,
            events.Woke,
            events.Joined,
            events.Left,
            events.Paused,
            events.Resumed,
            events.Diverged,
            events.Sampled,
        ),
        _nothing,
    ),
    events.Proposed: _cost,
    events.Charged: _cost,
    events.Refused: _refusal,
    events.Released: lambda e, _: f"release {e.k}",
    events.Derived: lambda e, _: f"#{e.version}, free",
    events.Sent: lambda e, name: (
        f"→{_few(e.to, name, 6)} #{e.version}{' again' if e.resent else ''}"
    ),
    events.Delivered: _arrival,
    events.Rejected: _arrival,
    events.Superseded: lambda e, name: f"←{name(e.sender)} #{e.version} never read",
    events.Lost: lambda e, name: f"→{name(e.receiver)} #{e.version}",
    events.Duplicated: lambda e, name: f"→{name(e.receiver)} #{e.version}",
    events.Merged: _merging,
    events.Crashed: lambda e, _: f"lost {e.lost}",
    events.Restarted: lambda e, _: f"ledger intact: {e.releases} releases",
    events.FaultBegan: _fault,
    events.FaultEnded: _fault,
    events.Spent: lambda e, _: _LAST_RELEASE.get(e.reason, e.reason),
    events.RoundOpened: lambda e, _: f"{e.round}: asked {len(e.asked)}",
    events.RoundClosed: lambda e, _: f"{e.round}: {len(e.survivors)} answered",
    events.RoundAborted: lambda e, _: f"{e.round}: {e.reason}",
    events.Violated: lambda e, _: f"{e.invariant}: {e.detail}",
    events.Finished: lambda e, _: e.reason,
}
"""One for each kind."""


@dataclass(frozen=True, slots=True)
class Background:
    """What a sentence may need besides the event."""

    faults: Sequence[str] = ()
    """Names of the scenario's faults."""
    spend: Mapping[str, Any] | None = None
    """The line of the ledger that belongs to a charge; None where there is none."""
    in_full: bool = False
    """Whether every receiver of a message is named; else of many only how many there are, and what lists them."""


def sentence(recorded: Mapping[str, Any], background: Background) -> str:
    """Return in full what an agent did, or what happened to it, from an event as it stands in the files."""
    event = msgspec.convert(recorded, _ANY)
    words = _SENTENCES.get(type(event))
    return _fields(recorded) if words is None else words(event, background)


_FEW = 8
"""So many receivers are named where a sending is not the event that was asked for."""


def _fields(recorded: Mapping[str, Any]) -> str:
    skipped = {"seq", "t", "kind", "node", "cause", "late_ns", "values"}
    more = ", ".join(f"{k} {v}" for k, v in recorded.items() if k not in skipped)
    return f"{recorded['kind']} ({more})" if more else str(recorded["kind"])


def _refused(event: events.Refused, _: Background) -> str:
    if event.spent is None or event.cap is None:
        return f"refused release {event.k}: all planned ones are made"
    return f"refused release {event.k}: {show(event.spent)} of {show(event.cap)} were spent"


def _arrived(event: events.Delivered | events.Rejected, _: Background) -> str:
    verb = "got" if isinstance(event, events.Delivered) else "rejected"
    why = f" ({event.reason})" if isinstance(event, events.Rejected) and event.reason else ""
    what = f"{verb} version {event.version} of agent {event.sender}"
    return f"{what}, which arrived at {show(event.arrived / 1e9)} s{why}"


def _merged(event: events.Merged, _: Background) -> str:
    pairs = zip(event.senders, event.versions, strict=True)
    return "merged what it had heard of " + ", ".join(f"{s} (version {v})" for s, v in pairs)


def _changed(event: events.FaultBegan | events.FaultEnded, background: Background) -> str:
    known = event.fault < len(background.faults)
    name = background.faults[event.fault] if known else event.action
    change = f"is undone: {event.action}" if isinstance(event, events.FaultEnded) else "began"
    return f"fault {event.fault} ({name}) {change} for {list(event.targets)}"


def _sampled(event: events.Sampled, _: Background) -> str:
    means = {name: folded(value) for name, value in event.values.items()}
    shown = [
        f"{name} {show(without_dust(means[name], name))}" for name in _METRICS if name in means
    ]
    return f"an oracle looked: {', '.join(shown)}"


def _sent(event: events.Sent, background: Background) -> str:
    again = " once more" if event.resent else ""
    ways = []
    for to, arrives in zip(event.to, event.arrives, strict=True):
        fate = {-1: "lost", -2: "held"}.get(arrives) or f"{show((arrives - event.t) / 1e9)} s"
        ways.append(f"{to}: {fate}")
    where = ", ".join(ways)
    if len(ways) > _FEW and not background.in_full:
        lost = sum(arrives == -1 for arrives in event.arrives)
        where = f"{len(ways)} receivers, {lost} of them lost; explain {event.seq} names each"
    return f"sent version {event.version}{again} ({event.bytes} bytes) to {where}{_by(event.by)}"


def _by(faults: Sequence[int]) -> str:
    return f", by fault {', '.join(map(str, faults))}" if faults else ""


def _spend(line: Mapping[str, Any] | None) -> str:
    """Return what a charge cost, by its line of the ledger."""
    if line is None:
        return ""
    charged = show(number(line["charged"]))
    if MADE in line:
        return f": {charged}, by this event: the ledger does not say it"
    if line.get("law") == "none":
        return f", without noise: {charged}"
    return (
        f": {charged} ({line.get('law', '?')} noise of scale {show(number(line['scale']))}, "
        f"sensitivity {show(number(line['sensitivity']))})"
    )


_SENTENCES: dict[type[Event], Callable[[Any, Background], str]] = {
    events.Proposed: lambda e, _: f"proposed release {e.k}, for {show(number(e.charged))}",
    events.Charged: lambda e, background: (
        f"was charged for release {e.k}{_spend(background.spend)}"
    ),
    events.Released: lambda e, _: f"drew the noise of release {e.k}, solved, and had it ready",
    events.Refused: _refused,
    events.Sent: _sent,
    events.Lost: lambda e, _: (
        f"lost version {e.version} on its way to agent {e.receiver}{_by(e.by)}"
    ),
    events.Delivered: _arrived,
    events.Rejected: _arrived,
    events.Merged: _merged,
    events.FaultBegan: _changed,
    events.FaultEnded: _changed,
    events.Sampled: _sampled,
}
"""Of the other kinds, their fields say all there is."""

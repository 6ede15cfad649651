"""Wakes, messages and absences of a few agents within a window of time, from the events; data only."""

from dataclasses import dataclass, field

from actors.events import (
    Crashed,
    Diverged,
    Event,
    Joined,
    Left,
    Paused,
    Refused,
    Released,
    Restarted,
    Resumed,
    Sent,
    Spent,
    Woke,
)
from scenarios.records.reader import RunRecord

_WAKES, _MESSAGES = 120, 160
"""A window ends where it would hold more."""
_GOES, _COMES = (Crashed, Left, Paused), (Joined, Restarted, Resumed)


@dataclass(frozen=True, slots=True)
class Way:
    """One message to one receiver, in seconds; `arrives` is None where it was lost, or held by a fault."""

    sender: int
    receiver: int
    leaves: float
    arrives: float | None


@dataclass
class Timeline:
    """What some agents did from `begins` to `ends`, in seconds."""

    agents: range
    begins: float
    ends: float
    wakes: list[tuple[float, int]] = field(default_factory=list)
    releases: list[tuple[float, int]] = field(default_factory=list)
    exhausted: list[tuple[float, int]] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    away: list[tuple[int, float, float]] = field(default_factory=list)
    """An agent, and from when to when it was not up."""
    cut_short: bool = False
    """Whether the window ends before the run does, because it holds enough."""


def timeline_of(record: RunRecord, agents: range, begins: float, end: float) -> Timeline:
    """Return what happened to `agents` (consecutive ids) from `begins` on, until `end` or until the window is full."""
    line = Timeline(agents, begins, end)
    gone = {i: 0.0 for i in record.facts.absent if i in agents}
    for event in record.typed_events():
        t = event.t / 1e9
        if t > end:
            break
        if len(line.wakes) >= _WAKES or len(line.ways) >= _MESSAGES:
            line.cut_short, line.ends = True, t
            break
        if event.node is not None and event.node in agents:
            _follow(line, gone, event, t)
    line.away += [(i, max(since, begins), line.ends) for i, since in sorted(gone.items())]
    return line


def _follow(line: Timeline, gone: dict[int, float], event: Event, t: float) -> None:
    node = event.node
    assert node is not None  # noqa: S101 # asked only of events of an agent
    if isinstance(event, _GOES):
        gone.setdefault(node, t)
    elif isinstance(event, _COMES) and node in gone:
        since = gone.pop(node)
        if t > line.begins:
            line.away.append((node, max(since, line.begins), t))
    if t < line.begins:
        return
    match event:
        case Woke():
            line.wakes.append((t, node))
        case Released():
            line.releases.append((t, node))
        case Spent() | Refused() | Diverged():
            line.exhausted.append((t, node))
        case Sent():
            for receiver, arrives in zip(event.to, event.arrives, strict=True):
                if receiver in line.agents:
                    at = arrives / 1e9 if arrives >= 0 else None
                    line.ways.append(Way(node, receiver, t, at))

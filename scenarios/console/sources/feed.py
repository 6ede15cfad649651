"""Events as lines of a feed, and which of them are shown."""

import math
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from actors.conditions import FIELDS, NAMES, Condition, NoCondition, read_condition
from actors.events import (
    KINDS,
    Charged,
    Crashed,
    Delivered,
    Derived,
    Diverged,
    Duplicated,
    Event,
    FaultBegan,
    FaultEnded,
    Finished,
    Joined,
    Left,
    Lost,
    Merged,
    Paused,
    Proposed,
    Refused,
    Rejected,
    Released,
    Restarted,
    Resumed,
    RoundAborted,
    RoundClosed,
    RoundOpened,
    Sampled,
    Sent,
    Spent,
    Superseded,
    Violated,
)
from scenarios.console.drawing.styled_text import BAD, DIM, GOOD, PLAIN, WARN, plain, seat
from scenarios.console.sources.source import Source
from scenarios.console.sources.state import NOTABLE
from scenarios.language.problems import nearest
from scenarios.planning.metric_names import is_known, known_names

Name = Callable[[int], str]
_STYLES: dict[type[Event], str] = {
    **dict.fromkeys((Crashed, Lost, Rejected, Diverged, Violated, RoundAborted), BAD),
    **dict.fromkeys((Refused, Spent, FaultBegan, Paused), WARN),
    **dict.fromkeys((Joined, Restarted, Resumed, FaultEnded, Released), GOOD),
    **dict.fromkeys((Sampled, Superseded, Proposed, Charged), DIM),
}


def tell(event: Event, size: int, *, paid: bool = False) -> tuple[str, str]:
    """Tell one event of so many agents in a line, with its style; and whether what it is about was paid for."""
    kind = type(event)
    words = _TOLD.get(kind)
    said = "" if words is None else words(event, lambda i: seat(i, size))
    node = "" if event.node is None else f"{seat(event.node, size)} "
    said += " charged ✓" if paid else ""
    text = f"{event.t / 1e9:9.3f} {kind.__struct_config__.tag!s:<11} {node}{said}"
    return plain(text.rstrip()), _STYLES.get(kind, PLAIN)


def told(event: Event, source: Source) -> tuple[str, str]:
    """Tell one event of a run: of what was lost, whether it was paid for."""
    paid = isinstance(event, Lost) and source.is_paid(event.node or 0, event.version)
    return tell(event, source.facts.size, paid=paid)


def upcoming(found: Event | float | None, size: int) -> str:
    """Tell what is next: an event, where it is known, else when something will be."""
    if isinstance(found, Event):
        return f"▸ {tell(found, size)[0].lstrip()}"
    return "" if found is None or math.isinf(found) else f"▸ {found / 1e9:.3f} is next"


def _listed(ids: Sequence[int], name: Name, most: int) -> str:
    return ",".join(map(name, ids[:most])) + ("…" if len(ids) > most else "")


def _sent(event: Sent, name: Name) -> str:
    return f"→{_listed(event.to, name, 6)} #{event.version}" + (" again" if event.resent else "")


def _arrived(event: Delivered | Rejected, name: Name) -> str:
    age = (event.t - event.arrived) / 1e6
    said = f"←{name(event.sender)} #{event.version}"
    return said + (f" noticed {age:.0f}ms later" if age >= 1 else "")


def _merged(event: Merged, name: Name) -> str:
    pairs = islice(zip(event.senders, event.versions, strict=True), 5)
    return "took over " + ", ".join(f"{name(sender)}#{version}" for sender, version in pairs)


def _fault(event: FaultBegan | FaultEnded, name: Name) -> str:
    return f"#{event.fault} {event.action} {_listed(event.targets, name, 8)}"


def _cost(event: Proposed | Charged, _: Name) -> str:
    return f"release {event.k}: costs {event.charged}"


def _refused(event: Refused, _: Name) -> str:
    if event.spent is None or event.cap is None:
        return f"release {event.k}: all planned ones are made"
    return f"release {event.k} would cost {event.charged}: ε {event.spent:.4g} of {event.cap:g} is spent"


_SPENT = {
    "planned": "planned releases are made",
    "cap": "no budget for more",
    "storage": "its disk is not trusted",
}
_TOLD: dict[type[Event], Callable[[Any, Name], str]] = {
    Sent: _sent,
    Delivered: _arrived,
    Rejected: _arrived,
    Merged: _merged,
    FaultBegan: _fault,
    FaultEnded: _fault,
    Proposed: _cost,
    Charged: _cost,
    Refused: _refused,
    Superseded: lambda e, name: f"←{name(e.sender)} #{e.version} never read",
    Lost: lambda e, name: f"→{name(e.receiver)} #{e.version}",
    Duplicated: lambda e, name: f"→{name(e.receiver)} #{e.version}",
    Released: lambda e, _: f"release {e.k}",
    Derived: lambda e, _: f"#{e.version}, free",
    Spent: lambda e, _: _SPENT.get(e.reason, e.reason),
    Crashed: lambda e, _: f"lost {e.lost}",
    Restarted: lambda e, _: f"ledger intact: {e.releases} releases",
    RoundOpened: lambda e, _: f"{e.round}: asked {len(e.asked)}",
    RoundClosed: lambda e, _: f"{e.round}: {len(e.survivors)} answered",
    RoundAborted: lambda e, _: f"{e.round}: {e.reason}",
    Violated: lambda e, _: f"{e.invariant}: {e.detail}",
    Finished: lambda e, _: e.reason,
}


def condition_of(text: str) -> Condition:
    """Read a condition on events and metrics; a name that neither has is refused."""
    condition = read_condition(text)
    unknown = sorted(name for name in condition.metrics if not is_known(name, ()))
    if unknown:
        hint = nearest(unknown[0], [*FIELDS, *known_names(())])
        raise NoCondition(f"no field of events and no metric is named {unknown[0]!r}; {hint}")
    return condition


class Filter:
    """Which events are shown: `all`, `notable`, names of kinds, or a condition."""

    def __init__(self, text: str) -> None:
        self.text = text.strip() or "all"
        self._condition: Condition | None = None
        self._kinds: frozenset[type[Event]] | None = None
        if self.text == "all":
            return
        names = [word.strip() for word in self.text.split(",")]
        if self.text == "notable":
            self._kinds = frozenset(NOTABLE)
        elif all(name in _SHORT for name in names):
            self._kinds = frozenset(kind for name in names for kind in _SHORT[name])
        elif all(name.replace("_", "").isalpha() for name in names):
            wrong = next(name for name in names if name not in _SHORT)
            raise NoCondition(f"no event is of kind {wrong!r}; {nearest(wrong, _SHORT)}")
        else:
            self._condition = condition_of(self.text)

    @property
    def condition(self) -> Condition:
        """The same as a condition on one event."""
        if self._condition is not None:
            return self._condition
        kinds = KINDS if self._kinds is None else tuple(k for k in KINDS if k in self._kinds)
        return Condition(self.text, lambda _: True, frozenset({"kind"}), kinds)

    def passes(self, event: Event, source: Source) -> bool:
        """Whether an event is shown."""
        if self._condition is not None:
            return type(event) in self._condition.kinds and source.holds(self._condition, event)
        return self._kinds is None or type(event) in self._kinds

    def last(self, source: Source, count: int) -> list[Event]:
        """Return the last events that are shown, the newest last."""
        rare = set(self.condition.kinds) <= set(NOTABLE)
        events = reversed(source.run_state.notable if rare else source.run_state.recent)
        return list(islice((e for e in events if self.passes(e, source)), count))[::-1]


def _kinds_by_name() -> dict[str, tuple[type[Event], ...]]:
    found: dict[str, tuple[type[Event], ...]] = {
        name: (kind,) for name, kind in zip(NAMES, KINDS, strict=True)
    }
    return found | {
        "all": KINDS,
        "notable": NOTABLE,
        "fault": (FaultBegan, FaultEnded),
        "round": (RoundOpened, RoundClosed, RoundAborted),
        "members": (Joined, Left, Crashed, Restarted, Paused, Resumed),
    }


_SHORT = _kinds_by_name()
WORDS = tuple(_SHORT)

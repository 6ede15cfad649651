"""Events as lines of a feed, and which of them are shown."""

import math
from collections.abc import Callable
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
from scenarios.console.ink import BAD, DIM, GOOD, PLAIN, WARN
from scenarios.console.scene import NOTABLE
from scenarios.console.source import Source
from scenarios.metric_names import is_known, known_names
from scenarios.problem import nearest

_STYLES: dict[type[Event], str] = {
    **dict.fromkeys((Crashed, Lost, Rejected, Diverged, Violated, RoundAborted), BAD),
    **dict.fromkeys((Refused, Spent, FaultBegan, Paused), WARN),
    **dict.fromkeys((Joined, Restarted, Resumed, FaultEnded, Released), GOOD),
    **dict.fromkeys((Sampled, Superseded, Proposed, Charged), DIM),
}


def tell(event: Event) -> tuple[str, str]:
    """Tell one event in a line, with its style."""
    kind = type(event)
    said = _TOLD.get(kind, lambda _: "")(event)
    node = "" if event.node is None else f"{event.node} "
    text = f"{event.t / 1e9:9.3f} {kind.__struct_config__.tag!s:<11} {node}{said}"
    return text.rstrip(), _STYLES.get(kind, PLAIN)


def upcoming(found: Event | float | None) -> str:
    """Tell what is next: an event, where it is known, else when something will be."""
    if isinstance(found, Event):
        return f"▸ {tell(found)[0].lstrip()}"
    return "" if found is None or math.isinf(found) else f"▸ {found / 1e9:.3f} is next"


def _sent(event: Sent) -> str:
    to = ",".join(map(str, event.to[:6])) + ("…" if len(event.to) > 6 else "")
    return f"→{to} #{event.version}" + (" again" if event.resent else "")


def _arrived(event: Delivered | Rejected) -> str:
    age = (event.t - event.arrived) / 1e6
    said = f"←{event.sender} #{event.version}"
    return said + (f" noticed {age:.0f}ms later" if age >= 1 else "")


def _merged(event: Merged) -> str:
    pairs = islice(zip(event.senders, event.versions, strict=True), 5)
    return "took over " + ", ".join(f"{sender}#{version}" for sender, version in pairs)


def _fault(event: FaultBegan | FaultEnded) -> str:
    return f"{event.fault} {event.action} {','.join(map(str, event.targets[:8]))}"


_TOLD: dict[type[Event], Callable[[Any], str]] = {
    Sent: _sent,
    Delivered: _arrived,
    Rejected: _arrived,
    Merged: _merged,
    FaultBegan: _fault,
    FaultEnded: _fault,
    Superseded: lambda e: f"←{e.sender} #{e.version} never read",
    Lost: lambda e: f"→{e.receiver} #{e.version} charged ✓",
    Duplicated: lambda e: f"→{e.receiver} #{e.version}",
    Proposed: lambda e: f"release {e.k}: {e.charged}",
    Charged: lambda e: f"release {e.k}: {e.charged}",
    Released: lambda e: f"release {e.k}",
    Derived: lambda e: f"#{e.version}, free",
    Refused: lambda e: f"release {e.k}: ε {e.spent:.4g} + {e.charged} > {e.cap:g}",
    Spent: lambda e: e.reason,
    Crashed: lambda e: f"lost {e.lost}",
    Restarted: lambda e: f"ledger intact: {e.releases} releases",
    RoundOpened: lambda e: f"{e.round}: asked {len(e.asked)}",
    RoundClosed: lambda e: f"{e.round}: {len(e.survivors)} answered",
    RoundAborted: lambda e: f"{e.round}: {e.reason}",
    Violated: lambda e: f"{e.invariant}: {e.detail}",
    Finished: lambda e: e.reason,
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
        events = reversed(source.scene.notable if rare else source.scene.recent)
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

"""Events as lines of a feed, and which of them are shown."""

import math
from itertools import islice

from actors.conditions import FIELDS, NAMES, Condition, NoCondition, read_condition
from actors.events import (
    KINDS,
    Charged,
    Crashed,
    Diverged,
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Lost,
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
    Spent,
    Superseded,
    Violated,
)
from scenarios.console.drawing.styled_text import (
    BAD,
    DIM,
    GOOD,
    PLAIN,
    WARN,
    event_columns,
    plain,
    seat,
)
from scenarios.console.sources.source import Source
from scenarios.console.sources.state import NOTABLE, NOTED, PLANNED
from scenarios.language.problems import nearest
from scenarios.planning.metric_names import is_known, known_names, nearest_metric
from scenarios.records.event_words import kind_of, phrase

_STYLES: dict[type[Event], str] = {
    **dict.fromkeys((Crashed, Diverged, Violated), BAD),
    **dict.fromkeys((Refused, Spent, FaultBegan, Paused, Rejected, RoundAborted), WARN),
    **dict.fromkeys((Joined, Restarted, Resumed, FaultEnded, Released), GOOD),
    **dict.fromkeys((Sampled, Superseded, Proposed, Charged, Lost), DIM),
}


def line_of(
    event: Event, size: int, *, paid: bool = False, made: int | None = None
) -> tuple[str, str]:
    """Return an event of `size` agents as a line, with its style.

    `paid` says that what was lost had been charged; `made` is how many releases its agent made, where that is known.
    """
    agent = "" if event.node is None else f"{seat(event.node, size)} "
    words = _words_of(event, size, made) + (" charged ✓" if paid else "")
    style = _STYLES.get(type(event), PLAIN)
    if _is_fulfilled(event):
        agent, style = (
            f"agent {agent.rstrip()}: ",
            DIM,
        )  # else its number is read as that of releases
    return plain(event_columns(f"{event.t / 1e9:.3f}", _word_of(event), agent + words)), style


def _words_of(event: Event, size: int, made: int | None) -> str:
    if made is None or not _is_fulfilled(event):
        return phrase(event, lambda i: seat(i, size))
    return "its one release made" if made == 1 else f"all {made:,} releases made"


def _is_fulfilled(event: Event) -> bool:
    """Whether an event says that an agent has made all releases of its plan."""
    return isinstance(event, Spent) and event.reason == PLANNED


def _word_of(event: Event) -> str:
    """Return the kind of an event as a screen calls it: an agent whose plan is fulfilled is done, and not spent."""
    return "done" if _is_fulfilled(event) else kind_of(event)


def line_in(source: Source, event: Event) -> tuple[str, str]:
    """Return an event of a run as a line: of a lost message it says whether it was charged."""
    paid = isinstance(event, Lost) and source.is_paid(event.node or 0, event.version)
    made = source.releases(event.node or 0) if _is_fulfilled(event) else None
    return line_of(event, source.facts.size, paid=paid, made=made)


def reason_of(source: Source, i: int) -> str:
    """Say since when and why an agent is in its state; empty for one that is simply up."""
    event = source.run_state.reason(i)
    if event is None:
        return ""
    words = _words_of(event, source.facts.size, source.releases(i))
    fault = source.run_state.windows.begun_by(event.cause)
    by = "" if fault is None else f", by fault #{fault.number} {fault.name}"
    return plain(f"since {event.t / 1e9:.3f} s: {_word_of(event)} {words}".rstrip() + by)


def lines_in(source: Source, shown: "Filter", count: int) -> list[tuple[str, str]]:
    """Return the last lines of a feed, with their styles; among notable events, losses are one line a second.

    So many notable events are remembered and no more: of the oldest second a part may be missing, which its line says.
    """
    if shown.text != "notable":
        return [line_in(source, event) for event in shown.last(source, count)]
    tallies: dict[int, _Tally] = {}
    lines = list[tuple[int, tuple[str, str]]]()
    remembered = source.run_state.notable
    partial = remembered[0].t // 10**9 if len(remembered) == NOTED else None
    for event in remembered:
        kind = type(event)
        if kind is Lost or kind is Rejected:
            second = event.t // 10**9
            tally = tallies.get(second)
            if tally is None:
                tally = tallies[second] = _Tally()
            tally.add(event)
        else:
            lines.append((event.seq, line_in(source, event)))
    for second, tally in tallies.items():
        more = "+" if second == partial else ""
        lines.append((tally.last, (tally.told(second, more), DIM)))
    return [line for _, line in sorted(lines)][-count:]


class _Tally:
    """How many messages were lost, and rejected, within a second, and by which faults."""

    __slots__ = ("faults", "last", "lost", "rejected")

    def __init__(self) -> None:
        self.lost = self.rejected = self.last = 0
        self.faults: dict[int, int] = {}

    def add(self, event: Event) -> None:
        """Count an event; its number is the last."""
        self.last = event.seq
        if isinstance(event, Lost):
            self.lost += 1
            for fault in event.by:
                self.faults[fault] = self.faults.get(fault, 0) + 1
        else:
            self.rejected += 1

    def told(self, second: int, more: str) -> str:
        """Say the counts as a line; `more` follows each number."""
        counts = (("lost", self.lost), ("rejected", self.rejected))
        words = ", ".join(f"{count}{more} {word}" for word, count in counts if count)
        by = "".join(f", {n}{more} by fault {fault}" for fault, n in sorted(self.faults.items()))
        return f"{second:5}…{second + 1:<3} {'messages':<11} {words}{by}"


def upcoming(source: Source) -> str:
    """Return what is next: an event, where it is known, else when something will be; nothing where nothing is."""
    next_ = source.upcoming
    if isinstance(next_, Event):
        return f"▸ {line_in(source, next_)[0].lstrip()}"
    return "" if next_ is None or math.isinf(next_) else f"▸ {next_ / 1e9:.3f} is next"


def condition_of(text: str) -> Condition:
    """Read a condition on events and metrics; a name that neither has is refused."""
    condition = read_condition(text)
    unknown = sorted(name for name in condition.metrics if not is_known(name, ()))
    if unknown:
        hint = nearest_metric(unknown[0], [*FIELDS, *known_names(())])
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

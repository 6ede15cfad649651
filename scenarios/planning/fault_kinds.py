"""One record for each action of a fault, and the table [[fault]], which holds one of them and says when it happens.

The record of an action is the module of its name in `scenarios/planning/faults/`. The reader, the checks, the planner,
the console, random worlds and the tests fold over the records: a new action is a new file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest, shown
from scenarios.language.table_rules import (
    Field,
    SubTable,
    Table,
    fill_table,
    key,
    keys_of,
    plain,
    read_table,
    values_of,
)
from scenarios.language.value_rules import Choice, Flag, Name, Rule, Text, count, duration
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.durations import POSITIVE_DURATION, DurationTable
from scenarios.planning.fault_examples import Example
from scenarios.planning.fault_tables import LINKS, SHARE, TARGET, OnAgents
from scenarios.planning.kinds import Family

if TYPE_CHECKING:  # it imports NumPy
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder

V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class ActionKey(Generic[W]):
    """A key of [[fault]] that belongs to some actions only, with the value of a fault that does not give it."""

    name: str
    rule: Rule
    default: W
    refusal: str
    """Why another action, `{}`, cannot have it."""
    words: str
    """What the key says, for the page of the scenario file."""


DIRECTION: ActionKey[Literal["both", "to", "from"]] = ActionKey(
    "direction",
    Choice("both", "to", "from"),
    "both",
    "links have a direction, {} has none",
    "Which way of a link: towards the target, away from it, or both.",
)
LOSE = ActionKey(
    "lose",
    Choice("volatile", "all", "nothing"),
    "volatile",
    "only a crash loses anything, not {}",
    "What a crashed agent loses: model and mailbox, what it last published too, or nothing; never its ledger.",
)


class Brings(Enum):
    """When an action makes agents act again that do nothing now: a run waits for that."""

    NEVER = "never"
    AT_END = "when it is undone"
    AT_ONCE = "at once"
    BY_ITSELF = "again and again"


class Hits(Enum):
    """When events of agents (crashed, left, joined, restarted, paused) tell which agents a firing hit."""

    UNTOLD = "never"
    AT_ONCE = "at once, or it hit none"
    LATER = "some time later, or it hit none"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultKind(Generic[V]):
    """One action of a fault; V is what stands after `action =`."""

    name: str
    on: Literal["agents", "links", "network"]
    """What it acts on: agents that `on` names; links that touch them, or pairs; or links that keys of its own choose."""
    table: type[V] | None
    """The parameters; None where the action takes a bare target."""
    says: str
    """What it does, in a few words, for menus."""
    template: str
    """What the console writes for a target `{}`."""
    silences: bool
    """Whether agents may stop sending: a barrier then waits for them."""
    loses: bool
    """Whether messages may be lost, or be kept for good: a barrier then waits for them, too."""
    stalls: bool
    """Whether agents or links may fall silent without a word, so that rounds wait for their deadline."""
    brings: Brings
    hits: Hits
    state: Literal["", "down", "left", "paused", "slow"]
    """The state in which agents are while it lasts; empty where it leaves them as they are."""
    build: "Callable[[FaultBuilder, FaultTable, V], Action]"
    examples: tuple[Example, ...]
    beside: tuple[ActionKey[Any], ...] = ()
    """The keys of [[fault]] that only this action and some others have."""
    lasts: bool = True
    """Whether it lasts until it is undone."""
    once: Callable[[V], str] | None = None
    """Names what of a value is done once, though the action lasts elsewhere; empty where it lasts."""
    check: "Callable[[ActionCheck, FaultTable, V], None] | None" = None
    order: int = 1000
    """Its place in lists and menus; of equal places, the one whose name comes first."""
    edges: "Callable[[FaultBuilder, FaultTable, V], set[tuple[int, int]]] | None" = None
    """The edges that it adds to the graph, each with the lower id first."""

    @property
    def rule(self) -> Rule:
        """The rule of what stands after `action =`."""
        if self.table is not None:
            return SubTable(self.table)  # type: ignore[arg-type] # V is a table then
        return TARGET if self.on == "agents" else LINKS

    def done_once(self, value: V) -> str:
        """Name what is done once, so that nothing can undo it; empty where it lasts."""
        if not self.lasts:
            return self.name
        return "" if self.once is None else self.once(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class BareFault(FaultKind[OnAgents]):
    """An action on agents that takes no parameters: a target stands after `action =`."""

    on: Literal["agents", "links", "network"] = "agents"
    table: None = None
    loses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFault(FaultKind[V]):
    """An action on links: agents go on as they are, and the action takes a direction."""

    on: Literal["agents", "links", "network"] = "links"
    silences: bool = False
    brings: Brings = Brings.NEVER
    hits: Hits = Hits.UNTOLD
    state: Literal["", "down", "left", "paused", "slow"] = ""
    beside: tuple[ActionKey[Any], ...] = (DIRECTION,)


FAULTS: Family[FaultKind[Any]] = Family("scenarios.planning.faults", FaultKind)
"""Every action by its name."""


def fault_kinds() -> list[FaultKind[Any]]:
    """Return every action, in the order of lists and menus."""
    return sorted(FAULTS.values(), key=lambda kind: (kind.order, kind.name))


def state_of(action: str) -> str:
    """Return the state in which agents are while an action lasts; empty where it leaves them as they are, or is unknown."""
    kind = FAULTS.get(action)
    return "" if kind is None else kind.state


def action_keys() -> dict[str, ActionKey[Any]]:
    """Return the keys of [[fault]] that only some actions have."""
    return {more.name: more for kind in fault_kinds() for more in kind.beside}


class FaultTable(Table):
    """[[fault]]: one action, and when it happens."""

    name: str | None = key(
        Name(), words="The name of the fault: it names its chance, and stands in the summary."
    )
    at: float | None = key(duration(), words="The instant at which it happens, in seconds.")
    every: DurationTable | None = key(
        POSITIVE_DURATION, words="The time from one firing to the next, in seconds."
    )
    from_: float | None = key(
        duration(), name="from", words="The first instant of `every`, in seconds."
    )
    when: str | None = key(
        Text("a condition"),
        words="A condition on events: it happens at the instant of one that satisfies it.",
    )
    times: int | None = key(count(), words="How often it happens at most.")
    nth: int | None = key(
        count(), words="Which of the events that satisfy `when` triggers it; left out, the first."
    )
    later: float | None = key(duration(), words="The delay after its trigger, in seconds.")
    after: float | None = key(
        duration(), words="It does not happen before this instant, in seconds."
    )
    until: float | None = key(
        duration(), words="It does not happen after this instant, in seconds."
    )
    probability: float | None = key(SHARE, words="The probability that a firing happens.")
    for_: DurationTable | None = key(
        POSITIVE_DURATION,
        name="for",
        words="After how long it is undone, in seconds; left out, it lasts.",
    )
    oracle: bool | None = key(
        Flag(),
        words="Whether it may read what only an oracle sees. Participation then depends on data, which ε does not cover.",
    )
    kind: FaultKind[Any] | None = None
    """The action; None where there was none, or more than one."""
    argument: Any = None
    """What stands after the action; None where it did not read."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """The keys that only some actions have."""

    def get_beside(self, more: ActionKey[W]) -> W:
        """Return the value of a key that only some actions have, or its default."""
        value: W | None = self.beside.get(more.name)
        return more.default if value is None else value

    def values_written(self) -> dict[str, Any]:
        """Return all values by their keys, with the defaults of the action."""
        own = {} if self.kind is None else {self.kind.name: plain(self.argument)}
        return values_of(self) | dict(self.beside) | own


def keys_of_faults() -> dict[str, Field]:
    """Return every key that may stand in a [[fault]], with its rule."""
    more = {name: Field(known.rule, words=known.words) for name, known in action_keys().items()}
    actions = {kind.name: Field(kind.rule, words=kind.says) for kind in fault_kinds()}
    return dict(keys_of(FaultTable)) | more | actions


class FaultRule:
    """Reads one [[fault]]."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        """Return a `FaultTable`, which is `unread` where the value is no table."""
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return read_table(FaultTable, {}, path, Report({}, {}), unread=True)
        keys = keys_of_faults()
        for name in value:
            if name not in keys:
                report.key((*path, name), f"unknown key '{name}'; {nearest(name, keys)}")
        actions = [kind for kind in fault_kinds() if kind.name in value]
        values = [kind.rule.read(value[kind.name], (*path, kind.name), report) for kind in actions]
        values = [None if isinstance(v, Table) and v.unread else v for v in values]
        if len(actions) != 1:
            names = ", ".join(kind.name for kind in fault_kinds())
            got = " and ".join(kind.name for kind in actions) or "none"
            report.key(path, f"needs exactly one action of {names}; got {got}")
        beside = {
            name: known.rule.read(value[name], (*path, name), report)
            for name, known in action_keys().items()
            if name in value
        }
        timing = {name: item for name, item in value.items() if name in keys_of(FaultTable)}
        one = len(actions) == 1
        more = {"kind": actions[0], "argument": values[0]} if one else {}
        return read_table(FaultTable, timing, path, report, beside=beside, **more)

    def fill(self, value: Any) -> Any:
        """Return the value as an author would have written it in full."""
        written = {
            name: known.rule.fill(value[name])
            for name, known in keys_of_faults().items()
            if name in value and name not in keys_of(FaultTable)
        }
        return fill_table(FaultTable, value) | written

"""The vocabulary of faults (reference.md, section 4), as data: timing, targets, actions and their parameters."""

from dataclasses import dataclass

from scenarios.language.table_rules import (
    REQUIRED,
    Kinds,
    KindTable,
    Many,
    ShortForm,
    SubTable,
    Table,
    key,
)
from scenarios.language.value_rules import (
    Choice,
    Either,
    Flag,
    Name,
    Number,
    Text,
    count,
    duration,
    positive,
    signed_duration,
    size,
)
from scenarios.planning.durations import DURATIONS, POSITIVE_DURATION
from scenarios.planning.kinds import Tables

_WHOLE = count(0)
_COUNT = count()
_POSITIVE = positive()
SHARE = Number(low=0, high=1)
_LONG = duration(zero=False)


SESSIONS: dict[str, tuple[float, float]] = {
    "bittorrent-debian": (0.38, 42.4 * 60),
    "bittorrent-redhat": (0.34, 21.3 * 60),
    "bittorrent-flatout": (0.59, 41.9 * 60),
}
"""Shape and scale in seconds of measured Weibull sessions (Stutzbach and Rejaie 2006)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PresetTable(KindTable):
    """A measured distribution of sessions, its times multiplied by `scaled`."""

    scaled: float = key(_POSITIVE, 1.0)


_SESSION = Kinds(
    "distribution or preset",
    {**Tables(DURATIONS), **dict.fromkeys(SESSIONS, PresetTable)},
    ShortForm("constant", "value", _LONG),
)

CHOICES = ("count", "percent", "neighbours_of", "degree_above", "highest", "lowest")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChoiceTable(Table):
    """A choice of agents, made when a fault fires."""

    count: int | None = key(_COUNT)
    percent: float | None = key(Number(low=0, high=100))
    neighbours_of: int | list[int] | None = key(Either("an id or ids", _WHOLE, Many(_WHOLE, 1)))
    degree_above: int | None = key(_WHOLE)
    highest: str | None = key(Name("the name of a metric"))
    lowest: str | None = key(Name("the name of a metric"))
    of: str | None = key(Name("the name of a group"))
    redraw: bool = key(Flag(), False)


WORDS = ("all", "one", "minority", "majority", "server", "event")
_TARGET_SAYS = 'ids, the name of a group, "one", or a choice: [3, 4], "phones", { count = 2 }'
TARGET = Either(_TARGET_SAYS, Name(), Many(_WHOLE, 1), SubTable(ChoiceTable))
LINKS = Either(
    f"{_TARGET_SAYS}; or pairs such as [[1, 2]]",
    Name(),
    Many(_WHOLE, 1),
    Many(Many(_WHOLE, 2, 2), 1),
    SubTable(ChoiceTable),
)
OnAgents = str | list[int] | ChoiceTable
"""The agents that a fault names, or how it chooses them."""
OnLinks = str | list[int] | list[list[int]] | ChoiceTable

STORAGE = ("torn", "unsynced", "stale")
PRIVACY = (
    "crash-after-charge",
    "crash-after-send",
    "duplicate-request",
    "replay",
    "counter-rollback",
    "twin",
    "poison",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlowTable(Table):
    """slow: computing takes `factor` times as long."""

    on: OnAgents = key(TARGET, REQUIRED)
    factor: float = key(_POSITIVE, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChurnTable(Table):
    """churn: agents go and come back, by turns."""

    on: OnAgents = key(TARGET, REQUIRED)
    session: KindTable | None = key(_SESSION)
    downtime: KindTable | None = key(_SESSION)
    per_node: list[float] | None = key(Many(_POSITIVE, 1, 100))
    path: str | None = key(Text("a path"))
    by: str = key(Choice("leave", "crash"), "leave")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClockTable(Table):
    """clock: the clock of an agent shows another time."""

    on: OnAgents = key(TARGET, REQUIRED)
    offset: float | None = key(signed_duration())
    drift: float | None = key(Number(above=-1, high=10))
    jump: float | None = key(signed_duration())
    freeze: bool | None = key(Flag())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StorageTable(Table):
    """storage: what the disk of an agent loses in a crash."""

    on: OnAgents = key(TARGET, REQUIRED)
    kind: str = key(Choice(*STORAGE), REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrivacyFaultTable(Table):
    """privacy: what threatens a ledger."""

    on: OnAgents = key(TARGET, REQUIRED)
    kind: str = key(Choice(*PRIVACY), REQUIRED)
    factor: float | None = key(_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LossTable(Table):
    """loss: messages are lost with probability `p`, or in bursts."""

    on: OnLinks = key(LINKS, REQUIRED)
    p: float | None = key(SHARE)
    kind: str | None = key(Choice("gilbert-elliott"))
    enter: float | None = key(SHARE)
    leave: float | None = key(SHARE)
    good: float | None = key(SHARE)
    bad: float | None = key(SHARE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelayTable(Table):
    """delay: messages take longer."""

    on: OnLinks = key(LINKS, REQUIRED)
    latency: KindTable = key(POSITIVE_DURATION, REQUIRED)
    correlation: float = key(Number(low=0, below=1), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChanceTable(Table):
    """What happens to each message with probability `p`."""

    on: OnLinks = key(LINKS, REQUIRED)
    p: float = key(SHARE, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateTable(Table):
    """rate: a link carries so many bytes per second."""

    on: OnLinks = key(LINKS, REQUIRED)
    bytes: float = key(size(zero=False), REQUIRED)
    burst: float = key(size(), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionTable(Table):
    """partition: links between parts of the network are cut, slow or jammed."""

    groups: list[list[int]] | None = key(Many(Many(_WHOLE, 1), 1))
    isolate: OnAgents | None = key(TARGET)
    bridge: OnAgents | None = key(TARGET)
    mode: str = key(Choice("cut", "slow", "jam"), "cut")
    latency: KindTable | None = key(POSITIVE_DURATION)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FaultTable(Table):
    """[[fault]]: one action, and when it happens."""

    name: str | None = key(Name())
    at: float | None = key(duration())
    every: KindTable | None = key(POSITIVE_DURATION)
    from_: float | None = key(duration(), name="from")
    when: str | None = key(Text("a condition"))
    times: int | None = key(_COUNT)
    nth: int | None = key(_COUNT)
    later: float | None = key(duration())
    after: float | None = key(duration())
    until: float | None = key(duration())
    probability: float | None = key(SHARE)
    for_: KindTable | None = key(POSITIVE_DURATION, name="for")
    lose: str | None = key(Choice("volatile", "all", "nothing"))
    edges: list[int] | str | None = key(Either('ids or "rule"', Choice("rule"), Many(_WHOLE, 1)))
    direction: str | None = key(Choice("both", "to", "from"))
    oracle: bool | None = key(Flag())
    crash: OnAgents | None = key(TARGET)
    restart: OnAgents | None = key(TARGET)
    leave: OnAgents | None = key(TARGET)
    join: OnAgents | None = key(TARGET)
    pause: OnAgents | None = key(TARGET)
    slow: SlowTable | None = key(SubTable(SlowTable))
    churn: ChurnTable | None = key(SubTable(ChurnTable))
    clock: ClockTable | None = key(SubTable(ClockTable))
    storage: StorageTable | None = key(SubTable(StorageTable))
    privacy: PrivacyFaultTable | None = key(SubTable(PrivacyFaultTable))
    loss: LossTable | None = key(SubTable(LossTable))
    delay: DelayTable | None = key(SubTable(DelayTable))
    duplicate: ChanceTable | None = key(SubTable(ChanceTable))
    reorder: ChanceTable | None = key(SubTable(ChanceTable))
    corrupt: ChanceTable | None = key(SubTable(ChanceTable))
    rate: RateTable | None = key(SubTable(RateTable))
    hold: OnLinks | None = key(LINKS)
    partition: PartitionTable | None = key(SubTable(PartitionTable))


ON_NODES = (
    "crash",
    "restart",
    "leave",
    "join",
    "pause",
    "slow",
    "churn",
    "clock",
    "storage",
    "privacy",
)
ON_LINKS = ("loss", "delay", "duplicate", "reorder", "corrupt", "rate", "hold", "partition")
ACTIONS = (*ON_NODES, *ON_LINKS)
TIMES = ("at", "every", "when")

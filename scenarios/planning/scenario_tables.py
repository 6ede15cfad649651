"""The tables of a scenario file (reference.md, section 2): keys, rules and defaults."""

from collections.abc import Mapping

from mechanisms.accounting.compose import TIGHTEST
from scenarios.language.table_rules import (
    REQUIRED,
    Free,
    Kinds,
    Many,
    OwnCode,
    ShortForm,
    SubTable,
    Table,
    key,
)
from scenarios.language.value_rules import (
    LARGEST,
    SMALLEST,
    Choice,
    Either,
    Flag,
    Name,
    Number,
    Tag,
    Text,
    count,
    duration,
    positive,
    size,
)
from scenarios.planning.accountant import AUTO
from scenarios.planning.accountant import named as accountants
from scenarios.planning.clocks import CLOCKS, ClockTable
from scenarios.planning.data_sources import SOURCES, OwnSource, SourceTable
from scenarios.planning.durations import DURATIONS, DurationTable
from scenarios.planning.expectations import ExpectTable, GoalTable
from scenarios.planning.fault_kinds import FaultRule, FaultTable
from scenarios.planning.kinds import Tables
from scenarios.planning.losses import LOSSES, LossTable
from scenarios.planning.mechanism import MECHANISM
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.pair_latency import LatencyMatrixTable, PairLatencyTable
from scenarios.planning.places import tables_of
from scenarios.planning.places.devices import DevicesTable
from scenarios.planning.starts import STARTS, StartTable
from scenarios.planning.sweep_table import SweepRule, SweepTable
from scenarios.planning.topologies import TOPOLOGIES, TopologyTable

_SEED = Number(low=0, whole=True)
_WHOLE = count(0)
_COUNT = count()
_POSITIVE = positive()
_SHARE = Number(low=0, high=1)
_LONG = duration(zero=False)


_SHORT = ShortForm("constant", "value", duration())
LATENCY = Kinds(
    "distribution",
    {**DURATIONS, "matrix": LatencyMatrixTable, **tables_of("latency")},
    _SHORT,
)
"""A delay of messages: one distribution for all links, or one for each pair."""
COMPUTE = Kinds("distribution", {**DURATIONS, **tables_of("compute")}, _SHORT)
"""A time of computing: one distribution for a group, or one for each agent."""


class ServerTable(Table):
    """[server]: how it holds a round."""

    deadline: float = key(_LONG, "10s")
    quorum: float = key(Number(above=0, high=1), 1.0)
    sample: float = key(Number(above=0, high=1), 1.0)


class RunTable(Table):
    """[run]: the seed, the engine, and when the run ends; times in seconds."""

    seed: int | None = key(_SEED)
    engine: str = key(Choice("virtual", "wall"), "virtual")
    horizon: float | None = key(_LONG)
    rounds: int | None = key(_COUNT)
    updates: int | None = key(_COUNT)
    until: float | None = key(_LONG)
    stop: str = key(Choice("horizon", "spent"), "horizon")
    sample_every: float = key(_LONG, "1s")


DELTA = 1e-5
"""δ where a group does not say."""


class BudgetTable(Table):
    """nodes.budget: what the agents of a group may spend, each."""

    epsilon: float = key(_POSITIVE, REQUIRED)
    delta: float = key(Number(low=0, below=1, least=1e-100), DELTA)
    delta_may_exceed: bool = key(Flag(), False)
    on_exhausted: str = key(Choice("listen", "smooth", "leave"), "listen")


class GroupTable(Table):
    """[[nodes]]: a group of agents."""

    name: str | None = key(Name())
    count: int = key(_COUNT, 1)
    clock: ClockTable | OwnCode = key(
        Kinds("clock", Tables(CLOCKS), own=OwnCode), {"kind": "poisson", "rate": 1.0}
    )
    compute: DurationTable | DevicesTable = key(COMPUTE, "0s")
    budget: BudgetTable | None = key(SubTable(BudgetTable))
    present: bool = key(Flag(), True)
    start: str | None = key(Choice("zeros", "neighbours", "file"))


class LinkTable(Table):
    """[[link]]: an exception to [network] for some pairs."""

    between: list[list[int]] | None = key(Many(Many(_WHOLE, 2, 2), 1))
    from_: int | None = key(_WHOLE, name="from")
    to: int | None = key(_WHOLE)
    latency: DurationTable | PairLatencyTable | None = key(LATENCY)
    loss: float | None = key(_SHARE)
    rate: float | None = key(size(zero=False))


class PrivacyTable(Table):
    """[privacy]: the views, and which accountants show, calibrate and hold ε."""

    views: list[str] = key(
        Many(Choice("eavesdropper", "server", "aggregate", "outsider"), 1, 4), ["eavesdropper"]
    )
    accountant: str = key(Choice(TIGHTEST, *accountants(lambda kind: kind.is_headline)), TIGHTEST)
    calibrate: str = key(Choice(TIGHTEST, *accountants(lambda kind: kind.calibrates)), TIGHTEST)
    filter: str = key(Choice(AUTO, *accountants(lambda kind: kind.is_filter)), AUTO)
    grid: float | bool = key(Either("a number > 0 or false", Flag(), _POSITIVE), 1e-9)


class SeedsTable(Table):
    """[seeds]: a seed for each purpose; each is run.seed where it is left out."""

    data: int | None = key(_SEED)
    network: int | None = key(_SEED)
    clock: int | None = key(_SEED)
    link: int | None = key(_SEED)
    noise: int | None = key(_SEED)
    fault: int | None = key(_SEED)


SEEDS = ("data", "network", "clock", "link", "noise", "fault")


class NetworkTable(Table):
    """[network]: the topology, and what links do to messages."""

    topology: TopologyTable | OwnCode = key(
        Kinds("topology", Tables(TOPOLOGIES), own=OwnCode), {"kind": "ring"}
    )
    latency: DurationTable | PairLatencyTable = key(LATENCY, "0s")
    loss: float = key(_SHARE, 0.0)
    rate: float | None = key(size(zero=False))
    silence: float | None = key(_LONG)


class TaskTable(Table):
    """[task]: what is learnt."""

    loss: LossTable | OwnCode = key(Kinds("loss", LOSSES, own=OwnCode), "logistic")
    l2: float | str = key(
        Either(
            'a number >= 0 or "1/m"',
            Number(low=0, least=SMALLEST, most=LARGEST),
            Choice("1/m"),
        ),
        0.0,
    )
    reduction: str = key(Choice("mean", "sum"), "mean")
    start: StartTable = key(Kinds("start", STARTS), "zeros")


class OriginTable(Table):
    """[origin]: where a run's data came from, written by hush."""

    in_memory: bool | None = key(Flag())
    folder: str | None = key(Text())
    sha256: Mapping[str, str] | None = key(Free(Text()))


class ScenarioTable(Table):
    """A whole scenario file."""

    schema: int = key(Number(low=1, high=1, whole=True), REQUIRED)
    name: str | None = key(Name())
    summary: str = key(Text(), "")
    extends: str | None = key(Text("library:NAME or a path"))
    tags: list[str] = key(Many(Tag()), [])
    origin: OriginTable | None = key(SubTable(OriginTable))
    run: RunTable = key(SubTable(RunTable), {})
    seeds: SeedsTable = key(SubTable(SeedsTable), {})
    data: SourceTable | OwnSource = key(
        Kinds("data source", Tables(SOURCES), tag="source", own=OwnSource), {"source": "separators"}
    )
    task: TaskTable = key(SubTable(TaskTable), {})
    network: NetworkTable = key(SubTable(NetworkTable), {})
    link: list[LinkTable] = key(Many(SubTable(LinkTable)), [])
    nodes: list[GroupTable] = key(Many(SubTable(GroupTable), 1, 10_000), REQUIRED)
    server: ServerTable | None = key(SubTable(ServerTable))
    mechanism: MechanismTable | OwnCode = key(MECHANISM, REQUIRED)
    privacy: PrivacyTable = key(SubTable(PrivacyTable), {})
    fault: list[FaultTable] = key(Many(FaultRule(), 0, 10_000), [])
    expect: list[ExpectTable] = key(Many(SubTable(ExpectTable), 0, 10_000), [])
    targets: Mapping[str, GoalTable] = key(Free(SubTable(GoalTable), "the name of a target"), {})
    sweep: SweepTable = key(SweepRule(), {})

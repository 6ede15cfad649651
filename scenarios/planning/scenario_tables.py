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

    deadline: float = key(
        _LONG, "10s", words="How long the server waits for answers to a round, in seconds."
    )
    quorum: float = key(
        Number(above=0, high=1),
        1.0,
        words="The share of answers, of those asked, with which a round succeeds.",
    )
    sample: float = key(
        Number(above=0, high=1),
        1.0,
        words="The share of its clients that the server asks in a round.",
    )


class RunTable(Table):
    """[run]: the seed, the engine, and when the run ends; times in seconds."""

    seed: int | None = key(
        _SEED, words="The seed of everything that is drawn. Left out, one is drawn and recorded."
    )
    engine: str = key(
        Choice("virtual", "wall"),
        "virtual",
        words="Simulated time, as fast as it goes, or the wall clock.",
    )
    horizon: float | None = key(
        _LONG,
        words="The simulated time at which the run ends, in seconds. Without it, `rounds` and `updates`, it is 60.",
    )
    rounds: int | None = key(_COUNT, words="How many rounds are run; clocks must count rounds.")
    updates: int | None = key(_COUNT, words="How many wakes of live agents are run, in all.")
    until: float | None = key(
        _LONG, words="An instant that cuts the run off wherever its end is, in seconds."
    )
    stop: str = key(
        Choice("horizon", "spent"),
        "horizon",
        words="Whether the run may end before its horizon: `spent` ends it when every agent has made its planned releases or is spent.",
    )
    sample_every: float = key(
        _LONG, "1s", words="The time between two samples of the metrics, in seconds."
    )


DELTA = 1e-5
"""δ where a group does not say."""


class BudgetTable(Table):
    """nodes.budget: what the agents of a group may spend, each."""

    epsilon: float = key(
        _POSITIVE,
        REQUIRED,
        words="The cap of each agent's ε, in the headline view. Unit: one record of one agent replaced.",
    )
    delta: float = key(
        Number(low=0, below=1, least=1e-100),
        DELTA,
        words="The δ at which ε is told. It must be below 1/m, m the points of the largest agent of the group.",
    )
    delta_may_exceed: bool = key(
        Flag(), False, words="Whether a δ of 1/m or more is let stand. The summary says so."
    )
    on_exhausted: str = key(
        Choice("listen", "smooth", "leave"),
        "listen",
        words="What an agent does at its cap: it hears and sends nothing new, smooths without data, or leaves.",
    )


class GroupTable(Table):
    """[[nodes]]: a group of agents."""

    name: str | None = key(
        Name(), words="The name of the group; left out, it is made of its number."
    )
    count: int = key(
        _COUNT, 1, words="How many agents the group has. Ids run from 0 in the order of the file."
    )
    clock: ClockTable | OwnCode = key(
        Kinds("clock", Tables(CLOCKS), own=OwnCode),
        {"kind": "poisson", "rate": 1.0},
        words="When agents wake.",
    )
    compute: DurationTable | DevicesTable = key(
        COMPUTE, "0s", words="How long an update takes to compute."
    )
    budget: BudgetTable | None = key(
        SubTable(BudgetTable),
        words="What each agent of the group may spend; left out, nothing is capped.",
    )
    present: bool = key(
        Flag(),
        True,
        words="Whether the agents are there at the start; if not, a fault `join` brings them.",
    )
    start: str | None = key(
        Choice("zeros", "neighbours", "file"),
        words="The models of the group: at zero, the mean of its neighbours' when an agent joins, or rows of the file of `task.start`; left out, as `task.start` says.",
    )


class LinkTable(Table):
    """[[link]]: an exception to [network] for some pairs."""

    between: list[list[int]] | None = key(
        Many(Many(_WHOLE, 2, 2), 1), words="The pairs that the exception holds for, both ways."
    )
    from_: int | None = key(
        _WHOLE, name="from", words="The sender of a link one way; `to` belongs to it."
    )
    to: int | None = key(_WHOLE, words="The receiver of a link one way.")
    latency: DurationTable | PairLatencyTable | None = key(
        LATENCY, words="The delay of a message; left out, that of the network."
    )
    loss: float | None = key(
        _SHARE, words="The probability that a message is lost; left out, that of the network."
    )
    rate: float | None = key(
        size(zero=False),
        words="How many bytes a second the link carries; left out, that of the network.",
    )


class PrivacyTable(Table):
    """[privacy]: the views, and which accountants show, calibrate and hold ε."""

    views: list[str] = key(
        Many(Choice("eavesdropper", "server", "aggregate", "outsider"), 1, 4),
        ["eavesdropper"],
        words="The adversaries that ε is told for. The first is the headline.",
    )
    accountant: str = key(
        Choice(TIGHTEST, *accountants(lambda kind: kind.is_headline)),
        TIGHTEST,
        words="By what the ε of the headline is composed; `tightest` takes the smallest valid one and tells its name.",
    )
    calibrate: str = key(
        Choice(TIGHTEST, *accountants(lambda kind: kind.calibrates)),
        TIGHTEST,
        words="By what a budget is turned into noise; `tightest` takes the one that needs the least.",
    )
    filter: str = key(
        Choice(AUTO, *accountants(lambda kind: kind.is_filter)),
        AUTO,
        words="What holds a cap of releases that were not fixed before the run.",
    )
    grid: float | bool = key(
        Either("a number > 0 or false", Flag(), _POSITIVE),
        1e-9,
        words="The grid that releases are rounded to; `false` rounds nothing, and low bits then leak.",
    )


class SeedsTable(Table):
    """[seeds]: a seed for each purpose; each is run.seed where it is left out."""

    data: int | None = key(_SEED, words="Of points and of how they are dealt.")
    network: int | None = key(_SEED, words="Of the topology, of places and of devices.")
    clock: int | None = key(_SEED, words="Of wakes.")
    link: int | None = key(_SEED, words="Of latency and losses.")
    noise: int | None = key(_SEED, words="Of the noise of releases.")
    fault: int | None = key(_SEED, words="Of the targets and instants of faults.")


SEEDS = ("data", "network", "clock", "link", "noise", "fault")


class NetworkTable(Table):
    """[network]: the topology, and what links do to messages."""

    topology: TopologyTable | OwnCode = key(
        Kinds("topology", Tables(TOPOLOGIES), own=OwnCode),
        {"kind": "ring"},
        words="Who is joined with whom.",
    )
    latency: DurationTable | PairLatencyTable = key(
        LATENCY,
        "0s",
        words="The delay of each message: a distribution, or what is known of pairs of places.",
    )
    loss: float = key(_SHARE, 0.0, words="The probability that a message is lost.")
    rate: float | None = key(
        size(zero=False), words="How many bytes a second a link carries; left out, any number."
    )
    silence: float | None = key(
        _LONG, words="After how many silent seconds a neighbour is counted out; left out, never."
    )


class TaskTable(Table):
    """[task]: what is learnt."""

    loss: LossTable | OwnCode = key(
        Kinds("loss", LOSSES, own=OwnCode), "logistic", words="What a model is fitted by."
    )
    l2: float | str = key(
        Either(
            'a number >= 0 or "1/m"',
            Number(low=0, least=SMALLEST, most=LARGEST),
            Choice("1/m"),
        ),
        0.0,
        words='λ in λ‖θ‖², or `"1/m"` of each agent\'s m points.',
    )
    reduction: str = key(
        Choice("mean", "sum"),
        "mean",
        words="Whether an agent's loss is the mean or the sum over its points.",
    )
    start: StartTable = key(Kinds("start", STARTS), "zeros", words="The models at the start.")


class OriginTable(Table):
    """[origin]: where a run's data came from, written by hush."""

    in_memory: bool | None = key(
        Flag(),
        words="Whether the points came from Python, so that the file alone cannot run again.",
    )
    folder: str | None = key(Text(), words="The folder that the paths of the file are of.")
    sha256: Mapping[str, str] | None = key(
        Free(Text()), words="The checksum of each file that was read."
    )


class ScenarioTable(Table):
    """A whole scenario file."""

    schema: int = key(
        Number(low=1, high=1, whole=True), REQUIRED, words="The version of this language."
    )
    name: str | None = key(
        Name(),
        words="The name of the scenario and of its runs' folders; left out, that of the file.",
    )
    summary: str = key(Text(), "", words="One line on what the scenario shows.")
    extends: str | None = key(
        Text("library:NAME or a path"),
        words="A scenario that this one changes: the file then says only what differs.",
    )
    tags: list[str] = key(Many(Tag()), [], words="Words by which tests are selected.")
    origin: OriginTable | None = key(
        SubTable(OriginTable),
        words="Where the data of a run came from; hush writes it into `resolved.toml`.",
    )
    run: RunTable = key(
        SubTable(RunTable), {}, words="The seed, the engine, and when the run ends."
    )
    seeds: SeedsTable = key(SubTable(SeedsTable), {}, words="A seed for each purpose.")
    data: SourceTable | OwnSource = key(
        Kinds("data source", Tables(SOURCES), tag="source", own=OwnSource),
        {"source": "separators"},
        words="Where points come from, and how they are dealt.",
    )
    task: TaskTable = key(SubTable(TaskTable), {}, words="What is learnt.")
    network: NetworkTable = key(
        SubTable(NetworkTable), {}, words="The topology, and what links do to messages."
    )
    link: list[LinkTable] = key(
        Many(SubTable(LinkTable)), [], words="Exceptions to `[network]` for some pairs."
    )
    nodes: list[GroupTable] = key(
        Many(SubTable(GroupTable), 1, 10_000), REQUIRED, words="The groups of agents."
    )
    server: ServerTable | None = key(
        SubTable(ServerTable), words="How a server holds its rounds; for mechanisms with a server."
    )
    mechanism: MechanismTable | OwnCode = key(
        MECHANISM, REQUIRED, words="How agents learn, and what they release."
    )
    privacy: PrivacyTable = key(
        SubTable(PrivacyTable),
        {},
        words="The adversaries, and which accountants tell, calibrate and hold ε.",
    )
    fault: list[FaultTable] = key(
        Many(FaultRule(), 0, 10_000), [], words="What is done to the world, and when."
    )
    expect: list[ExpectTable] = key(
        Many(SubTable(ExpectTable), 0, 10_000), [], words="What must hold for the run to pass."
    )
    targets: Mapping[str, GoalTable] = key(
        Free(SubTable(GoalTable), "the name of a target"),
        {},
        words="Bounds of metrics, by a name each: the run tells when each was reached.",
    )
    sweep: SweepTable = key(
        SweepRule(),
        {},
        words="The runs of `hush sweep`. Every other key in it is a key of the scenario that varies, with an array of its values.",
    )

"""The tables of a scenario file (reference.md, section 2): keys, rules and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass

from scenarios.language.table_rules import (
    REQUIRED,
    Free,
    Kinds,
    KindTable,
    Many,
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
    rate,
    size,
)
from scenarios.planning.fault_tables import DISTRIBUTIONS, FaultTable
from scenarios.planning.mechanism_tables import MECHANISMS

_SEED = Number(low=0, whole=True)
_WHOLE = count(0)
_COUNT = count()
_POSITIVE = positive()
_CONCENTRATION = Number(above=0, least=1e-3, most=1e9)
_SHARE = Number(low=0, high=1)
_LONG = duration(zero=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nothing(KindTable):
    """A kind without parameters."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileTable(KindTable):
    """A kind that is read from a file."""

    path: str = key(Text("a path"), REQUIRED)


LATENCIES: dict[str, type[KindTable]] = {**DISTRIBUTIONS, "matrix": FileTable}
LATENCY = Kinds("distribution", LATENCIES, ShortForm("constant", "value", duration()))
COMPUTE = Kinds("distribution", DISTRIBUTIONS, ShortForm("constant", "value", duration()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoissonTable(KindTable):
    """Wakes at random, `rate` per second."""

    rate: float = key(rate(), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SynchronousTable(KindTable):
    """Wakes every `period` seconds, all agents at once."""

    period: float = key(_LONG, "1s")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BarrierTable(KindTable):
    """Wakes when the share `quorum` of the neighbours was heard, or `timeout` seconds after the last wake."""

    timeout: float | None = key(_LONG)
    quorum: float = key(Number(above=0, high=1), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeriodicTable(KindTable):
    """Wakes every `period` seconds, with jitter and drift."""

    period: float = key(_LONG, "1s")
    jitter: float = key(duration(), "0s")
    drift: float = key(Number(above=-1, high=10), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceTable(KindTable):
    """Wakes at listed instants: rows of time in seconds and id."""

    wakes: list[list[float]] | None = key(Many(Many(Number(low=0), 2, 2), 1))
    path: str | None = key(Text("a path"))


CLOCKS: dict[str, type[KindTable]] = {
    "poisson": PoissonTable,
    "synchronous": SynchronousTable,
    "barrier": BarrierTable,
    "periodic": PeriodicTable,
    "trace": TraceTable,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridTable(KindTable):
    """A grid of agents."""

    rows: int = key(_COUNT, REQUIRED)
    columns: int = key(_COUNT, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegularTable(KindTable):
    """A random regular graph."""

    degree: int = key(_COUNT, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErdosRenyiTable(KindTable):
    """Each pair is joined with probability `p`."""

    p: float = key(Number(low=0, high=1, least=1e-9), REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallWorldTable(KindTable):
    """A ring of neighbours, of which the share `rewire` is drawn anew."""

    degree: int = key(_COUNT, REQUIRED)
    rewire: float = key(_SHARE, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleFreeTable(KindTable):
    """Preferential attachment."""

    attach: int = key(_COUNT, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimilarityTable(KindTable):
    """Weights by the angle between target models."""

    gamma: float = key(_POSITIVE, 0.1)
    public: bool = key(Flag(), False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnnTable(KindTable):
    """The `k` nearest agents by target models."""

    k: int = key(_COUNT, 10)
    public: bool = key(Flag(), False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgesTable(KindTable):
    """Listed edges: two ids, and a weight."""

    edges: list[list[float]] = key(
        Many(Many(Number(low=0, least=SMALLEST, most=LARGEST), 2, 3)), REQUIRED
    )


TOPOLOGIES: dict[str, type[KindTable]] = {
    "complete": Nothing,
    "ring": Nothing,
    "path": Nothing,
    "star": Nothing,
    "grid": GridTable,
    "regular": RegularTable,
    "erdos-renyi": ErdosRenyiTable,
    "small-world": SmallWorldTable,
    "scale-free": ScaleFreeTable,
    "similarity": SimilarityTable,
    "knn": KnnTable,
    "edges": EdgesTable,
    "file": FileTable,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnevenTable(KindTable):
    """Sizes grow geometrically; `ratio` is largest over smallest."""

    ratio: float = key(Number(low=1, most=LARGEST), REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UniformSplitTable(KindTable):
    """Sizes are drawn uniformly from `min` to `max`."""

    min: int = key(_COUNT, REQUIRED)
    max: int = key(_COUNT, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizesTable(KindTable):
    """Sizes are listed, one for each agent."""

    of: list[int] = key(Many(_COUNT, 1), REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DirichletTable(KindTable):
    """Shares are drawn from a Dirichlet distribution."""

    alpha: float = key(_CONCENTRATION, REQUIRED)


SPLITS: dict[str, type[KindTable]] = {
    "even": Nothing,
    "uneven": UnevenTable,
    "uniform": UniformSplitTable,
    "sizes": SizesTable,
    "dirichlet": DirichletTable,
    "sizes-dirichlet": DirichletTable,
    "by-user": Nothing,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpreadTable(Table):
    """Bounds of a number that is drawn for each agent."""

    min: int = key(_COUNT, REQUIRED)
    max: int = key(_COUNT, REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceTable(KindTable):
    """What every data source has: how rows above norm 1 are treated, and how points are shared out."""

    scale: str = key(Choice("refuse", "row"), "refuse")
    split: KindTable | None = key(Kinds("split", SPLITS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnSourceTable(SourceTable):
    """Points that are drawn: separators and blobs."""

    dimension: int = key(Number(low=1, high=100_000, whole=True), 20)
    points: int | SpreadTable = key(
        Either("a whole number >= 1 or { min, max }", _COUNT, SubTable(SpreadTable)),
        {"min": 10, "max": 100},
    )
    test_points: int = key(_WHOLE, 100)
    flip: float = key(Number(low=0, high=0.5), 0.05)
    bias: bool = key(Flag(), False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilesSourceTable(SourceTable):
    """Points that are read: one archive for each agent."""

    path: str = key(Text("a path"), REQUIRED)


SOURCES: dict[str, type[KindTable]] = {
    "separators": DrawnSourceTable,
    "blobs": DrawnSourceTable,
    "files": FilesSourceTable,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmoothedHingeTable(KindTable):
    """The hinge, made smooth over `width`."""

    width: float = key(_POSITIVE, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SquaredTable(KindTable):
    """The squared error; `clip` bounds its gradient."""

    clip: float | None = key(_POSITIVE)


LOSSES: dict[str, type[KindTable]] = {
    "logistic": Nothing,
    "smoothed-hinge": SmoothedHingeTable,
    "squared": SquaredTable,
    "welsch": Nothing,
}

STARTS: dict[str, type[KindTable]] = {
    "zeros": Nothing,
    "random": Nothing,
    "file": FileTable,
    "local": Nothing,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServerTable(Table):
    """[server]: how it holds a round."""

    deadline: float = key(_LONG, "10s")
    quorum: float = key(Number(above=0, high=1), 1.0)
    sample: float = key(Number(above=0, high=1), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BudgetTable(Table):
    """nodes.budget: what the agents of a group may spend, each."""

    epsilon: float = key(_POSITIVE, REQUIRED)
    delta: float = key(Number(low=0, below=1, least=1e-100), 1e-5)
    delta_may_exceed: bool = key(Flag(), False)
    on_exhausted: str = key(Choice("listen", "smooth", "leave"), "listen")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupTable(Table):
    """[[nodes]]: a group of agents."""

    name: str | None = key(Name())
    count: int = key(_COUNT, 1)
    clock: KindTable = key(Kinds("clock", CLOCKS, own=True), {"kind": "poisson", "rate": 1.0})
    compute: KindTable = key(COMPUTE, "0s")
    budget: BudgetTable | None = key(SubTable(BudgetTable))
    present: bool = key(Flag(), True)
    start: str | None = key(Choice("zeros", "neighbours", "file"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkTable(Table):
    """[[link]]: an exception to [network] for some pairs."""

    between: list[list[int]] | None = key(Many(Many(_WHOLE, 2, 2), 1))
    from_: int | None = key(_WHOLE, name="from")
    to: int | None = key(_WHOLE)
    latency: KindTable | None = key(LATENCY)
    loss: float | None = key(_SHARE)
    rate: float | None = key(size(zero=False))


BOUNDS = ("above", "below", "at_most", "at_least", "equals")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectTable(Table):
    """[[expect]]: what a metric must be, or a condition that must come true."""

    name: str | None = key(Name())
    metric: str | None = key(Name("the name of a metric"))
    above: float | None = key(Number())
    below: float | None = key(Number())
    at_most: float | None = key(Number())
    at_least: float | None = key(Number())
    equals: float | None = key(Number())
    tolerance: float | None = key(Number(low=0))
    when: str = key(Choice("end", "always", "eventually"), "end")
    within: float | None = key(_LONG)
    after: float | None = key(duration())
    node: int | None = key(_WHOLE)
    group: str | None = key(Name("the name of a group"))
    up: bool = key(Flag(), False)
    compared_to: str | None = key(Text("a scenario"))
    ratio_below: float | None = key(_POSITIVE)
    difference_below: float | None = key(Number())
    over: str | None = key(Choice("seeds"))
    confidence: float | None = key(Number(low=0.5, below=1))
    sometimes: str | None = key(Text("a condition"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoalTable(Table):
    """targets.NAME: a bound that a metric is to reach and to keep."""

    metric: str = key(Name("the name of a metric"), REQUIRED)
    above: float | None = key(Number())
    below: float | None = key(Number())
    at_most: float | None = key(Number())
    at_least: float | None = key(Number())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrivacyTable(Table):
    """[privacy]: who sees what, and which accountants show, calibrate and hold ε."""

    views: list[str] = key(
        Many(Choice("eavesdropper", "server", "aggregate", "outsider"), 1, 4), ["eavesdropper"]
    )
    accountant: str = key(Choice("tightest", "basic", "kov", "zcdp", "rdp", "pld"), "tightest")
    calibrate: str = key(Choice("tightest", "basic", "kov", "rdp", "pld"), "tightest")
    filter: str = key(Choice("auto", "basic"), "auto")
    grid: float | bool = key(Either("a number > 0 or false", Flag(), _POSITIVE), 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeedsTable(Table):
    """[seeds]: a seed for each purpose; each is run.seed where it is left out."""

    data: int | None = key(_SEED)
    network: int | None = key(_SEED)
    clock: int | None = key(_SEED)
    link: int | None = key(_SEED)
    noise: int | None = key(_SEED)
    fault: int | None = key(_SEED)


SEEDS = ("data", "network", "clock", "link", "noise", "fault")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkTable(Table):
    """[network]: who is joined, and what links do to messages."""

    topology: KindTable = key(Kinds("topology", TOPOLOGIES, own=True), {"kind": "ring"})
    latency: KindTable = key(LATENCY, "0s")
    loss: float = key(_SHARE, 0.0)
    rate: float | None = key(size(zero=False))
    silence: float | None = key(_LONG)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskTable(Table):
    """[task]: what is learnt."""

    loss: KindTable = key(Kinds("loss", LOSSES, own=True), "logistic")
    l2: float | str = key(
        Either(
            'a number >= 0 or "1/m"',
            Number(low=0, least=SMALLEST, most=LARGEST),
            Choice("1/m"),
        ),
        0.0,
    )
    reduction: str = key(Choice("mean", "sum"), "mean")
    start: KindTable = key(Kinds("start", STARTS), "zeros")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OriginTable(Table):
    """[origin]: where a run's data came from, written by hush."""

    in_memory: bool | None = key(Flag())
    folder: str | None = key(Text())
    sha256: Mapping[str, str] | None = key(Free(Text()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepTable(Table):
    """[sweep]: the runs of a sweep."""

    seeds: str | None = key(Text('seeds such as "0..9"'))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    data: KindTable = key(
        Kinds("data source", SOURCES, tag="source", own=True), {"source": "separators"}
    )
    task: TaskTable = key(SubTable(TaskTable), {})
    network: NetworkTable = key(SubTable(NetworkTable), {})
    link: list[LinkTable] = key(Many(SubTable(LinkTable)), [])
    nodes: list[GroupTable] = key(Many(SubTable(GroupTable), 1, 10_000), REQUIRED)
    server: ServerTable | None = key(SubTable(ServerTable))
    mechanism: KindTable = key(Kinds("mechanism", MECHANISMS, own=True), REQUIRED)
    privacy: PrivacyTable = key(SubTable(PrivacyTable), {})
    fault: list[FaultTable] = key(Many(SubTable(FaultTable), 0, 10_000), [])
    expect: list[ExpectTable] = key(Many(SubTable(ExpectTable), 0, 10_000), [])
    targets: Mapping[str, GoalTable] = key(Free(SubTable(GoalTable), "the name of a target"), {})
    sweep: SweepTable = key(SubTable(SweepTable), {})

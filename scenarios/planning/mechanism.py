"""The record of a kind of mechanism, and the family of all of them.

A kind is one file of `scenarios/planning/mechanisms/` which holds a `MechanismKind` called `KIND`. Everything else folds
over the records: what a scenario may say, its checks, the plan, `hush show`, the pages of documents, random worlds and
the worlds of the tests. A record imports no NumPy: what builds mechanisms is imported inside its functions.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, get_args

from scenarios.language.positions import Path
from scenarios.language.problems import Report
from scenarios.language.table_rules import Kinds, KindTable, OwnCode, keys_of
from scenarios.planning.kinds import Family, Tables
from scenarios.planning.mechanism_tables import ConsensusTable, DescentTable, MechanismTable

if TYPE_CHECKING:
    from mechanisms.federated import Coordinator
    from mechanisms.joint import Graph, Joint
    from mechanisms.objectives import LocalObjective
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme
    from scenarios.planning.scenario_tables import GroupTable, ScenarioTable

Unit = Literal["epsilon", "mu", "mixed"]
"""What charges count: a pure ε, a Gaussian μ, or μ after a first release of a pure ε."""

FamilyName = Literal["personalised", "consensus", "pairs", "server", "alone"]
"""With what an agent talks: with its neighbours (personalised, consensus), with one neighbour at a time, with a server,
with nothing.

Consensus kinds are those of ADMM, with duals on edges. A kind without duals that sends its model to all neighbours is
personalised, also where the agents look for one model.
"""

T = TypeVar("T", bound=MechanismTable)


@dataclass(frozen=True, slots=True)
class Card:
    """A kind in words, as `hush show KIND` prints it."""

    title: str
    sends: str
    keeps: str
    touches: str
    guarantee: str
    source: str
    mended: str


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the check of a kind may look at beside its own table, and where it reports.

    `place` is the place of the kind's table. A key that did not read is None, and was reported.
    """

    read: "ScenarioTable"
    place: Path
    report: Report

    @property
    def groups(self) -> "tuple[GroupTable, ...]":
        """The groups of agents that are tables."""
        return tuple(group for group in self.read.nodes or () if not group.unread)

    @property
    def size(self) -> int:
        """The number of agents."""
        return sum(group.count or 1 for group in self.read.nodes or ())

    def key(self, name: str, message: str) -> None:
        """Report a key of the kind's table."""
        self.report.key((*self.place, name), message)

    def value(self, name: str, message: str) -> None:
        """Report the value of a key of the kind's table."""
        self.report.value((*self.place, name), message)


class Builder(NamedTuple):
    """What makes the mechanisms of a scenario: of agent i, and of the server where there is one."""

    agent: "Callable[[int], Maker]"
    coordinator: "Coordinator | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Generic[T]):
    """The noise of a kind that can be private."""

    unit: Unit | Mapping[str, Unit]
    """What charges count. A mapping gives it for each private value of the key `noise`; the kind is not private with other
    values of that key. A single unit is of a kind that is always private."""
    fixed_by: Callable[[T, CheckContext], None]
    """Check what sets the noise: `by_two`, `by_budget` or `by_rounds` of `check_budget`, or a check of the kind's own."""
    bounded: Callable[[T], bool]
    """Whether the mechanism itself bounds what one record does, so that the loss need not have a bounded gradient."""
    scheme: "Callable[[T, int, Public], Scheme | None]"
    """How the releases of agent i are calibrated; None where no accountant has a say in it."""
    given: Callable[[T], bool] | None = None
    """Whether the table gives the noise itself, so that ε follows; None where the budget always sets the noise."""
    one_release: bool = False
    """Whether given noise is that of one release, of which basic composition says all."""
    smooths: bool = False
    """Whether an agent may go on smoothing without data after its budget."""
    own_composition: bool = False
    """Whether the paper prints how its releases compose, and prints it wrong (E8)."""

    def __post_init__(self) -> None:
        units = [self.unit] if isinstance(self.unit, str) else list(self.unit.values())
        if not units or not set(units) <= set(get_args(Unit)):
            raise ValueError(f"the unit of a charge is one of {get_args(Unit)}, got {self.unit!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismKind(Generic[T]):
    """A kind of mechanism: everything that the rest of hush knows of it.

    A field without a default must be given: a kind that leaves one out cannot be imported.
    """

    name: str
    family: FamilyName
    table: type[T]
    """The keys of the kind with their rules and defaults."""
    inner: type[T] | None
    """Its keys inside `local-dp`, where its own noise is off; None where it cannot stand there."""
    card: Card
    noise: Noise[T] | None
    """None for a kind that is never private."""
    needs_convex: Callable[[T], bool]
    """Whether it needs exact minimisers, and so a convex loss."""
    check: Callable[[T, CheckContext], None]
    """Report what contradicts itself in the table, or the rest of the scenario."""
    steps: Callable[[T], Mapping[str, int | None]] | None
    """The keys that count local steps at one instant, with their values; None where there is no such key."""
    build: "Callable[[T, Public], Builder]"
    """Make what makes the mechanisms. Raises CannotProvide where noise and budget do not fit together."""
    joint: "Callable[[T, Graph, tuple[LocalObjective, ...]], Joint]"
    """What all agents together minimise. Raises NoMinimiser where there is no single minimiser."""
    examples: Mapping[str, Mapping[str, Any]]
    """Tables as an author writes them, without `kind`, by what tells them apart: "" is one without a further name. They
    run in small worlds with any budget."""
    order: int = 99
    """The place of the kind in lists of its family; kinds of one place are in the order of their names."""
    releases: bool = True
    """Whether agents send anything; if not, ε is 0 except where a final model is seen."""
    pooled: bool = False
    """Whether one agent holds all data, so that there is one only."""
    warm_start: bool = False
    """Whether agents start from a model of their data that the mechanism itself makes, and pays for."""
    enough_points: tuple[int, ...] = ()
    """Which theorems of Zhang, Zhu 2016 say how many points are enough for it; none for most kinds."""
    warnings: "Callable[[T, ScenarioTable], tuple[str, ...]] | None" = None
    """What a scenario asks for that this kind can hardly bear."""

    def __post_init__(self) -> None:
        if self.family not in get_args(FamilyName):
            raise ValueError(f"{self.name}: family is one of {get_args(FamilyName)}")
        given: Any = self  # what a file gives, whatever it was to be
        bases = given.table.__mro__ if isinstance(given.table, type) else ()
        needed = ConsensusTable if self.family == "consensus" else MechanismTable
        wanted = f"a subclass of {needed.__name__}"
        if self.family == "consensus":
            wanted += ", as every kind of the family consensus (ADMM) has it"
        right = {
            "name": (isinstance(given.name, str), "a string"),
            "table": (needed in bases, wanted),
            "inner": (
                given.inner is None or given.inner in bases,
                "None, the table, or a base of it",
            ),
            "card": (isinstance(given.card, Card), "a Card"),
            "noise": (given.noise is None or isinstance(given.noise, Noise), "None or a Noise"),
            "needs_convex": (callable(given.needs_convex), "a function"),
            "check": (callable(given.check), "a function"),
            "steps": (given.steps is None or callable(given.steps), "None or a function"),
            "build": (callable(given.build), "a function"),
            "joint": (callable(given.joint), "a function"),
            "examples": (
                isinstance(given.examples, Mapping) and len(given.examples) > 0,
                "a mapping with at least one example",
            ),
        }
        wrong = "; ".join(
            f"{name} must be {what}" for name, (fits, what) in right.items() if not fits
        )
        if wrong:
            raise TypeError(f"mechanism {self.name!r}: {wrong}")

    @property
    def keys(self) -> Collection[str]:
        """The names of its keys, without `kind`."""
        return keys_of(self.table).keys()

    def unit(self, table: T) -> Unit | None:
        """Return what charges count with this table; None where it draws no noise."""
        if self.noise is None:
            return None
        unit = self.noise.unit
        return unit if isinstance(unit, str) else unit.get(str(table.noise))

    def gives_noise(self, table: T) -> bool:
        """Whether the table gives the noise itself, so that ε follows from it."""
        return self.noise is not None and self.noise.given is not None and self.noise.given(table)

    def needs_budget(self, table: T) -> bool:
        """Whether the noise of this table follows from a budget."""
        return self.unit(table) is not None and not self.gives_noise(table)


MECHANISMS: Family[MechanismKind[Any]] = Family("scenarios.planning.mechanisms", MechanismKind)


def always(table: MechanismTable) -> bool:  # noqa: ARG001
    """Say yes, whatever the table."""
    return True


def never(table: MechanismTable) -> bool:  # noqa: ARG001
    """Say no, whatever the table."""
    return False


def in_order() -> list[MechanismKind[Any]]:
    """Return all kinds in the order of lists: by family, then by their places in it."""
    families = get_args(FamilyName)
    return sorted(
        MECHANISMS.values(), key=lambda kind: (families.index(kind.family), kind.order, kind.name)
    )


def names_in(family: FamilyName) -> str:
    """Return the names of a family's kinds, in order, for a sentence."""
    return ", ".join(kind.name for kind in in_order() if kind.family == family)


def examples() -> dict[str, dict[str, Any]]:
    """Return the examples of all kinds by their names, as an author writes them."""
    return {
        f"{kind.name} {name}".rstrip(): {"kind": kind.name, **table}
        for kind in in_order()
        for name, table in kind.examples.items()
    }


class _Inner(Mapping[str, type[KindTable]]):
    """The tables of kinds that can stand inside `local-dp`."""

    def __getitem__(self, name: str) -> type[KindTable]:
        inner: type[MechanismTable] | None = MECHANISMS[name].inner
        if inner is None:
            raise KeyError(name)
        return inner

    def __iter__(self) -> Iterator[str]:
        return (kind.name for kind in in_order() if kind.inner is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


MECHANISM = Kinds("mechanism", Tables(MECHANISMS), own=OwnCode)
"""The rule of a scenario's mechanism."""
INNER = Kinds("mechanism", _Inner())
"""The rule of the mechanism inside `local-dp`."""


def read_mechanism(value: str | Mapping[str, Any]) -> MechanismTable | OwnCode:
    """Read a mechanism as a scenario file has it. Raises ScenarioError where it is none."""
    report = Report({}, {})
    given = value if isinstance(value, str) else dict(value)
    table: MechanismTable | OwnCode = MECHANISM.read(given, ("mechanism",), report)
    report.stop_if_any()
    return table


def name_of(table: KindTable | None) -> str | None:
    """Return the kind of a table; None where it did not read."""
    return None if table is None else table.kind


def record_of(table: MechanismTable) -> MechanismKind[Any]:
    """Return the record of a table's kind."""
    return MECHANISMS[table.kind]


def learner_of(table: MechanismTable) -> MechanismTable:
    """Return the table of the kind that learns: under local-dp, the inner one."""
    return table.inner or table


def table_of(read: "ScenarioTable") -> MechanismTable | None:
    """Return the mechanism of a scenario; None for code of its own, and for what did not read."""
    return read.mechanism if isinstance(read.mechanism, MechanismTable) else None


def kind_of(read: "ScenarioTable") -> MechanismKind[Any] | None:
    """Return the record of the scenario's mechanism; None for code of its own, and for what did not read."""
    table = table_of(read)
    return None if table is None else record_of(table)


def learner(read: "ScenarioTable") -> MechanismTable | None:
    """Return the table of the kind that learns; None for code of one's own, and for what did not read."""
    table = table_of(read)
    return None if table is None else learner_of(table)


def family_of(read: "ScenarioTable") -> FamilyName:
    """Return with what the agents of a scenario talk."""
    return family_of_table(read.mechanism)


def family_of_table(table: MechanismTable | OwnCode | None) -> FamilyName:
    """Return with what the agents of a mechanism talk.

    Code of the scenario's own talks with all neighbours, as personalised kinds do. So does what did not read: then the
    scenario is refused anyway.
    """
    if not isinstance(table, MechanismTable):
        return "personalised"
    return record_of(learner_of(table)).family


def unit_of(read: "ScenarioTable") -> Unit | None:
    """Return what charges count, for caps to be held by; None without noise."""
    table = table_of(read)
    return None if table is None else record_of(table).unit(table)


def is_private(read: "ScenarioTable") -> bool:
    """Whether the mechanism draws noise."""
    return unit_of(read) is not None


def is_gaussian(read: "ScenarioTable") -> bool:
    """Whether the noise of its releases is Gaussian, and has a μ rather than a pure ε."""
    return unit_of(read) in {"mu", "mixed"}


def is_printed(read: "ScenarioTable") -> bool:
    """Whether the noise is scaled as the paper prints it."""
    table = table_of(read)
    return table is not None and table.calibration == "as_printed"


def is_misprinted(read: "ScenarioTable") -> bool:
    """Whether the claims compose as the paper prints it, where it prints that wrong (E8)."""
    kind = kind_of(read)
    own = kind is not None and kind.noise is not None and kind.noise.own_composition
    return own and is_private(read) and is_printed(read)


def rests_on_norms(read: "ScenarioTable") -> str:
    """Return what rests on the bound 1 of features' norms, in words; empty where nothing does.

    The noise and the charges of every private kind do, as printed or not, unless it clips what one record does; so does
    the `bound` smoothness. Code of one's own may: nothing is known of it.
    """
    if isinstance(read.mechanism, OwnCode):
        return f"what {read.mechanism.kind} charges may rest on it"
    table = learner(read)
    if table is None:
        return ""
    private = is_private(read)
    if private and not _clips(read.mechanism):
        return f"the noise and the charges of {table.kind} rest on it"
    if isinstance(table, DescentTable) and table.smoothness in (
        ["bound", None] if private else ["bound"]
    ):
        return 'smoothness = "bound" rests on it'
    return ""


def _clips(table: MechanismTable) -> bool:
    """Whether a descent clips the gradient of each record, however long its features are."""
    noise = record_of(table).noise
    return isinstance(table, DescentTable) and noise is not None and noise.bounded(table)

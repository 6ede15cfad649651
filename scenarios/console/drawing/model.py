"""Everything that a frame shows, frozen: a frame is a function of it and of the size of the screen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.console.drawing.styled_text import Line

if TYPE_CHECKING:
    from scenarios.console.drawing.network import NetworkView


@dataclass(frozen=True, slots=True)
class Header:
    """Which run, how far, how fast, and what its ε stands with."""

    name: str
    mechanism: str
    seed: int
    mode: str
    """`live` or `replay`; and what became of the run, where it did not simply finish."""
    goes: str
    """`held`, `plays`, `hurries`, `ends` while it is judged, or `over`."""
    speed: float
    now_s: float
    seq: int
    end_s: float | None
    share: float | None
    pace: float
    """How fast it really goes, where that was measured; NaN else."""
    events_per_s: float
    left_s: float
    wall_s: float
    queue: int | None
    memory_mb: float
    recorded_mb: float
    privacy: str
    steered: bool
    covered: bool
    invariants: int
    held: int | None
    """How many of them hold; None where they were not judged."""
    broken: str
    server: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One agent."""

    id: int
    state: str
    epsilon: float
    cap: float | None
    loss: float
    trend: Sequence[float]
    releases: int
    inbox: int
    stale_s: float


@dataclass(frozen=True, slots=True)
class Nodes:
    """The agents: those that are shown as rows, and all of them as cells and sums."""

    rows: Sequence[Row]
    first: int
    listed: int
    """How many pass the filter."""
    count: int
    cursor: int | None
    sort: str
    filter: str
    states: Sequence[str]
    shares: Sequence[float]
    """ε over cap of every agent; NaN without a cap."""
    epsilon_worst: float
    epsilon_median: float
    worst: int | None
    losses: tuple[float, float, float]
    """p10, p50 and p90."""
    at_s: float | None = None
    """The time (s) of the last look at every ε, where that is not now."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """One group of agents."""

    name: str
    count: int
    up: int
    epsilon: float
    loss: float


@dataclass(frozen=True, slots=True)
class Crowd:
    """Thousands of agents as of one instant; losses as of the last sample before it."""

    at_s: float
    sampled_s: float
    bins: Sequence[tuple[str, int]]
    quantiles: Sequence[tuple[str, Sequence[float]]]
    """min, p1, p10, p50, p90, p99, max of each metric."""
    cohorts: Sequence[Cohort]
    outliers: Sequence[tuple[str, Sequence[tuple[int, str, float]]]]
    states: Mapping[str, int]
    """How many of them are in each state."""
    picked: tuple[int, int] = 0, 0
    """The outlier under the cursor: row and place."""
    filter: str = ""

    @property
    def chosen(self) -> int | None:
        """The agent under the cursor."""
        row, place = self.picked
        listed = self.outliers[row][1]
        return listed[place][0] if listed else None


@dataclass(frozen=True, slots=True)
class Point:
    """A metric at one sample."""

    t_s: float
    mean: float
    """Over the agents that have a value; a metric of the network itself."""
    low: float
    """The tenth percentile over agents; NaN of a metric of the network."""
    high: float
    """The ninetieth."""


@dataclass(frozen=True, slots=True)
class Story:
    """What a run is about, over its time: a metric, what it is compared with, and how budgets went."""

    metric: str
    """Its name, starred where only an oracle sees it."""
    of_agents: bool
    """Whether it is a mean over agents."""
    points: Sequence[Point]
    references: Sequence[tuple[str, float]]
    """Lines to compare with: a word and a value each."""
    headline: str
    """What is gained over learning alone, in words; empty where that is not known."""
    gains: bool
    spent: Sequence[tuple[float, float]]
    """The mean share of the budgets that is spent, at each sample: its instant (s) and the share; empty without caps."""


@dataclass(frozen=True, slots=True)
class Window:
    """One firing of a fault, or one that is to come."""

    number: int
    action: str
    name: str
    targets: tuple[int, ...]
    begun_s: float
    ended_s: float | None
    """When it was undone."""
    until_s: float | None
    """When it will be."""
    by_hand: bool = False
    struck: bool = True
    """Whether it changed an agent's state, where that is what it does."""


@dataclass(frozen=True, slots=True)
class Messages:
    """The identities."""

    sent: int
    copies: int
    delivered: int
    lost: int
    rejected: int
    flying: int
    releases: int
    charged: int


@dataclass(frozen=True, slots=True)
class Feed:
    """What happened last."""

    lines: Sequence[tuple[str, str]]
    """Text and style."""
    filter: str
    upcoming: str = ""
    """What is next, while nothing goes on."""


@dataclass(frozen=True, slots=True)
class SidePanel:
    """A panel beside the events: what it shows, how that is drawn, and whether it fits into a height."""

    name: str
    part: Any
    draw: Callable[[Any, "Model", int, int], list[Line]]
    fits: Callable[[Any, "Model", int], bool]


@dataclass(frozen=True, slots=True)
class AgentDetails:
    """One agent, looked at closely."""

    row: Row
    group: str
    facts: Sequence[str]
    ledger: Sequence[str]
    neighbours: Sequence[tuple[int, str, float, float]]
    """Id, state, and how long the last messages take, to it and from it."""
    messages: Sequence[tuple[str, str]]
    epsilons: Sequence[tuple[float, float]]
    """ε at each sample: its instant (s), and the value."""
    losses: Sequence[tuple[float, float, float]]
    """At each sample its instant (s), the loss of the agent, and the median of its neighbours'."""
    cursor: int
    count: int
    """How many agents there are."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line that is being written."""

    text: str
    at: int
    offers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Help:
    """The legend, then every key and order, from some line on."""

    entries: Sequence[tuple[str, str, str]]
    """A key, a glyph or a colour, what it means, and its style; without a meaning a heading."""
    first: int = 0


@dataclass(frozen=True, slots=True)
class Menu:
    """Something to choose from."""

    title: str
    entries: Sequence[tuple[str, str]]
    at: int


@dataclass(frozen=True, slots=True)
class Model:
    """A whole screen."""

    header: Header
    nodes: Nodes
    scale: str
    crowd: Crowd | None
    network: "NetworkView | None"
    story: Story
    windows: Sequence[Window]
    fault: int | None
    """The place of the fault under the cursor among the windows; None where the cursor is elsewhere."""
    link: tuple[int, int] | None
    """The link under the cursor; None where the cursor is elsewhere."""
    messages: Messages
    feed: Feed
    sides: Sequence[SidePanel]
    """The panels that may stand beside the events: the first that fits does."""
    chosen_side: bool = False
    """Whether a person chose the first of them."""
    opened: AgentDetails | None = None
    prompt: Prompt | None = None
    menu: Menu | None = None
    help: Help | None = None
    says: str = ""
    keys: Sequence[tuple[str, str]] = ()
    breaks: Sequence[str] = ()
    ended: Sequence[tuple[str, str]] = ()
    """How it ended: text and style of a few lines."""
    ascii: bool = False

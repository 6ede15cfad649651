"""Keys and tables that several kinds of mechanism share (reference.md, section 3)."""

from typing import Any

from scenarios.language.table_rules import REQUIRED, KindTable, Many, SubTable, Table, key
from scenarios.language.value_rules import (
    LARGEST,
    SMALLEST,
    Choice,
    Either,
    Flag,
    Number,
    count,
    positive,
)

POSITIVE = positive()
COUNT = count()
_GROWTH = Number(above=0, high=10, least=0.1)
_LIST = Many(POSITIVE, 1)


def releases() -> Any:
    """Declare `releases`: how many are planned; None where rounds or the budget and alpha say so."""
    return key(
        Number(low=1, high=1_000_000, whole=True),
        words="How many releases are planned. Left out, the rounds say it, or the budget and `alpha`.",
    )


def alpha() -> Any:
    """Declare `alpha`: what each release costs, or the first; None where a budget says so."""
    return key(
        Either("a number > 0 or { start, growth }", POSITIVE, SubTable(GrowingTable)),
        words="What each release costs, or the first one; left out, a budget says it.",
    )


def calibration() -> Any:
    """Declare `calibration`: noise that keeps its promise, or as the paper prints it."""
    return key(
        Choice("corrected", "as_printed"),
        "corrected",
        words="Noise that keeps its promise, or noise as the paper prints it.",
    )


def learning_rate() -> Any:
    """Declare `learning_rate`. It has no upper bound: runs that diverge are legitimate."""
    return key(Number(above=0, least=SMALLEST), 1.0, words="The step of gradient descent.")


class GrowingTable(Table):
    """A number that is multiplied by `growth` from one release to the next."""

    start: float = key(POSITIVE, REQUIRED, words="The value of the first release.")
    growth: float = key(_GROWTH, 1.0, words="The factor from one release to the next.")


class MechanismTable(KindTable):
    """The parameters of a mechanism.

    A property is what a kind has that does not declare a key of that name.
    """

    @property
    def noise(self) -> str | GrowingTable | None:
        """Which noise is drawn, or how much; None where the kind leaves no choice."""
        return None

    @property
    def releases(self) -> int | None:
        """How many releases are planned; None where something else says so."""
        return None

    @property
    def alpha(self) -> float | GrowingTable | None:
        """What each release costs; None where a budget says so."""
        return None

    @property
    def calibration(self) -> str:
        """Whether noise keeps its promise or is as the paper prints it."""
        return "corrected"

    @property
    def inner(self) -> "MechanismTable | None":
        """The mechanism that learns from what this one made of the data."""
        return None


class PenaltyTable(Table):
    """η of each agent: where it starts, how it grows, and its largest value."""

    start: float | list[float] = key(
        Either("a number > 0, or one for each agent", POSITIVE, _LIST),
        REQUIRED,
        words="η at the start, one value or one for each agent.",
    )
    growth: float | list[float] = key(
        Either("a number > 0, or one for each agent", _GROWTH, _LIST),
        1.0,
        words="The factor from one update to the next, one value or one for each agent.",
    )
    cap: float = key(Number(above=0, high=1e9, least=SMALLEST), 1e9, words="The largest η.")


class ConsensusTable(MechanismTable):
    """What the whole ADMM family has."""

    C: float = key(POSITIVE, 1.0, words="The weight of the loss beside the regulariser.")
    rho: float = key(
        Number(low=0, least=SMALLEST, most=LARGEST),
        0.1,
        words="The weight ρ of each agent's regulariser, in place of `task.l2`.",
    )


class PerturbedTable(ConsensusTable):
    """What dvp and pvp have."""

    eta: float = key(POSITIVE, 0.5, words="The penalty η that draws neighbours together.")
    alpha: float | GrowingTable | None = alpha()
    releases: int | None = releases()
    calibration: str = calibration()


class PenalisedTable(ConsensusTable):
    """What madmm and pp have."""

    theta: float = key(POSITIVE, 0.5, words="The step θ of the duals, common to all agents.")
    eta: PenaltyTable = key(
        SubTable(PenaltyTable),
        {"start": 0.5},
        words="The penalty η of each agent: a start, its growth and its cap.",
    )


class LipschitzTable(Table):
    """Bounds of a point's gradient, in the 1-norm or the 2-norm."""

    l1: float | None = key(POSITIVE, words="A public bound of a point's gradient in the 1-norm.")
    l2: float | None = key(POSITIVE, words="A public bound of a point's gradient in the 2-norm.")


class DescentTable(MechanismTable):
    """What cd and warm-cd have."""

    mu: float = key(
        POSITIVE,
        1.0,
        words="How much an agent's own data weigh against agreement with its neighbours: the larger, the more its own.",
    )
    noise: str = key(
        Choice("none", "laplace", "norm-gamma", "gaussian"),
        "none",
        words="The law of the noise that each release gets.",
    )
    releases: int | None = releases()
    schedule: str = key(
        Choice("uniform", "growing", "printed"),
        "uniform",
        words="How a budget is shared out over the releases: evenly, growing with time, or as the paper prints it.",
    )
    clip: float | None = key(
        POSITIVE,
        words="The largest norm of one record's gradient, in the norm of the noise; left out, the loss itself bounds it.",
    )
    lipschitz: LipschitzTable | None = key(
        SubTable(LipschitzTable),
        words="Public bounds of a point's gradient, in place of those of the loss.",
    )
    smooth_after: bool = key(
        Flag(),
        True,
        words="Whether an agent that has made its releases goes on to smooth, which reads no data and is free.",
    )
    smoothness: float | str | None = key(
        Either('"data", "bound" or a number > 0', Choice("data", "bound"), POSITIVE),
        words="What the step size rests on: the data, the declared bound of features, or a number. Left out, `bound` with noise and `data` without.",
    )

    @property
    def release(self) -> str:
        """When an agent releases afresh."""
        return "always"

    @property
    def survival(self) -> float | list[float] | None:
        """The public probability of reaching each release, where the file gives it."""
        return None


class GradientTable(MechanismTable):
    """What the kinds that send one private gradient a round have."""

    learning_rate: float = learning_rate()
    calibration: str = calibration()


class OneAnswerTable(MechanismTable):
    """What the kinds that send one private minimiser have."""

    calibration: str = calibration()

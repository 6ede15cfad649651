"""The kinds of mechanism: their keys and defaults, and what sets the noise of each (reference.md, section 3)."""

from dataclasses import dataclass
from typing import Any

from scenarios.language.table_rules import REQUIRED, Kinds, KindTable, Many, SubTable, Table, key
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

Tree = Any

_POSITIVE = positive()
_COUNT = count()
_GROWTH = Number(above=0, high=10, least=0.1)
_LIST = Many(_POSITIVE, 1)


def releases() -> Any:
    """Declare `releases`: how many are planned; None where rounds or the budget and alpha say so."""
    return key(Number(low=1, high=1_000_000, whole=True))


def calibration() -> Any:
    """Declare `calibration`: noise that keeps its promise, or as the paper prints it."""
    return key(Choice("corrected", "as_printed"), "corrected")


def learning_rate() -> Any:
    """Declare `learning_rate`. It has no upper bound: runs that diverge are legitimate."""
    return key(Number(above=0, least=SMALLEST), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrowingTable(Table):
    """A number that is multiplied by `growth` from one release to the next."""

    start: float = key(_POSITIVE, REQUIRED)
    growth: float = key(_GROWTH, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PenaltyTable(Table):
    """η of each agent: where it starts, how it grows, and its largest value."""

    start: float | list[float] = key(
        Either("a number > 0, or one for each agent", _POSITIVE, _LIST), REQUIRED
    )
    growth: float | list[float] = key(
        Either("a number > 0, or one for each agent", _GROWTH, _LIST), 1.0
    )
    cap: float = key(Number(above=0, high=1e9, least=SMALLEST), 1e9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LipschitzTable(Table):
    """Bounds of a point's gradient, in the 1-norm or the 2-norm."""

    l1: float | None = key(_POSITIVE)
    l2: float | None = key(_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalTable(KindTable):
    """local: every agent alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConsensusTable(KindTable):
    """What the whole ADMM family has."""

    C: float = key(_POSITIVE, 1.0)
    rho: float = key(Number(low=0, least=SMALLEST, most=LARGEST), 0.1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmmTable(ConsensusTable):
    """admm."""

    eta: float = key(_POSITIVE, 0.5)
    duals: str = key(Choice("integral", "naive"), "integral")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DvpTable(ConsensusTable):
    """dvp."""

    eta: float = key(_POSITIVE, 0.5)
    alpha: float | GrowingTable | None = key(
        Either("a number > 0 or { start, growth }", _POSITIVE, SubTable(GrowingTable))
    )
    releases: int | None = releases()
    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PvpTable(DvpTable):
    """pvp."""

    variant: str = key(Choice("clean", "printed"), "clean")
    final_dual: bool = key(Flag(), False)
    final_share: float | None = key(Number(above=0, below=1, least=1e-6))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MadmmTable(ConsensusTable):
    """madmm."""

    theta: float = key(_POSITIVE, 0.5)
    eta: PenaltyTable = key(SubTable(PenaltyTable), {"start": 0.5})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PpTable(MadmmTable):
    """pp."""

    noise: GrowingTable | None = key(SubTable(GrowingTable))
    releases: int | None = releases()
    calibration: str = calibration()


_DESCENT_NOISES = ("laplace", "norm-gamma", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DescentTable(KindTable):
    """What cd and warm-cd have."""

    mu: float = key(_POSITIVE, 1.0)
    noise: str = key(Choice("none", *_DESCENT_NOISES), "none")
    releases: int | None = releases()
    schedule: str = key(Choice("uniform", "growing", "printed"), "uniform")
    clip: float | None = key(_POSITIVE)
    lipschitz: LipschitzTable | None = key(SubTable(LipschitzTable))
    smooth_after: bool = key(Flag(), True)
    smoothness: float | str | None = key(
        Either('"data", "bound" or a number > 0', Choice("data", "bound"), _POSITIVE)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InnerCdTable(DescentTable):
    """cd inside local-dp: its own noise is off."""

    alpha: float | None = key(_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CdTable(InnerCdTable):
    """cd."""

    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WarmCdTable(DescentTable):
    """warm-cd."""

    calibration: str = calibration()
    warm_noise: str = key(Choice("output", "objective"), "output")
    warm_share: float = key(Number(above=0, below=1, least=1e-6), 0.2)
    warm_wakes: int = key(count(0), 10)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InnerPropagationTable(KindTable):
    """propagation inside local-dp."""

    mu: float = key(_POSITIVE, 1.0)
    noise: str = key(Choice("none", "output", "objective"), "none")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PropagationTable(InnerPropagationTable):
    """propagation."""

    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollaborativeTable(KindTable):
    """collaborative-admm."""

    mu: float = key(_POSITIVE, 1.0)
    penalty: float = key(_POSITIVE, 1.0)
    local_steps: int = key(_COUNT, 10)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InnerWddpTable(KindTable):
    """wddp inside local-dp."""

    learning_rate: float = learning_rate()
    local_rounds: int | None = key(_COUNT)
    weights: str = key(Choice("size", "uniform"), "size")
    noise: str = key(Choice("none"), "none")
    synchronise: str = key(Choice("once", "every-round"), "once")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WddpTable(KindTable):
    """wddp."""

    learning_rate: float = learning_rate()
    local_rounds: int | None = key(_COUNT)
    weights: str = key(Choice("size", "uniform"), "size")
    noise: str = key(Choice("local", "aggregate", "none"), "local")
    synchronise: str = key(Choice("once", "every-round"), "once")
    tolerate: int = key(count(0), 0)
    colluders: int = key(count(0), 0)
    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradientTable(KindTable):
    """jayaraman-gradient and central-gradient."""

    learning_rate: float = learning_rate()
    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneAnswerTable(KindTable):
    """jayaraman-output and pathak."""

    calibration: str = calibration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FedavgTable(KindTable):
    """fedavg."""

    learning_rate: float = learning_rate()
    epochs: int = key(_COUNT, 1)


# An inner kind's noise is off; keys that only noise needs mean nothing there and are refused by a check.
_INNER: dict[str, type[KindTable]] = {
    "local": LocalTable,
    "admm": AdmmTable,
    "madmm": MadmmTable,
    "collaborative-admm": CollaborativeTable,
    "fedavg": FedavgTable,
    "cd": InnerCdTable,
    "propagation": InnerPropagationTable,
    "wddp": InnerWddpTable,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalDpTable(KindTable):
    """local-dp."""

    epsilon_features: float = key(_POSITIVE, REQUIRED)
    epsilon_label: float = key(_POSITIVE, REQUIRED)
    inner: KindTable = key(Kinds("mechanism", _INNER), {"kind": "local"})
    calibration: str = calibration()


MECHANISMS: dict[str, type[KindTable]] = {
    "local": LocalTable,
    "admm": AdmmTable,
    "madmm": MadmmTable,
    "collaborative-admm": CollaborativeTable,
    "fedavg": FedavgTable,
    "dvp": DvpTable,
    "pvp": PvpTable,
    "pp": PpTable,
    "cd": CdTable,
    "propagation": PropagationTable,
    "warm-cd": WarmCdTable,
    "wddp": WddpTable,
    "jayaraman-gradient": GradientTable,
    "jayaraman-output": OneAnswerTable,
    "pathak": OneAnswerTable,
    "central-gradient": GradientTable,
    "local-dp": LocalDpTable,
}


@dataclass(frozen=True, slots=True)
class Trait:
    """Whom a kind talks to, which of its noises are private, and what sets them.

    `noises` are values of the key `noise`; None means always private. `fixed_by` is "two" of budget, releases
    and alpha; "budget" (one release); "rounds" (budget and rounds); "own" numbers; "nothing" (never private).
    """

    family: str
    noises: tuple[str, ...] | None = ()
    fixed_by: str = "nothing"
    smooths: bool = False
    convex: bool = False
    """Whether it needs exact minimisers, and so a convex loss."""


TRAITS: dict[str, Trait] = {
    "local": Trait("alone"),
    "admm": Trait("consensus", convex=True),
    "dvp": Trait("consensus", None, "two", convex=True),
    "pvp": Trait("consensus", None, "two", convex=True),
    "madmm": Trait("consensus", convex=True),
    "pp": Trait("consensus", None, "two", convex=True),
    "cd": Trait("personalised", ("laplace", "norm-gamma", "gaussian"), "two", smooths=True),
    "propagation": Trait("personalised", ("output", "objective"), "budget", smooths=True),
    "warm-cd": Trait("personalised", ("laplace", "norm-gamma", "gaussian"), "two", smooths=True),
    "collaborative-admm": Trait("pairs"),
    "wddp": Trait("server", ("local", "aggregate"), "rounds"),
    "jayaraman-gradient": Trait("server", None, "rounds"),
    "jayaraman-output": Trait("server", None, "budget", convex=True),
    "pathak": Trait("server", None, "budget", convex=True),
    "central-gradient": Trait("server", None, "rounds"),
    "fedavg": Trait("server"),
    "local-dp": Trait("alone", None, "own"),
}
_OWN = Trait("personalised")
"""Of code of the scenario's own, and of a kind that did not read."""


def kind_of(read: Tree) -> str | None:
    """Return the kind of the scenario's mechanism, where it read."""
    return (read.get("mechanism") or {}).get("kind")


def trait_of(read: Tree) -> Trait:
    """Return the traits of the scenario's kind; code of its own is treated as personalised."""
    return _trait(kind_of(read))


def _trait(kind: str | None) -> Trait:
    """Return the traits of a kind; a built-in kind without traits raises KeyError."""
    return TRAITS[kind] if kind in MECHANISMS else _OWN


def learner(read: Tree) -> Tree:
    """Return the table of the kind that learns: under local-dp, the inner one."""
    mechanism: Tree = read.get("mechanism") or {}
    inner = mechanism.get("inner")
    return (
        inner
        if mechanism.get("kind") == "local-dp" and isinstance(inner, (dict, KindTable))
        else mechanism
    )


def place_of_learner(read: Tree) -> tuple[str, ...]:
    """Return where that table stands."""
    disguised = kind_of(read) == "local-dp" and learner(read) is not read["mechanism"]
    return ("mechanism", "inner") if disguised else ("mechanism",)


def family_of(read: Tree) -> str:
    """Return whom the agents talk to: alone, consensus, personalised, pairs, server."""
    return _trait(learner(read).get("kind")).family


def is_private(read: Tree) -> bool:
    """Whether the mechanism draws noise."""
    noises = trait_of(read).noises
    return noises is None or (read.get("mechanism") or {}).get("noise") in noises


def is_printed(read: Tree) -> bool:
    """Whether the noise is scaled as the paper prints it."""
    return (read.get("mechanism") or {}).get("calibration") == "as_printed"


def rests_on_norms(read: Tree) -> str:
    """Return what rests on the bound 1 of features' norms, in words; empty where nothing does.

    The noise and the charges of every private kind do, as printed or not; so does the `bound` smoothness.
    Code of one's own may: nothing is known of it.
    """
    mechanism, kind = learner(read), kind_of(read)
    if kind not in TRAITS:
        return f"what {kind} charges may rest on it"
    if is_private(read):
        return f"the noise and the charges of {kind} rest on it"
    if mechanism.get("smoothness") == "bound":
        return 'smoothness = "bound" rests on it'
    return ""


def is_gaussian(read: Tree) -> bool:
    """Whether the noise of its releases is Gaussian, and has a μ rather than a pure ε."""
    mechanism = read.get("mechanism") or {}
    if mechanism.get("kind") in {"jayaraman-gradient", "central-gradient"}:
        return True
    return mechanism.get("noise") in ("gaussian", "local", "aggregate")

"""The kinds of mechanism: their keys and defaults, and what sets the noise of each (reference.md, section 3)."""

from dataclasses import dataclass
from typing import Any

from scenarios.language.table_rules import REQUIRED, Field, Fields, Kind, Many, Table
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

Tree = dict[str, Any]

_POSITIVE = positive()
_COUNT = count()
_RELEASES = Field(Number(low=1, high=1_000_000, whole=True))
_CALIBRATION = {"calibration": Field(Choice("corrected", "as_printed"), "corrected")}
_GROWTH = Number(above=0, high=10, least=0.1)
_GROWING = Table({"start": Field(_POSITIVE, REQUIRED), "growth": Field(_GROWTH, 1.0)})
_LIST = Many(_POSITIVE, 1)
_PENALTY = Table(
    {
        "start": Field(Either("a number > 0, or one for each agent", _POSITIVE, _LIST), REQUIRED),
        "growth": Field(Either("a number > 0, or one for each agent", _GROWTH, _LIST), 1.0),
        "cap": Field(Number(above=0, high=1e9, least=SMALLEST), 1e9),
    }
)
_BOUND = Table({"l1": Field(_POSITIVE), "l2": Field(_POSITIVE)})

_CONSENSUS: Fields = {
    "C": Field(_POSITIVE, 1.0),
    "rho": Field(Number(low=0, least=SMALLEST, most=LARGEST), 0.1),
}
_ETA = {"eta": Field(_POSITIVE, 0.5)}
_ALPHA = {
    "alpha": Field(Either("a number > 0 or { start, growth }", _POSITIVE, _GROWING)),
    "releases": _RELEASES,
    **_CALIBRATION,
}
_OWN_ETA: Fields = {
    **_CONSENSUS,
    "theta": Field(_POSITIVE, 0.5),
    "eta": Field(_PENALTY, {"start": 0.5}),
}
_DESCENT: Fields = {
    "mu": Field(_POSITIVE, 1.0),
    "noise": Field(Choice("none", "laplace", "norm-gamma", "gaussian"), "none"),
    "releases": _RELEASES,
    "alpha": Field(_POSITIVE),
    "schedule": Field(Choice("uniform", "growing", "printed"), "uniform"),
    "clip": Field(_POSITIVE),
    "lipschitz": Field(_BOUND),
    "smooth_after": Field(Flag(), True),
    "smoothness": Field(
        Either('"data", "bound" or a number > 0', Choice("data", "bound"), _POSITIVE)
    ),
    **_CALIBRATION,
}
_RATE = {"learning_rate": Field(Number(above=0, least=SMALLEST), 1.0)}

_OPEN: dict[str, Fields] = {
    "local": {},
    "admm": {**_CONSENSUS, **_ETA, "duals": Field(Choice("integral", "naive"), "integral")},
    "madmm": _OWN_ETA,
    "collaborative-admm": {
        "mu": Field(_POSITIVE, 1.0),
        "penalty": Field(_POSITIVE, 1.0),
        "local_steps": Field(_COUNT, 10),
    },
    "fedavg": {**_RATE, "epochs": Field(_COUNT, 1)},
}
_GUARDED: dict[str, Fields] = {
    "dvp": {**_CONSENSUS, **_ETA, **_ALPHA},
    "pvp": {
        **_CONSENSUS,
        **_ETA,
        **_ALPHA,
        "variant": Field(Choice("clean", "printed"), "clean"),
        "final_dual": Field(Flag(), False),
        "final_share": Field(Number(above=0, below=1, least=1e-6)),
    },
    "pp": {**_OWN_ETA, "noise": Field(_GROWING), "releases": _RELEASES, **_CALIBRATION},
    "cd": _DESCENT,
    "propagation": {
        "mu": Field(_POSITIVE, 1.0),
        "noise": Field(Choice("none", "output", "objective"), "none"),
        **_CALIBRATION,
    },
    "warm-cd": {
        **{key: field for key, field in _DESCENT.items() if key != "alpha"},
        "warm_noise": Field(Choice("output", "objective"), "output"),
        "warm_share": Field(Number(above=0, below=1, least=1e-6), 0.2),
        "warm_wakes": Field(count(0), 10),
    },
    "wddp": {
        **_RATE,
        "local_rounds": Field(_COUNT),
        "weights": Field(Choice("size", "uniform"), "size"),
        "noise": Field(Choice("local", "aggregate", "none"), "local"),
        "synchronise": Field(Choice("once", "every-round"), "once"),
        "tolerate": Field(count(0), 0),
        "colluders": Field(count(0), 0),
        **_CALIBRATION,
    },
    "jayaraman-gradient": {**_RATE, **_CALIBRATION},
    "jayaraman-output": _CALIBRATION,
    "pathak": _CALIBRATION,
    "central-gradient": {**_RATE, **_CALIBRATION},
}
# An inner kind's noise is off; keys that only noise needs mean nothing there and are refused by the judge.
_INNER: dict[str, Fields] = {
    **_OPEN,
    **{
        kind: {key: field for key, field in _GUARDED[kind].items() if key != "calibration"}
        for kind in ("cd", "propagation")
    },
    "wddp": {
        **{
            k: f
            for k, f in _GUARDED["wddp"].items()
            if k not in {"calibration", "tolerate", "colluders"}
        },
        "noise": Field(Choice("none"), "none"),
    },
}
MECHANISMS: dict[str, Fields] = {
    **_OPEN,
    **_GUARDED,
    "local-dp": {
        "epsilon_features": Field(_POSITIVE, REQUIRED),
        "epsilon_label": Field(_POSITIVE, REQUIRED),
        "inner": Field(Kind("mechanism", _INNER), {"kind": "local"}),
        **_CALIBRATION,
    },
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
    return inner if mechanism.get("kind") == "local-dp" and isinstance(inner, dict) else mechanism


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

"""What the kind of mechanism minimises, and how far the models are from the minimum."""

import math
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import ALWAYS, ASKED, AT_END, Metric, Snapshot
from scenarios.planning.metric_needs import CONVEX, OPTIMUM, PRESENT, no_joint

if TYPE_CHECKING:
    from mechanisms.vectors import Matrix


def _optimum(at: Snapshot) -> float:
    return math.nan if at.optimum is None else at.optimum


def _gap(at: Snapshot) -> float:
    return at.objective() - _optimum(at)


def _relative(at: Snapshot) -> float:
    return _gap(at) / at.gap_at_start if at.gap_at_start > 0 else math.nan


def _present(at: Snapshot) -> float:
    from actors.agent import DOWN, UP

    return at.gap_among([agent.id for agent in at.agents if agent.status in {UP, DOWN}])


def _minimiser(at: Snapshot) -> "Matrix":
    assert at.optimum_theta is not None, "asked only where OPTIMUM is met"  # noqa: S101
    return at.optimum_theta[at.member]


def _bias(at: Snapshot) -> float:
    import numpy as np

    if not at.member.any():
        return math.nan
    return float(np.linalg.norm(at.theta[at.member].mean(axis=0) - _minimiser(at).mean(axis=0)))


def _distance(at: Snapshot) -> float:
    import numpy as np

    gaps = at.theta[at.member] - _minimiser(at)
    return float(np.linalg.norm(gaps)) / math.sqrt(max(1, len(gaps)))


def _consensus(at: Snapshot) -> float:
    theta = at.theta[at.member]
    if not len(theta):
        return math.nan
    spread = theta - theta.mean(axis=0)
    return math.sqrt(float((spread * spread).sum()) / len(theta))


_NORM = "a distance between models"
_of = partial(Metric, reads_models=True, unit="a value of the objective")
KINDS = (
    _of(
        "objective",
        "what the kind minimises, at the agents' models or at the server's",
        lambda at: at.objective(),
        ALWAYS,
        detail="It is the sum that the card of the mechanism minimises, with its regularisation: no mean of the metric `loss`.",
        missing=no_joint,
    ),
    _of(
        "optimum",
        "the exact minimum of the objective over all declared agents",
        _optimum,
        ALWAYS,
        needs=(OPTIMUM,),
    ),
    _of("gap", "the objective minus its minimum", _gap, ALWAYS, needs=(OPTIMUM,)),
    _of(
        "gap.relative",
        "the gap over that of the public start",
        _relative,
        AT_END,
        unit="a ratio",
        missing=lambda at: "the start is the optimum" if at.gap_at_start <= 0 else "",
        needs=(OPTIMUM,),
    ),
    _of(
        "gap.present",
        "the gap of the agents present now, on the edges between them",
        _present,
        ASKED,
        needs=(CONVEX, PRESENT),
    ),
    _of(
        "consensus",
        "√(Σ‖θ_i − θ̄‖²/n): how far apart the models are",
        _consensus,
        ALWAYS,
        unit=_NORM,
    ),
    _of(
        "bias",
        "‖θ̄ − θ*‖: how far the mean model is from the mean optimum",
        _bias,
        AT_END,
        unit=_NORM,
        needs=(OPTIMUM,),
    ),
    _of(
        "distance",
        "√(Σ‖θ_i − θ*_i‖²/n): how far the models are from the optimum",
        _distance,
        AT_END,
        unit=_NORM,
        needs=(OPTIMUM,),
    ),
)

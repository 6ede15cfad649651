"""What the bounds of coordinate descent rest on, taken from a plan."""

import math
from typing import NamedTuple

import numpy as np

from mechanisms.bounds import Descent
from mechanisms.descent import CoordinateDescent
from mechanisms.joint import Personalised
from mechanisms.solve import NoMinimiser
from mechanisms.vectors import Vector
from scenarios.language.problems import ScenarioError
from scenarios.planning.plan import Plan


class DescentFacts(NamedTuple):
    """A world of coordinate descent: its constants, the noise of each agent's first release, its wakes, and its gap.

    `energies` are E‖ν‖² of the noise on an agent's gradient, 0 without noise; `scales` are those of Laplace noise, None for
    other laws. `gap` is Q(Θ(0)) − Q*, which data decide: an oracle's number.
    """

    world: Descent
    energies: Vector
    scales: Vector | None
    releases: int | None
    """The fewest releases that an agent plans; None without noise."""
    unit: str
    """What a charge counts: `epsilon` or `mu`."""
    planned: tuple[float, ...]
    """The charges of the releases of the agent with the fewest, in their order."""
    gap: float


def is_descent(plan: Plan) -> bool:
    """Whether the agents of a plan descend along coordinates."""
    return all(isinstance(node.mechanism, CoordinateDescent) for node in plan.nodes)


def descent_facts(plan: Plan) -> DescentFacts:
    """Return what bounds of a plan rest on. Raises `ScenarioError` where its mechanism is no coordinate descent."""
    if not isinstance(plan.joint, Personalised) or not plan.nodes:
        raise ScenarioError.of("mechanism.kind", "these bounds are of cd")
    if not plan.loss.convex:
        raise ScenarioError.of("task.loss", "these bounds need a convex loss")
    degrees = plan.graph.degrees()
    pulls, blocks, convexities = list[float](), list[float](), list[float]()
    energies, scales = list[float](), list[float]()
    unit, planned = "epsilon", tuple[float, ...]()
    for node, objective, degree in zip(plan.nodes, plan.objectives, degrees.tolist(), strict=True):
        mechanism = node.mechanism
        if not isinstance(mechanism, CoordinateDescent):
            raise ScenarioError.of("mechanism.kind", f"these bounds are of cd, not of {plan.kind}")
        if degree <= 0:
            continue
        pull = mechanism.mu * degree * mechanism.confidence
        pulls.append(pull)
        blocks.append(degree + pull * mechanism.smoothness)
        convexities.append(pull * 2.0 * objective.l2)
        if mechanism.law is None or not mechanism.spends:
            energies.append(0.0)
            continue
        spend = mechanism.spends[0]
        charges = tuple(spend.charged for spend in mechanism.spends)
        planned = min(planned or charges, charges, key=len)
        unit = mechanism.law.unit
        energies.append(mechanism.law.mean_norm(spend.scale, plan.dimension) ** 2)
        if mechanism.law.name == "laplace":
            scales.append(spend.scale)
    if not convexities:
        raise ScenarioError.of("network", "no agent has a neighbour: there is nothing to bound")
    if min(convexities) <= 0:
        said = "the bounds need a strongly convex objective: set task.l2 above 0"
        raise ScenarioError.of("task.l2", said)
    try:
        gap = plan.joint.value(plan.starts()) - plan.joint.value(plan.joint.minimum())
    except NoMinimiser as error:
        raise ScenarioError.of("task", f"the optimum cannot be found: {error}") from None
    return DescentFacts(
        Descent(np.array(pulls), np.array(blocks), min(convexities), plan.dimension),
        np.array(energies),
        np.array(scales) if len(scales) == len(pulls) else None,
        len(planned) or None,
        unit,
        planned,
        gap if math.isfinite(gap) else math.nan,
    )

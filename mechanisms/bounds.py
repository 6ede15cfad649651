"""The papers' bounds as calculators: how fast descent converges, what its noise costs, and how many points are enough.

Bellet et al. 2018, Proposition 1, Theorem 2 and Proposition 2, each as printed and as corrected (E9, E10); Zhang, Zhu 2016,
Theorems 3 to 6, which hold up to a constant β that the paper does not name.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.vectors import Vector


@dataclass(frozen=True, slots=True)
class Descent:
    """What the bounds of coordinate descent rest on.

    `pulls` are μD_ii c_i of each agent; `blocks` the Lipschitz constants L_i = D_ii(1 + μc_iL_i^loc); `convexity` is σ, the
    strong convexity of the joint objective; `dimension` counts the numbers of a model.
    """

    pulls: Vector
    blocks: Vector
    convexity: float
    dimension: int

    @property
    def agents(self) -> int:
        """N."""
        return len(self.blocks)

    @property
    def contraction(self) -> float:
        """C = 1 − σ/(nL_max): what is left of the gap after one wake of a random agent, in the mean."""
        return 1.0 - self.convexity / (self.agents * float(self.blocks.max()))


def optimisation_error(world: Descent, gap: float, wakes: int) -> float:
    """Return Proposition 1: C^T times the gap at the start, T wakes of all agents together."""
    return world.contraction**wakes * gap


def noise_error(world: Descent, energies: Sequence[float], wakes: int) -> float:
    """Return the second term of Theorem 2, corrected (E9), for noise that does not change with time.

    `energies` are E‖ν_i‖² of each agent's noise on the gradient: 2ds² for Laplace noise of scale s in each coordinate, ds² for
    Gaussian noise, d(d+1)/ζ² for norm-gamma noise. The bound is 1/(2nL_min) Σ_t C^(T−1−t) Σ_i (μD_ii c_i)² E‖ν_i‖².
    """
    drawn = float((world.pulls**2 * np.asarray(energies)).sum())
    factor = drawn / (2.0 * world.agents * float(world.blocks.min()))
    return factor * _geometric(world.contraction, wakes)


def printed_noise_error(world: Descent, scales: Sequence[float], wakes: int) -> float:
    """Return the second term of Theorem 2 as printed: without the dimension, for Laplace noise of these scales.

    The weights are printed in reverse, C^t for C^(T−1−t); for noise that does not change with time their sum is the same.
    """
    drawn = float(((world.pulls * np.asarray(scales)) ** 2).sum())
    factor = drawn / (world.agents * float(world.blocks.min()))
    return factor * _geometric(world.contraction, wakes)


def _geometric(ratio: float, terms: int) -> float:
    """Return 1 + r + … + r^(terms − 1)."""
    return float(terms) if ratio == 1.0 else (1.0 - ratio**terms) / (1.0 - ratio)


def shares(
    world: Descent, releases: int, *, printed: bool = False, power: float = 1.0 / 3.0
) -> Vector:
    """Return the share of each release by Proposition 2, corrected (E10) or as printed; they add up to 1.

    They are shares of ε with the power 1/3, and of μ with 1/4. Release k of an agent is expected at wake n·k of all agents.
    Corrected they grow, with C^((T−t)·power); as printed they shrink.
    """
    k = np.arange(1, releases + 1)
    exponent = k if printed else releases - k
    weights = world.contraction ** (world.agents * exponent * power)
    result: Vector = weights / weights.sum()
    return result


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What Theorems 3 to 6 rest on.

    `norm` is ‖f⁰‖ of the reference classifier, `error` α_acc, `failure` δ of the theorems (a probability that has nothing to do
    with privacy), `alpha` the ε of one release, `weight` C^R, `bend` c₁, `penalty` η and `degree` N_p.
    """

    norm: float
    error: float
    failure: float
    dimension: int
    weight: float = 1.0
    alpha: float = 1.0
    bend: float = 0.25
    penalty: float = 1.0
    degree: int = 1


def sample_sizes(theorem: int, of: Accuracy) -> dict[str, float]:
    """Return the terms of which the number of points must exceed β times the largest: Theorem 3, 4, 5 or 6.

    Theorem 3 is without noise, 4 of dual perturbation, 5 of the un-perturbed model of primal perturbation, 6 of its released one.
    Raises KeyError for another theorem.
    """
    log_d = math.log(of.dimension / of.failure)
    sampling = {
        "sampling: C‖f⁰‖² ln(1/δ)/α_acc²": of.weight
        * of.norm**2
        * math.log(1.0 / of.failure)
        / of.error**2
    }
    penalised = (
        of.norm**3 * of.penalty * of.degree * of.dimension * log_d / (of.error**2 * of.alpha)
    )
    terms = {
        3: {},
        4: {
            "noise: ‖f⁰‖ d ln(d/δ)/(α_acc α)": of.norm
            * of.dimension
            * log_d
            / (of.error * of.alpha),
            "Jacobian: C c₁‖f⁰‖²/(α_acc α)": of.weight
            * of.bend
            * of.norm**2
            / (of.error * of.alpha),
        },
        5: {"noise in the penalty: C‖f⁰‖³ηN d ln(d/δ)/(α_acc² α)": of.weight * penalised},
        6: {
            "noise in the penalty: C‖f⁰‖³ηN d ln(d/δ)/(α_acc² α)": of.weight * penalised,
            "noise on the model: 4C‖f⁰‖ d ln²(d/δ)/(α_acc α)": 4.0
            * of.weight
            * of.norm
            * of.dimension
            * log_d**2
            / (of.error * of.alpha),
            "noise in the penalty: 4‖f⁰‖³ηN d ln(d/δ)/(α_acc² α)": 4.0 * penalised,
            "noise on the model: 4C^(3/2)‖f⁰‖² d ln(d/δ)/(α_acc^(3/2) α)": 4.0
            * of.weight**1.5
            * of.norm**2
            * of.dimension
            * log_d
            / (of.error**1.5 * of.alpha),
        },
    }
    return sampling | terms[theorem]

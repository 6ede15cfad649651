"""Laws of noise: how a scale is drawn, and what one release with it costs."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.vectors import Vector


class Law(Protocol):
    """A family of noise with one scale.

    `charge` is what one release costs: its pure ε, or for Gaussian noise its μ (`unit` says which).
    `scale` is the inverse of `charge` at a fixed sensitivity.
    """

    @property
    def name(self) -> str: ...

    @property
    def norm(self) -> str:
        """The norm that the sensitivity must be taken in: "l1" or "l2"."""
        ...

    @property
    def unit(self) -> str:
        """What `charge` counts: "epsilon" or "mu"."""
        ...

    def scale(self, charge: float, sensitivity: float) -> float: ...

    def charge(self, scale: float, sensitivity: float) -> float: ...

    def draw(self, rng: np.random.Generator, scale: float, dimension: int) -> Vector: ...

    def log_density(self, noise: Vector, scale: float) -> float:
        """Ln of the density at a draw, up to a constant of the scale and the dimension."""
        ...

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Root of the expected squared L2 norm, for words."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Laplace:
    """Independent Laplace coordinates of scale s: ε = Δ₁/s."""

    name = "laplace"
    norm = "l1"
    unit = "epsilon"

    def scale(self, charge: float, sensitivity: float) -> float:
        return sensitivity / charge

    def charge(self, scale: float, sensitivity: float) -> float:
        return sensitivity / scale

    def draw(self, rng: np.random.Generator, scale: float, dimension: int) -> Vector:
        return rng.laplace(0.0, scale, dimension)

    def log_density(self, noise: Vector, scale: float) -> float:
        return -float(np.abs(noise).sum()) / scale

    def mean_norm(self, scale: float, dimension: int) -> float:
        return scale * math.sqrt(2 * dimension)


@dataclass(frozen=True, slots=True)
class NormGamma:
    """Density ∝ exp(−ζ‖x‖₂): the norm is Gamma(d, 1/ζ), the direction uniform; ε = ζ·Δ₂."""

    name = "norm-gamma"
    norm = "l2"
    unit = "epsilon"

    def scale(self, charge: float, sensitivity: float) -> float:
        return charge / sensitivity

    def charge(self, scale: float, sensitivity: float) -> float:
        return scale * sensitivity

    def draw(self, rng: np.random.Generator, scale: float, dimension: int) -> Vector:
        noise = rng.standard_normal(dimension)
        length = rng.standard_gamma(dimension) / scale
        noise *= length / math.sqrt(float(noise @ noise))
        return noise

    def log_density(self, noise: Vector, scale: float) -> float:
        return -scale * math.sqrt(float(noise @ noise))

    def mean_norm(self, scale: float, dimension: int) -> float:
        return math.sqrt(dimension * (dimension + 1)) / scale


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Independent normal coordinates of standard deviation s: μ = Δ₂/s."""

    name = "gaussian"
    norm = "l2"
    unit = "mu"

    def scale(self, charge: float, sensitivity: float) -> float:
        return sensitivity / charge

    def charge(self, scale: float, sensitivity: float) -> float:
        return sensitivity / scale

    def draw(self, rng: np.random.Generator, scale: float, dimension: int) -> Vector:
        noise = rng.standard_normal(dimension)
        noise *= scale
        return noise

    def log_density(self, noise: Vector, scale: float) -> float:
        return -0.5 * float(noise @ noise) / (scale * scale)

    def mean_norm(self, scale: float, dimension: int) -> float:
        return scale * math.sqrt(dimension)


LAWS: dict[str, Law] = {law.name: law for law in (Laplace(), NormGamma(), Gaussian())}

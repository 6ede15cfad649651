"""Noise: its laws and what one release with each costs, the streams it is drawn from, and the grid of releases."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.spend import Spend
from mechanisms.rekeying import Rekey, rekey_of
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

    def fill(self, rng: np.random.Generator, scale: float, row: Vector) -> None:
        """Draw the same into a row."""
        ...

    def standard(self, noise: Vector, scale: float) -> Vector:
        """Return the draw of scale 1 that a draw was made of."""
        ...

    def log_density(self, noise: Vector, scale: float) -> float:
        """Ln of the density at a draw, up to a constant of the scale and the dimension."""
        ...

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Root of the expected squared L2 norm, for words."""
        ...

    def __hash__(self) -> int: ...


class NoiseGenerator(np.random.Generator):
    """A generator that keeps the scales that noise is drawn with, for an invariant."""

    def __init__(self, bits: np.random.BitGenerator) -> None:
        super().__init__(bits)
        self.scales: list[float] = []
        """Those of the release that it was keyed for last."""


def note(rng: np.random.Generator, scale: float) -> None:
    """Note the scale that noise is about to be drawn with; a generator of another kind keeps none."""
    if type(rng) is NoiseGenerator:
        rng.scales.append(scale)


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
        note(rng, scale)
        return rng.laplace(0.0, scale, dimension)

    def fill(self, rng: np.random.Generator, scale: float, row: Vector) -> None:
        row[:] = self.draw(rng, scale, len(row))

    def standard(self, noise: Vector, scale: float) -> Vector:
        return noise / scale

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
        noise = np.empty(dimension)
        self.fill(rng, scale, noise)
        return noise

    def fill(self, rng: np.random.Generator, scale: float, row: Vector) -> None:
        note(rng, scale)
        rng.standard_normal(out=row)
        length = rng.standard_gamma(len(row)) / scale
        row *= length / math.sqrt(float(row @ row))

    def standard(self, noise: Vector, scale: float) -> Vector:
        return noise * scale

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
        noise = np.empty(dimension)
        self.fill(rng, scale, noise)
        return noise

    def fill(self, rng: np.random.Generator, scale: float, row: Vector) -> None:
        note(rng, scale)
        rng.standard_normal(out=row)
        row *= scale

    def standard(self, noise: Vector, scale: float) -> Vector:
        return noise / scale

    def log_density(self, noise: Vector, scale: float) -> float:
        return -0.5 * float(noise @ noise) / (scale * scale)

    def mean_norm(self, scale: float, dimension: int) -> float:
        return scale * math.sqrt(dimension)


LAWS: dict[str, Law] = {law.name: law for law in (Laplace(), NormGamma(), Gaussian())}


class SharedGenerator:
    """One Philox generator for the noise of all agents: it is keyed anew for each release.

    Making a generator for each release would cost more than the noise itself.
    """

    __slots__ = ("_generator", "_rekey")

    def __init__(self, generator: NoiseGenerator) -> None:
        """Share a generator whose bits come from Philox."""
        self._generator = generator
        self._rekey = rekey_of(generator.bit_generator)

    @property
    def parts(self) -> tuple[NoiseGenerator, Rekey]:
        """The generator, and what keys it for a release: the highest word of its counter."""
        return self._generator, self._rekey


class NoiseStream:
    """The noise of one agent: the noise of release k is a function of the agent's key and of k."""

    __slots__ = ("_generator", "_rekey", "key", "last", "odd", "reused", "scales")

    def __init__(self, key: NDArray[np.uint64], shared: SharedGenerator) -> None:
        """Make the stream of a key of 128 bits: two words, the lower first."""
        self.key = key
        self._generator, self._rekey = shared.parts
        self.last = -1
        """The release whose noise was drawn last; −1 before the first."""
        self.reused: tuple[int, int] | None = None
        """The first release whose noise was not drawn in order, and the last one before it; an invariant reads this."""
        self.scales: list[float] = []
        """The scales that the noise of the last release was drawn with."""
        self.odd: tuple[int, list[float], Spend] | None = None
        """The first release whose noise was drawn with other scales than its spend states, these, and that spend."""

    def __call__(self, k: int) -> np.random.Generator:
        """Return the generator for the noise of release k; it is good until the next call for any agent."""
        self.note(k)
        generator = self.generator(k)
        self.scales = generator.scales
        return generator

    def note(self, k: int) -> None:
        """Note that the noise of release k is drawn, after that of all before it."""
        if k <= self.last and self.reused is None:
            self.reused = k, self.last
        self.last = k

    def generator(self, k: int) -> NoiseGenerator:
        """Return the same generator without noting that it was drawn from."""
        self._rekey(self.key, k)
        self._generator.scales = []
        return self._generator

    def compare(self, spend: Spend) -> None:
        """Compare the scales that the noise of the last release was drawn with, once it was, with what its spend states."""
        drawn = self.scales
        is_plain = spend.solve is None and len(drawn) == 1 and drawn[0] == spend.scale
        if not is_plain and self.odd is None:
            stated = set() if spend.law == "none" else {spend.scale}
            if spend.solve is not None and spend.solve.smoothing is not None:
                stated.add(spend.solve.smoothing)
            if set(drawn) != stated:
                self.note_odd(self.last, drawn, spend)

    def note_odd(self, k: int, scales: list[float], spend: Spend) -> None:
        """Note that the noise of release k was drawn with other scales than its spend states."""
        if self.odd is None:
            self.odd = k, scales, spend


def grid_below(width: float) -> float:
    """Return the largest power of two that is not above `width`."""
    if not width > 0:
        raise ValueError(f"a grid must be > 0, got {width!r}")
    return math.ldexp(1.0, math.frexp(width)[1] - 1)


def round_to(vector: Vector, grid: float) -> Vector:
    """Round to a grid that is a power of two, exactly: the low bits of a release leak (E21)."""
    rounded = vector * (1.0 / grid)
    np.rint(rounded, out=rounded)
    rounded *= grid
    return rounded

"""What one release leaks at worst: a dominating pair, named by its law and parameters; and bags of them."""

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from mechanisms.accounting.spend import Spend


class Loss(NamedTuple):
    """The worst-case privacy loss of one release.

    `epsilon` is its pure ε, or the μ of Gaussian noise. What only a pure ε is known of is "pure". `d` and `jacobian`
    are kept where the law depends on them: "norm-gamma" on d, "objective" on both.
    """

    law: str
    epsilon: float
    d: int = 0
    jacobian: float = 0.0


def additive(law: str, charge: float, d: int) -> Loss:
    """Return the loss of one release with a law of added noise; "pure" stands for any law with a pure ε.

    Raises ValueError for a law that has no privacy loss here: a forgotten law is never counted as another one.
    """
    match law:
        case "gaussian":
            return Loss("gaussian", charge)
        case "norm-gamma" if d >= 2:
            return Loss("norm-gamma", charge, d)
        case "norm-gamma" | "laplace":
            return Loss("laplace", charge)  # in one dimension they are the same
        case "pure" | "local":
            return Loss("pure", charge)
        case _:
            raise ValueError(f"no privacy loss is known of the noise law {law!r}")


def rounded_up(value: float) -> float:
    """Round up to a coarse scale, by 4.5 % at most: agents of like sizes share what is computed for one."""
    if value <= 0:
        return 0.0
    return max(value, math.exp2(math.ceil(16 * math.log2(value) - 1e-9) / 16))


_known: dict[int, tuple[Spend, Loss]] = {}
_MOST_KNOWN = 65536


def loss_of(spend: Spend) -> Loss:
    """Read the law of a release off its spend; the charge, not the claim, sizes it."""
    known = _known.get(id(spend))  # one spend stands for thousands of releases: no need to hash it
    if known is not None and known[0] is spend:
        return known[1]
    if len(_known) > _MOST_KNOWN:
        _known.clear()
    _known[id(spend)] = spend, _read(spend)
    return _known[id(spend)][1]


def _read(spend: Spend) -> Loss:
    charged = spend.charged
    if not math.isfinite(charged):
        return Loss("none", charged)
    if spend.law == "objective":
        return Loss("objective", charged, spend.d, min(spend.jacobian, charged))
    return additive(spend.law, charged, spend.d)


class Sums(NamedTuple):
    """Additive sums of a list of releases: all that the closed forms read."""

    releases: int = 0
    pure: float = 0.0
    squares: float = 0.0
    centred: float = 0.0  # Σ ε(e^ε − 1)/(e^ε + 1)
    mu_squares: float = 0.0

    def plus(self, spend: "Spend | Loss", times: int = 1) -> "Sums":
        """Return the sums with one more release (or several equal ones)."""
        charge = spend.epsilon if isinstance(spend, Loss) else spend.charged
        releases, pure, squares, centred, mu_squares = self
        if spend.law == "gaussian":
            return Sums(
                releases + times, pure, squares, centred, mu_squares + times * charge * charge
            )
        tilted = times * charge * math.tanh(charge / 2) if charge else 0.0
        return Sums(
            releases + times,
            pure + times * charge,
            squares + times * charge * charge,
            centred + tilted,
            mu_squares,
        )


Key = tuple[tuple[Loss, int], ...]


class Tally:
    """A bag of losses in the order in which they first came, with their sums: the same however it was counted."""

    __slots__ = ("_counts", "_releases", "_sums")

    def __init__(self, losses: Iterable[tuple[Loss, int]] = ()) -> None:
        self._counts: dict[Loss, int] = {}
        self._releases = 0
        self._sums: Sums | None = None
        for loss, times in losses:
            self.add(loss, times)

    def add(self, loss: Loss, times: int = 1) -> None:
        """Count one more loss (or several equal ones)."""
        self._counts[loss] = self._counts.get(loss, 0) + times
        self._releases += times
        self._sums = None

    @property
    def sums(self) -> Sums:
        """The sums, over one loss after the other: to the last bit a function of the bag alone."""
        if self._sums is None:
            total = Sums()
            for loss, times in self._counts.items():
                total = total.plus(loss, times)
            self._sums = total
        return self._sums

    def take(self, spends: Iterable[Spend]) -> "Tally":
        """Count releases, and return the tally."""
        for spend, equal in groupby(spends):
            self.add(loss_of(spend), sum(1 for _ in equal))
        return self

    def plus(self, loss: Loss, times: int = 1) -> "Tally":
        """Return a copy with one more loss."""
        return Tally((*self._counts.items(), (loss, times)))

    def count(self, loss: Loss) -> int:
        """How many of these there are."""
        return self._counts.get(loss, 0)

    def within(self, other: "Tally") -> bool:
        """Whether all of it is in another bag."""
        return all(times <= other.count(loss) for loss, times in self._counts.items())

    def __len__(self) -> int:
        return self._releases

    @property
    def key(self) -> Key:
        """The bag as something frozen."""
        return tuple(self._counts.items())

    @property
    def laws(self) -> frozenset[str]:
        """The names of the laws in it."""
        return frozenset(loss.law for loss in self._counts)


def tally(spends: Iterable[Spend]) -> Tally:
    """Count a list of releases."""
    return Tally().take(spends)


def coarsened(key: Key, most: int) -> Key:
    """Bring more than `most` different losses to about so many, each rounded up."""
    merged: dict[Loss, int] = {}
    for loss, times in key:
        if loss.law == "objective":
            part = min(loss.epsilon, rounded_up(loss.jacobian))
            loss = loss._replace(jacobian=part)  # noqa: PLW2901
        merged[loss] = merged.get(loss, 0) + times
    if len(merged) <= most:
        return tuple(merged.items())
    sizes = [loss.epsilon for loss in merged if 0 < loss.epsilon < math.inf]
    octaves = math.log2(max(sizes) / min(sizes)) + 1e-9
    room = most / len({(loss.law, loss.d) for loss in merged})
    cells = 2.0 ** math.floor(
        math.log2(room / octaves)
    )  # in each octave, the same for bags of like width
    found: dict[Loss, int] = {}
    for loss, times in merged.items():
        grown = _grown(loss, cells)
        found[grown] = found.get(grown, 0) + times
    return tuple(found.items())


@lru_cache(maxsize=65536)
def _grown(loss: Loss, cells: float) -> Loss:
    """Round a loss up to a scale of so many cells in an octave."""
    if not 0 < loss.epsilon < math.inf:
        return loss
    size = max(loss.epsilon, math.exp2(math.ceil(cells * math.log2(loss.epsilon) - 1e-9) / cells))
    share = math.ceil(16 * loss.jacobian / loss.epsilon) / 16
    return loss._replace(epsilon=size, jacobian=min(size, share * size))

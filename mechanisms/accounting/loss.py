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


_PARTS = 64.0
"""Cells in an octave of the Jacobian's part of a charge, which is rounded up by 1.1 % where losses are few."""


def rounded_up(value: float, scale: float = _PARTS) -> float:
    """Round up to a scale of so many cells in an octave: agents of like sizes share what is computed for one."""
    if not 0 < value < math.inf:
        return max(0.0, value)
    return max(value, math.exp2(math.ceil(scale * math.log2(value) - 1e-9) / scale))


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
        # what pays for the solver is bounded at every point, as the Jacobian is
        fixed = spend.jacobian + (spend.solve.residual if spend.solve is not None else 0.0)
        return Loss("objective", charged, spend.d, min(fixed, charged))
    return additive(spend.law, charged, spend.d)


def plain(loss: Loss) -> Loss:
    """Return what numerical composition makes of a loss: of objective perturbation only the pure ε is used."""
    return Loss("pure", loss.epsilon) if loss.law in {"objective", "local"} else loss


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


_EMPTY = Sums()

Key = tuple[tuple[Loss, int], ...]


class Case(NamedTuple):
    """All that an accountant reads of a bag. Bags are told apart by their sums, which are hashed alone: keys may be long."""

    sums: Sums
    key: Key

    def __hash__(self) -> int:
        return hash(self.sums)


MOST_LAWS = 256
"""A bag of more different losses is composed as one of at most so many, each rounded up."""
_FEW = 16
"""So many different losses are summed and listed anew at each look: most bags have fewer, and nothing is kept for them."""
_FINEST, _WIDEST = 4096.0, 1.0
"""Cells in an octave, at first and at last: beyond that the range of the charges bounds their number."""


class _Exact:
    """A sum without rounding (Shewchuk's partial sums): the same in any order, and terms can be taken back."""

    __slots__ = ("_endless", "_parts")

    def __init__(self, terms: Iterable[float] = ()) -> None:
        finite, self._endless = list[float](), 0.0
        for term in terms:
            if math.isfinite(term):
                finite.append(term)
            else:
                self._endless += term
        parts = list[float]()
        while part := _rounded(finite):
            if not math.isfinite(part):
                self._endless, parts = part, []
                break
            parts.append(part)
            finite.append(-part)
        self._parts = parts[::-1]

    def add(self, term: float) -> None:
        """Add a term. What is infinite stays."""
        if not math.isfinite(term):
            self._endless += term
            return
        left = 0
        for part in self._parts:
            large, small = (term, part) if abs(term) >= abs(part) else (part, term)
            term = large + small
            rest = small - (term - large)
            if rest:
                self._parts[left] = rest
                left += 1
        self._parts[left:] = [term]

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return _rounded(self._parts) + self._endless


def _rounded(terms: Iterable[float]) -> float:
    """The sum of terms, none below 0 but those that are taken back, rounded once."""
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


class Cells:
    """A bag in at most `most` different losses, whatever its size: exact while they are few, rounded up beyond.

    Scales nest, so that the cells are a function of the bag: it makes no difference when they were looked at, or
    whether they were counted one by one. A loss costs the same to add however many there are.
    """

    __slots__ = ("_found", "_most", "_scale")

    def __init__(self, most: int, losses: Iterable[tuple[Loss, int]] = ()) -> None:
        self._most = most
        self._scale: float | None = None
        self._found: dict[Loss, tuple[Loss, int]] = {}
        for loss, times in losses:
            self.add(loss, times)

    def add(self, loss: Loss, times: int) -> None:
        """Count one more loss (or several equal ones)."""
        self._count(_shared(loss), times)
        while len(self._found) > self._most and self._scale != _WIDEST:
            self._scale = _FINEST if self._scale is None else self._scale / 2
            before, self._found = self._found, {}
            for same, many in before.values():
                self._count(same, many)

    def cell(self, loss: Loss) -> Loss | None:
        """Return what one more loss is counted as; None where it makes all others coarser."""
        grown = self._rounded(_shared(loss))
        has_room = len(self._found) < self._most or self._scale == _WIDEST
        return grown if has_room or grown in self._found else None

    def _rounded(self, loss: Loss) -> Loss:
        return loss if self._scale is None else _grown(loss, self._scale)

    def _count(self, loss: Loss, times: int) -> None:
        grown = self._rounded(loss)
        known = self._found.get(grown)
        self._found[grown] = grown, times if known is None else known[1] + times

    @property
    def key(self) -> Key:
        """The cells as something frozen, in the order in which they first came."""
        return tuple(self._found.values())


def _shared(loss: Loss) -> Loss:
    """Round up the Jacobian's part of a charge, so that releases of like agents are one."""
    if loss.law != "objective":
        return loss
    return loss._replace(jacobian=min(loss.epsilon, rounded_up(loss.jacobian)))


@lru_cache(maxsize=16384)
def _grown(loss: Loss, scale: float) -> Loss:
    """Round a loss up to a scale of so many cells in an octave: a larger charge, and a larger part of the Jacobian."""
    size = rounded_up(loss.epsilon, scale)
    part = min(size, rounded_up(loss.jacobian, min(scale, _PARTS)))
    return loss._replace(epsilon=size, jacobian=part)


def coarsened(key: Key, most: int) -> Key:
    """Bring a bag to at most `most` different losses (save where their range is wider), each rounded up."""
    return Cells(most, key).key


class Tally:
    """A bag of losses in the order in which they first came, with their sums: the same however it was counted.

    What it tells costs the same however many losses are in it, but for `key`, `plus` and what is asked first.
    """

    __slots__ = (
        "_beside",
        "_cells",
        "_counts",
        "_fits",
        "_fresh",
        "_laws",
        "_releases",
        "_sums",
        "_totals",
        "composition",
    )

    def __init__(self, losses: Iterable[tuple[Loss, int]] = ()) -> None:
        self._counts: dict[Loss, int] = {}
        self._laws: set[str] = set()
        self._releases = 0
        self._sums: Sums | None = None
        self._totals: tuple[_Exact, ...] | None = None
        self._cells: Cells | None = None
        self._beside: Tally | None = None
        self._fresh: set[Loss] = set()
        self._fits = True
        self.composition: object = None
        """What an accountant keeps with a large bag, so that its next look adds up only what is new."""
        for loss, times in losses:
            self.add(loss, times)

    def add(self, loss: Loss, times: int = 1) -> None:
        """Count one more loss (or several equal ones)."""
        before = self._counts.get(loss, 0)
        self._counts[loss] = before + times
        self._laws.add(loss.law)
        self._releases += times
        self._sums = None
        if self._totals is not None:
            self._sum_up(self._totals, loss, before, before + times)
        if self._cells is not None:
            self._cells.add(loss, times)
        if self._beside is not None:
            self._fresh.add(loss)

    def _sum_up(self, totals: tuple[_Exact, ...], loss: Loss, before: int, now: int) -> None:
        """Put `now` equal losses into the sums where there were `before`."""
        added, known = _EMPTY.plus(loss, now)[1:], _EMPTY.plus(loss, before)[1:]
        for total, term, old in zip(totals, added, known, strict=True):
            if term:
                total.add(term)
            if old and math.isfinite(old):
                total.add(-old)

    @property
    def sums(self) -> Sums:
        """The sums, rounded once: to the last bit a function of the bag alone."""
        if self._sums is None:
            if self._totals is None:
                columns: tuple[list[float], ...] = [], [], [], []
                for loss, times in self._counts.items():
                    for column, term in zip(columns, _EMPTY.plus(loss, times)[1:], strict=True):
                        if term:
                            column.append(term)
                if not self.is_large:
                    self._sums = Sums(self._releases, *map(_rounded, columns))
                    return self._sums
                self._totals = tuple(map(_Exact, columns))
            self._sums = Sums(self._releases, *(total.value for total in self._totals))
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
        """Whether all of it is in another bag, which does not change. Asked again, only what was added is looked at."""
        if self._beside is not other:
            self._beside, self._fresh, self._fits = other, set(self._counts), True
        if self._fits:
            self._fits = all(self._counts[loss] <= other.count(loss) for loss in self._fresh)
            self._fresh.clear()
        return self._fits

    def __len__(self) -> int:
        return self._releases

    @property
    def key(self) -> Key:
        """The bag as something frozen: every different loss, with how many there are."""
        return tuple(self._counts.items())

    @property
    def is_large(self) -> bool:
        """Whether it holds so many different losses that what was found of them is kept."""
        return len(self._counts) > _FEW

    @property
    def cells(self) -> Cells:
        """The bag in at most `MOST_LAWS` different losses."""
        if self._cells is not None:
            return self._cells
        cells = Cells(MOST_LAWS, self._counts.items())
        if self.is_large:
            self._cells = cells
        return cells

    @property
    def coarse(self) -> Key:
        """These as something frozen: what accountants compose."""
        return self.cells.key

    @property
    def case(self) -> Case:
        """All that an accountant reads, as something frozen whose size is bounded."""
        return Case(self.sums, self.coarse)

    @property
    def laws(self) -> frozenset[str]:
        """The names of the laws in it."""
        return frozenset(self._laws)


def tally(spends: Iterable[Spend]) -> Tally:
    """Count a list of releases."""
    return Tally().take(spends)

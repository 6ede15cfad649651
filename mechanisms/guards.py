"""How a release of the ADMM family is protected: by nothing, in its duals, in its primal, in its penalty.

A guard fixes everything about the noise of release k from public quantities of that very solve: the curvature
κ₀ = ρ + 2ηV and the pull ηV. It draws nothing.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from mechanisms.accounting.spend import RESIDUAL_SHARE, Spend
from mechanisms.perturbation import Perturbation, Record, corrected, printed
from mechanisms.solve import TOLERANCE


class Terms(NamedTuple):
    """The noise of one release: its spend, Φ, ζ of linear noise, ζ of noise on the minimiser."""

    spend: Spend
    ridge: float = 0.0
    linear: float | None = None
    output: float | None = None
    secret: bool = False
    """Whether the un-noised state stands in the penalty (Zhang and Zhu 2016, eq. 22)."""
    noiseless_self: bool = False
    """Whether it stands there without its noise taken off twice (the printed final step, E4)."""


class Guard(Protocol):
    """What protects a release."""

    @property
    def planned(self) -> int | None:
        """How many releases it will protect; None when every wake makes one."""
        ...

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms | None:
        """Fix the noise of release k from κ₀ = ρ + 2ηV, the pull ηV and V; None where no noise keeps what was promised."""
        ...

    def like(self, k: int) -> object:
        """Releases of which this is equal have equal terms in equal places."""
        ...


@dataclass(frozen=True, slots=True)
class Growth:
    """start·growth^k, at most `cap`."""

    start: float
    growth: float = 1.0
    cap: float = math.inf

    def at(self, k: int) -> float:
        if self.growth == 1:
            return min(self.start, self.cap)
        log = math.log(self.start) + k * math.log(self.growth)
        return min(math.exp(log) if log < 700 else math.inf, self.cap)


@dataclass(frozen=True, slots=True)
class Open:
    """No noise: every release costs infinity."""

    spend: Spend
    planned = None

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms:  # noqa: ARG002
        return Terms(self.spend)

    def like(self, k: int) -> object:  # noqa: ARG002
        return None


def _objective_terms(
    kind: str,
    d: int,
    record: Record,
    target: float,
    convexity: float,
    degree: int,
    *,
    as_printed: bool,
) -> Terms:
    """Perturb the objective for a target loss."""
    how = (printed if as_printed else corrected)(target, record, convexity)
    shift, solve = 2.0 * record.pull, how.solve(record, convexity, degree, d)
    spend = Spend(
        kind,
        "objective",
        "as_printed" if as_printed else "corrected",
        how.zeta,
        shift,
        "l2",
        d,
        how.jacobian,
        target,
        how.loss(shift),
        solve=solve,
    )
    return Terms(spend, how.ridge, how.zeta)


@dataclass(frozen=True, slots=True)
class DualNoise:
    """DVP: linear noise b (Zhang and Zhu 2016, Algorithm 2, corrected by E1 and E2)."""

    record: Record
    d: int
    targets: tuple[float, ...]
    as_printed: bool = False

    @property
    def planned(self) -> int:
        return len(self.targets)

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms:  # noqa: ARG002
        return _objective_terms(
            "dvp",
            self.d,
            self.record,
            self.targets[k],
            convexity,
            degree,
            as_printed=self.as_printed,
        )

    def like(self, k: int) -> object:
        return self.targets[k]


@dataclass(frozen=True, slots=True)
class PrimalNoise:
    """PVP: noise on the minimiser (Zhang and Zhu 2016, Algorithm 3), with released values only, or as it is."""

    record: Record
    d: int
    targets: tuple[float, ...]
    rho: float
    secret: bool = False
    final_dual: bool = False
    as_printed: bool = False

    @property
    def planned(self) -> int:
        return len(self.targets)

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms:
        target = self.targets[k]
        if self.final_dual and k == len(self.targets) - 1:
            return self._final(target, convexity, pull, degree)
        # With the secret state only ρ bounds the sensitivity, over the whole trajectory (theory.md, 2.3).
        curvature = self.rho if self.secret else convexity
        sensitivity = 2.0 * (self.record.pull + TOLERANCE) / curvature
        zeta = target / sensitivity
        if self.as_printed:
            zeta = target * self.rho / (2.0 * self.record.pull)
        calibration = "as_printed" if self.as_printed else "corrected"
        spend = Spend(
            "pvp",
            "norm-gamma",
            calibration,
            zeta,
            sensitivity,
            "l2",
            self.d,
            0.0,
            target,
            target if not self.as_printed else zeta * sensitivity,
        )
        return Terms(spend, output=zeta, secret=self.secret)

    def like(self, k: int) -> object:
        return self.targets[k], self.final_dual and k == len(self.targets) - 1

    def _final(self, target: float, convexity: float, pull: float, degree: int) -> Terms:
        terms = _objective_terms(
            "pvp", self.d, self.record, target, convexity, degree, as_printed=self.as_printed
        )
        if not (self.secret and self.as_printed):
            return terms
        # The un-noised state in the penalty moves with the record by 2w/ρ: the shift is 2w(1 + ηV/ρ) (E4).
        old = terms.spend
        shift = 2.0 * self.record.pull * (1.0 + pull / self.rho)
        spend = replace(old, sensitivity=shift, charged=old.scale * shift + old.jacobian)
        return Terms(spend, terms.ridge, terms.linear, noiseless_self=True)


@dataclass(frozen=True, slots=True)
class PenaltyNoise:
    """PP: noise ε inside the penalty, b = 2ηVε (Zhang, Khalili, Liu 2018, Algorithm 1).

    Either α_i(t) is given and the loss follows, or the loss is and α_i(t) follows.
    """

    record: Record
    d: int
    noise: Growth | None = None
    targets: tuple[float, ...] | None = None
    releases: int | None = None
    as_printed: bool = False

    @property
    def planned(self) -> int | None:
        return self.releases if self.targets is None else len(self.targets)

    def fix(self, k: int, convexity: float, pull: float, degree: int) -> Terms | None:
        calibration = "as_printed" if self.as_printed else "corrected"
        if self.targets is not None and not self.as_printed:
            return _objective_terms(
                "pp", self.d, self.record, self.targets[k], convexity, degree, as_printed=False
            )
        alpha = self.noise.at(k) if self.noise is not None else self._printed_alpha(k, pull)
        if alpha <= 0:
            return None
        zeta, jacobian = alpha / (2.0 * pull), self.record.jacobian(convexity)
        shift = 2.0 * self.record.pull
        # given noise has no target: what pays for the solver is a share of what the noise costs
        residual = 0.0 if self.as_printed else RESIDUAL_SHARE * (zeta * shift + jacobian)
        how = Perturbation(0.0, zeta, jacobian, residual)
        charged = how.loss(shift)
        claimed = (1.4 * self.record.bend + alpha * self.record.pull) / pull
        spend = Spend(
            "pp",
            "objective",
            calibration,
            zeta,
            shift,
            "l2",
            self.d,
            jacobian,
            claimed if self.as_printed else charged,
            charged,
            solve=how.solve(self.record, convexity, degree, self.d),
        )
        return Terms(spend, linear=zeta)

    def like(self, k: int) -> object:
        return self.targets[k] if self.noise is None and self.targets else k

    def _printed_alpha(self, k: int, pull: float) -> float:
        """Invert the printed bound, eq. (26): w(1.4c₁ + α)/(ηV)."""
        assert self.targets is not None, "either the noise or the loss is given"  # noqa: S101
        return (self.targets[k] * pull - 1.4 * self.record.bend) / self.record.pull

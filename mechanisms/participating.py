"""Coordinate descent whose releases follow an agent's participation, which is public: what it missed, and what was read."""

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.strategy import RELEASE, Explained, Step, silent
from mechanisms.vectors import Vector


@dataclass(frozen=True, slots=True)
class ParticipatingDescent(CoordinateDescent):
    """Coordinate descent that may wait until its last release was read, and may pass missed shares on.

    With `when_read` an agent releases afresh only when a neighbour has acknowledged its last release; meanwhile it smooths. With
    `rolls_over` the releases stand for the agent's first T wakes, missed ones counted, and the share of a wake without a release passes
    evenly to those that are left: after wake j of T (counted from 0) each of the T − 1 − j later shares is (T − j)/(T − 1 − j) times
    as large. The schedule is that of an agent that misses none: what is missed leaves the total as it is. `squares` is whether shares are those of Σμ², and not of Σε.
    """

    when_read: bool = False
    rolls_over: bool = False
    squares: bool = False

    def next_spend(self, heard: Heard, made: int) -> Spend | None:
        if self.when_read and made and not heard.acknowledged:
            return None
        if not self.rolls_over:
            return CoordinateDescent.next_spend(self, heard, made)
        if not heard.total or heard.slot >= len(self.spends):
            return None
        return self.share(heard.missed)

    def share(self, missed: tuple[int, ...]) -> Spend:
        """Return what a release costs after wakes with these numbers were missed."""
        assert self.law is not None, "shares are of noise"  # noqa: S101
        count, times = len(self.spends), 1.0
        for slot in missed:
            if slot < count - 1:
                times *= (count - slot) / (count - slot - 1)
        base = self.spends[0]
        if times == 1.0:
            return base
        factor = times**0.5 if self.squares else times
        charge = self.law.charge(base.scale, base.sensitivity) * factor
        return replace(
            base,
            scale=self.law.scale(charge, base.sensitivity),
            claimed=base.claimed * factor,
            charged=base.charged * factor,
        )

    def propose(self, state: Vector, heard: Heard, made: int) -> Step:
        spend = self.next_spend(heard, made)
        if spend is None:
            return self.without_data(state, heard) if self.smooth_after else silent(state)
        fixed = spend

        def finish(rng: np.random.Generator | None) -> tuple[Vector, Vector]:
            assert self.law is not None, "its releases have noise"  # noqa: S101
            assert rng is not None, "a private release has noise"  # noqa: S101
            return self._descend(state, heard, self.law.draw(rng, fixed.scale, len(state)))

        return Step(RELEASE, spend, finish)

    def explain(
        self, before: Vector, heard: Heard, made: int, sent: Vector, after: Vector
    ) -> Explained:
        if not self.rolls_over:
            return CoordinateDescent.explain(self, before, heard, made, sent, after)
        spends = (self.share(heard.missed),) * (made + 1)
        plain = CoordinateDescent(
            self.objective, self.mu, self.confidence, self.smoothness, self.law, spends, self.clip
        )
        return replace(plain, grid=self.grid).explain(before, heard, made, sent, after)

    def noise_to_step(self, state: Vector, heard: Heard, made: int) -> float | None:
        if self.next_spend(heard, made) is None:
            return None
        return CoordinateDescent.noise_to_step(self, state, heard, min(made, len(self.spends) - 1))

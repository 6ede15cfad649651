"""Links: a policy says what becomes of a message, the link carries it out."""

from dataclasses import dataclass

import numpy as np

from clocks.durations import Constant, Draws, Duration, Nanoseconds

LOST = -1
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Policy:
    """The verdict on each message of a link: lost with probability `loss`, else late by `latency`."""

    latency: Duration = Constant(0.0)
    loss: float = 0.0

    def verdicts(self, draws: Draws, first: int, count: int) -> Nanoseconds:
        """Return delays in nanoseconds for messages `first`, `first` + 1 …; LOST for lost ones.

        Message n takes the stream's draws 2n (its fate) and 2n + 1 (its delay), so that a change of
        one parameter leaves all other verdicts alone.
        """
        bits = draws(2 * first, 2 * count)
        delays = self.latency.draw(bits[1::2], first)
        if self.loss > 0:
            delays = np.where(_fraction(bits[::2]) < self.loss, LOST, delays)
        return delays


def _fraction(bits: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Turn 64 random bits into a number in [0, 1): 53 of them, exactly."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Link:
    """One directed link: it draws its verdicts in blocks and hands them out one by one."""

    __slots__ = ("_draws", "_policy", "_sent", "_verdicts", "receiver")

    def __init__(self, receiver: int, policy: Policy, draws: Draws) -> None:
        self.receiver = receiver
        self._policy = policy
        self._draws = draws
        self._sent = 0
        self._verdicts: list[int] = []

    def verdict(self) -> int:
        """Return the delay of the next message, or LOST."""
        at = self._sent % _BLOCK
        if not at:
            self._verdicts = self._policy.verdicts(self._draws, self._sent, _BLOCK).tolist()
        self._sent += 1
        return self._verdicts[at]

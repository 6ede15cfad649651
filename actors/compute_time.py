"""How long an agent computes at each wake."""

from clocks.durations import Draws, Duration


class Labour:
    """Draws the time of one computation after the other, from the agent's own stream."""

    __slots__ = ("_done", "_draws", "_law")

    def __init__(self, law: Duration | None, draws: Draws) -> None:
        self._law = law
        self._draws = draws
        self._done = 0

    def next(self, pace: float) -> int:
        """Return how many nanoseconds the next one takes, for who takes `pace` times as long."""
        if self._law is None:
            return 0
        number = self._done
        self._done += 1
        drawn = int(self._law.draw(self._draws(number, 1), number)[0])
        return drawn if pace == 1.0 else round(drawn * pace)

"""Who has been silent for too long: a crash says nothing, so neighbours can only notice its silence."""

from collections.abc import Mapping

from clocks.clock import Clock
from mechanisms.mixing import Heard


class Detector:
    """Suspects a neighbour after so much silence, and trusts it again at its next word.

    A false suspicion costs nothing but the time until that word: suspects are still sent to.
    """

    __slots__ = ("_clock", "_heard", "silence")

    def __init__(self, silence: int, clock: Clock, heard: dict[int, int]) -> None:
        self.silence = silence
        self._clock = clock
        self._heard = heard

    def greet(self, neighbour: int) -> None:
        """Begin to count the silence of a neighbour now."""
        self._heard[neighbour] = self._clock.now

    def expires(self, neighbour: int) -> int:
        """Return when a neighbour will be suspected if it stays silent."""
        return self._heard.get(neighbour, 0) + self.silence

    def suspects(self, neighbour: int) -> bool:
        """Whether a neighbour has been silent for too long."""
        return self._clock.now >= self.expires(neighbour)

    def look(self, slots: Mapping[int, int], heard: Heard, suspects: set[int]) -> None:
        """Count out who has been silent for too long, and in who was heard again."""
        for neighbour, slot in slots.items():
            doubted = slot in suspects
            if (heard.present[slot] or doubted) and self.suspects(neighbour) != doubted:
                here = heard.present.copy()
                here[slot] = doubted
                heard.attend(here)
                (suspects.discard if doubted else suspects.add)(slot)

"""What an actor may ask of time, whatever engine moves it."""

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Protocol

NANOSECONDS = 1_000_000_000

# The order of one instant: faults, wakes (by agent id), deliveries, samples (reference.md, section 2).
# Zero belongs to starts and cancellations, on both engines: what is done to an actor is done to one that runs.
UNDO = 1  # a window ends before another begins
FAULT = 2
LOOK = (1 << 32) - 1  # a sample between two wakes, where rounds take no time
WAKE = 1 << 32
DELIVERY = 2 << 32
SAMPLE = 3 << 32
LAST = 4 << 32

Actor = Callable[[], Coroutine[Any, Any, None]]
"""Returns what an actor does. It is called when the actor first runs: one that never runs leaves no coroutine behind."""


class Cancelled(BaseException):
    """An actor was told to stop where it stood. Not an error: only its canceller asked."""


class Signal(Protocol):
    """A thing that happens once, and can be awaited by one actor."""

    def set(self) -> None:
        """Let it happen now; setting it again changes nothing."""
        ...

    def __await__(self) -> Generator[Any, Any, None]: ...


class Task(Protocol):
    """An actor that runs."""

    def cancel(self) -> None:
        """Raise `Cancelled` where the actor waits; a finished actor stays finished."""
        ...


class Clock(Protocol):
    """Integer nanoseconds, ordered by (time, priority, sequence)."""

    @property
    def now(self) -> int:
        """The instant that is being served."""
        ...

    @property
    def late(self) -> int:
        """How many nanoseconds of wall time this instant is served after its due time."""
        ...

    def sleep_until(self, instant: int, priority: int) -> Signal:
        """Wait for an instant; one that has passed is refused."""
        ...

    def at(self, instant: int, priority: int, action: Callable[[], None]) -> None:
        """Call `action` at an instant."""
        ...

    def signal(self, priority: int) -> Signal:
        """Make a signal; the actor that waits for it resumes with this priority."""
        ...

    def spawn(self, actor: Actor) -> Task:
        """Start an actor at this instant, before anything else that is still due in it."""
        ...

    @property
    def upcoming(self) -> tuple[int, int] | None:
        """The instant and the priority of what is served next; None where nothing is due."""
        ...


class Governor(Protocol):
    """Holds, paces or ends a run: the engine asks it between entries."""

    ended: bool
    """Read after every entry: when it is set, nothing more is served."""

    free: bool
    """Whether nothing holds or paces the run: then no entry asks for its allowance."""

    def poll(self, now: int) -> bool:
        """Asked every 64 entries and wherever the engine rests: may the run go on."""
        ...

    def allowance(self, upcoming: int) -> float:
        """Seconds of wall time to wait before the entry due at `upcoming`; 0 is now, inf is held."""
        ...

    @property
    def watched(self) -> bool:
        """Whether the run has a pace, or a screen needs the event loop while it goes on."""
        ...


def nothing() -> None:
    """Do nothing between slices."""


class Engine(Clock, Protocol):
    """A clock with something that moves it."""

    @property
    def queue(self) -> int:
        """How many entries are still to be served."""
        ...

    def is_taken(self, instant: int, priority: int) -> bool:
        """Whether something is due at an instant that comes with this priority or before it."""
        ...

    @property
    def idle(self) -> bool:
        """Whether nothing is due at any time: an actor that waits, waits for ever."""
        ...

    async def run(
        self, until: int | None, governor: Governor, between: Callable[[], object] = nothing
    ) -> None:
        """Serve every entry up to and including `until`; an actor's exception surfaces unchanged.

        `between` is called every 64 entries and wherever the engine rests, right before the governor is asked whether
        the run may go on: there a recorder writes what has been collected. What it raises ends the run.
        """
        ...


def due(now: int, instant: int) -> int:
    """Return `instant` when it is an integer not before `now`: anything else corrupts a queue."""
    if type(instant) is not int:
        raise TypeError(f"an instant is an integer of nanoseconds, got {instant!r}")
    if instant < now:
        raise ValueError(f"time cannot go backwards: it is {now} ns, asked for {instant} ns")
    return instant


def nanoseconds(seconds: float) -> int:
    """Convert seconds to integer nanoseconds; NaN, infinite and negative values are refused."""
    if not 0 <= seconds < 9.2e9:
        raise ValueError(f"a duration must be finite and not negative, got {seconds!r} s")
    return round(seconds * NANOSECONDS)

"""When a scenario does something to the world, and when it is undone: windows are exact."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Protocol

from actors.conditions import Condition, Metrics
from actors.events import Diverged, Event, FaultBegan, FaultEnded
from actors.faults.context import Stage, Strike, Undo
from actors.faults.link_effects import happens
from actors.faults.targets import Chooser, Target
from clocks.clock import FAULT, UNDO
from clocks.durations import Draws, Duration

_GAPS, _LENGTHS = 1 << 40, 1 << 41
"""Where the draws of a fault's intervals and windows begin, in its own stream."""


class Deed(Protocol):
    """What a fault does. It returns how to undo it; None where there is nothing to undo."""

    @property
    def name(self) -> str: ...

    @property
    def undone(self) -> str: ...

    @property
    def target(self) -> Target: ...

    def begin(self, strike: Strike) -> Undo | None: ...


@dataclass(frozen=True, slots=True)
class Timing:
    """At an instant, every so often, or when an event satisfies a condition; and how long it lasts.

    `after` and `until` bound the instants at which it may begin, both included. What comes every so
    often comes first one gap later than `after`, or, with `prompt`, at `after` itself.
    """

    at: int | None = None
    every: Duration | None = None
    when: Condition | None = None
    times: int | None = None
    nth: int = 1
    later: int = 0
    after: int = 0
    until: int | None = None
    probability: float = 1.0
    lasts: Duration | None = None
    prompt: bool = False

    def admits(self, instant: int) -> bool:
        """Whether it may begin at an instant."""
        return instant >= self.after and (self.until is None or instant <= self.until)

    def instants(self, luck: Draws) -> Iterator[int]:
        """Yield the instants at which it may begin, in order; none where an event decides.

        `luck` are the fault's own draws: the gaps of `every` are drawn from them, one each.
        """
        if self.at is not None:
            yield self.at
        if self.every is None:
            return
        instant, gaps = self.after, count()
        if self.prompt:
            yield instant
        for number in gaps:
            instant += max(1, int(self.every.draw(luck(_GAPS + number, 1), number)[0]))
            if not self.admits(instant):
                return
            yield instant

    def happens(self, tried: int, luck: Draws) -> bool:
        """Whether it happens at its n-th chance, counted from 1."""
        return happens(luck(tried, 1), 0, self.probability)

    def first(self, luck: Draws, end: int | None, most: int = 20_000) -> int | None:
        """Return when it first begins, in nanoseconds; None where an event decides, or it never does.

        It is looked for until `end`, and among as many chances as `most`.
        """
        for tried, instant in enumerate(islice(self.instants(luck), most), 1):
            if end is not None and instant + self.later > end:
                return None
            if self.happens(tried, luck):
                return instant + self.later
        return None


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a scenario: what is done, to whom, and when. Its chance bears a name of its own."""

    number: int
    deed: Deed
    timing: Timing
    path: str
    brings: bool = False
    """Whether it may bring somebody back who does nothing now."""
    oracle: bool = False
    """Whether it reads what no agent knows: then participation depends on data."""

    @property
    def luck(self) -> str:
        """The name of the draws that decide when it happens, and for how long."""
        return f"{self.path}/luck"


@dataclass(frozen=True, slots=True)
class _Firing:
    """One time that a fault happened: since when, whom it hit, and how it is undone."""

    instant: int
    ends: int
    """When it is undone of itself; −1 where it lasts."""
    hit: tuple[int, ...]
    undo: Undo | None
    waits: bool
    """Whether the run waits for its end."""


class Occurrence:
    """One fault of a running world: it waits, fires, and is undone."""

    def __init__(self, fault: Fault, stage: Stage, metrics: Metrics) -> None:
        self._fault = fault
        self._stage = stage
        self._metrics = metrics
        self._luck = stage.stream(fault.luck)
        self._chooser = Chooser(
            fault.deed.target, stage.stream(f"{fault.path}/whom"), stage.around, stage.measure
        )
        self._seen = self._tried = self._happened = self._fired = 0
        self._open: dict[int, _Firing] = {}

    def begin(self) -> None:
        """Set the fault up."""
        timing, stage = self._fault.timing, self._stage
        if timing.when is not None:
            stage.log.watch(self._look, timing.when.kinds)
            return  # nothing may ever trigger it: nobody waits for that
        self._expect()
        stage.clock.spawn(self._again() if timing.at is None else self._once(timing.at))

    def come(self, instant: int) -> None:
        """Happen once, at an instant that somebody chose while the world runs."""
        self._expect()
        self._stage.clock.at(instant, FAULT, self._come)

    def _come(self) -> None:
        self._try(None)
        self._done()

    @property
    def windows(self) -> list[tuple[int, int]]:
        """When it began, and when it will be undone of itself, of each firing that is not undone."""
        return [(firing.instant, firing.ends) for firing in self._open.values()]

    def heal(self, instant: int) -> None:
        """Undo at an instant whatever of it will not be undone by then."""
        self._stage.clock.at(instant, UNDO, self._undo_all)

    def _undo_all(self) -> None:
        for began in list(self._open):
            self._undo(began)

    def _expect(self) -> None:
        """Let the run wait for something that may bring somebody back."""
        if self._fault.brings:
            self._stage.members.pending += 1

    def _done(self) -> None:
        if self._fault.brings:
            self._stage.members.faults_done()

    async def _once(self, instant: int) -> None:
        await self._stage.clock.sleep_until(instant, FAULT)
        self._try(None)
        self._done()

    async def _again(self) -> None:
        timing, clock = self._fault.timing, self._stage.clock
        for instant in timing.instants(self._luck):
            await clock.sleep_until(instant, FAULT)
            self._try(None)
            if timing.times is not None and self._happened >= timing.times:
                break
        self._done()

    def _look(self, event: Event) -> None:
        """See an event; what it triggers happens at the same instant, with a fault's priority."""
        timing = self._fault.timing
        if timing.when is None or (timing.times or 1) <= self._happened:
            return
        if isinstance(event, Diverged) and not self._fault.oracle:
            return  # that a model diverged depends on data
        if event.node is None and self._fault.deed.target.how == "event":
            return  # it waits for an event of somebody
        if not timing.admits(event.t) or not timing.when.holds(event, self._metrics):
            return
        self._seen += 1
        if self._seen >= timing.nth:
            self._try(event)

    def _try(self, event: Event | None) -> None:
        """Let it happen, by chance, now or after a while."""
        timing, clock = self._fault.timing, self._stage.clock
        self._tried += 1
        if not timing.happens(self._tried, self._luck):
            return
        self._happened += 1
        if event is None and not timing.later:
            self._fire(None)
        else:
            self._expect()
            clock.at(clock.now + timing.later, FAULT, lambda: self._fire_late(event))

    def _fire_late(self, event: Event | None) -> None:
        self._fire(event)
        self._done()

    def _fire(self, event: Event | None) -> None:
        fault, stage, luck = self._fault, self._stage, self._luck
        timing, deed = fault.timing, fault.deed
        hit = self._chooser.choose(self._fired, event)
        lasts = None
        if timing.lasts is not None:
            lasts = int(timing.lasts.draw(luck(_LENGTHS + self._fired, 1), self._fired)[0])
        ends = -1 if lasts is None else stage.clock.now + max(1, lasts)
        cause = None if event is None else event.seq
        began = stage.log.emit(FaultBegan, None, cause, fault.number, deed.name, hit, ends)
        undo = deed.begin(Strike(fault.number, hit, stage, began, f"{fault.path}/{self._fired}"))
        self._fired += 1
        waits = lasts is not None or deed.name == "churn"  # somebody always comes back
        if waits:
            self._expect()
        if lasts is not None:
            stage.clock.at(ends, UNDO, lambda: self._undo(began))
        self._open[began] = _Firing(stage.clock.now, ends, hit, undo, waits)

    def _undo(self, began: int) -> None:
        """Undo one firing, unless a hand was faster."""
        firing = self._open.pop(began, None)
        if firing is None:
            return
        deed, number = self._fault.deed, self._fault.number
        ended = self._stage.log.emit(FaultEnded, None, began, number, deed.undone, firing.hit)
        if firing.undo is not None:
            firing.undo(ended)
        if firing.waits:
            self._done()


class Script:
    """The faults of a running world, and those that a hand adds to them."""

    def __init__(self, stage: Stage, metrics: Metrics) -> None:
        self._stage = stage
        self._metrics = metrics
        self._occurrences: list[Occurrence] = []

    def begin(self, fault: Fault) -> None:
        """Set up a fault of the scenario."""
        self._add(fault).begin()

    def add(self, fault: Fault, instant: int) -> None:
        """Let a fault happen that a hand chose."""
        self._add(fault).come(instant)

    def _add(self, fault: Fault) -> Occurrence:
        self._occurrences.append(Occurrence(fault, self._stage, self._metrics))
        return self._occurrences[-1]

    def windows(self, number: int) -> list[tuple[int, int]]:
        """Return the windows of a fault that are open: when they began, and when they will end of themselves."""
        return self._occurrences[number].windows

    def heal(self, number: int, instant: int) -> None:
        """Undo a fault at an instant."""
        self._occurrences[number].heal(instant)

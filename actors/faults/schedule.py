"""When faults happen, and when they are undone: windows are exact."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice

from actors.conditions import Condition, Metrics
from actors.events import Diverged, Event, FaultBegan, FaultEnded, Woke
from actors.faults.context import FaultContext, Firing, Link, Preparation, Undo
from actors.faults.link_effects import happens
from actors.faults.targets import Chooser, Target
from actors.log import Trigger
from actors.turns import WITHIN_TURNS
from clocks.clock import FAULT, UNDO
from clocks.durations import Draws, Duration

_GAPS, _LENGTHS = 1 << 40, 1 << 41
"""Where the draws of a fault's intervals and windows begin, in its own stream."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a fault does, to which agents, and what may be known of it before a run."""

    target: Target
    do: Callable[[Firing], Undo | None]
    """Does it, and returns what undoes it; None where there is nothing to undo."""
    undone: str = "heal"
    """What its end is called; empty where it is done once."""
    pairs: tuple[Link, ...] = ()
    """The links that it names: the graph must have them."""
    needs: Preparation | None = None
    slows: float = 1.0
    """Computing takes so many times as long."""
    shifts_s: float = 0.0
    """By how many seconds it sets a clock at once."""
    comes_per_s: float = 0.0
    """How often an agent goes by it alone, in one second, all agents together."""
    uncovered: str = ""
    """Why ε does not cover a run with it; empty where it does."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When a fault happens: at an instant, every so often, or when an event satisfies a condition; and how long it lasts.

    All times are in nanoseconds. `after` and `until` bound the instants at which it may begin, both included. A fault that
    comes every so often comes first one gap later than `after`, or, with `prompt`, at `after` itself.
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
    """One entry of a scenario: what is done, to which agents, and when. Its chance has a name of its own, `path`."""

    number: int
    name: str
    """What it does: the name of its kind."""
    action: Action
    timing: Timing
    path: str
    brings: bool = False
    """Whether it may bring an agent back that does nothing now."""
    waits: bool = False
    """Whether each firing brings agents back, so that a run waits until it is undone."""
    stalls: bool = False
    """Whether agents or links fall silent without a word, so that rounds wait for them."""
    oracle: bool = False
    """Whether it reads what no agent knows: then participation depends on data."""

    @property
    def luck(self) -> str:
        """The name of the draws that decide when it happens, and for how long."""
        return f"{self.path}/luck"


@dataclass(frozen=True, slots=True)
class _OpenFiring:
    """One firing that is not undone: since when, which agents it hit, and how it is undone."""

    instant: int
    ends: int
    """When it is undone; −1 where it lasts."""
    hit: tuple[int, ...]
    undo: Undo | None
    waits: bool
    """Whether the run waits for its end."""


class ScheduledFault:
    """One fault of a running world: it waits, fires, and is undone."""

    def __init__(self, fault: Fault, context: FaultContext, metrics: Metrics) -> None:
        self._fault = fault
        self._context = context
        self._metrics = metrics
        self._luck = context.stream(fault.luck)
        self._chooser = Chooser(
            fault.action.target,
            context.stream(f"{fault.path}/whom"),
            context.around,
            context.measure,
        )
        self._seen = self._tried = self._happened = self._fired = 0
        self._open: dict[int, _OpenFiring] = {}
        self._trigger: Trigger | None = None
        """Waits for the events that it happens at, as long as it may."""

    def begin(self) -> None:
        """Wait for the instants of the fault, or for the events that trigger it."""
        timing, context = self._fault.timing, self._context
        if timing.when is not None:
            self._trigger = Trigger(
                self._observe,
                frozenset(timing.when.kinds),
                self._may_hold,
                self._may_hold_of if timing.when.is_of_metrics else None,
                None if timing.nth == 1 or "charged" in timing.when.names else self._to_come,
            )
            context.log.add_trigger(self._trigger)
            if not WITHIN_TURNS.isdisjoint(timing.when.kinds) and not timing.when.is_of_metrics:
                context.log.demand_events(self)  # it strikes before others act at this instant
            return  # no event may ever trigger it: the run does not wait for that
        self._expect()
        context.clock.spawn(self._again if timing.at is None else partial(self._once, timing.at))

    def come(self, instant: int) -> None:
        """Happen once, at an instant that was chosen while the world runs."""
        self._expect()
        self._context.clock.at(instant, FAULT, self._come)

    def _come(self) -> None:
        self._try(None)
        self._done()

    @property
    def windows(self) -> list[tuple[int, int]]:
        """For each firing that is not undone: when it began, and when it will be undone; −1 where it lasts."""
        return [(firing.instant, firing.ends) for firing in self._open.values()]

    def heal(self, instant: int) -> None:
        """Undo at an instant every firing that is not undone by then."""
        self._context.clock.at(instant, UNDO, self._undo_all)

    def _undo_all(self) -> None:
        for began in list(self._open):
            self._undo(began)

    def _expect(self) -> None:
        """Let the run wait for what may bring an agent back."""
        if self._fault.brings:
            self._context.members.pending += 1

    def _done(self) -> None:
        if self._fault.brings:
            self._context.members.faults_done()

    async def _once(self, instant: int) -> None:
        await self._context.clock.sleep_until(instant, FAULT)
        self._try(None)
        self._done()

    async def _again(self) -> None:
        timing, clock = self._fault.timing, self._context.clock
        for instant in timing.instants(self._luck):
            await clock.sleep_until(instant, FAULT)
            self._try(None)
            if timing.times is not None and self._happened >= timing.times:
                break
        self._done()

    def _observe(self, event: Event) -> None:
        """Observe an event; what it triggers happens at the same instant, with a fault's priority."""
        timing = self._fault.timing
        if timing.when is None:
            return
        if (timing.times or 1) <= self._happened:
            if self._trigger is not None:
                self._context.log.remove_trigger(self._trigger)
                self._trigger = None
            return
        if isinstance(event, Diverged) and not self._fault.oracle:
            return  # that a model diverged depends on data
        if event.node is None and self._fault.action.target.how == "event":
            return  # it waits for the event of an agent
        if not timing.admits(event.t) or not timing.when.holds(event, self._metrics):
            return
        self._seen += 1
        if self._seen >= timing.nth:
            self._try(event)

    def _may_hold(self, event: Event) -> bool:
        """Whether an event may satisfy the condition: what it costs is not known before it happens."""
        timing = self._fault.timing
        assert timing.when is not None, "an event decides"  # noqa: S101
        if not timing.admits(event.t):
            return False
        return "charged" in timing.when.names or timing.when.holds(event, self._metrics)

    def _to_come(self) -> int:
        """Return how many more events satisfy the condition before one of them counts."""
        return max(0, self._fault.timing.nth - self._seen - 1)

    def _may_hold_of(self, agent: int) -> bool:
        """Whether events of an agent satisfy a condition on metrics alone: all do that, or none."""
        when = self._fault.timing.when
        assert when is not None, "an event decides"  # noqa: S101
        return when.holds(Woke(0, 0, agent, None), self._metrics)

    def _try(self, event: Event | None) -> None:
        """Fire with the probability of the fault: now, or `later`."""
        timing, clock = self._fault.timing, self._context.clock
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
        fault, context, luck = self._fault, self._context, self._luck
        timing, action = fault.timing, fault.action
        hit = self._chooser.choose(self._fired, event)
        lasts = None
        if timing.lasts is not None:
            lasts = int(timing.lasts.draw(luck(_LENGTHS + self._fired, 1), self._fired)[0])
        ends = -1 if lasts is None else context.clock.now + max(1, lasts)
        cause = None if event is None else event.seq
        began = context.log.emit(FaultBegan, None, cause, fault.number, fault.name, hit, ends)
        undo = action.do(Firing(fault.number, hit, context, began, f"{fault.path}/{self._fired}"))
        self._fired += 1
        waits = lasts is not None or fault.waits
        if waits:
            self._expect()
        if lasts is not None:
            context.clock.at(ends, UNDO, lambda: self._undo(began))
        self._open[began] = _OpenFiring(context.clock.now, ends, hit, undo, waits)

    def _undo(self, began: int) -> None:
        """Undo one firing, unless it was undone by hand before."""
        firing = self._open.pop(began, None)
        if firing is None:
            return
        action, number = self._fault.action, self._fault.number
        ended = self._context.log.emit(FaultEnded, None, began, number, action.undone, firing.hit)
        if firing.undo is not None:
            firing.undo(ended)
        if firing.waits:
            self._done()


class FaultSchedule:
    """The faults of a running world: those of its scenario, and those that are added by hand."""

    def __init__(self, context: FaultContext, metrics: Metrics) -> None:
        self._context = context
        self._metrics = metrics
        self._occurrences: list[ScheduledFault] = []

    def begin(self, fault: Fault) -> None:
        """Set up a fault of the scenario."""
        self._add(fault).begin()

    def add(self, fault: Fault, instant: int) -> None:
        """Let a fault that is added by hand happen once, at an instant."""
        self._add(fault).come(instant)

    def _add(self, fault: Fault) -> ScheduledFault:
        self._occurrences.append(ScheduledFault(fault, self._context, self._metrics))
        return self._occurrences[-1]

    def windows(self, number: int) -> list[tuple[int, int]]:
        """Return the open windows of a fault: when they began, and when they will end; −1 where they last."""
        return self._occurrences[number].windows

    def heal(self, number: int, instant: int) -> None:
        """Undo a fault at an instant."""
        self._occurrences[number].heal(instant)

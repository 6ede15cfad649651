"""Orders about time: hold, step, until, speed, breakpoints."""

import math
from collections.abc import Callable, Sequence

from actors.conditions import Condition, NoCondition
from actors.events import Event
from scenarios.console.assembly.breakpoints import Breakpoint, judge
from scenarios.console.assembly.playback import Deck
from scenarios.console.sources.feed import Filter, condition_of
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import Look, NotThere
from scenarios.language.value_rules import number_of_seconds

_FASTEST = 1e9
Note = Callable[..., None]


class Timing:
    """Moves one run, and notes what was ordered."""

    def __init__(self, source: Source, deck: Deck, look: Look, note: Note) -> None:
        self.source = source
        self.deck = deck
        self.look = look
        self._note = note
        self.fellows: tuple[Timing, ...] = ()
        """Of runs beside this one, which hold when this one does."""
        self._told: Callable[[str], None] = self._tell
        """Who is told where this run held; then nobody waits for anything any more."""
        self._stops: list[Breakpoint] = []

    @property
    def _all(self) -> tuple["Timing", ...]:
        return self, *self.fellows

    def _noted(self, what: str, **more: object) -> None:
        """Write what was done into the journal of every run that it was done to."""
        for timing in self._all:
            timing._note(what, **more)  # noqa: SLF001 # of the same class

    def play(self) -> None:
        """Hold, or go on."""
        self._forget_goals()
        if self.deck.paused:
            self.deck.play()
            self._noted("resume")
        else:
            self.deck.hold()
            self._noted("pause")

    def step(self) -> None:
        """Go on by one event."""
        self._forget_goals()
        self._come()
        self.deck.step()
        self._noted("step")

    def next(self, kind: str) -> str:
        """Go on to the next event of a kind, or that satisfies a condition."""
        shown = Filter(kind or "notable")
        if shown.text == "all":
            self.step()
            return ""
        for timing in self._all:
            judge(shown.condition, timing.source)
        self._come()
        self._forget_goals()
        for timing in self._all:
            timing._stop_at(shown.condition, once=True)  # noqa: SLF001 # of the same class
        self.deck.hurry()
        self._noted("next", to=shown.text)
        return ""

    def _come(self) -> None:
        """Refuse to wait for what a recording has no more."""
        if self.source.upcoming is None:
            raise NotThere("this is the end of the recording: seek goes back, space plays it again")

    def until(self, text: str) -> str:
        """Go on to an instant, by a length of time such as +5s, or to an event that satisfies a condition."""
        if not text:
            raise NotThere("needs a time such as 42s, a length such as +5s, or a condition")
        try:
            instant = self._instant(text)
        except NotThere:
            raise
        except ValueError:
            return self._until_event(text)
        return self._go("until", instant)

    def _go(self, order: str, instant: int) -> str:
        said = self.deck.until(instant)
        if not said:
            self._forget_goals()
            self._noted(order, to=instant)
        return said

    def _until_event(self, text: str) -> str:
        try:
            return self.next(text)
        except NoCondition as error:
            said = f"'{text}' is no time, such as 42s or +5s, and no condition: {error}"
            raise NotThere(said) from None

    def _instant(self, text: str) -> int:
        sign = text[0] if text[0] in "+-" else ""
        rest = text[len(sign) :]
        seconds = number_of_seconds(float(rest) if _numeric(rest) else rest)
        if not 0 <= seconds < 9e9:
            raise NotThere(f"'{text}' is no time of a run")
        ns = round(seconds * 1e9)
        if sign:
            now = max(timing.source.now for timing in self._all)
            ns = max(0, now + (ns if sign == "+" else -ns))
        end = self._end()
        if end is not None and ns > end:
            raise NotThere(f"{text} is after the end, at {end / 1e9:g} s")
        return ns

    def _end(self) -> int | None:
        """When the last of all that is shown will be over."""
        ends = [timing.source.end for timing in self._all]
        return None if None in ends else max(end for end in ends if end is not None)

    def seek(self, text: str) -> str:
        """Stand at an instant: of a recording any, of a run one that is to come."""
        if not text:
            raise NotThere("needs a time such as 42s, or +5s and -5s from here")
        try:
            instant = self._instant(text)
        except NotThere:
            raise
        except ValueError:
            raise NotThere(f"'{text}' is no time, such as 42s, 2m or -5s") from None
        return self._go("seek", instant)

    def faster(self) -> str:
        """Double the speed."""
        return self._pace(self.deck.speed * 2)

    def slower(self) -> str:
        """Halve the speed."""
        speed = self.deck.speed
        return self._pace(_from_max(self.source) if speed == math.inf else speed / 2)

    def speed(self, text: str) -> str:
        """Set the speed, in simulated seconds for each on the wall, or max."""
        if text == "max":
            return self._pace(math.inf)
        text = text.strip("×x ")
        if not _numeric(text) or not float(text) > 0:
            raise NotThere(f"speed needs a number > 0, or max; got '{text}'")
        return self._pace(float(text))

    def _pace(self, speed: float) -> str:
        speed = math.inf if speed > _FASTEST else max(1e-9, speed)
        self.deck.pace(speed)
        self._noted("speed", to="max" if speed == math.inf else speed)
        told = "as fast as can be" if speed == math.inf else f"×{speed:.3g}"
        return f"{told}, as soon as it goes on" if self.deck.paused else ""

    def stop_when(self, text: str) -> str:
        """Hold whenever an event satisfies a condition."""
        if not text:
            return (
                "; ".join(f"{i}: {said}" for i, said in enumerate(self.look.breaks))
                or "no breakpoint"
            )
        condition = condition_of(text)
        judge(condition, self.source)
        self._stop_at(condition, once=False)
        self._note("break", when=text)
        return f"holds when {text}"

    def clear(self, text: str) -> str:
        """Forget a breakpoint, or all."""
        kept = [stop for stop in self._stops if not stop.once]
        if text and (not text.isdecimal() or int(text) >= len(kept)):
            raise NotThere(f"no breakpoint '{text}': there are {len(kept)}")
        self._stops = [stop for i, stop in enumerate(kept) if text and i != int(text)]
        self._note("clear", number=int(text) if text else None)
        self._arm()
        return "breakpoints: " + (", ".join(self.look.breaks) or "none")

    def _stop_at(self, condition: Condition, *, once: bool) -> None:
        kept = [stop for stop in self._stops if not stop.once]
        self._stops = [*kept, Breakpoint(condition, self.source, once=once)]
        self._arm()

    def _forget_goals(self) -> None:
        for timing in self._all:
            if any(stop.once for stop in timing._stops):  # noqa: SLF001 # of the same class
                timing._stops = [stop for stop in timing._stops if not stop.once]  # noqa: SLF001
                timing._arm()  # noqa: SLF001

    def _arm(self) -> None:
        self.look.breaks = [stop.text for stop in self._stops if not stop.once]
        self.deck.watch(self._stops, self._hit)

    def _hit(self, stop: Breakpoint, event: Event) -> None:
        kind = type(event).__struct_config__.tag
        what = "reached" if stop.once else "BREAK"
        self._told(f"{what} at event {event.seq:,}, {kind}: {stop.text}")

    def _tell(self, said: str) -> None:
        self.look.says = said
        self._forget_goals()

    def lead(self, fellows: Sequence["Timing"]) -> None:
        """Move other runs together with this one, and hear where they hold."""
        self.fellows = tuple(fellows)
        for mark, timing in zip("AB", self._all, strict=False):
            timing._told = lambda said, mark=mark: self._tell(f"{mark}: {said}")  # type: ignore[misc] # noqa: SLF001


def _numeric(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _from_max(source: Source) -> float:
    """Choose a pace for what went as fast as it could."""
    return 1.0 if source.end is None else max(1e-3, source.end / 40e9)

"""Orders about time: hold, step, until, speed, breakpoints."""

import math
from collections.abc import Callable

from actors.conditions import Condition, NoCondition
from actors.events import Event
from scenarios.console.breaks import Breakpoint, judge
from scenarios.console.deck import Deck
from scenarios.console.feed import Filter, condition_of
from scenarios.console.look import Look, NotThere
from scenarios.console.source import Source
from scenarios.schema import number_of_seconds

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
        self._stops: list[Breakpoint] = []

    def play(self) -> None:
        """Hold, or go on."""
        for timing in (self, *self.fellows):
            timing._forget_goals()  # noqa: SLF001 # of the same class
        if self.deck.paused:
            self._note("resume")
            self.deck.play()
        else:
            self.deck.hold()
            self._note("pause")

    def step(self) -> None:
        """Go on by one event."""
        self._note("step")
        self.deck.step()

    def next(self, kind: str) -> str:
        """Go on to the next event of a kind, or that satisfies a condition."""
        shown = Filter(kind or "notable")
        if shown.text == "all":
            self.step()
            return ""
        judge(shown.condition, self.source)
        for timing in (self, *self.fellows):
            timing._stop_at(shown.condition, once=True)  # noqa: SLF001 # of the same class
        self._note("next", to=shown.text)
        self.deck.hurry()
        return ""

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
        self._note("until", to=instant)
        return self.deck.until(instant)

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
            ns = max(0, self.source.now + (ns if sign == "+" else -ns))
        end = self.source.end
        if end is not None and ns > end:
            raise NotThere(f"{text} is after the end, at {end / 1e9:g} s")
        return ns

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
        self._note("seek", to=instant)
        return self.deck.until(instant)

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
        if not _numeric(text) or not float(text) > 0:
            raise NotThere(f"speed needs a number > 0, or max; got '{text}'")
        return self._pace(float(text))

    def _pace(self, speed: float) -> str:
        speed = math.inf if speed > _FASTEST else max(1e-9, speed)
        self._note("speed", to="max" if speed == math.inf else speed)
        self.deck.pace(speed)
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
        if any(stop.once for stop in self._stops):
            self._stops = [stop for stop in self._stops if not stop.once]
            self._arm()

    def _arm(self) -> None:
        self.look.breaks = [stop.text for stop in self._stops if not stop.once]
        self.deck.watch(self._stops, self._hit)

    def _hit(self, stop: Breakpoint, event: Event) -> None:
        kind = type(event).__struct_config__.tag
        what = "reached" if stop.once else "BREAK"
        self.look.says = f"{what} at event {event.seq:,}, {kind}: {stop.text}"
        self._forget_goals()


def _numeric(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _from_max(source: Source) -> float:
    """Choose a pace for what went as fast as it could."""
    return 1.0 if source.end is None else max(1e-3, source.end / 40e9)

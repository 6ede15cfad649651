"""Commands about time: hold, step, until, speed, breakpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from actors.conditions import Condition, NoCondition
from actors.events import Event
from scenarios.console.assembly.pace import Motion
from scenarios.console.control.breakpoints import Breakpoint, OnHit, check_measured
from scenarios.console.sources.feed import Filter, condition_of
from scenarios.console.sources.view_state import CommandError
from scenarios.language.value_rules import number_of_seconds

if TYPE_CHECKING:
    from scenarios.console.control.pane import Pane


_FASTEST = 1e9
_STRIDES = 50
"""So many strokes of a key go through a whole run."""


class Control(Motion, Protocol):
    """What moves everything on the screen through simulated time: a `RunControl`, or a `ReplayControl`."""

    @property
    def interrupted(self) -> bool:
        """Whether it was ended early."""
        ...

    def play(self) -> None:
        """Go on at the speed."""
        ...

    def hold(self) -> None:
        """Hold now."""
        ...

    def step(self) -> None:
        """Go on by one event."""
        ...

    def hurry(self) -> None:
        """Go on as fast as can be, until something holds it."""
        ...

    def go_to(self, instant: int) -> str:
        """Go on to an instant (ns), or back where that can be; return what is wrong, or nothing."""
        ...

    def set_speed(self, speed: float) -> None:
        """Change the speed; the pace begins anew at this instant."""
        ...

    def restart_pace(self) -> None:
        """Begin the pace anew: wall time that was spent elsewhere does not count."""
        ...

    def watch(self, number: int, breakpoints: Sequence[Breakpoint], on_hit: OnHit) -> None:
        """Hold, and call `on_hit`, when an event of one run hits a breakpoint; its former breakpoints are forgotten."""
        ...

    def stop(self) -> None:
        """End what goes on."""
        ...


class TimeCommands:
    """Moves what the panes show, all of it together, and writes what was done into their journals."""

    def __init__(
        self, panes: Sequence[Pane], control: Control, tell: Callable[[str], None]
    ) -> None:
        """Move panes by a control; `tell` is called with where a breakpoint held them."""
        self._panes = panes
        self._control = control
        self._tell = tell

    def _note(self, what: str, **more: object) -> None:
        for pane in self._panes:
            pane.note(what, **more)

    def play(self) -> None:
        """Hold, or go on."""
        self._forget_goals()
        if self._control.paused:
            self._control.play()
            self._note("resume")
        else:
            self._control.hold()
            self._note("pause")

    def step(self) -> None:
        """Go on by one event."""
        self._forget_goals()
        self._refuse_at_the_end()
        self._control.step()
        self._note("step")

    def next(self, kind: str) -> None:
        """Go on to the next event of a kind, or that satisfies a condition."""
        shown = Filter(kind or "notable")
        if shown.text == "all":
            self.step()
            return
        for pane in self._panes:
            check_measured(shown.condition, pane.source)
        self._refuse_at_the_end()
        self._forget_goals()
        for pane in self._panes:
            self._add(pane, shown.condition, once=True)
        self._control.hurry()
        self._note("next", to=shown.text)

    def _refuse_at_the_end(self) -> None:
        """Refuse to wait for what a recording has no more."""
        if self._panes[0].source.upcoming is None:
            raise CommandError(
                "this is the end of the recording: seek goes back, space plays it again"
            )

    def until(self, text: str) -> str:
        """Go on to an instant, by a length of time such as +5s, or to an event that satisfies a condition."""
        if not text:
            raise CommandError("needs a time such as 42s, a length such as +5s, or a condition")
        try:
            instant = self._instant(text)
        except CommandError:
            raise
        except ValueError:
            self._until_event(text)
            return ""
        return self._go_to("until", instant)

    def seek(self, text: str) -> str:
        """Stand at an instant: of a recording any, of a run one that is to come."""
        if not text:
            raise CommandError("needs a time such as 42s, or +5s and -5s from here")
        try:
            instant = self._instant(text)
        except CommandError:
            raise
        except ValueError:
            raise CommandError(f"'{text}' is no time, such as 42s, 2m or -5s") from None
        return self._go_to("seek", instant)

    def _go_to(self, command: str, instant: int) -> str:
        problem = self._control.go_to(instant)
        if not problem:
            self._forget_goals()
            self._note(command, to=instant)
        return problem

    def _until_event(self, text: str) -> None:
        try:
            self.next(text)
        except NoCondition as error:
            problem = f"'{text}' is no time, such as 42s or +5s, and no condition: {error}"
            raise CommandError(problem) from None

    def _instant(self, text: str) -> int:
        """Read a time in ns, from now on where it has a sign; raise ValueError for what is no time."""
        sign = text[0] if text[0] in "+-" else ""
        rest = text[len(sign) :]
        seconds = number_of_seconds(float(rest) if _is_number(rest) else rest)
        if not 0 <= seconds < 9e9:
            raise CommandError(f"'{text}' is no time of a run")
        ns = round(seconds * 1e9)
        if sign:
            now = max(pane.source.now for pane in self._panes)
            ns = max(0, now + (ns if sign == "+" else -ns))
        ends = [pane.source.end for pane in self._panes]
        known = [end for end in ends if end is not None]
        if len(known) == len(ends) and ns > max(known):
            raise CommandError(f"{text} is after the end, at {max(known) / 1e9:g} s")
        return ns

    def scrub(self, steps: int) -> str:
        """Go on or back by fiftieths of the run; of a run whose end is not known, by seconds."""
        ends = [pane.source.end for pane in self._panes if pane.source.end is not None]
        stride = max(1, round(max(ends) / _STRIDES)) if ends else 10**9
        now = max(pane.source.now for pane in self._panes)
        instant = max(0, now + steps * stride)
        return self._go_to("seek", min(instant, max(ends)) if ends else instant)

    def to_fault(self, way: int) -> str:
        """Go to where the next fault begins (`way` 1), or the one before (−1)."""
        source = self._panes[0].source
        begun = {w.begun_s for w in source.run_state.windows.all(source.now)}
        instants = sorted(round(t * 1e9) for t in begun)
        later = [t for t in instants if t > source.now]
        before = [t for t in instants if t < source.now]
        if not (later if way > 0 else before):
            raise CommandError(f"no fault begins {'after' if way > 0 else 'before'} this instant")
        return self._go_to("seek", later[0] if way > 0 else before[-1])

    def faster(self) -> str:
        """Double the speed."""
        return self._set_speed(self._control.speed * 2)

    def slower(self) -> str:
        """Halve the speed."""
        speed = self._control.speed
        return self._set_speed(speed / 2 if speed != math.inf else speed_to_follow(self._panes[0]))

    def speed(self, text: str) -> str:
        """Set the speed, in simulated seconds for each on the wall, or max."""
        if text == "max":
            return self._set_speed(math.inf)
        text = text.strip("×x ")
        if not _is_number(text) or not float(text) > 0:
            raise CommandError(f"speed needs a number > 0, or max; got '{text}'")
        return self._set_speed(float(text))

    def _set_speed(self, speed: float) -> str:
        speed = math.inf if speed > _FASTEST else max(1e-9, speed)
        self._control.set_speed(speed)
        self._note("speed", to="max" if speed == math.inf else speed)
        words = "as fast as can be" if speed == math.inf else f"×{speed:.3g}"
        return f"{words}, as soon as it goes on" if self._control.paused else ""

    def add_breakpoint(self, pane: Pane, text: str) -> str:
        """Hold whenever an event satisfies a condition; without one list the breakpoints."""
        if not text:
            listed = "; ".join(f"{i}: {known}" for i, known in enumerate(pane.breaks))
            return listed or "no breakpoint"
        condition = condition_of(text)
        check_measured(condition, pane.source)
        self._add(pane, condition, once=False)
        pane.note("break", when=text)
        return f"holds when {text}"

    def clear(self, pane: Pane, text: str) -> str:
        """Forget a breakpoint, or all."""
        count = len(pane.breaks)
        if text and (not text.isdecimal() or int(text) >= count):
            raise CommandError(f"no breakpoint '{text}': there are {count}")
        kept = [stop for stop in pane.breakpoints if not stop.once]
        pane.note("clear", number=int(text) if text else None)
        self._watch(pane, [stop for i, stop in enumerate(kept) if text and i != int(text)])
        return "breakpoints: " + (", ".join(pane.breaks) or "none")

    def _add(self, pane: Pane, condition: Condition, *, once: bool) -> None:
        kept = [stop for stop in pane.breakpoints if not stop.once]
        self._watch(pane, [*kept, Breakpoint(condition, pane.source, once=once)])

    def _forget_goals(self) -> None:
        for pane in self._panes:
            if any(stop.once for stop in pane.breakpoints):
                self._watch(pane, [stop for stop in pane.breakpoints if not stop.once])

    def _watch(self, pane: Pane, breakpoints: Sequence[Breakpoint]) -> None:
        pane.breakpoints = tuple(breakpoints)
        number = self._panes.index(pane)
        mark = f"{pane.mark}: " if pane.mark else ""

        def on_hit(stop: Breakpoint, event: Event) -> None:
            kind = type(event).__struct_config__.tag
            what = "reached" if stop.once else "BREAK"
            self._tell(f"{mark}{what} at event {event.seq:,}, {kind}: {stop.text}")
            self._forget_goals()

        self._control.watch(number, pane.breakpoints, on_hit)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def speed_to_follow(pane: Pane) -> float:
    """Choose a speed for what went as fast as it could: it takes 40 s in all, where its end is known."""
    end = pane.source.end
    return 1.0 if end is None else max(1e-3, end / 40e9)

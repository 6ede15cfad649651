"""Moves live runs through simulated time: one run, or several that share one clock."""

import asyncio
from collections.abc import Callable, Sequence

from actors.events import Event
from scenarios.console.control.breakpoints import Breakpoint, OnHit
from scenarios.console.sources.view_state import CommandError
from scenarios.running.control import RunGovernor
from scenarios.running.run import Outcome, Run

_STRIDES = 400
"""Runs side by side stay this close: one of so many parts of the longest of them."""


class RunControl:
    """Holds, steps, paces and ends live runs; a command moves all of those that are not over.

    Several runs have one pace, and keep in step: all have served what is due by a mark before any goes beyond it.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Take control of runs that have not begun; `met` is told each mark (ns) that all of them have come to."""
        self.runs = tuple(runs)
        self.met: Callable[[int], None] = lambda _: None
        self._governors = tuple(run.governor for run in runs)
        longest = max(run.plan.horizon or run.plan.sample_every for run in runs)
        self._stride = max(1, longest // _STRIDES)
        self._mark = 0
        self._observers: dict[int, list[Callable[[Event], None]]] = {}
        self._pacing = self._governors[0].pacing
        self._pacing.governors = self._governors
        for governor in self._governors:
            governor.pacing = self._pacing
            governor.may_serve = self._may_serve if len(runs) > 1 else None
            governor.look_again()

    async def perform(self) -> list[Outcome]:
        """Perform all runs to their ends; where one of them breaks, the others are ended and kept."""
        tasks = [asyncio.ensure_future(run.perform()) for run in self.runs]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            self.stop()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def _may_serve(self, upcoming: int) -> bool:
        """Whether an entry due at `upcoming` (ns) may be served; where all runs have come to the mark, it moves on."""
        if upcoming <= self._mark:
            return True
        behind = min(governor.upcoming for governor in self._governors)
        if behind <= self._mark:
            return False
        self.met(self._mark)
        self._mark = -(-int(behind) // self._stride) * self._stride
        return upcoming <= self._mark

    @property
    def _going(self) -> tuple[RunGovernor, ...]:
        return tuple(governor for governor in self._governors if not governor.ended)

    def _not_over(self) -> tuple[RunGovernor, ...]:
        if not self._going:
            raise CommandError("the run is over: q leaves")
        return self._going

    @property
    def paused(self) -> bool:
        return all(governor.paused for governor in self._going or self._governors)

    @property
    def hurries(self) -> bool:
        return any(governor.hurries for governor in self._going or self._governors)

    @property
    def speed(self) -> float:
        return self._pacing.speed if self._is_virtual else self.runs[0].speed

    @property
    def _is_virtual(self) -> bool:
        """Whether the pace can be changed: that of wall time is its clock's."""
        return self.runs[0].plan.engine == "virtual"

    @property
    def interrupted(self) -> bool:
        return any(governor.interrupted for governor in self._governors)

    def play(self) -> None:
        for governor in self._not_over():
            governor.go()

    def play_to(self, instant: int) -> None:
        """Go on at the pace to an instant (ns), and hold there."""
        for governor in self._not_over():
            governor.go(edge=instant)

    def hold(self) -> None:
        self._hold_at(max(self._not_over(), key=lambda governor: governor.now))

    def _hold_at(self, first: RunGovernor) -> None:
        """Hold one run now; runs that are behind it serve what is due by this instant, and hold there."""
        self._pacing.restart()
        instant = first.now
        for governor in self._going:
            if governor is first or governor.now >= instant:
                governor.hold()
            else:
                governor.go(hurries=True, edge=instant)

    def step(self) -> None:
        """Go on by one event, in the run that is behind the others."""
        behind = min(self._not_over(), key=lambda governor: governor.upcoming)
        for governor in self._going:
            governor.hold()
        behind.step()

    def hurry(self) -> None:
        for governor in self._not_over():
            governor.go(hurries=True)

    def go_to(self, instant: int) -> str:
        going = self._not_over()
        if instant < max(governor.now for governor in going):
            return "that is past: a run goes on only; hush replay goes back"
        for governor in going:
            governor.go(hurries=True, edge=instant)
        return ""

    def set_speed(self, speed: float) -> None:
        self._not_over()
        if not self._is_virtual:
            raise CommandError("the wall engine keeps the pace that it began with: --speed X")
        self._pacing.restart()
        self._pacing.speed = speed
        for governor in self._governors:
            governor.look_again()

    def restart_pace(self) -> None:
        self._pacing.restart()

    def watch(self, number: int, breakpoints: Sequence[Breakpoint], on_hit: OnHit) -> None:
        log, governor = self.runs[number].log, self._governors[number]
        for observer in self._observers.pop(number, ()):
            log.ignore(observer)

        def observe(breakpoint_: Breakpoint) -> Callable[[Event], None]:
            def check(event: Event) -> None:
                if breakpoint_.hits(event):
                    self._hold_at(governor)
                    on_hit(breakpoint_, event)

            return check

        self._observers[number] = [observe(breakpoint_) for breakpoint_ in breakpoints]
        for observer, breakpoint_ in zip(self._observers[number], breakpoints, strict=True):
            log.watch(observer, breakpoint_.kinds)

    def stop(self) -> None:
        for governor in self._going:
            governor.interrupt()

"""What the verbs that run one scenario many times share: which plans they refuse, and a bar of progress."""

import sys
from time import monotonic
from typing import Self

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.planning.plan import Plan

_WIDTH = 30


def refuse_oracles(plan: Plan, node: int | None) -> None:
    """Raise `ScenarioError` where a plan cannot run without an oracle, lets data decide who takes part, or has no agent `node`."""
    if plan.sampled:
        why = "a fault here goes by metrics or samples, which runs without an oracle do not have"
        raise ScenarioError.of("fault", why)
    for fault in plan.faults:
        if fault.action.uncovered:
            why = f"{fault.action.uncovered}: two neighbouring data sets would have two schedules"
            raise ScenarioError.of(f"fault.{fault.number}", why)
    if node is not None and not 0 <= node < plan.size:
        raise ScenarioError.of("--node", f"no agent {node}: ids run from 0 to {plan.size - 1}")


_SPEAKS_S = 20.0
"""Where there is no terminal, a line is written so often (s)."""


def in_time(seconds: float) -> str:
    """Return a time that was estimated, in words: `about 3 min`."""
    if seconds < 1.5:
        return "about a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    if seconds < 100 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.3g} hours"


class Bar:
    """A bar on standard error, where that is a terminal; else a line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = -1
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._began = self._spoke = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on and self._shown >= 0:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def show(self, share: float) -> None:
        """Draw the bar when it has grown, with the time that is left."""
        now = monotonic()
        self._began = self._began or now
        percent = int(100 * share)
        if percent == self._shown or not share:
            return
        left = (now - self._began) * (1 - share) / share
        told = f"{percent:3d} %, {in_time(left)} left" if percent < 100 else f"{percent:3d} %"
        if self._on:
            full = int(_WIDTH * share)
            line = f"{self._what} {'█' * full}{'░' * (_WIDTH - full)} {told}"
            self._width = max(self._width, len(line))
            sys.stderr.write(f"\r{line:<{self._width}}")
            sys.stderr.flush()
        elif now - max(self._spoke, self._began) >= _SPEAKS_S:
            self._spoke = now
            say(f"hush: {self._what}: {told.strip()}", error=True)
        self._shown = percent

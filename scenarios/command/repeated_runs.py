"""What the verbs that run one scenario many times share: which plans they refuse, and a bar of progress."""

import sys
from typing import Self

from scenarios.language.problems import ScenarioError
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


class Bar:
    """A bar on standard error, where that is a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = -1
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on and self._shown >= 0:
            sys.stderr.write("\r" + " " * (len(self._what) + _WIDTH + 10) + "\r")
            sys.stderr.flush()

    def show(self, share: float) -> None:
        """Draw the bar when it has grown."""
        percent = int(100 * share)
        if self._on and percent != self._shown:
            self._shown = percent
            full = int(_WIDTH * share)
            sys.stderr.write(f"\r{self._what} {'█' * full}{'░' * (_WIDTH - full)} {percent:3d} %")
            sys.stderr.flush()

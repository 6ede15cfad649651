"""Two runs under one control, without a terminal."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.console.control.commands import carry_out
from scenarios.console.control.run_control import RunControl
from scenarios.console.screens.pair import PairViewer
from scenarios.console.screens.viewer import session_of
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private

POISSON = private(network={"topology": "complete", "latency": 0.2})


GROUP = {"name": "peers", "count": 6, "budget": {"epsilon": 4.0, "delta": 1e-5}}


SYNCHRONOUS = POISSON | {"nodes": [GROUP | {"clock": {"kind": "synchronous", "period": 1.0}}]}


def both(folder: Path, *trees: Any, speed: float = math.inf) -> tuple[Run, Run]:
    one, other = (
        Run(
            make_plan(tree),
            folder / name,
            RunGovernor(speed=speed, watched=True, looks=True, steers=True),
            1e12,
        )
        for tree, name in zip(trees, "ab", strict=True)
    )
    return one, other


SHORT = POISSON | {"run": {"seed": 5, "horizon": 1.0}}


SLOW = {"run": {"seed": 5, "horizon": 20.0, "sample_every": 5.0}}


RARE = POISSON | SLOW | {"nodes": [GROUP | {"clock": {"kind": "synchronous", "period": 5.0}}]}


LARGE = POISSON | {"nodes": [GROUP | {"count": 8}]}


class Pair:
    """Two runs under one control, without a terminal."""

    def __init__(self, folder: Path, one: Any, other: Any, **options: Any) -> None:
        self.runs = both(folder, one, other, **options)
        self.control = RunControl(self.runs)
        self.session = session_of(self.control)
        self.panes = self.session.panes
        self.screen = PairViewer(self.session)
        self.control.met = self.screen.meet

    def order(self, text: str) -> str:
        carry_out(self.session, text)
        return self.session.message

    async def rest(self) -> None:
        """Wait until everybody who goes on holds, and has looked again whether to go on."""
        looks = 0

        def look() -> None:
            nonlocal looks
            looks = (
                looks + 1 if all(r.governor.paused or r.governor.ended for r in self.runs) else 0
            )

        for run in self.runs:
            run.between.append(look)
        for _ in range(20_000):
            if looks >= 8 or all(run.governor.ended for run in self.runs):
                return
            await asyncio.sleep(0.002)
        raise AssertionError("they never held")

    def play(self, person: Callable[[], Awaitable[None]], *, held: bool = True) -> None:
        async def perform() -> None:
            if held:
                self.control.hold()
            task = asyncio.ensure_future(self.control.perform())
            await asyncio.sleep(0.02)
            await person()
            self.session.leave()
            await task

        asyncio.run(perform())

    def faults(self) -> list[list[tuple[str, float]]]:
        return [
            [(f["name"], f["at"]) for f in run.journal.scenario.get("fault", [])]
            for run in self.runs
        ]

    @property
    def instants(self) -> list[int]:
        return [pane.source.now for pane in self.panes]

"""A session with a world that runs: commands without a terminal."""

import asyncio
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.console.control.commands import carry_out
from scenarios.console.control.run_control import RunControl
from scenarios.console.control.session import Session
from scenarios.console.screens.viewer import session_of
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private

WORLD = private(
    network={"topology": "complete"},
    nodes=[
        {"name": "peers", "count": 5, "compute": 0.1, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        {"name": "late", "count": 1, "present": False, "budget": {"epsilon": 4.0, "delta": 1e-5}},
    ],
)


def session_for(folder: Path, tree: Any = WORLD, **options: Any) -> tuple[Run, Session]:
    plan = make_plan(tree, **options)
    run = Run(plan, folder / "run", RunGovernor(watched=True, looks=True, steers=True), 1e12)
    return run, session_of(RunControl([run]))


async def settle(run: Run) -> None:
    """Wait until the run holds and has looked twice more whether it may go on, or is over."""
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += run.governor.paused

    run.between.append(look)
    for _ in range(20_000):
        if looks >= 3 or run.governor.ended:
            return
        await asyncio.sleep(0.002)
    raise AssertionError("the run never held")


def watched(run: Run, session: Session, *orders: str) -> list[str]:
    """Hold a run at its beginning, give orders, each when the one before has come to rest; and end it."""

    async def person() -> list[str]:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        await asyncio.sleep(0.02)
        said = []
        for order in orders:
            carry_out(session, order)
            await settle(run)
            said.append(session.message)
        session.quit()
        await task
        return said

    return asyncio.run(person())


def schedules(run: Run, session: Session, folder: Path) -> tuple[str, str]:
    """Return the schedule of a session, and that of the file that it exports, run again."""
    assert session.pane.steering is not None
    file = session.pane.steering.export(folder / "again.toml")
    again = asyncio.run(Run(make_plan(file), folder / "again", RunGovernor(), 1e12).perform())
    mine, theirs = (RunRecord(path).manifest["digests"] for path in (run.folder.path, again.folder))
    return mine["schedule"], theirs["schedule"]

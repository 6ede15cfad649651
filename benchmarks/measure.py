"""CPU time of a whole run of hush, for benchmarks beside it."""

import asyncio
import tempfile
import time
from pathlib import Path

from scenarios.planning.plan import Plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run


def hush(plan: Plan) -> tuple[float, Run]:
    """Return CPU seconds and the run; what the oracle knows comes before time starts."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(plan, Path(folder) / "run", RunGovernor(), 1.0)
        _ = run.observers.snapshot.optimum, run.observers.snapshot.local
        begun = time.process_time()
        outcome = asyncio.run(run.perform())
        spent = time.process_time() - begun
        if outcome.code:
            raise SystemExit(outcome.message)
        return spent, run

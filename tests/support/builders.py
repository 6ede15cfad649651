"""Small worlds, run in a folder of their own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.api.result import Result
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Outcome, Run


def scenario(**sections: Any) -> dict[str, Any]:
    """Build a scenario of six agents on a ring; sections replace its tables."""
    base: dict[str, Any] = {
        "schema": 1,
        "name": "small",
        "run": {"seed": 5, "horizon": 20.0},
        "data": {"source": "blobs", "dimension": 3, "points": 30},
        "task": {"l2": 0.1},
        "network": {"topology": "ring"},
        "nodes": [{"name": "peers", "count": 6}],
        "mechanism": {"kind": "cd", "mu": 1.0},
    }
    return base | sections


def private(**sections: Any) -> dict[str, Any]:
    """Build the same world with noise and a budget."""
    nodes = [{"name": "peers", "count": 6, "budget": {"epsilon": 4.0, "delta": 1e-5}}]
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "norm-gamma", "releases": 8}
    return scenario(**({"nodes": nodes, "mechanism": mechanism} | sections))


def couple(mechanism: dict[str, Any], d: int = 1, **sections: Any) -> dict[str, Any]:
    """Two agents who hear each other, a few records each."""
    base: dict[str, Any] = {
        "run": {"seed": 1, "rounds": 1},
        "data": {"source": "blobs", "dimension": d, "points": 20, "test_points": 0},
        "task": {"loss": "smoothed-hinge"},
        "network": {"topology": "path"},
        "nodes": [{"count": 2, "clock": "synchronous"}],
        "mechanism": mechanism,
    }
    return scenario(**(base | sections))


@dataclass
class Ran:
    """A finished run, with everything that it left."""

    run: Run
    outcome: Outcome

    @property
    def result(self) -> Result:
        return Result(self.outcome.folder)

    @property
    def theta(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([agent.model for agent in self.run.agents])

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        return [e for e in self.result.events() if not kinds or e["kind"] in kinds]

    @property
    def digests(self) -> dict[str, str]:
        found: dict[str, str] = self.result.manifest["digests"]
        return found


def perform(
    world: Mapping[str, Any] | str | Plan, folder: Path, *, speed: float = 1e12, **options: Any
) -> Ran:
    """Run a world to its end."""
    plan = world if isinstance(world, Plan) else make_plan(world, **options)
    number = len(list(folder.iterdir())) if folder.exists() else 0
    run = Run(plan, folder / f"run{number}", RunGovernor(), speed)
    return Ran(run, asyncio.run(run.perform()))

"""Six agents who wake every second, and what is done to them."""

from pathlib import Path
from typing import Any

from tests.support.builders import Ran, perform, scenario

SECOND = 10**9
SYNCHRONOUS = [{"name": "peers", "count": 6, "clock": "synchronous"}]


def ran(tmp_path: Path, *faults: dict[str, Any], **sections: Any) -> Ran:
    made = perform(scenario(**({"nodes": SYNCHRONOUS, "fault": list(faults)} | sections)), tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    return made


def wakes(made: Ran, node: int = 0) -> list[float]:
    return [e["t"] / 1e9 for e in made.events("woke") if e["node"] == node]


def but(*away: range) -> list[int]:
    return [t for t in range(1, 21) if not any(t in span for span in away)]

"""What every step from a scenario to a plan shares: the values, the report, the seeds, the folders."""

import math
import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

from mechanisms.solve import NoMinimiser
from scenarios.language.problems import Problem, ScenarioError
from scenarios.planning import own_code
from scenarios.planning.files import MOST_BYTES, BadData, Folders
from scenarios.planning.graphs import NoGraph
from scenarios.planning.release_charges import CannotProvide
from scenarios.planning.scenario import Scenario
from scenarios.planning.scenario_tables import SEEDS
from scenarios.planning.seeds import fresh_seed
from scenarios.planning.splits import NoSplit

MOST = {
    "nodes": 50_000,
    "edges": 2_000_000,
    "updates": 50_000_000,
    "bytes": 8 << 30,
    "samples": 1_000_000,
    "firings": 100_000,
    "steps": 100_000,
    "skipped": 10_000_000,
}
"""What a scenario may ask for without --allow-large."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command or the caller adds to a scenario."""

    seed: SupportsIndex | None = None
    until: float | None = None
    engine: str | None = None
    folders: tuple[Path, ...] = ()
    allow_code: bool = False
    allow_large: bool = False
    data: Mapping[str, Any] | None = None
    graph: Any = None
    nested: bool = False
    """Whether it is made for another scenario's comparison: its own are not looked at."""


def data_folders() -> tuple[Path, ...]:
    """Return the folders that the environment names: files may be read from them besides the scenario's own."""
    return tuple(Path(p) for p in os.environ.get("HUSH_DATA", "").split(os.pathsep) if p)


class Settling:
    """A scenario on its way to a plan."""

    def __init__(self, scenario: Scenario, options: Options) -> None:
        self.scenario = scenario
        self.read = scenario.read
        self.report = scenario.report
        self.options = options
        origin = scenario.read.origin
        listed = {} if origin is None else origin.sha256 or {}
        if (
            origin is not None
            and origin.in_memory
            and options.data is None
            and options.graph is None
        ):
            said = "ran on data or a graph handed over in Python: it runs again only with them"
            scenario.report.key(("origin", "in_memory"), said)
            scenario.report.stop_if_any()
        most = math.inf if options.allow_large else MOST_BYTES
        self.folders = Folders(scenario.folder, options.folders, listed if origin else None, most)
        self.seed, self.seeds = self._seeds()
        self.groups = self.read.nodes
        self.size = sum(group.count for group in self.groups)
        self.until: float | None = options.until or self.read.run.until
        """When the run is cut off, whatever its end would be."""
        self.calibrated: str | None = None
        """Which accountant calibrates, where privacy.calibrate = "tightest" had to choose one."""
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def attempt(self, path: tuple[str | int, ...], make: Callable[[], Any]) -> Any:
        """Make something; what goes wrong is reported at the key that asked for it."""
        try:
            return make()
        except (BadData, NoSplit, NoGraph, own_code.Forbidden, NoMinimiser) as error:
            self.report.value(path, str(error))
        except CannotProvide as error:
            self.report.value(tuple(error.key.split(".")), str(error))
        return None

    def code(self, kind: str) -> Any:
        """Return the code of the scenario's own that a kind names."""
        return own_code.own(kind, allow_code=self.options.allow_code, folder=self.scenario.folder)

    def _seeds(self) -> tuple[int, dict[str, int]]:
        given = self.read.run.seed if self.options.seed is None else self.options.seed
        seed = None
        try:
            seed = None if given is None else operator.index(given)
            fine = seed is None or 0 <= seed < 2**63
        except TypeError:
            fine = False
        if not fine:
            raise ScenarioError(
                [Problem("seed", f"must be a whole number from 0 to 2^63 - 1, got {given!r}")]
            )
        if seed is None:
            seed = fresh_seed()
        own = {purpose: getattr(self.read.seeds, purpose) for purpose in SEEDS}
        return seed, {purpose: seed if one is None else one for purpose, one in own.items()}

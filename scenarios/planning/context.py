"""What every step of planning shares: the scenario's values, the report of problems, the seeds, the folders."""

import math
import operator
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsIndex

from mechanisms.own_mechanism import OwnCodeError
from mechanisms.solve import NoMinimiser
from scenarios.language.positions import Path
from scenarios.language.problems import Problem, ScenarioError
from scenarios.planning import own_code
from scenarios.planning.files import MOST_BYTES, BadData, Folders
from scenarios.planning.graphs import NoGraph
from scenarios.planning.release_charges import CannotProvide
from scenarios.planning.scenario import Scenario
from scenarios.planning.scenario_tables import SEEDS
from scenarios.planning.seeds import fresh_seed
from scenarios.planning.splits import NoSplit
from scenarios.planning.wake_paths import AUTO, checked_path

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


_HORIZON_S = 60.0
"""How long a run lasts of which nothing says when it ends."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command or the caller adds to a scenario."""

    seed: SupportsIndex | None = None
    until: float | None = None
    engine: str | None = None
    folders: tuple[pathlib.Path, ...] = ()
    allow_code: bool = False
    allow_large: bool = False
    data: Any = None
    """Points that are handed over in Python; None where the scenario's own source makes them."""
    graph: Any = None
    columns: tuple[str, ...] = ()
    """Metrics that the caller wants to have at the end, beside those that the scenario asks for."""
    curves: bool = False
    """Whether they are wanted at every sample."""
    path: str = AUTO
    """How wakes are computed: one of `wake_paths.PATHS`."""
    chosen_by: str | None = None
    """The metric by which a sweep will choose among this run and others, where ε does not pay for the choice."""
    nested: bool = False
    """Whether it is made for another scenario's comparison: its own are not looked at."""


class PlanningContext:
    """A scenario that is being planned, and what the plan's warnings and notes will be."""

    def __init__(self, scenario: Scenario, options: Options) -> None:
        self.scenario = scenario
        self.read = scenario.read
        self.report = scenario.report
        self.options = options
        origin = scenario.read.origin
        listed = {} if origin is None else origin.sha256 or {}
        handed_over = options.data is not None or options.graph is not None
        if origin is not None and origin.in_memory and not handed_over:
            message = "ran on data or a graph handed over in Python: it runs again only with them"
            scenario.report.key(("origin", "in_memory"), message)
            scenario.report.stop_if_any()
        most = math.inf if options.allow_large else MOST_BYTES
        self.folders = Folders(scenario.folder, options.folders, listed if origin else None, most)
        self.seed, self.seeds = self._seeds()
        self.groups = self.read.nodes
        self.size = sum(group.count for group in self.groups)
        self.until: float | None = options.until or self.read.run.until
        """When the run is cut off, whatever its end would be."""
        self.path = checked_path(options.path)
        self.calibrated: str | None = None
        """Which accountant calibrates, where privacy.calibrate = "tightest" had to choose one."""
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def limit(
        self, name: str, amount: float, path: Path, message: str, *, of_key: bool = False
    ) -> None:
        """Report an amount above a limit of `MOST`, unless --allow-large is given.

        The problem is one of a value, or with `of_key` one of a key.
        """
        if amount > MOST[name] and not self.options.allow_large:
            report = self.report.key if of_key else self.report.value
            report(path, f"{message}; above {MOST[name]:,} needs --allow-large")

    @property
    def horizon(self) -> float | None:
        """The seconds after which the run ends; None where rounds or updates end it."""
        run = self.read.run
        if self.until is not None:
            return self.until
        if run.horizon is not None:
            return float(run.horizon)
        return None if run.rounds or run.updates else _HORIZON_S

    def warn(self, message: str) -> None:
        """Add a warning, once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def attempt(self, path: Path, make: Callable[[], Any]) -> Any:
        """Return what `make` returns; None where it fails for a reason that the report then has at a path.

        Data, splits, graphs, code of the scenario's own and noise may fail so; any other error is raised.
        """
        try:
            return make()
        except (BadData, NoSplit, NoGraph, own_code.Forbidden, NoMinimiser) as error:
            self.report.value(path, str(error))
        except OwnCodeError as error:
            self.report.value(path, own_code.failure_of_own(error) or str(error))
        except CannotProvide as error:
            self.report.value(tuple(error.key.split(".")), str(error))
        return None

    def code(self, kind: str) -> Any:
        """Return the code of the scenario's own that a kind names."""
        return own_code.own(kind, allow_code=self.options.allow_code, folder=self.scenario.folder)

    def _seeds(self) -> tuple[int, dict[str, int]]:
        given = self.read.run.seed if self.options.seed is None else self.options.seed
        try:
            seed = fresh_seed() if given is None else operator.index(given)
        except TypeError:
            seed = -1
        if not 0 <= seed < 2**63:
            raise ScenarioError(
                [Problem("seed", f"must be a whole number from 0 to 2^63 - 1, got {given!r}")]
            )
        own = {purpose: getattr(self.read.seeds, purpose) for purpose in SEEDS}
        return seed, {purpose: seed if one is None else one for purpose, one in own.items()}

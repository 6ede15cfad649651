"""Every setting of a sweep, read and judged before anything runs: all problems at once, each with its settings."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, replace

from scenarios.experiments.cells import plan_of
from scenarios.experiments.grid import Grid, Setting
from scenarios.experiments.payment import why_not_payable
from scenarios.language.problems import Problem, ScenarioError
from scenarios.language.reader import Draft, Source, changed
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.scenario import read_again
from scenarios.running.worker_processes import Workers

_GRID = "--grid"
_NAMED = 4
"""So many settings are named where one problem is that of several."""
_TOGETHER = 16
"""So many settings travel to a worker at once, at most."""


@dataclass(frozen=True, slots=True)
class Read:
    """A setting as a scenario: as it is written, without places and without [sweep]; and its values, checked."""

    setting: Setting
    source: Source
    scenario: CheckedScenario


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a plan of a setting says; `problems` where there is none."""

    problems: tuple[Problem, ...] = ()
    unpayable: str = ""
    """Why no choice among such runs can be paid for; empty where it can."""
    validating: int = 0
    """How many agents have validation points."""
    fewest: int = 0
    """The fewest validation points that an agent has."""
    held: str = ""
    """The checksum of the validation points."""


def read_settings(sources: Sequence[Source], grid: Grid) -> list[Read]:
    """Return every setting of a grid as a scenario. Raises `ScenarioError` with the problems of all of them."""
    problems = _Problems(grid.size)
    reads = list[Read]()

    def read(setting: Setting) -> None:
        source = changed(sources[setting.scenario], setting.values, _GRID)
        source.draft.tree.pop("sweep", None)
        scenario = checked(read_again(source))
        bare = replace(source, draft=Draft(source.tree, {}, {}))  # places would travel to workers
        reads.append(Read(setting, bare, scenario))

    for setting in grid.settings():
        problems.attempt(setting, lambda setting=setting: read(setting))  # type: ignore[misc] # a default
    problems.stop_if_any()
    return reads


def judge_settings(
    reads: Sequence[Read], seed: int, workers: Workers, settings: int
) -> list[Judgement]:
    """Plan settings under one seed. Raises `ScenarioError` with the problems of all of them.

    `settings` is the number of all settings of the sweep. A setting whose plan kills its worker, or lacks memory, is let
    pass: its cells will tell.
    """
    problems = _Problems(settings)
    size = min(_TOGETHER, max(1, math.ceil(len(reads) / (4 * workers.jobs))))
    lots = [reads[i : i + size] for i in range(0, len(reads), size)]
    judgements = list[Judgement]()
    for lot, verdicts in zip(lots, _gather(lots, seed, workers), strict=True):
        judgements += verdicts
        for read, verdict in zip(lot, verdicts, strict=True):
            problems.add(read.setting, verdict.problems)
    problems.stop_if_any()
    return judgements


def _gather(lots: list[Sequence[Read]], seed: int, workers: Workers) -> Iterable[list[Judgement]]:
    """Judge lots of settings on workers; after a death each that was lost is judged alone."""

    def submit(those: Sequence[Read], where: Workers) -> "Future[list[Judgement]]":
        return where.submit(_judge, [read.source for read in those], seed)

    waiting = [submit(lot, workers) for lot in lots]
    for lot, future in zip(lots, waiting, strict=True):
        try:
            yield future.result()
        except BrokenExecutor:
            workers.renew()
            alone = workers.alone()
            verdicts = list[Judgement]()
            for read in lot:
                try:
                    verdicts += submit([read], alone).result()
                except BrokenExecutor:
                    verdicts.append(Judgement())
                    alone.renew()
            if alone is not workers:
                alone.close()
            yield verdicts


def _judge(sources: Sequence[Source], seed: int, options: Options) -> list[Judgement]:
    return [judge(source, seed, options) for source in sources]


def judge(source: Source, seed: int, options: Options) -> Judgement:
    """Plan one setting, and say what is wrong with it."""
    try:
        plan = plan_of(source, seed, options)
    except ScenarioError as error:
        return Judgement(error.problems)
    except MemoryError:
        return Judgement()
    points = [len(y) for _, y in plan.shards.validation if len(y)]
    why = why_not_payable(plan, read_again(source).read)
    return Judgement((), why, len(points), min(points, default=0), _checksum(plan))


def _checksum(plan: Plan) -> str:
    digest = hashlib.sha256()
    for x, y in plan.shards.validation:
        digest.update(repr((x.shape, y.shape)).encode() + x.tobytes() + y.tobytes())
    return digest.hexdigest()


class _Problems:
    """Gathers the problems of settings: one of several settings is told once, and names them."""

    def __init__(self, settings: int) -> None:
        self._settings = settings
        self._of: dict[Problem, list[Setting]] = {}

    def attempt(self, setting: Setting, act: Callable[[], None]) -> None:
        try:
            act()
        except ScenarioError as error:
            self.add(setting, error.problems)

    def add(self, setting: Setting, problems: Iterable[Problem]) -> None:
        for problem in problems:
            at_grid = problem.spot is not None and problem.spot.file == _GRID
            known = replace(problem, spot=None) if at_grid else problem
            self._of.setdefault(known, []).append(setting)

    def stop_if_any(self) -> None:
        told = [
            _with_settings(problem, those, self._settings) for problem, those in self._of.items()
        ]
        if told:
            raise ScenarioError(told)


def _with_settings(problem: Problem, those: Sequence[Setting], settings: int) -> Problem:
    words = list(filter(None, (setting.in_words() for setting in those)))
    if not words or len(those) == settings > 1:
        return problem  # it is that of the scenario, whatever varies
    more = f"; and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    where = f"setting {'; '.join(words[:_NAMED])}{more}"
    return replace(problem, where=f"{where}: {problem.where}" if problem.where else where)

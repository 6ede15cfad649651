"""Runs what claims need, and judges them. What has been run before is not run again."""

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from scenarios.experiments.orders import Wishes, order_of
from scenarios.experiments.sweep import Sweeping, Watcher, sweep_folder
from scenarios.planning.context import Options
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.files import Folders
from scenarios.planning.published import states
from scenarios.planning.scenario import load
from scenarios.records.sweep_record import Row, SweepRecord
from scenarios.reproduction.claim import Claim, Experiment
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.judgement import UNDECIDED, Absent, Judgement
from scenarios.reproduction.results import ClaimResult, ExperimentResult

SWEEPS = "sweeps"
"""The folder of the sweeps in that of the results."""


class Told(Protocol):
    """What is told while claims are judged."""

    def begin(self, experiment: Experiment, number: int, count: int) -> Watcher:
        """Learn which sweep begins, and of how many it is which; return what is told of its cells."""
        ...

    def end(self) -> None:
        """Learn that the sweep has ended."""
        ...

    def judge(self, result: ClaimResult) -> None:
        """Learn of a verdict."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """With what claims are judged: where files are, where runs go, how many workers there are, and whether it must be quick."""

    options: Options
    folder: Path
    jobs: int | None = None
    quick: bool = False


def reproduce(claims: Sequence[Claim], means: Means, told: Told) -> Iterator[ClaimResult]:
    """Yield the result of each claim, as soon as what it needs has been run.

    Raises `ScenarioError` where a scenario of the library cannot be run with these options, and `FolderError` where the
    folder cannot be had. Missing data sets make their claims undecided.
    """
    needed = _experiments(claims)
    sweeps: dict[str, SweepRecord] = {}
    missing: dict[str, str] = {}
    made: dict[str, ExperimentResult] = {}
    left = list(claims)
    for number, experiment in enumerate(needed, 1):
        left = yield from _judge_ready(left, sweeps, missing, made, means, told)
        lacks = lack(experiment, means.options)
        if lacks:
            missing[experiment.name] = lacks
            continue
        watcher = told.begin(experiment, number, len(needed))
        try:
            record, made[experiment.name] = _run(experiment, means, watcher)
        finally:
            told.end()
        sweeps[experiment.name] = record
    yield from _judge_ready(left, sweeps, missing, made, means, told)


def _judge_ready(
    claims: Iterable[Claim],
    sweeps: Mapping[str, SweepRecord],
    missing: Mapping[str, str],
    made: Mapping[str, ExperimentResult],
    means: Means,
    told: Told,
) -> Generator[ClaimResult, None, list[Claim]]:
    """Judge the claims whose experiments have been run, or cannot be; return the others."""
    left = []
    for claim in claims:
        names = [experiment.name for experiment in claim.experiments]
        if all(name in sweeps or name in missing for name in names):
            evidence = Evidence(sweeps, missing, quick=means.quick)
            result = judge(claim, evidence, [made[name] for name in names if name in made])
            told.judge(result)
            yield result
        else:
            left.append(claim)
    return left


def judge(
    claim: Claim, evidence: Evidence, experiments: Sequence[ExperimentResult] = ()
) -> ClaimResult:
    """Return the result of a claim from what was run."""
    lacks, figure = "", None
    try:
        judgement = claim.judge(evidence)
    except Absent as absent:
        lacks = str(absent)
        judgement = Judgement(UNDECIDED, (f"not judged: {lacks}",))
    if claim.figure is not None:
        with suppress(Absent):
            figure = claim.figure(evidence)
    return ClaimResult.of(claim, judgement, figure, experiments, lacks, quick=evidence.quick)


def _experiments(claims: Iterable[Claim]) -> list[Experiment]:
    """Return what must be run for some claims, each once."""
    found: dict[str, Experiment] = {}
    for claim in claims:
        for experiment in claim.experiments:
            if found.setdefault(experiment.name, experiment) != experiment:
                said = f"{claim.name}: {experiment.name} is two sweeps, or cut down in two ways"
                raise ValueError(said)
    return list(found.values())


def lack(experiment: Experiment, options: Options) -> str:
    """Return which data set an experiment needs and does not have, in words; empty where nothing is missing."""
    kind = SOURCES.get(load(experiment.scenario, experiment.sets).read.data.kind)
    if kind is None or kind.published is None:
        return ""
    known = kind.published
    found = states(known, Folders(Path(), options.folders))
    here = [one for one in found if one.path is not None]
    if here and (known.alternatives or len(here) == len(found)):
        return ""
    return f"a data set is not here: {known.how_to_get()}"


def _run(
    experiment: Experiment, means: Means, watcher: Watcher
) -> tuple[SweepRecord, ExperimentResult]:
    """Run a sweep, or what is left of it."""
    wishes = Wishes(seeds=experiment.seeds, metrics=experiment.metrics, grid=experiment.grid)
    if means.quick:
        wishes = replace(
            wishes,
            seeds=experiment.quick_seeds,
            grid={**experiment.grid, **experiment.quick_grid},
            zips=experiment.quick_zip,
        )
    order = order_of(
        [experiment.scenario],
        experiment.sets,
        means.options,
        wishes,
        jobs=means.jobs,
        command=experiment.command,
    )
    name = experiment.name.replace("/", "-")
    with sweep_folder([means.folder / SWEEPS / name], new=False) as folder:
        Sweeping(order).perform(folder, watcher)
        record = SweepRecord(folder)
        rows = record.rows
    manifest = record.manifest
    return record, ExperimentResult(
        scenario=experiment.scenario,
        label=experiment.label,
        command=experiment.command,
        seeds=_in_words(manifest.seeds),
        settings=[f"{axis.name}: {', '.join(map(str, axis.labels))}" for axis in manifest.axes],
        runs=len(rows),
        minutes=math.ceil(_seconds(rows) / 6) / 10,
    )


def _seconds(rows: Sequence[Row]) -> float:
    """Return how long the runs of a table took, by the clock on the wall; also those that were run before."""
    return math.fsum({row.run: row.wall_s or 0.0 for row in rows}.values())


def _in_words(seeds: Sequence[int]) -> str:
    """Return seeds that follow each other as `0..9`."""
    if list(seeds) == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1:
        return f"{seeds[0]}..{seeds[-1]}"
    return ", ".join(map(str, seeds))

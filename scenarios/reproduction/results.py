"""The results of claims as they are kept: `reproduction.json`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.run_folder import version
from scenarios.records.whole_file import write_whole
from scenarios.reproduction.claim import Claim, in_order
from scenarios.reproduction.figure import Figure
from scenarios.reproduction.judgement import DEPENDS, FAILS, HOLDS, UNDECIDED, Judgement
from scenarios.reproduction.registration import digest

FILE = "reproduction.json"
KEPT = Path(__file__).with_name(FILE)
"""The results that come with hush: those of the whole set."""
SCHEMA = 2


class ExperimentResult(msgspec.Struct, frozen=True):
    """What was run: the command that runs it alone, its seeds, what varied, and the minutes that its runs took by the clock."""

    scenario: str
    command: str
    seeds: str
    settings: list[str]
    runs: int
    minutes: float
    label: str = ""
    """What tells it from the sweep of the scenario's file; empty: it is that one."""


class ChoiceResult(msgspec.Struct, frozen=True):
    """A setting that the paper leaves unstated."""

    setting: str
    taken: str
    changes: str


class ReasonResult(msgspec.Struct, frozen=True):
    """Why a claim does not hold, and what tells this cause from the others."""

    cause: str
    words: str
    told_apart_by: str


class ClaimResult(msgspec.Struct, frozen=True):
    """A claim, one reading of a published sentence, with its verdict and its evidence.

    `looked` says what was set after a look at results; empty: rule, bounds, settings and seeds are registered as `rule_digest`.
    """

    name: str
    paper: str
    place: str
    statement: str
    value: str
    rule: str
    verdict: str
    found: list[str]
    reading: str = ""
    looked: str = ""
    hush: str = ""
    """The version that judged it."""
    rule_digest: str = ""
    choices: list[ChoiceResult] = []
    reason: ReasonResult | None = None
    decides: str = ""
    experiments: list[ExperimentResult] = []
    figure: Figure | None = None

    @property
    def as_read(self) -> str:
        """The sentence with how it is read."""
        return f"{self.statement} ({self.reading})" if self.reading else self.statement

    @classmethod
    def of(
        cls,
        claim: Claim,
        judgement: Judgement,
        figure: Figure | None,
        experiments: Sequence[ExperimentResult],
        lacks: str = "",
        *,
        quick: bool = False,
    ) -> "ClaimResult":
        """Return the result of a claim; `lacks` is what was missing to judge it.

        Where a quick run was too short the whole one comes before what else would decide it.
        """
        decides = (
            f"the whole set, without --quick; then {claim.decides}" if quick else claim.decides
        )
        reason = claim.reason if judgement.verdict == FAILS else None
        return cls(
            name=claim.name,
            paper=claim.paper,
            place=claim.place,
            statement=claim.statement,
            value=claim.value,
            rule=claim.rule,
            reading=claim.reading,
            looked=claim.looked or "",
            hush=version(),
            rule_digest="" if claim.looked is not None else digest(claim),
            verdict=judgement.verdict,
            found=list(judgement.found),
            choices=[ChoiceResult(c.setting, c.taken, c.changes) for c in claim.choices],
            reason=None
            if reason is None
            else ReasonResult(reason.cause, reason.words, reason.told_apart_by),
            decides="" if judgement.verdict != UNDECIDED else lacks or decides,
            experiments=list(experiments),
            figure=figure,
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A published sentence with the results of its readings, of which there is at least one."""

    readings: tuple[ClaimResult, ...]

    @property
    def verdict(self) -> str:
        """What all readings say; `DEPENDS` where one holds and another does not; else undecided."""
        verdicts = {reading.verdict for reading in self.readings}
        if len(verdicts) == 1:
            return verdicts.pop()
        return DEPENDS if {HOLDS, FAILS} <= verdicts else UNDECIDED

    @property
    def is_registered(self) -> bool:
        """Whether the rules of all readings came before their results."""
        return all(not reading.looked for reading in self.readings)


class Results(msgspec.Struct, frozen=True):
    """The results of a set of claims."""

    schema: int
    hush: str
    quick: bool
    claims: list[ClaimResult]

    @property
    def sentences(self) -> list[Sentence]:
        """The published sentences with their readings, in the order of the first ones."""
        found: dict[tuple[str, str], list[ClaimResult]] = {}
        for claim in self.claims:
            found.setdefault((claim.paper, claim.statement), []).append(claim)
        return [Sentence(tuple(readings)) for readings in found.values()]


def collected(claims: Iterable[ClaimResult], *, quick: bool) -> Results:
    """Return the results of some claims together, in the order of the page; of one claim the last."""
    places = {claim.name: place for place, claim in enumerate(in_order())}
    latest = {claim.name: claim for claim in claims}
    ordered = sorted(latest.values(), key=lambda result: places[result.name])
    return Results(SCHEMA, version(), quick, ordered)


class _Kept(msgspec.Struct, frozen=True):
    """Results as a file has them: each figure and each sweep once, and claims name theirs."""

    schema: int
    hush: str
    quick: bool
    claims: list[dict[str, Any]]
    figures: dict[str, Figure] = {}
    experiments: dict[str, ExperimentResult] = {}


def write(results: Results, file: Path) -> None:
    """Write results whole: a reader finds them as they were before or as they are now."""
    figures = {c.figure.title: c.figure for c in results.claims if c.figure is not None}
    claims, experiments = [], dict[str, ExperimentResult]()
    for claim in results.claims:
        tree = msgspec.to_builtins(claim)
        tree["figure"] = None if claim.figure is None else claim.figure.title
        tree["experiments"] = [_named(experiment, experiments) for experiment in claim.experiments]
        claims.append({name: value for name, value in tree.items() if value not in (None, "", [])})
    kept = _Kept(results.schema, results.hush, results.quick, claims, figures, experiments)
    tree = _rounded(msgspec.to_builtins(kept))
    write_whole(file, json.dumps(tree, indent=0, ensure_ascii=False) + "\n")


def _named(experiment: ExperimentResult, known: dict[str, ExperimentResult]) -> str:
    """Return the name of a sweep in a file; two that differ, as in minutes, have two names."""
    name = f"{experiment.scenario}/{experiment.label}".rstrip("/")
    while known.setdefault(name, experiment) != experiment:
        name += "'"
    return name


def _rounded(tree: Any) -> Any:
    """Return a tree with numbers of figures at six digits: more cannot be seen."""
    if isinstance(tree, dict):
        return {name: _rounded(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [_rounded(value) for value in tree]
    return float(f"{tree:.6g}") if isinstance(tree, float) else tree


def read(file: Path) -> Results:
    """Read results. Raises `FolderError` where the file is not theirs."""
    try:
        data = file.read_bytes()
    except OSError:
        raise FolderError(f"{file} cannot be read") from None
    with guarded(file):
        kept = msgspec.json.decode(data, type=_Kept)
    if kept.schema != SCHEMA:
        raise FolderError(f"{file} has schema {kept.schema}: this hush reads schema {SCHEMA}")
    with guarded(file):
        claims = []
        for tree in kept.claims:
            title = tree.get("figure")
            experiments = [kept.experiments[name] for name in tree.get("experiments", [])]
            plain = {**tree, "figure": None, "experiments": []}
            claims.append(
                msgspec.structs.replace(
                    msgspec.convert(plain, ClaimResult),
                    figure=None if title is None else kept.figures[title],
                    experiments=experiments,
                    hush=tree.get("hush", kept.hush),
                )
            )
    return Results(kept.schema, kept.hush, kept.quick, claims)


def contradictions(found: Iterable[ClaimResult], known: Results) -> list[str]:
    """Return the names of claims that hold here and do not hold there, or the other way round."""
    verdicts = {claim.name: claim.verdict for claim in known.claims}
    return [
        claim.name
        for claim in found
        if {claim.verdict, verdicts.get(claim.name, claim.verdict)} == {HOLDS, FAILS}
    ]

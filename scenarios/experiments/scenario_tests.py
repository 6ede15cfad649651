"""Scenario files as tests: which there are, what each says of a run, and what to do when it fails."""

import asyncio
import math
import shlex
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.json_numbers import number, show
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.reader import Piped, library_names
from scenarios.language.writer import inline
from scenarios.planning.expectations import Expectation, expectation_of
from scenarios.planning.metric_names import split_metric
from scenarios.planning.plan import Plan
from scenarios.planning.scenario import load
from scenarios.planning.sweep_table import seeds_of
from scenarios.planning.wake_paths import AUTO
from scenarios.records.intervals import interval
from scenarios.records.summary import settled
from scenarios.records.summary_text import faults_in_words
from scenarios.running.control import RunGovernor
from scenarios.running.run import Outcome, Run

_LIBRARY = "library:"
NEEDS_FILES = "published-data"
"""The tag of library scenarios that need a published data set."""
CANNOT_RUN = "cannot run"
PASSED, FAILED, BROKE, UNKNOWN = "passed", "failed", "broke an invariant", "unknown"
UNSETTLED, INTERRUPTED = 4, 130
_BY_CODE = {0: PASSED, 1: FAILED, 3: BROKE, 4: UNKNOWN}


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario under one seed; without one it takes the file's own."""

    scenario: str
    seed: int | None = None

    @property
    def name(self) -> str:
        return self.scenario if self.seed is None else f"{self.scenario}[{self.seed}]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a case: a word, and lines that say what to do next."""

    case: Case
    word: str
    code: int
    lines: tuple[str, ...] = ()
    values: dict[int, float] = field(default_factory=dict)
    """The values of expectations that are judged over seeds, by their number in the file."""
    summary: dict[str, Any] = field(default_factory=dict, repr=False)


def collect(paths: Iterable[str]) -> list[str]:
    """Return the scenarios that some words name: files, folders of `test_*.toml`, the library or one of it.

    The whole library is what runs anywhere: scenarios that need a published data set are named one by one.
    """
    scenarios = list[str]()
    for word in paths:
        path = Path(word)
        if isinstance(word, Piped):
            scenarios.append(word)
        elif word == _LIBRARY:
            scenarios += [name for name in library_names() if NEEDS_FILES not in tags_of(name)]
        elif word.removeprefix(_LIBRARY) in library_names():
            scenarios.append(word.removeprefix(_LIBRARY))
        elif path.is_dir():
            inside = sorted(str(p) for p in path.rglob("test_*.toml"))
            if not inside:
                raise ScenarioError.of(word, "holds no test_*.toml")
            scenarios += inside
        elif path.is_file():
            scenarios.append(word)
        else:
            hint = nearest(word.removeprefix(_LIBRARY), library_names())
            problem = f"is no file, no folder and no scenario of the library; {hint}"
            raise ScenarioError.of(word, problem)
    return list(dict.fromkeys(scenarios))


def tags_of(scenario: str) -> list[str]:
    """Return the tags of a scenario."""
    return [tag for tag in load(scenario).read.tags if tag]


def cases_of(scenario: str, seeds: Iterable[int] | None = None) -> list[Case]:
    """Return a case for each seed; without seeds the file's own, or its sweep where something is judged over seeds."""
    if seeds is None:
        read = load(scenario).read
        swept = read.sweep.seeds
        if swept is None or not any(expect.over for expect in read.expect):
            return [Case(scenario)]
        seeds = seeds_of(swept)
    return [Case(scenario, seed) for seed in seeds]


def attempt(case: Case, options: dict[str, Any] | None = None) -> Verdict:
    """Run one case, and judge it. Its folder is thrown away: the same command makes it again."""
    given = options or {}
    with tempfile.TemporaryDirectory(prefix="hush-test-") as folder:
        try:
            plan = make_plan(case.scenario, seed=case.seed, **given)
            run = Run(plan, Path(folder) / "run", RunGovernor(), math.inf, AT_END_METRICS)
        except ScenarioError as error:
            return Verdict(case, CANNOT_RUN, 2, tuple(str(error).splitlines()))
        outcome = asyncio.run(run.perform())
    judged = outcome.summary.get("expectations", [])
    values = {i: number(e["got"]) for i, e in enumerate(judged) if e.get("over")}
    code = settled(outcome.summary) if outcome.code == UNSETTLED else outcome.code
    word = _BY_CODE.get(code, "interrupted" if code == INTERRUPTED else f"ended with {code}")
    lines = () if code in {0, INTERRUPTED} else tuple(_explain(case, plan, outcome, given))
    return Verdict(case, word, code, lines, values, outcome.summary)


def _explain(case: Case, plan: Plan, outcome: Outcome, options: dict[str, Any]) -> list[str]:
    """Return lines for a person: what failed and where in the file, which faults happened, and what to do next."""
    lines = list[str]()
    if outcome.message:
        lines.append(outcome.message)
    if outcome.summary.get("verdict") == "diverged":
        lines.append("every agent diverged: what each computes is no number any more")
    spots = places(case.scenario, options)
    for i, judgement in enumerate(outcome.summary.get("expectations", [])):
        if judgement["verdict"] == "pass" or judgement.get("over"):
            continue
        where = spots.get(i, case.scenario)
        got = "" if judgement["got"] is None else f", got {show(number(judgement['got']))}"
        title = "" if judgement["name"] == judgement["wanted"] else f"  ({judgement['name']})"
        lines.append(f"{where}: wanted {judgement['wanted']}{got}{title}")
        if judgement["verdict"] == "unknown":
            why = judgement["note"] or "see that it exists at that time"
            lines.append(f"    unknown: the metric had no value: {why}")
        elif judgement["note"]:
            lines.append(f"    {judgement['note']}")
        if judgement["first"] is not None:
            lines.append(f"    decided by event {judgement['first']} at {show(judgement['t'])} s")
    faults = faults_in_words(outcome.summary.get("faults") or [])
    if faults:
        lines.append(f"faults that happened: {', '.join(faults)}")
    file, changes = shlex.quote(named(case.scenario)), _changes(options)
    out = shlex.quote(_free(f"runs/failed-{plan.name.replace('/', '-')}-{plan.seed}"))
    lines.append(f"replay:  hush run {file} --seed {plan.seed}{changes} --out {out}")
    lines.append(f"then:    hush show {out}{_closer(outcome, out)}")
    lines.append(f"smaller: hush test {file} --seeds {plan.seed}{changes} --shrink")
    return lines


def _closer(outcome: Outcome, out: str) -> str:
    """Return the command that looks at what failed: the event that broke an invariant, or the metric of an expectation."""
    broken = [v["first"] for v in outcome.summary.get("invariants", {}).values() if v["first"]]
    if broken:
        return f"; hush explain {out} {broken[0]}"
    for judgement in outcome.summary.get("expectations", []):
        if judgement["verdict"] == "fail" and judgement["got"] is not None:
            return (
                f"; hush plot {out} {split_metric(judgement['wanted'].split()[0].rstrip(':'))[0]}"
            )
    return ""


def _free(out: str) -> str:
    """Return a folder that does not exist yet."""
    names = (out if n == 1 else f"{out}-{n}" for n in count(1))
    return next(name for name in names if not Path(name).exists())


def named(path: str | Path) -> str:
    """Return a file as a word of a command: never taken for an option, or for a library name; `-` stays standard input."""
    text = str(path)
    if isinstance(path, Piped):
        return text
    return f"./{text}" if text.startswith("-") else text


def _changes(options: dict[str, Any]) -> str:
    """Write what was set beside the file as words of a command."""
    changes = options.get("set") or {}
    words = [
        f"{key}={value if isinstance(value, str) else inline(value)}"
        for key, value in changes.items()
    ]
    words = [f" --set {shlex.quote(word)}" for word in words]
    words += [f" --data {shlex.quote(str(folder))}" for folder in options.get("folders") or ()]
    words += [" --allow-code"] if options.get("allow_code") else []
    path = options.get("path", AUTO)
    words += [] if path == AUTO else [f" --path {path}"]
    return "".join(words)


def places(scenario: str, options: dict[str, Any] | None = None) -> dict[int, str]:
    """Return `file:line` of each expectation."""
    loaded = load(scenario, (options or {}).get("set"))
    lines = {}
    for i in range(len(loaded.read.expect)):
        spot = loaded.report.spot(("expect", i))
        if spot is not None:
            lines[i] = f"{spot.file}:{spot.line}"
    return lines


def over_seeds(verdicts: list[Verdict], options: dict[str, Any] | None = None) -> list[Verdict]:
    """Judge what a scenario expects of its mean over seeds, by a confidence interval."""
    results = list[Verdict]()
    by_scenario: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_scenario.setdefault(verdict.case.scenario, []).append(verdict)
    for scenario, mine in by_scenario.items():
        numbers = sorted({i for verdict in mine for i in verdict.values})
        if not numbers:
            continue
        expects = load(scenario, (options or {}).get("set")).read.expect
        spots = places(scenario, options)
        for i in numbers:
            values = [verdict.values[i] for verdict in mine if i in verdict.values]
            where = spots.get(i, scenario)
            results.append(_over(Case(scenario), expectation_of(expects[i]), values, where))
    return results


def _over(case: Case, expect: Expectation, values: list[float], where: str) -> Verdict:
    assert expect.bound is not None, "only metrics are judged over seeds"  # noqa: S101
    head = f"{where}: wanted {expect.in_words()}, over {len(values)} seed{'s' * (len(values) != 1)}"
    known = [v for v in values if math.isfinite(v)]
    if len(known) < len(values) or len(known) < 2:
        why = (
            "needs at least two seeds: hush test --seeds 0..9"
            if len(values) < 2
            else (f"{len(values) - len(known)} of {len(values)} runs gave no finite value")
        )
        return Verdict(case, UNKNOWN, 4, (head, f"    {why}"))
    low, mean, high = interval(known, expect.confidence)
    got = f"mean {show(mean)}, {100 * expect.confidence:g} % interval [{show(low)}, {show(high)}]"
    bound = expect.bound
    good = [bound.holds(end) for end in (low, high)]
    if all(good):
        return Verdict(case, PASSED, 0, (f"{head}: {got}",))
    is_inside = bound.key == "equals" and low <= bound.value <= high
    if any(good) or bound.holds(mean) or is_inside:
        more = "the interval holds both verdicts: more seeds would tell"
        return Verdict(case, UNKNOWN, 4, (f"{head}: {got}", f"    {more}"))
    return Verdict(case, FAILED, 1, (f"{head}: {got}",))

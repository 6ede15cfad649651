"""The verb `test`: scenario files as tests, swarms of random worlds, and the smallest file that still fails."""

import argparse
import os
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from scenarios.command.option_values import keywords_of
from scenarios.experiments.random_worlds import Dice, random_faults, small_world
from scenarios.experiments.scenario_tests import (
    BROKE,
    CANNOT_RUN,
    FAILED,
    PASSED,
    Case,
    Verdict,
    attempt,
    cases_of,
    collect,
    named,
    over_seeds,
)
from scenarios.experiments.shrink import shrink, size
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.language.writer import to_toml
from scenarios.planning.scenario import load
from scenarios.planning.sweep_table import seeds_of
from scenarios.planning.wake_paths import AUTO, COLUMNS, EVENTS
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import folder_named, lock_folder
from scenarios.records.whole_file import write_new, write_whole
from scenarios.running.worker_processes import shared_out

INTERRUPTED = 130
_WORST = (INTERRUPTED, 70, 74, 3, 2, 1, 4)
"""Which exit code stands for many, the worst first."""


def perform(chosen: argparse.Namespace) -> int:
    """Run scenarios as tests, print their verdicts, and return the exit code of the worst."""
    options = keywords_of(chosen)
    if chosen.keep and chosen.swarm is None:
        raise ScenarioError.of("--keep", "belongs to --swarm")
    if chosen.swarm is not None:
        return _swarm(chosen, options)
    if not chosen.path:
        problem = "name files, folders of test_*.toml, or library: for the whole library"
        raise ScenarioError.of("hush test", problem)
    seeds = None if chosen.seeds is None else seeds_of(chosen.seeds)
    cases = [case for path in collect(chosen.path) for case in cases_of(path, seeds)]
    verdicts = list(_each(cases, options, chosen.jobs))
    verdicts += _print_verdicts(over_seeds(verdicts, options), "over seeds")
    if chosen.shrink:
        for verdict in [v for v in verdicts if v.code in {1, 3}][:1]:
            _shrink(_tree(verdict.case, options), verdict, options, chosen.out)
    return _close(verdicts)


def _each(cases: list[Case], options: dict[str, Any], jobs: int | None) -> Iterator[Verdict]:
    """Run every case, on several cores where there are many."""
    workers = min(jobs or os.cpu_count() or 1, len(cases))
    workers = workers if len(cases) > 2 else 1
    with closing(shared_out(attempt, ((case,) for case in cases), workers, options)) as made:
        for verdict in made:
            yield from _print_verdicts([verdict])
            if verdict.code == INTERRUPTED:
                return


def _print_verdicts(verdicts: list[Verdict], what: str = "") -> list[Verdict]:
    for verdict in verdicts:
        mark = {PASSED: "✓", FAILED: "✕", BROKE: "✕"}.get(verdict.word, "?")
        say(f"{mark} {verdict.case.name}{' ' + what if what else ''}: {verdict.word}")
        for line in verdict.lines:
            say(f"    {line}")
        sys.stdout.flush()
    return verdicts


def _close(verdicts: list[Verdict]) -> int:
    words = Counter(verdict.word for verdict in verdicts)
    say(f"{', '.join(f'{number} {word}' for word, number in words.items())} of {len(verdicts)}")
    codes = {verdict.code for verdict in verdicts}
    return next((code for code in _WORST if code in codes), max(codes, default=0))


def _tree(case: Case, options: dict[str, Any]) -> dict[str, Any]:
    """Return a case as a scenario of its own, its seed written down."""
    loaded = load(case.scenario, options["set"])
    loaded.report.stop_if_any()
    tree = {k: v for k, v in loaded.given.items() if k not in {"extends", "origin"}}
    run = dict(tree.get("run") or {})
    run |= {} if case.seed is None else {"seed": case.seed}
    if "seed" not in run:
        raise ScenarioError.of(case.scenario, "has no seed to shrink under: give --seeds N")
    return tree | {"run": run, "name": loaded.name}


def _shrink(
    tree: dict[str, Any], verdict: Verdict, options: dict[str, Any], out: str | None
) -> None:
    """Write the smallest scenario that fails in the same way."""
    wanted = _why(verdict)
    given = {k: v for k, v in options.items() if k != "set"}
    place, names = _fresh(verdict.case.scenario, tree["name"], out)
    trial = _trial(place)

    def fails(smaller: dict[str, Any]) -> bool:
        write_whole(trial, to_toml(smaller))
        result = attempt(Case(str(trial)), given)
        if result.code == INTERRUPTED:
            raise KeyboardInterrupt("interrupted: nothing smaller was written")
        return _why(result) == wanted

    try:
        smallest, tried = shrink(tree, fails)
    finally:
        trial.unlink(missing_ok=True)
    before, after = size(tree), size(smallest)
    path = write_first(place, names, to_toml(smallest))
    changes = [
        f"{what} {mine:g} → {less:g}"
        for what, mine, less in zip(("faults", "agents", "end"), before, after, strict=True)
    ]
    say(f"shrunk in {tried} runs: {', '.join(changes)}")
    say(f"    {path} fails alone: hush run {shlex.quote(named(path))}")


def _fresh(scenario: str, name: str, out: str | None) -> tuple[Path, Iterator[str]]:
    """Return a folder, and names for a file in it, the best first: one of them is free when it is written."""
    if out is not None:
        path = Path(out)
        if path.exists() or not path.parent.is_dir():
            why = "exists already" if path.exists() else "its folder does not exist"
            raise ScenarioError.of("--out", f"{out}: {why}; nothing was written")
        stem, suffix, place = path.stem, path.suffix, path.parent
    else:
        stem, suffix = f"{name.replace('/', '-')}.shrunk", ".toml"
        place = Path(scenario).parent if scenario.endswith(".toml") else Path()
    return place, (f"{stem}{f'-{n}' if n else ''}{suffix}" for n in count())


def write_first(place: Path, names: Iterable[str], text: str) -> Path:
    """Write a file under the first name that no file has, and return it; files that are there stay.

    The file is opened exclusively: a run takes long, and what did not exist before it may exist after it.
    Raises `ScenarioError` where every name is taken.
    """
    taken = ""
    for taken in names:
        if write_new(place / taken, text):
            return place / taken
    raise ScenarioError.of(str(place / taken), "exists already; nothing was written")


def _trial(place: Path) -> Path:
    """Return a new, empty file beside the scenario, for its paths are relative to its folder."""
    handle, name = tempfile.mkstemp(suffix=".toml", prefix="hush-trial-", dir=place)
    os.close(handle)
    return Path(name)


def _why(verdict: Verdict) -> tuple[str, ...]:
    """Return how a case fails: the invariant that broke, or the expectations that did not hold."""
    if verdict.code == 3:
        return ("broke", verdict.lines[0].removeprefix("an invariant broke: ").split(":")[0])
    names = (e["wanted"] for e in verdict.summary.get("expectations", []) if e["verdict"] == "fail")
    return ("failed", *sorted(names)) if verdict.code == 1 else (verdict.word,)


def _swarm(chosen: argparse.Namespace, options: dict[str, Any]) -> int:
    """Run random worlds, or the named ones under random faults; every one that fails is kept as a file."""
    seed = 0 if chosen.seeds is None else seeds_of(chosen.seeds)[0]
    counted = (Path(f"swarm{f'-{n}' if n > 1 else ''}") for n in count(1))
    with lock_folder(
        [folder_named(chosen.out)] if chosen.out else counted, _refuse_worlds
    ) as folder:
        return _swarm_in(folder, seed, chosen, options)


def _refuse_worlds(folder: Path) -> None:
    """Raise where a folder holds what an earlier swarm kept."""
    if any(folder.glob("world-*.toml")):
        raise FolderError(f"{folder} holds worlds of an earlier swarm: choose another --out")


def _swarm_in(folder: Path, seed: int, chosen: argparse.Namespace, options: dict[str, Any]) -> int:
    """Run the worlds of a swarm in a folder that it alone works in."""
    bases = [_tree(Case(path, seed), options) for path in collect(chosen.path)]
    happened: dict[str, int] = {}
    verdicts = list[Verdict]()
    for number in range(chosen.swarm):
        tree = _drawn(bases, seed, number)
        path = write_first(folder, (f"world-{seed}-{number}.toml",), to_toml(tree))
        own = {k: v for k, v in options.items() if k != "set"}
        verdict = _attempt_by_a_path(Case(str(path)), own, Dice(seed, number))
        for fault in verdict.summary.get("faults", []):
            happened[fault["name"]] = happened.get(fault["name"], 0) + fault["fired"]
        verdicts.append(verdict)
        if verdict.code == INTERRUPTED:
            break
        if verdict.code == 0:
            if not chosen.keep:
                path.unlink()
        else:
            _print_verdicts([verdict])
            if chosen.shrink and verdict.code in {1, 3}:
                _shrink(tree, verdict, options, str(path.with_suffix(".shrunk.toml")))
    faults = ", ".join(f"{name} {count}" for name, count in sorted(happened.items()))
    say(f"faults that happened: {faults or 'none'}")
    return _close(verdicts)


def _attempt_by_a_path(case: Case, options: dict[str, Any], luck: Dice) -> Verdict:
    """Run a world by the path that was asked for, else by one that is drawn: by `auto` where it cannot have columns."""
    if options["path"] != AUTO:
        return attempt(case, options)
    path = luck.pick((EVENTS, COLUMNS))
    verdict = attempt(case, options | {"path": path})
    return attempt(case, options) if path == COLUMNS and verdict.word == CANNOT_RUN else verdict


def _drawn(bases: list[dict[str, Any]], seed: int, number: int) -> dict[str, Any]:
    """Return one random world; of a named one, its own with more faults."""
    luck = Dice(seed, number)
    if not bases:
        return small_world(luck) | {"name": f"world-{seed}-{number}"}
    base = bases[number % len(bases)]
    faults = [*base.get("fault", []), *random_faults(luck, base, luck.whole(1, 3))]
    return base | {"fault": faults, "name": f"{base['name']}-{number}"}

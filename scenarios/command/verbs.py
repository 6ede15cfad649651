"""What the verbs of the command do, but for `run`; numeric packages are loaded only by those that need them."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from scenarios.command.option_values import opened, plan_of, settings, warn
from scenarios.language.problems import Problem, ScenarioError, nearest
from scenarios.language.reader import LIBRARY, library_names, read_text
from scenarios.language.visible_text import say, say_json
from scenarios.planning.scenario import load
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import is_record


def check(chosen: argparse.Namespace) -> int:
    """Judge scenarios without running them."""
    code, found = 0, []
    for scenario in chosen.scenario:
        try:
            plan = plan_of(chosen, scenario)
        except ScenarioError as error:
            code = 2
            found.append(
                {"scenario": scenario, "ok": False, "problems": [str(p) for p in error.problems]}
            )
            if not chosen.json:
                say(*str(error).split("\n"), error=True)
            continue
        from scenarios.planning.forecast import forecast, in_words

        told = forecast(plan)
        found.append({"ok": True, **told})
        if not chosen.json:
            say(*in_words(told))
    if chosen.json:
        say_json(found)
    return code


def library(chosen: argparse.Namespace) -> int:
    """The library, with what each scenario shows."""
    found = {name: load(name).read.get("summary", "") for name in library_names()}
    if chosen.json:
        say_json([{"name": n, "summary": s} for n, s in found.items()])
    else:
        width = max(map(len, found))
        say(*(f"{name:<{width}}  {summary}" for name, summary in found.items()))
    return 0


def show(chosen: argparse.Namespace) -> int:
    """A run, a scenario or a mechanism: whatever the word names."""
    path = Path(chosen.what)
    if chosen.ledger and not is_record(path):
        raise FolderError(f"--ledger needs the folder of a run, and {path} is none")
    if is_record(path):
        from scenarios.records.file_guard import guarded

        with guarded(path):
            if chosen.ledger:
                return _show_ledger(path, chosen.ledger)
            return _show_run(path, as_json=chosen.json)
    if chosen.what in library_names() or path.is_file():
        text = read_text(
            LIBRARY / f"{chosen.what}.toml" if chosen.what in library_names() else path
        )
        if chosen.json:
            say_json({"name": chosen.what, "text": text}, indent=None)
        else:
            say(*text.rstrip().replace("\r\n", "\n").split("\n"))
        return 0
    from mechanisms.cards import CARDS
    from scenarios.command.mechanism_card import in_words, told

    if chosen.what not in CARDS:
        hint = nearest(chosen.what, [*CARDS, *library_names()])
        raise ScenarioError(
            [Problem("", f"'{chosen.what}' is no mechanism, scenario or run; {hint}")]
        )
    if chosen.json:
        say_json(told(chosen.what))
    else:
        say(*in_words(chosen.what))
    return 0


def _show_run(path: Path, *, as_json: bool) -> int:
    from scenarios.records.recomputed_privacy import cut_off_in_words, epsilon_of, heard_in_words
    from scenarios.records.summary_text import in_words

    record = opened(path)
    summary = record.summary
    if not record.is_judged:
        summary = summary | {"epsilon": epsilon_of(record)}
    if as_json:
        say_json(summary)
    elif not record.is_judged:
        say(*cut_off_in_words(summary), *heard_in_words(record))
    else:
        heard = ["", *heard_in_words(record)] if summary["releases"] else []
        say(*in_words(summary), *heard)
        digests = record.manifest["digests"]
        schedule = f"{digests.get('schedule', '')[:16]}…{_conditional(digests)}"
        intact = "files are what their checksums say"
        said = "CHECKSUMS DO NOT MATCH" if record.flaws else intact
        say("", f"  {path}: {said}; schedule {schedule}")
    return 2 if record.flaws else 0


def _conditional(digests: dict[str, Any]) -> str:
    """Say on what a schedule digest depends besides seed and scenario; empty where on nothing."""
    reason = digests.get("conditional")
    return f", conditional on {reason['on']} (agent {reason['first']} first)" if reason else ""


def _show_ledger(path: Path, form: str) -> int:
    """Write a run's ledger for other programs."""
    from scenarios.records.reader import RunRecord
    from scenarios.records.recomputed_privacy import as_csv, as_events
    from scenarios.records.run_folder import LEDGER

    record = RunRecord(path)
    if not record.has_ledger:
        raise FolderError(f"{path} has no {LEDGER}: what was released cannot be told")
    warn(record)
    if form == "csv":
        say(*as_csv(record).rstrip().split("\r\n"))
    else:
        say_json(as_events(record))
    return 2 if record.flaws else 0


def new(chosen: argparse.Namespace) -> int:
    """Write a commented scenario to start from."""
    from scenarios.command.template import scenario_called

    path = Path(chosen.file)
    if path.exists():
        raise ScenarioError([Problem(chosen.file, "exists already: nothing was written")])
    try:
        path.write_text(scenario_called(path.stem), encoding="utf-8")
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise ScenarioError([Problem(chosen.file, f"cannot be written: {why}")]) from None
    checked = chosen.file if path.is_absolute() or "/" in chosen.file else f"./{path}"
    file = shlex.quote(checked)
    say(f"{path} is written; next: hush check {file}, then hush run {file}")
    return 0


def plot(chosen: argparse.Namespace) -> int:
    """Draw one metric of a run."""
    from scenarios.records.plots import draw

    out = draw(opened(Path(chosen.run)), chosen.what, chosen.x, chosen.out)
    say(str(out))
    return 0


def sweep(chosen: argparse.Namespace) -> int:
    """Run one scenario under many seeds."""
    from scenarios.experiments.sweep import sweep_seeds

    plan_of(chosen, chosen.scenario)
    return sweep_seeds(chosen, settings(chosen.set))

"""Runs what the verb `run` names: watched as the terminal allows, told in words or JSON, run twice where asked."""

import argparse
import asyncio
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.command.live_words import how_shown
from scenarios.command.option_values import pace, plan_of, seconds
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json, text_width
from scenarios.planning.check_scenario import CheckedScenario
from scenarios.planning.plan import Plan
from scenarios.records.divergence import EQUAL, compare_digests, parts
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import RESOLVED, abandon, choose
from scenarios.records.summary_text import in_words
from scenarios.running.control import RunGovernor
from scenarios.running.profile import Profile
from scenarios.running.run import DIVERGENT, Outcome, Run

UNKNOWN = 4
_PIPED = 1000
"""The width of a table that goes to no terminal: whatever it needs."""


def run_plans(
    chosen: argparse.Namespace, scenarios: Sequence[CheckedScenario], profile: Profile | None = None
) -> int:
    """Run one scenario, or two side by side; return the exit code. A profile that goes on is ended and told."""
    _refuse(chosen, len(scenarios))
    until, speed, live = seconds(chosen.until), pace(chosen.speed), how_shown(chosen)
    plans = [plan_of(chosen, one, until=until, engine=chosen.engine) for one in scenarios]
    if len({plan.engine for plan in plans}) > 1:
        raise ScenarioError.of("run", "two runs side by side need one engine: --engine virtual")
    ends = [plan.horizon for plan in plans if plan.horizon is not None]
    if speed is None:
        unwatched = 1.0 if plans[0].engine == "wall" else math.inf
        speed = _pace(ends) if live == "full" else unwatched
    folders = _folders(plans, chosen)
    runs = list[Run]()
    try:
        for plan, path in zip(plans, folders, strict=True):
            runs.append(_new_run(plan, path, speed, live))
    except BaseException as error:
        for one in runs:
            one.fail(error)
        for path in folders:
            abandon(path)
        raise
    outcomes = asyncio.run(_watched(runs, live, chosen))
    for one, outcome in zip(runs, outcomes, strict=True):
        _tell(one, outcome, live)
    if profile is not None:
        _tell_profile(profile, runs[0], outcomes[0], live)
    code = next((outcome.code for outcome in outcomes if outcome.code), 0)
    if chosen.twice and code not in {74, 130}:
        code = _again(runs[0], outcomes[0], _on_wall(speed)) or code
    return code


def _refuse(chosen: argparse.Namespace, number: int) -> None:
    """Raise `ScenarioError` where so many scenarios cannot be run as they are asked for."""
    if number > 2:
        raise ScenarioError.of("run", f"shows one scenario or two side by side, got {number}")
    if number == 2 and chosen.twice:
        raise ScenarioError.of("--twice", "goes with one scenario")
    if number == 2 and chosen.profile:
        raise ScenarioError.of("--profile", "goes with one scenario: two runs share one process")


def _pace(ends: list[int]) -> float:
    """Choose a pace that a person can follow: over in forty seconds where the end is known, else as time itself goes."""
    return max(ends) / 40e9 if ends else 1.0


def _folders(plans: list[Plan], chosen: argparse.Namespace) -> list[Path]:
    """Choose a folder for each run; two share the one that was asked for."""
    if len(plans) == 1 or chosen.out is None:
        return [choose(plan.name, plan.seed, chosen.out) for plan in plans]
    names = [plan.name for plan in plans]
    if names[0] == names[1]:
        names[1] += "-b"
    parent = choose(plans[0].name, plans[0].seed, chosen.out)
    return [
        choose(plan.name, plan.seed, str(parent / name))
        for plan, name in zip(plans, names, strict=True)
    ]


def _new_run(plan: Plan, path: Path, speed: float, live: str) -> Run:
    full = live == "full"
    governor = RunGovernor(
        speed=speed if plan.engine == "virtual" else math.inf,
        watched=full,
        looks=full,
        steers=full and speed != math.inf,
    )
    return Run(plan, path, governor, _on_wall(speed), AT_END_METRICS)


def _on_wall(speed: float) -> float:
    return 1e12 if speed == math.inf else speed


async def _watched(runs: list[Run], live: str, chosen: argparse.Namespace) -> list[Outcome]:
    if live == "full":
        from scenarios.console.screens.terminal import is_plain
        from scenarios.console.screens.watch import watch

        return await watch(
            runs,
            chosen.color,
            chosen.theme,
            ascii_only=is_plain(asked=chosen.ascii),
            stays_open=not chosen.exit,
        )
    if live in {"lines", "json"}:
        from scenarios.running.observers.progress_lines import Lines

        for one in runs:
            name = one.plan.name if len(runs) > 1 else ""
            as_json, why = live == "json", one.observers.measurements.why
            lines = Lines(
                one.plan, say, one.observers.budget.terms, as_json=as_json, name=name, why=why
            )
            one.log.subscribe(lines, is_patient=True)
    return [await one.perform() for one in runs]


def _tell(run: Run, outcome: Outcome, live: str) -> None:
    if outcome.message:
        say(f"hush: {outcome.message}", error=True)
    if not outcome.summary:
        say(f"the run's folder: {outcome.folder}", error=True)
        return
    if live == "json":
        tree = {"kind": "summary", "folder": str(outcome.folder), **outcome.summary}
        say_json(tree, indent=None)
    else:
        say(*in_words(outcome.summary, text_width()), "")
        say(
            f"  {outcome.folder}  ({outcome.summary['wall_s']:.2f} s, {outcome.summary['updates_per_s']:,.0f} updates/s)"
        )
        say(
            f"  look again: hush replay {outcome.folder}    hush show {outcome.folder}    hush plot {outcome.folder} loss"
        )
        if run.journal.steered:
            say(f"  steered by hand; the same again: hush run {outcome.folder / RESOLVED}")


def _tell_profile(profile: Profile, run: Run, outcome: Outcome, live: str) -> None:
    """End a profile, write it into the run's folder, and say where time went."""
    from scenarios.api.profiled import as_json, in_words, write_profile

    profile.stop()
    stacks, picture = write_profile(profile, outcome.folder, run.plan.name)
    if live == "json":
        files = {"stacks": str(stacks), "picture": str(picture)}
        say_json(as_json(profile, files), indent=None)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED
        say("", *in_words(profile, width), f"  {picture}")


def _again(former: Run, first: Outcome, speed: float) -> int:
    """Run the same plan again, with what a hand did to it, and compare, event by event."""
    plan = former.plan
    if former.journal.steered:
        from scenarios.api.runs import make_plan

        plan = make_plan(first.folder / RESOLVED, path=plan.path)
    with tempfile.TemporaryDirectory(prefix="hush-twice-") as folder:
        run = Run(plan, Path(folder) / "run", RunGovernor(), speed, AT_END_METRICS)
        second = asyncio.run(run.perform())
        records = [RunRecord(outcome.folder) for outcome in (first, second)]
        verdicts = compare_digests(*(record.manifest for record in records))
        told = [f"{name} digests are {verdict}" for name, verdict in verdicts.items()]
        unknown = [
            words for words, v in zip(told, verdicts.values(), strict=True) if v[:3] == "not"
        ]
        if unknown:
            say(f"hush: {'; '.join(unknown)}", error=True)
            return UNKNOWN
        if set(verdicts.values()) == {EQUAL}:
            mine = records[0].manifest["digests"]
            said = f"schedule {mine['schedule']}, value {mine['value']}"
            say(f"  twice the same: {said}", error=True)
            return 0
        parting = parts(*(record.events() for record in records))
        if parting is None:
            say(f"hush: two runs of one seed: {'; '.join(told)}", error=True)
        else:
            seq = next(event["seq"] for event in parting if event is not None)
            one, other = parting
            say(
                f"hush: two runs of one seed part at event {seq}: {one} against {other}", error=True
            )
        return DIVERGENT

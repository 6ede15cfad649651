"""The verb `run`: one run, watched as the terminal allows."""

import argparse
import asyncio
import json
import math
import tempfile
from pathlib import Path

from scenarios.conduct import DIVERGENT, Outcome, Run
from scenarios.folder import choose, events, read_manifest
from scenarios.governor import Hand
from scenarios.plan import Plan
from scenarios.telling import in_words
from scenarios.words import pace, plan_of, say, seconds


def run(chosen: argparse.Namespace) -> int:
    """One run, watched as the terminal allows."""
    until, speed = seconds(chosen.until), pace(chosen.speed)
    plan = plan_of(chosen, chosen.scenario, until=until, engine=chosen.engine)

    live = _live(chosen)
    path = choose(plan.name, plan.seed, chosen.out)
    if speed is None:
        watchable = live == "full" and plan.horizon is not None
        speed = plan.horizon / 40e9 if watchable and plan.horizon else math.inf
        if plan.engine == "wall" and not watchable:
            speed = 1.0
    full = live == "full"
    hand = Hand(
        speed=speed if plan.engine == "virtual" else math.inf,
        watched=full,
        looks=full,
        steers=full and speed != math.inf,
    )
    wall_speed = 1e12 if speed == math.inf else speed
    made = Run(plan, path, hand, wall_speed)
    outcome = asyncio.run(_watched(made, live, chosen))
    code = outcome.code
    _tell(outcome, live)
    if chosen.twice and code not in {74, 130}:
        code = _again(plan, outcome, wall_speed) or code
    return code


def _live(chosen: argparse.Namespace) -> str:
    if chosen.quiet:
        return "off"
    if chosen.live != "auto":
        return str(chosen.live)
    from scenarios.console.screen import can_be_full

    return "full" if can_be_full() else "lines"


async def _watched(made: Run, live: str, chosen: argparse.Namespace) -> Outcome:
    if live == "full":
        from scenarios.console.screen import console_for
        from scenarios.console.viewer import watch

        return await watch(made, console_for(chosen.color), ascii_only=chosen.ascii)
    if live in {"lines", "json"}:
        from scenarios.observers.lines import Lines

        lines = Lines(made.plan, say, made.budget.terms, as_json=live == "json")
        made.log.watch(lines, lines.kinds)
    return await made.perform()


def _tell(outcome: Outcome, live: str) -> None:
    if outcome.message:
        say(f"hush: {outcome.message}", error=True)
    if not outcome.summary:
        say(f"the run's folder: {outcome.folder}", error=True)
        return
    if live == "json":
        say(json.dumps({"kind": "summary", "folder": str(outcome.folder), **outcome.summary}))
    else:
        say("\n".join(in_words(outcome.summary)))
        say(
            f"\n  {outcome.folder}  ({outcome.summary['wall_s']:.2f} s, {outcome.summary['updates_per_s']:,.0f} updates/s)"
        )
        say(f"  look again: hush show {outcome.folder}    hush plot {outcome.folder} loss")


def _again(plan: Plan, first: Outcome, speed: float) -> int:
    """Run the same plan again and compare, event by event."""
    with tempfile.TemporaryDirectory(prefix="hush-twice-") as folder:
        made = Run(plan, Path(folder) / "run", Hand(), speed)
        second = asyncio.run(made.perform())
        former, latter = (read_manifest(o.folder)["digests"] for o in (first, second))
        if former == latter:
            say(
                f"  twice the same: schedule {former['schedule'][:16]}…, value {former['value'][:16]}…",
                error=True,
            )
            return 0
        for one, other in zip(events(first.folder), events(second.folder), strict=False):
            one.pop("late_ns", None), other.pop("late_ns", None)
            if one != other:
                say(
                    f"hush: two runs of one seed part at event {one['seq']}: {one} against {other}",
                    error=True,
                )
                break
        return DIVERGENT

"""The verb `tour`: the quickstart with captions, on the live screen, or as lines where there is no terminal."""

import argparse
import asyncio
import math

from scenarios.command.option_values import pace
from scenarios.language.visible_text import say
from scenarios.records.reader import RunRecord


def perform(chosen: argparse.Namespace) -> int:
    """Show the tour; without a terminal run the quickstart and write its captions. Return the exit code of the run."""
    from scenarios.api.runs import make_plan
    from scenarios.auditing.at_end_metrics import AT_END_METRICS
    from scenarios.console.control.tour import CAPTIONS, SCENARIO, figures_of
    from scenarios.console.screens.terminal import can_be_full, is_plain
    from scenarios.console.screens.tour import tour
    from scenarios.console.sources.recording import Recording
    from scenarios.records.run_folder import choose
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    plan = make_plan(SCENARIO)
    folder, full = choose(plan.name, plan.seed, chosen.out), can_be_full()
    speed = (pace(chosen.speed) or _SPEED) if full else math.inf
    governor = RunGovernor(speed=speed, watched=full, looks=full, steers=full and speed != math.inf)
    run = Run(plan, folder, governor, speed, AT_END_METRICS)
    if full:
        plain = is_plain(asked=chosen.ascii)
        outcome = asyncio.run(tour(run, chosen.color, chosen.theme, ascii_only=plain))
    else:
        outcome = asyncio.run(run.perform())
        recording = Recording(RunRecord(folder))
        for number, caption in enumerate(CAPTIONS, 1):
            recording.seek(round(caption.at_s * 1e9))
            say(
                f"{number}/{len(CAPTIONS)}  {caption.at_s:4.0f} s  {caption.in_lines(figures_of(recording))}"
            )
    say(
        f"  {outcome.folder}: hush replay {outcome.folder} shows it again, hush show {outcome.folder} sums it up"
    )
    return outcome.code


_SPEED = 2.0

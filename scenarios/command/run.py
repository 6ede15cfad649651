"""The verb `run`: one run, or two side by side."""

import argparse
from typing import TYPE_CHECKING

from scenarios.command.live_words import announce
from scenarios.command.option_values import scenario_of

if TYPE_CHECKING:
    from scenarios.running.profile import Profile


def perform(chosen: argparse.Namespace) -> int:
    """Judge what the files themselves say before NumPy is loaded, so that errors come at once; then run."""
    if not chosen.profile:
        return _run(chosen, None)
    from scenarios.running.profile import Profile

    with Profile(from_birth=True) as profile:
        return _run(chosen, profile)


def _run(chosen: argparse.Namespace, profile: "Profile | None") -> int:
    scenarios = [scenario_of(chosen, name) for name in chosen.scenario or ["quickstart"]]
    announce(chosen, scenarios)
    from scenarios.command.run_plans import run_plans

    return run_plans(chosen, scenarios, profile)

"""The verb `run`: one run, or two side by side."""

import argparse

from scenarios.command.option_values import scenario_of


def perform(chosen: argparse.Namespace) -> int:
    """Judge what the files themselves say before NumPy is loaded, so that errors come at once; then run."""
    scenarios = [scenario_of(chosen, name) for name in chosen.scenario or ["quickstart"]]
    from scenarios.command.run_plans import run_plans

    return run_plans(chosen, scenarios)

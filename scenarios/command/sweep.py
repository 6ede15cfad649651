"""The verb `sweep`: one scenario under many seeds."""

import argparse

from scenarios.command.option_values import keywords_of, plan_of, scenario_of


def perform(chosen: argparse.Namespace) -> int:
    """Judge the scenario under its own seed, then run it under every seed."""
    from scenarios.experiments.sweep import sweep_seeds

    scenario = scenario_of(chosen, chosen.scenario)
    plan_of(chosen, scenario)
    return sweep_seeds(chosen, keywords_of(chosen), scenario)

"""The verb `attack`: what an attacker recovers from a scenario, beside what was promised."""

import argparse

from scenarios.command.option_values import options_of, plan_of, scenario_of
from scenarios.command.repeated_runs import Bar, refuse_oracles
from scenarios.language.visible_text import say, say_json


def perform(chosen: argparse.Namespace) -> int:
    """Attack a scenario, and print what was recovered beside what was promised."""
    plan = plan_of(chosen, scenario_of(chosen, chosen.scenario))
    refuse_oracles(plan, chosen.node)
    if chosen.which == "kkt":
        from scenarios.auditing import kkt_attack

        finding = kkt_attack.kkt(plan, chosen.node or 0, chosen.record)
        lines, tree = kkt_attack.in_words(plan, finding), kkt_attack.as_json(finding)
    else:
        from scenarios.auditing import membership_attack

        with Bar("attacking") as bar:
            inference = membership_attack.membership(
                plan,
                records=chosen.records,
                runs=chosen.runs,
                node=chosen.node,
                confidence=chosen.confidence,
                more=options_of(chosen),
                progress=bar.show,
            )
        lines = membership_attack.in_words(plan, inference)
        tree = membership_attack.as_json(inference)
    if chosen.json:
        say_json(tree)
    else:
        say(*lines)
    return 0

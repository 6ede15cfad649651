"""The verb `check`: read, judge and settle scenarios without running them; numeric packages are loaded for the plan only."""

import argparse

from scenarios.command.option_values import plan_of, scenario_of
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json


def perform(chosen: argparse.Namespace) -> int:
    """Print the problems of scenarios, or a forecast of each; return 2 where any has a problem."""
    code, verdicts = 0, []
    for scenario in chosen.scenario:
        try:
            plan = plan_of(chosen, scenario_of(chosen, scenario))
        except ScenarioError as error:
            code = 2
            verdicts.append(
                {"scenario": scenario, "ok": False, "problems": [str(p) for p in error.problems]}
            )
            if not chosen.json:
                say(*str(error).split("\n"), error=True)
            continue
        from msgspec import to_builtins

        from scenarios.planning.forecast import forecast, in_words
        from scenarios.records import data_card_text
        from scenarios.records.data_card import card_of

        figures, card = forecast(plan), card_of(plan)
        verdicts.append({"ok": True, **figures, "data": to_builtins(card)})
        if not chosen.json:
            say(*in_words(figures), *data_card_text.in_words(card))
    if chosen.json:
        say_json(verdicts)
    return code

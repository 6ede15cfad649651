"""The verb `check`: read, judge and settle scenarios without running them; numeric packages are loaded for the plan only."""

import argparse

from scenarios.command.option_values import options_of, plan_of, scenario_of, settings
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json
from scenarios.planning.check_scenario import CheckedScenario


def perform(chosen: argparse.Namespace) -> int:
    """Print the problems of scenarios, or a forecast of each; return 2 where any has a problem."""
    code, verdicts = 0, []
    for scenario in chosen.scenario:
        try:
            read = scenario_of(chosen, scenario)
            plan = plan_of(chosen, read)
            swept = _judge_sweep(chosen, scenario, read) if read.given.get("sweep") else {}
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
        verdicts.append({"ok": True, **figures, "data": to_builtins(card), **swept})
        if not chosen.json:
            say(*in_words(figures), *data_card_text.in_words(card))
            for counts in swept.values():
                say(
                    f"  sweep      {counts['settings']:,} settings × {counts['seeds']:,} seeds, each setting can run"
                )
    if chosen.json:
        say_json(verdicts)
    return code


def _judge_sweep(
    chosen: argparse.Namespace, scenario: str, read: CheckedScenario
) -> dict[str, dict[str, int]]:
    """Judge every setting of a file's [sweep], and return how many there are; raise `ScenarioError` with their problems."""
    from scenarios.experiments.orders import Wishes, order_of
    from scenarios.experiments.sweep import Sweeping

    seeds = [chosen.seed or 0] if read.read.sweep.seeds is None else None
    order = order_of([scenario], settings(chosen.set), options_of(chosen), Wishes(seeds=seeds))
    Sweeping(order).judge(everything=True)
    return {"sweep": {"settings": order.grid.size, "seeds": len(order.grid.seeds)}}

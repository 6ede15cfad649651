"""The verb `check`: read, judge and settle scenarios without running them; numeric packages are loaded for the plan only."""

import argparse
import math
import os
from typing import TYPE_CHECKING, Any

from scenarios.command.option_values import options_of, plan_of, scenario_of, settings
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import hung, say, say_json, text_width
from scenarios.planning.check_scenario import CheckedScenario
from scenarios.planning.fallbacks import fallbacks

if TYPE_CHECKING:
    from scenarios.auditing.planned_test import AuditForecast
    from scenarios.planning.plan import Plan


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
        from scenarios.planning.wake_paths import path_taken, why_events
        from scenarios.records import data_card_text
        from scenarios.records.data_card import card_of

        figures, card = forecast(plan), card_of(plan)
        audit = _audit_of(plan)
        path = {"taken": path_taken(plan), "why": why_events(plan) or None}
        verdicts.append(
            {
                "ok": True,
                **figures,
                "fallbacks": fallbacks(read),
                "data": to_builtins(card),
                "audit": _as_tree(audit),
                "path": path,
                **swept,
            }
        )
        if not chosen.json:
            width = text_width()
            fell = [line for said in fallbacks(read) for line in hung("note       ", said, width)]
            why = f": {path['why']}" if path["why"] else ""
            say(*in_words(figures, width), *fell, *data_card_text.in_words(card))
            say(f"  path       {path['taken']}{why}", *_in_words(audit))
            for counts in swept.values():
                say(
                    f"  sweep      {counts['settings']:,} settings × {counts['seeds']:,} seeds, each setting can run"
                )
    if chosen.json:
        say_json(verdicts)
    return code


def _audit_of(plan: "Plan") -> "AuditForecast | None":
    """Return what `hush audit` would take; None where nothing is promised that an audit could refute, or only a run tells."""
    from scenarios.auditing.neighbouring_data import watched
    from scenarios.auditing.planned_test import forecast_of

    return forecast_of(plan, watched(plan, None))


def _as_tree(audit: "AuditForecast | None") -> dict[str, Any] | None:
    if audit is None:
        return None
    from scenarios.language.json_numbers import figure

    test = audit.planned
    return {
        "node": audit.node,
        "claimed": figure(audit.claimed),
        "view": audit.view,
        "delta": audit.delta,
        "runs": test.runs,
        "power": test.power,
        "runs_for_95": test.needed,
        "updates": figure(audit.updates),
        "seconds": figure(audit.seconds(os.cpu_count() or 1)),
    }


def _in_words(audit: "AuditForecast | None") -> list[str]:
    if audit is None:
        return []
    from scenarios.command.repeated_runs import in_time
    from scenarios.language.json_numbers import show

    claim = f"ε = {show(audit.claimed)}, {audit.view} view, δ = {audit.delta:g}"
    cores = os.cpu_count() or 1
    took = "a time that only a run can tell"
    if not math.isnan(audit.updates):
        took = f"{audit.updates:,.0f} updates, {in_time(audit.seconds(cores))} with {cores} workers"
    return [
        f"  audit     of agent {audit.node}'s claim ({claim}) would make about",
        f"            {audit.planned.in_words};",
        f"            {took} (hush audit measures before it starts)",
    ]


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

"""The verb `audit`: try to refute what the calibration of a scenario claims."""

import argparse
import json
import os
from typing import TYPE_CHECKING

from mechanisms.abilities import Explains, HasCosts, scheduled
from mechanisms.accounting.views import VIEWS
from scenarios.command.option_values import options_of, plan_of, scenario_of
from scenarios.command.repeated_runs import Bar, in_time, refuse_oracles
from scenarios.language.json_numbers import declared_by
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.visible_text import say, say_json
from scenarios.planning.plan import Plan
from scenarios.records.run_folder import folder_named, lock_folder, numbers
from scenarios.records.whole_file import write_whole

if TYPE_CHECKING:
    from scenarios.auditing.audit import Order


def perform(chosen: argparse.Namespace) -> int:
    """Audit a scenario, write `audit.json` and a picture, and return the exit code: 1 refuted, 3 above the charge, else 0."""
    from dataclasses import replace

    from scenarios.auditing.audit import BROKEN, REFUTED, Order, pilot
    from scenarios.auditing.audit import audit as carry_out
    from scenarios.auditing.planned_test import USUAL, planned
    from scenarios.auditing.report import as_json, in_words

    plan = plan_of(chosen, scenario_of(chosen, chosen.scenario))
    _refuse(plan, chosen)
    order = Order(
        plan,
        chosen.runs or USUAL,
        chosen.confidence,
        chosen.view,
        chosen.neighbours,
        chosen.node,
        chosen.jobs or os.cpu_count() or 1,
        options_of(chosen),
    )
    stem = f"runs/{plan.name.replace('/', '-')}-audit-{plan.seed}"
    with lock_folder(
        [folder_named(chosen.out)] if chosen.out else numbers(stem), new=not chosen.out
    ) as out:
        with Bar("auditing") as bar:
            try:
                before = pilot(order)
                test = planned(before.power(order), chosen.runs)
                order = replace(order, runs=test.runs)
                took = before.seconds * test.runs / min(order.jobs, test.runs)
                say(
                    f"hush: {_opening(order, before.setting.node, test.in_words, took)}", error=True
                )
                finding = carry_out(order, bar.show, before.setting)
            except KeyboardInterrupt:
                say("hush: interrupted; nothing was kept", error=True)
                raise
        tree = as_json(order, finding, test)
        write_whole(out / "audit.json", json.dumps(tree, indent=2) + "\n")
        if finding.curve:
            from scenarios.pictures.draw import NoMatplotlib, Request, save
            from scenarios.pictures.picture import Material
            from scenarios.records.audit_record import AuditRecord

            try:
                save(Request(Material(audits=(AuditRecord(out),)), ("audit",)), None, None)
            except NoMatplotlib as missing:  # the verdict does not depend on the picture
                say(f"hush: {missing}", error=True)
    if chosen.json:
        say_json(tree)
    else:
        say(*in_words(order, finding), "", f"  {out}")
    return {REFUTED: 1, BROKEN: 3}.get(finding.verdict, 0)


def _opening(order: "Order", node: int, test: str, seconds: float) -> str:
    """Return what is said before the first run that is judged."""
    workers = f"{order.jobs} worker{'s' if order.jobs > 1 else ''}"
    return (
        f"auditing agent {node} of {order.plan.name} ({order.eyes} view, {100 * order.confidence:.12g} % confidence): {test}; "
        f"{in_time(seconds)} with {workers}"
    )


def _refuse(plan: Plan, chosen: argparse.Namespace) -> None:
    """Raise `ScenarioError` where nothing can be audited."""
    refuse_oracles(plan, chosen.node)
    if chosen.view is not None and chosen.view not in plan.privacy.seen:
        known = ", ".join(plan.privacy.seen)
        problem = f"there is no {chosen.view} view in {plan.name}: {known}"
        if chosen.view not in VIEWS:
            problem = f"unknown view '{chosen.view}'; {nearest(chosen.view, plan.privacy.seen)}"
        raise ScenarioError.of("--view", problem)
    if plan.engine != "virtual":
        problem = "an audit runs the scenario thousands of times: on the virtual engine"
        raise ScenarioError.of("run.engine", problem)
    if declared_by(plan.kind) is not None:
        return  # a black box: what it claims is known when it releases
    if not any(isinstance(node.mechanism, Explains) for node in plan.nodes) or not _promises(plan):
        problem = (
            f"{plan.kind} makes no promise here that could be refuted: its releases carry no noise"
        )
        raise ScenarioError.of(plan.name, problem)


def _promises(plan: Plan) -> bool:
    """Whether any release of any agent claims a finite loss."""
    for node in plan.nodes:
        mechanism, degree = node.mechanism, max(1, len(node.neighbours))
        spends = scheduled(mechanism, degree)
        if spends is None and isinstance(mechanism, HasCosts):
            spends = mechanism.costs(degree, 1)
        if spends and spends[0].law != "none":
            return True
    return False

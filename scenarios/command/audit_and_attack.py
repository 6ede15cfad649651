"""The verbs `audit` and `attack`: what can be found out about a scenario by running it many times."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Self

from mechanisms.accounting.views import VIEWS
from scenarios.command.option_values import plan_of
from scenarios.language.json_numbers import declared_by
from scenarios.language.problems import Problem, ScenarioError, nearest
from scenarios.language.visible_text import say, say_json
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.records.run_folder import asked, held, numbers

_WIDTH = 30


def audit(chosen: argparse.Namespace) -> int:
    """Try to refute what a scenario's calibration claims."""
    from scenarios.auditing.audit import BROKEN, REFUTED, Order
    from scenarios.auditing.audit import audit as carry_out
    from scenarios.auditing.report import as_json, in_words

    plan = plan_of(chosen, chosen.scenario)
    _refuse(plan, chosen)
    order = Order(
        plan, chosen.runs, chosen.confidence, chosen.view, chosen.neighbours, chosen.node,
        chosen.jobs or os.cpu_count() or 1, _options(chosen),
    )  # fmt: skip
    stem = f"runs/{plan.name.replace('/', '-')}-audit-{plan.seed}"
    with held([asked(chosen.out)] if chosen.out else numbers(stem), new=not chosen.out) as out:
        with Bar("auditing") as bar:
            try:
                found = carry_out(order, bar.show)
            except KeyboardInterrupt:
                say("hush: interrupted; nothing was kept", error=True)
                raise
        told = as_json(order, found)
        (out / "audit.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        if found.curve:
            from scenarios.records.plots import NoMatplotlib, draw_audit

            try:
                draw_audit(order, found, out / "audit.png")
            except NoMatplotlib as missing:  # the verdict does not depend on the picture
                say(f"hush: {missing}", error=True)
    if chosen.json:
        say_json(told)
    else:
        say(*in_words(order, found), "", f"  {out}")
    return {REFUTED: 1, BROKEN: 3}.get(found.verdict, 0)


def attack(chosen: argparse.Namespace) -> int:
    """Attack a scenario, and tell what was recovered beside what was promised."""
    plan = plan_of(chosen, chosen.scenario)
    _present(plan, chosen.node)
    if chosen.which == "kkt":
        from scenarios.auditing import kkt_attack

        found = kkt_attack.kkt(plan, chosen.node or 0, chosen.record)
        lines, told = kkt_attack.in_words(plan, found), kkt_attack.as_json(found)
    else:
        from scenarios.auditing import membership_attack

        with Bar("attacking") as bar:
            guessed = membership_attack.membership(
                plan, records=chosen.records, runs=chosen.runs, node=chosen.node,
                confidence=chosen.confidence, more=_options(chosen), progress=bar.show,
            )  # fmt: skip
        lines = membership_attack.in_words(plan, guessed)
        told = membership_attack.as_json(guessed)
    if chosen.json:
        say_json(told)
    else:
        say(*lines)
    return 0


def _options(chosen: argparse.Namespace) -> Options:
    return Options(
        folders=tuple(Path(p) for p in chosen.data),
        allow_code=chosen.allow_code,
        allow_large=chosen.allow_large,
    )


def _refuse(plan: Plan, chosen: argparse.Namespace) -> None:
    """Say what cannot be audited."""
    _present(plan, chosen.node)
    if chosen.view is not None and chosen.view not in plan.privacy.seen:
        known = ", ".join(plan.privacy.seen)
        said = f"there is no {chosen.view} view in {plan.name}: {known}"
        if chosen.view not in VIEWS:
            said = f"unknown view '{chosen.view}'; {nearest(chosen.view, plan.privacy.seen)}"
        raise ScenarioError([Problem("--view", said)])
    if plan.engine != "virtual":
        said = "an audit runs the scenario thousands of times: on the virtual engine"
        raise ScenarioError([Problem("run.engine", said)])
    if declared_by(plan.kind) is not None:
        return  # a black box: what it claims is known when it releases
    if not any(hasattr(node.mechanism, "explain") for node in plan.nodes) or not _promises(plan):
        said = (
            f"{plan.kind} makes no promise here that could be refuted: its releases carry no noise"
        )
        raise ScenarioError([Problem(plan.name, said)])


def _present(plan: Plan, node: int | None) -> None:
    """Say who is not there, and what cannot happen, in runs without an oracle."""
    if plan.sampled:
        said = "a fault here goes by metrics or samples, which runs without an oracle do not have"
        raise ScenarioError([Problem("fault", said)])
    if node is not None and not 0 <= node < plan.size:
        said = f"no agent {node}: ids run from 0 to {plan.size - 1}"
        raise ScenarioError([Problem("--node", said)])


def _promises(plan: Plan) -> bool:
    """Whether any release of any agent claims a finite loss."""
    for node in plan.nodes:
        schedule = getattr(node.mechanism, "schedule", None)
        spends = None if schedule is None else schedule(max(1, len(node.neighbours)))
        if spends is None and hasattr(node.mechanism, "costs"):
            spends = node.mechanism.costs(max(1, len(node.neighbours)), 1)
        if spends and spends[0].law != "none":
            return True
    return False


class Bar:
    """A bar on standard error, where that is a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = -1
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on and self._shown >= 0:
            sys.stderr.write("\r" + " " * (len(self._what) + _WIDTH + 10) + "\r")
            sys.stderr.flush()

    def show(self, share: float) -> None:
        """Draw the bar when it has grown."""
        percent = int(100 * share)
        if self._on and percent != self._shown:
            self._shown = percent
            full = int(_WIDTH * share)
            sys.stderr.write(f"\r{self._what} {'█' * full}{'░' * (_WIDTH - full)} {percent:3d} %")
            sys.stderr.flush()

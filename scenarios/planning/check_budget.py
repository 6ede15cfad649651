"""Mechanism, budget and noise that contradict each other: what sets the noise, and what is refused."""

from mechanisms.accounting.accountant import EPSILON
from mechanisms.accounting.views import OF_SERVERS
from scenarios.language.positions import Path
from scenarios.language.problems import Report
from scenarios.planning.accountant import AUTO
from scenarios.planning.accountant import KINDS as ACCOUNTANTS
from scenarios.planning.losses import SquaredTable
from scenarios.planning.mechanism import (
    CheckContext,
    MechanismKind,
    Noise,
    family_of,
    in_order,
    is_gaussian,
    name_of,
    record_of,
    unit_of,
)
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.scenario_tables import ScenarioTable

_BUDGET = "give budget = { epsilon = … }"
_NO_DELTA = "Gaussian noise has no guarantee with delta = 0"


def check_noise(table: MechanismTable, around: CheckContext) -> None:
    """Report what does not fit together about the noise of the scenario's mechanism, which stands at the place."""
    kind = record_of(table)
    private = kind.unit(table) is not None
    if not private:
        _no_budgets(kind, around)
        if table.calibration == "as_printed":
            around.value("calibration", '"as_printed" scales noise: it means nothing without it')
    _exhaustion(kind, around)
    if private and kind.noise is not None:
        _start(kind, around)
        _slopes(table, kind.noise, around)
        kind.noise.fixed_by(table, around)


def _no_budgets(kind: MechanismKind[MechanismTable], around: CheckContext) -> None:
    """Without noise ε is infinite, and no budget can be kept; where nothing is released it is 0."""
    if not kind.releases:
        return
    why = f"{kind.name} has no noise and ε = ∞: it can keep no budget"
    if kind.noise is not None:
        why = f"{kind.name} without noise has ε = ∞: it can keep no budget; set mechanism.noise"
    for group in around.groups:
        if group.budget is not None:
            around.report.key(group.path_to("budget"), why)


def _exhaustion(kind: MechanismKind[MechanismTable], around: CheckContext) -> None:
    if kind.noise is not None and kind.noise.smooths:
        return
    for group in around.groups:
        if group.budget is not None and group.budget.on_exhausted == "smooth":
            *most, last = (k.name for k in in_order() if k.noise is not None and k.noise.smooths)
            around.report.value(
                group.budget.path_to("on_exhausted"),
                f"{kind.name} cannot smooth; {', '.join(most)} and {last} can",
            )


def _start(kind: MechanismKind[MechanismTable], around: CheckContext) -> None:
    if name_of(around.read.task.start) == "local" and not kind.warm_start:
        around.report.value(
            ("task", "start"),
            '"local" is made of data and would be released free of charge; not with noise',
        )


def _slopes(table: MechanismTable, noise: Noise[MechanismTable], around: CheckContext) -> None:
    """Every sensitivity rests on a bounded gradient."""
    loss = around.read.task.loss
    if not isinstance(loss, SquaredTable) or loss.clip is not None or noise.bounded(table):
        return
    clipped = 'task.loss = { kind = "squared", clip = … }'
    if "clip" in record_of(table).keys:
        around.report.key(
            around.place,
            f"the squared loss has no bounded gradient: give mechanism.clip, or {clipped}",
        )
    else:
        around.report.key(
            ("task", "loss"),
            f"the squared loss has no bounded gradient, which {table.kind} needs: {clipped}",
        )


def by_two(table: MechanismTable, around: CheckContext) -> None:
    """Two of the group's budget, releases and alpha fix the third."""
    kind = record_of(table)
    if kind.gives_noise(table):
        return  # its ε follows
    # What was given and did not read is None, and was reported: it is not missing.
    planned = "releases" in table.given or "rounds" in around.read.run.given
    alpha, able = "alpha" in table.given, "alpha" in kind.keys
    both = "a budget and mechanism.releases"
    if kind.noise is not None and kind.noise.given is not None:
        both += ", or mechanism.noise = { start, growth }"
    for group in around.groups:
        capped = "budget" in group.given
        if planned + alpha + capped < 2:
            if planned:
                has, missing = "releases", "a budget or mechanism.alpha" if able else "a budget"
            elif alpha:
                has, missing = "alpha", "a budget or mechanism.releases"
            elif capped:
                has, missing = "a budget", "mechanism.releases"
                missing += " or mechanism.alpha" if able else ""
            else:
                has = "nothing"
                missing = "two of budget, mechanism.releases, mechanism.alpha" if able else both
            around.report.key(
                group.place, f"the noise is not fixed: there is {has}; give {missing}"
            )
        if is_gaussian(around.read) and group.budget is not None and group.budget.delta == 0:
            around.report.value(group.path_to("budget"), _NO_DELTA)


def by_budget(table: MechanismTable, around: CheckContext) -> None:
    """One release, of a minimiser, takes the whole budget."""
    name = f"the noise of {table.kind}"
    needs_convexity(name, ("task", "l2"), around)
    budgets_given(name, around)


def needs_convexity(name: str, path: Path, around: CheckContext) -> None:
    """Report at the path that noise of this name needs a strongly convex objective, where it has none."""
    if around.read.task.l2 == 0:
        around.report.key(path, f"{name} needs strong convexity: set task.l2 above 0")


def budgets_given(name: str, around: CheckContext) -> None:
    """Report every group without a budget, by which noise of this name is set."""
    for group in around.groups:
        if group.budget is None:
            around.report.key(group.place, f"{name} is set by the budget: {_BUDGET}")


def by_rounds(table: MechanismTable, around: CheckContext) -> None:
    """A budget holds for all rounds of the run."""
    if around.read.run.rounds is None:
        said = f"the noise of {table.kind} is set by the budget over run.rounds: give it"
        around.report.key(("run",), said)
    gaussian_budgets(table, around)


def gaussian_budgets(table: MechanismTable, around: CheckContext) -> None:
    """Report every group without a budget, or with one that Gaussian noise cannot keep."""
    budgets_given(f"the noise of {table.kind}", around)
    for group in around.groups:
        if group.budget is not None and group.budget.delta == 0:
            around.report.value(group.path_to("budget"), _NO_DELTA)


def check_privacy(read: ScenarioTable, report: Report) -> None:
    """Report accountants and views that this scenario cannot have."""
    privacy = read.privacy
    named = ("accountant", privacy.accountant, "tightest or zcdp"), ("filter", privacy.filter, AUTO)
    for key, name, hint in named:
        kind = ACCOUNTANTS.get(name)
        if is_gaussian(read) and kind is not None and not kind.knows_gaussians:
            report.value(("privacy", key), f"{name} has no claim for Gaussian noise; use {hint}")
        if unit_of(read) == EPSILON and kind is not None and not kind.knows_pure:
            said = f"{name} says nothing of releases without Gaussian noise; use tightest or basic"
            report.value(("privacy", key), said)
    _views(read, report)
    if privacy.grid is True:
        report.value(("privacy", "grid"), "must be a number > 0 or false, got true")


def _views(read: ScenarioTable, report: Report) -> None:
    """A view of a server needs a server, and no view is named twice."""
    views, name = read.privacy.views or [], name_of(read.mechanism)
    serves = name is None or family_of(read) == "server"
    for at, view in enumerate(views):
        if view in views[:at]:
            report.value(("privacy", "views", at), f'"{view}" is named twice')
        if view in OF_SERVERS and not serves:
            said = f'"{view}" needs a server, and {name} has none: eavesdropper or outsider'
            report.value(("privacy", "views", at), said)

"""Mechanism, budget and noise that contradict each other: what sets the noise, and what is refused."""

from collections.abc import Callable
from typing import Any

from mechanisms.accounting.views import OF_SERVERS
from scenarios.language.problems import Report
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning.accountant import AUTO
from scenarios.planning.accountant import KINDS as ACCOUNTANTS
from scenarios.planning.mechanism_tables import (
    TRAITS,
    Tree,
    family_of,
    is_gaussian,
    is_printed,
    is_private,
    kind_of,
    learner,
    place_of_learner,
    trait_of,
)

_AT = ("mechanism",)


def field(tree: Tree | None, key: str) -> Any:
    """Return a key of a table; of a table that did not read, None."""
    return (tree or {}).get(key)


def judge_noise(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Report what does not fit together about the noise."""
    if kind_of(read) not in TRAITS:
        _privacy(read, report)
        return  # unknown, or code of the scenario's own: its spend says what it costs
    private = is_private(read)
    _budgets(read, nodes, report, private=private)
    _exhaustion(read, nodes, report)
    if private:
        _start(read, report)
        _slopes(read, report)
        _FIXED_BY[trait_of(read).fixed_by](read, nodes, report)
    _keys_of_noise(read, report, private=private)
    _privacy(read, report)


def _budgets(read: Tree, nodes: list[Tree], report: Report, *, private: bool) -> None:
    """Without noise ε is infinite: no budget can be kept."""
    kind = kind_of(read)
    if private or kind == "local":
        return
    has_switch = trait_of(read).noises
    said = (
        f"{kind} without noise has ε = ∞: it can keep no budget; set mechanism.noise"
        if has_switch
        else f"{kind} has no noise and ε = ∞: it can keep no budget"
    )
    for i, group in enumerate(nodes):
        if group.get("budget") is not None and (has_switch or trait_of(read).fixed_by == "nothing"):
            report.key(("nodes", i, "budget"), said)


def _exhaustion(read: Tree, nodes: list[Tree], report: Report) -> None:
    for i, group in enumerate(nodes):
        if field(group.get("budget"), "on_exhausted") == "smooth" and not trait_of(read).smooths:
            report.value(
                ("nodes", i, "budget", "on_exhausted"),
                f"{kind_of(read)} cannot smooth; cd, warm-cd and propagation can",
            )


def _start(read: Tree, report: Report) -> None:
    start = field(field(read.get("task"), "start"), "kind")
    if start == "local" and kind_of(read) != "warm-cd":
        report.value(
            ("task", "start"),
            '"local" is made of data and would be released free of charge; not with noise',
        )


def _slopes(read: Tree, report: Report) -> None:
    """Every sensitivity rests on a bounded gradient."""
    loss = field(read.get("task"), "loss") or {}
    unbounded = loss.get("kind") == "squared" and loss.get("clip") is None
    kind, mechanism = kind_of(read), read["mechanism"]
    if not unbounded or kind == "local-dp":
        return
    if kind in {"cd", "warm-cd"}:
        if "clip" not in mechanism or kind == "warm-cd":
            report.key(
                _AT,
                'the squared loss has no bounded gradient: give mechanism.clip, or task.loss = { kind = "squared", clip = … }',
            )
    else:
        report.key(
            ("task", "loss"),
            f'the squared loss has no bounded gradient, which {kind} needs: task.loss = {{ kind = "squared", clip = … }}',
        )


def _two(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Two of the group's budget, releases and alpha fix the third."""
    mechanism = read["mechanism"]
    if mechanism["kind"] == "pp" and mechanism.get("noise") is not None:
        return  # its ε follows
    # What was given and did not read is None, and was reported: it is not missing.
    planned = "releases" in mechanism or "rounds" in (read.get("run") or {})
    alpha, able = "alpha" in mechanism, mechanism["kind"] not in {"pp", "warm-cd"}
    shaped = mechanism.get("schedule", "uniform") != "uniform"
    if shaped and alpha:
        report.key(
            (*_AT, "alpha"), "a schedule shapes a budget over releases: give those, and no alpha"
        )
    for i, group in enumerate(nodes):
        capped = "budget" in group
        if planned + alpha + capped < 2:
            has = (
                "releases" if planned else "alpha" if alpha else "a budget" if capped else "nothing"
            )
            missing = {
                "releases": "a budget or mechanism.alpha" if able else "a budget",
                "alpha": "a budget or mechanism.releases",
                "a budget": "mechanism.releases or mechanism.alpha"
                if able
                else "mechanism.releases",
            }.get(has, _all_of(mechanism["kind"], able=able))
            report.key(("nodes", i), f"the noise is not fixed: there is {has}; give {missing}")
        if is_gaussian(read) and field(group.get("budget"), "delta") == 0:
            report.value(("nodes", i, "budget"), "Gaussian noise has no guarantee with delta = 0")


def _all_of(kind: str, *, able: bool) -> str:
    if able:
        return "two of budget, mechanism.releases, mechanism.alpha"
    both = "a budget and mechanism.releases"
    return f"{both}, or mechanism.noise = {{ start, growth }}" if kind == "pp" else both


def _budget(read: Tree, nodes: list[Tree], report: Report) -> None:
    """One release takes the whole budget."""
    kind, noise = kind_of(read), field(read.get("mechanism"), "noise")
    name = f"{noise} noise" if kind == "propagation" else f"the noise of {kind}"
    if field(read.get("task"), "l2") == 0 and noise != "objective":
        path = (*_AT, "noise") if kind == "propagation" else ("task", "l2")
        report.key(path, f"{name} needs strong convexity: set task.l2 above 0")
    for i, group in enumerate(nodes):
        if group.get("budget") is None:
            report.key(
                ("nodes", i), f"{name} is set by the budget: give budget = {{ epsilon = … }}"
            )


def _rounds(read: Tree, nodes: list[Tree], report: Report) -> None:
    """A budget over all rounds of the run."""
    mechanism, kind = read["mechanism"], kind_of(read)
    once = mechanism.get("synchronise") == "once"
    if once and mechanism.get("local_rounds") is None:
        report.key(_AT, f"{kind} that sends once needs local_rounds")
    if not once and field(read.get("run"), "rounds") is None:
        report.key(("run",), f"the noise of {kind} is set by the budget over run.rounds: give it")
    for i, group in enumerate(nodes):
        budget = group.get("budget")
        if budget is None:
            report.key(
                ("nodes", i),
                f"the noise of {kind} is set by the budget: give budget = {{ epsilon = … }}",
            )
        elif budget.get("delta") == 0:
            report.value(("nodes", i, "budget"), "Gaussian noise has no guarantee with delta = 0")


def _own(read: Tree, nodes: list[Tree], report: Report) -> None:
    """local-dp has its own two ε, and a learner without noise."""
    mechanism, inner = read["mechanism"], learner(read)
    if inner.get("noise", "none") not in {"none", None}:
        report.value(
            (*_AT, "inner", "noise"),
            f'the data are perturbed already: noise = "none", got "{inner["noise"]}"',
        )
    loss = field(field(read.get("task"), "loss"), "kind")
    if loss in {"squared", "welsch"}:
        report.value(
            ("task", "loss"), f"local-dp flips labels ±1, which the {loss} loss does not have"
        )
    epsilons = mechanism.get("epsilon_features"), mechanism.get("epsilon_label")
    if None in epsilons:
        return
    cost = sum(epsilons)
    for i, group in enumerate(nodes):
        cap = field(group.get("budget"), "epsilon")
        if cap is not None and cap < cost:
            report.value(
                ("nodes", i, "budget"),
                f"the perturbed data cost epsilon_features + epsilon_label = {cost:g}, above the budget {cap:g}",
            )


def _nothing(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Nothing to fix: never private."""


_FIXED_BY: dict[str, Callable[[Tree, list[Tree], Report], None]] = {
    "two": _two,
    "budget": _budget,
    "rounds": _rounds,
    "own": _own,
    "nothing": _nothing,
}


def _keys_of_noise(read: Tree, report: Report, *, private: bool) -> None:
    for path, mechanism in ((_AT, read["mechanism"]), ((*_AT, "inner"), learner(read))):
        if mechanism.get("kind") not in {"cd", "warm-cd"} or (path != _AT and not mechanism):
            continue
        noise = mechanism.get("noise")
        if noise == "none":
            for key in ("releases", "alpha", "clip", "lipschitz"):
                if key in mechanism:
                    report.key(
                        (*path, key),
                        f"means nothing without noise: set mechanism.noise, or leave {key} out",
                    )
            if mechanism.get("schedule") not in {"uniform", None}:
                report.key((*path, "schedule"), "shapes a budget: it means nothing without noise")
    if is_printed(read) and not private:
        report.value(
            (*_AT, "calibration"), '"as_printed" scales noise: it means nothing without it'
        )
    if private and kind_of(read) in {"cd", "warm-cd"}:
        _descent(read, report)
    _wddp(read, report)


def _descent(read: Tree, report: Report) -> None:
    mechanism = read["mechanism"]
    noise = mechanism.get("noise")
    if "clip" in mechanism and "lipschitz" in mechanism:
        report.key((*_AT, "lipschitz"), "give clip or lipschitz, not both")
    bound, norm = mechanism.get("lipschitz"), "l1" if noise == "laplace" else "l2"
    if isinstance(bound, ReadTable) and set(bound) != {norm}:
        report.value(
            (*_AT, "lipschitz"),
            f"{noise} noise takes a bound in one norm: lipschitz = {{ {norm} = … }}",
        )
    if mechanism.get("smoothness") == "data" and not is_printed(read):
        report.value(
            (*_AT, "smoothness"),
            '"data" enters every release and is not public; with noise use "bound" or a number',
        )
    warm = mechanism.get("kind") == "warm-cd" and mechanism.get("warm_noise") == "output"
    if warm and field(read.get("task"), "l2") == 0:
        report.key((*_AT, "warm_noise"), "output noise needs strong convexity: set task.l2 above 0")


def _wddp(read: Tree, report: Report) -> None:
    mechanism = learner(read)
    if mechanism.get("kind") != "wddp":
        return
    path = place_of_learner(read)
    aggregate = mechanism.get("noise") == "aggregate"
    if aggregate and mechanism.get("synchronise") == "once":
        report.value(
            (*path, "noise"),
            '"aggregate" needs synchronise = "every-round": what is summed once has drifted apart, and no gain can be promised',
        )
    for key in ("tolerate", "colluders"):
        if mechanism.get(key) and not aggregate:
            report.key((*path, key), 'belongs to noise = "aggregate"')
    if mechanism.get("synchronise") == "every-round" and mechanism.get("local_rounds") is not None:
        report.key((*path, "local_rounds"), 'belongs to synchronise = "once"')
    alone = mechanism.get("synchronise") == "once" and mechanism.get("local_rounds") is None
    if alone and (not is_private(read) or path != _AT):
        report.key(path, "wddp that sends once needs local_rounds")


def _privacy(read: Tree, report: Report) -> None:
    for key, hint in (("accountant", "tightest or zcdp"), ("filter", AUTO)):
        name = field(read.get("privacy"), key)
        kind = None if name is None else ACCOUNTANTS.get(name)
        if is_gaussian(read) and kind is not None and not kind.knows_gaussians:
            report.value(("privacy", key), f"{name} has no claim for Gaussian noise; use {hint}")
    _views(read, report)
    if field(read.get("privacy"), "grid") is True:
        report.value(("privacy", "grid"), "must be a number > 0 or false, got true")


def _views(read: Tree, report: Report) -> None:
    """The server's eyes exist where there is a server; nobody is named twice."""
    views = field(read.get("privacy"), "views") or []
    for at, view in enumerate(views):
        if view in views[:at]:
            report.value(("privacy", "views", at), f'"{view}" is named twice')
    mechanism = read.get("mechanism")
    if mechanism is None or family_of(read) == "server":
        return
    for at, view in enumerate(field(read.get("privacy"), "views") or ()):
        if view in OF_SERVERS:
            said = f'"{view}" needs a server, and {mechanism.get("kind")} has none: eavesdropper or outsider'
            report.value(("privacy", "views", at), said)

"""Mechanism, budget and noise that contradict each other: what sets the noise, and what is refused."""

from typing import Any

from scenarios.problem import Report

Tree = dict[str, Any]
_PRIVATE = {
    "cd": {"laplace", "norm-gamma", "gaussian"},
    "propagation": {"output"},
    "local": set[str](),
}


def judge_noise(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Report what does not fit together about the noise."""
    _mechanism(read, nodes, report)
    _privacy(read, report)


def field(tree: Tree | None, key: str) -> Any:
    """Return a key of a table; of a table that did not read, None."""
    return (tree or {}).get(key)


def is_private(read: Tree) -> bool:
    """Whether the mechanism draws noise."""
    mechanism = read.get("mechanism") or {}
    return mechanism.get("noise") in _PRIVATE.get(mechanism.get("kind", ""), set())


def _mechanism(read: Tree, nodes: list[Tree], report: Report) -> None:
    mechanism = read.get("mechanism") or {}
    kind, noise = mechanism.get("kind"), mechanism.get("noise")
    budgets = [i for i, group in enumerate(nodes) if group.get("budget") is not None]
    private = is_private(read)
    if kind in {"cd", "propagation"} and noise == "none":
        for i in budgets:
            report.key(
                ("nodes", i, "budget"),
                f"{kind} without noise has ε = ∞: it can keep no budget; set mechanism.noise",
            )
    if kind == "propagation" and private:
        if field(read.get("task"), "l2") == 0:
            report.key(
                ("mechanism", "noise"), "output noise needs strong convexity: set task.l2 above 0"
            )
        for i, group in enumerate(nodes):
            if group.get("budget") is None:
                report.key(
                    ("nodes", i), "output noise is set by the budget: give budget = { epsilon = … }"
                )
    start = field(field(read.get("task"), "start"), "kind")
    if private and start == "local":
        report.value(
            ("task", "start"),
            '"local" is made of data and would be released free of charge; not with noise',
        )
    if kind == "cd":
        _descent(read, mechanism, nodes, report)


def _descent(read: Tree, mechanism: Tree, nodes: list[Tree], report: Report) -> None:
    noise, at = mechanism.get("noise"), ("mechanism",)
    if noise == "none":
        for key in ("releases", "alpha", "clip", "lipschitz"):
            if key in mechanism:
                report.key(
                    (*at, key),
                    f"means nothing without noise: set mechanism.noise, or leave {key} out",
                )
        return
    planned = mechanism.get("releases") is not None or field(read.get("run"), "rounds") is not None
    alpha = mechanism.get("alpha") is not None
    for i, group in enumerate(nodes):
        capped = group.get("budget") is not None
        if planned + alpha + capped < 2:
            has = (
                "releases" if planned else "alpha" if alpha else "a budget" if capped else "nothing"
            )
            missing = {
                "releases": "a budget or mechanism.alpha",
                "alpha": "a budget or mechanism.releases",
                "a budget": "mechanism.releases or mechanism.alpha",
            }.get(has, "two of budget, mechanism.releases, mechanism.alpha")
            report.key(("nodes", i), f"the noise is not fixed: there is {has}; give {missing}")
        if noise == "gaussian" and field(group.get("budget"), "delta") == 0:
            report.value(("nodes", i, "budget"), "Gaussian noise has no guarantee with delta = 0")
    if "clip" in mechanism and "lipschitz" in mechanism:
        report.key((*at, "lipschitz"), "give clip or lipschitz, not both")
    bound, norm = mechanism.get("lipschitz"), "l1" if noise == "laplace" else "l2"
    if isinstance(bound, dict) and set(bound) != {norm}:
        report.value(
            (*at, "lipschitz"),
            f"{noise} noise takes a bound in one norm: lipschitz = {{ {norm} = … }}",
        )
    if mechanism.get("smoothness") == "data":
        report.value(
            (*at, "smoothness"),
            '"data" enters every release and is not public; with noise use "bound" or a number',
        )
    loss = field(read.get("task"), "loss") or {}
    unbounded = loss.get("kind") == "squared" and loss.get("clip") is None
    if unbounded and "clip" not in mechanism:
        report.key(
            at,
            'the squared loss has no bounded gradient: give mechanism.clip, or task.loss = { kind = "squared", clip = … }',
        )


def _privacy(read: Tree, report: Report) -> None:
    noise, accountant = (
        field(read.get("mechanism"), "noise"),
        field(read.get("privacy"), "accountant"),
    )
    if noise == "gaussian" and accountant in {"basic", "kov"}:
        report.value(
            ("privacy", "accountant"),
            f"{accountant} has no claim for Gaussian noise; use tightest or zcdp",
        )
    if noise == "gaussian" and field(read.get("privacy"), "filter") == "basic":
        report.value(("privacy", "filter"), "basic has no claim for Gaussian noise; use auto")
    if field(read.get("privacy"), "grid") is True:
        report.value(("privacy", "grid"), "must be a number > 0 or false, got true")

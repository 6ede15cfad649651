"""Kinds against the rest of the scenario: losses, clocks, topologies and servers that they cannot have."""

from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning.check_budget import field
from scenarios.planning.mechanism_tables import (
    TRAITS,
    Tree,
    family_of,
    is_private,
    kind_of,
    learner,
    place_of_learner,
)

_AT = ("mechanism",)


def judge_kinds(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Report what a kind cannot be combined with."""
    if kind_of(read) not in TRAITS:
        return
    family = family_of(read)
    _losses(read, report)
    if family == "consensus":
        _consensus(read, nodes, report)
    if family == "pairs":
        _pairs(read, nodes, report)
    _server(read, nodes, report, serves=family == "server")


def _losses(read: Tree, report: Report) -> None:
    mechanism = learner(read)
    kind, loss = mechanism.get("kind"), field(field(read.get("task"), "loss"), "kind")
    exact = TRAITS[kind].convex if kind in TRAITS else False
    if loss == "welsch" and (exact or mechanism.get("noise") in {"output", "objective"}):
        report.value(
            ("task", "loss"), f"the welsch loss is not convex, and {kind} needs exact minimisers"
        )


def _consensus(read: Tree, nodes: list[Tree], report: Report) -> None:
    task, kind = read.get("task") or {}, learner(read)["kind"]
    if task.get("l2"):
        report.value(
            ("task", "l2"), f"belongs to the other kinds: {kind} is regularised by mechanism.rho"
        )
    if task.get("reduction") == "sum":
        report.value(
            ("task", "reduction"), f"{kind} weighs its loss by mechanism.C: C/m for each record"
        )
    mechanism, at = learner(read), place_of_learner(read)
    size = sum(group.get("count") or 1 for group in nodes)
    _penalty(mechanism, at, size, report)
    by_rho = mechanism.get("variant") == "printed" or mechanism.get("calibration") == "as_printed"
    if mechanism["kind"] == "pvp" and by_rho and mechanism.get("rho") == 0:
        report.value((*at, "rho"), "pvp as printed is private by rho alone: it must be above 0")
    if mechanism.get("final_share") is not None and not mechanism.get("final_dual"):
        report.key((*at, "final_share"), "belongs to final_dual = true")
    if mechanism.get("final_share") is not None and mechanism.get("alpha") is not None:
        report.key((*at, "final_share"), "is a share of a budget: give that, and no alpha")


def _penalty(mechanism: Tree, at: Path, size: int, report: Report) -> None:
    """θ ≤ η_i(t), for every agent and ever (Zhang, Khalili, Liu 2018, Theorem 3.1)."""
    eta, theta = mechanism.get("eta"), mechanism.get("theta")
    if not isinstance(eta, ReadTable) or theta is None:
        return
    starts, growths = _each(eta.get("start")), _each(eta.get("growth"))
    for key, values in (("start", starts), ("growth", growths)):
        if len(values) not in {1, size}:
            report.value(
                (*at, "eta", key),
                f"must be one number or {size}, one for each agent, got {len(values)}",
            )
    if any(start is not None and start < theta for start in starts):
        report.value(
            (*at, "eta", "start"), f"must be at least theta = {theta:g}, got {min(starts):g}"
        )
    if any(growth is not None and growth < 1 for growth in growths):
        report.value(
            (*at, "eta", "growth"),
            f"must be at least 1, got {min(growths):g}: a penalty may not fall below theta",
        )
    cap = eta.get("cap")
    if cap is not None and None not in starts and cap < max(starts):
        report.value((*at, "eta", "cap"), f"must be at least start = {max(starts):g}, got {cap:g}")


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _pairs(read: Tree, nodes: list[Tree], report: Report) -> None:
    kind = learner(read)["kind"]
    for i, group in enumerate(nodes):
        if field(group.get("clock"), "kind") == "barrier":
            report.value(
                ("nodes", i, "clock"), f"{kind} trades in pairs: there is no round to wait for"
            )
        compute = group.get("compute")
        if compute is not None and not (compute["kind"] == "constant" and not compute["value"]):
            report.value(
                ("nodes", i, "compute"), f"{kind} answers at once: computing time has no meaning"
            )


def _server(read: Tree, nodes: list[Tree], report: Report, *, serves: bool) -> None:
    kind = learner(read).get("kind")
    if not serves:
        if read.get("server") is not None:
            report.key(("server",), f"belongs to server kinds, and {kind} has none")
        return
    network, run, task = (read.get(key) or {} for key in ("network", "run", "task"))
    size = sum(group.get("count") or 1 for group in nodes)
    start = field(task.get("start"), "kind")
    wrong: list[tuple[bool, Path, str]] = [
        (
            start in {"file", "local"},
            ("task", "start"),
            "starts from its server's model: zeros or random",
        ),
        (
            task.get("reduction") == "sum",
            ("task", "reduction"),
            "averages over records: its noise is scaled for a mean",
        ),
        (
            kind == "central-gradient" and size != 1,
            _AT,
            "has one node: the pooled data; give count = 1",
        ),
        (bool(read.get("link")), ("link",), "talks to its server only: no edge joins two agents"),
        (
            field(network.get("latency"), "kind") == "matrix",
            ("network", "latency"),
            "talks to its server, which no matrix names",
        ),
        (
            run.get("stop") == "spent",
            ("run", "stop"),
            "ends with its rounds: spent clients wait for the rest",
        ),
    ]
    wrong += [
        (
            group.get("start") == "neighbours",
            ("nodes", i, "start"),
            "starts from its server's model",
        )
        for i, group in enumerate(nodes)
    ]
    for is_wrong, path, why in wrong:
        if is_wrong:
            report.value(path, f"{kind} {why}")
    endless = run.get("rounds") is None and run.get("updates") is None and not _timed(read, nodes)
    if endless and not _once(read):
        report.key(
            ("run",), "rounds without latency or clocks never advance the time: give run.rounds"
        )
    _honest(read, nodes, report)


def _honest(read: Tree, nodes: list[Tree], report: Report) -> None:
    """Of those asked, somebody's noise must be left."""
    tolerate, colluders = learner(read).get("tolerate") or 0, learner(read).get("colluders") or 0
    asked = _asked(read, nodes)
    if is_private(read) and asked - tolerate - colluders < 1 and tolerate + colluders:
        report.value(
            (*place_of_learner(read), "tolerate" if tolerate else "colluders"),
            f"of {asked} clients that are asked, {tolerate} may drop out and {colluders} collude: nobody's noise is left",
        )


def _once(read: Tree) -> bool:
    mechanism = learner(read)
    if mechanism.get("kind") == "wddp":
        return bool(mechanism.get("synchronise") == "once")
    return mechanism.get("kind") in {"jayaraman-output", "pathak"}


def _timed(read: Tree, nodes: list[Tree]) -> bool:
    """Whether a round takes time: a latency, a computing time, or a clock."""
    latency = field(read.get("network"), "latency") or {}
    still = latency.get("kind") == "constant" and not latency.get("value")
    clocked = any(field(group.get("clock"), "kind") != "barrier" for group in nodes)
    busy = any(field(group.get("compute"), "value") != 0 for group in nodes)
    return clocked or busy or not still


def _asked(read: Tree, nodes: list[Tree]) -> int:
    size = sum(group.get("count") or 1 for group in nodes)
    sample = field(read.get("server"), "sample") or 1.0
    return max(1, round(sample * size))

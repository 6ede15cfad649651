"""What the grammar cannot see: keys that contradict each other, names that point nowhere.

Pure Python on the values that were read; a value that did not read is None and is passed over.
"""

from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report, shown
from scenarios.language.table_rules import Table as ReadTable
from scenarios.language.value_rules import LONGEST_S, SCENARIO_NAME
from scenarios.planning.check_budget import field, judge_noise
from scenarios.planning.check_expectations import judge_expectations
from scenarios.planning.check_faults import LOSSY, brings_silence, fault_laws, judge_faults
from scenarios.planning.check_mechanism import judge_kinds
from scenarios.planning.mechanism_tables import Tree, family_of, is_private

_RESERVED = {"all", "server", "one", "minority", "majority", "event"}


def judge(read: Tree, report: Report) -> None:
    """Report every contradiction that needs no data and no graph."""
    nodes = [group or {} for group in read.get("nodes") or []]
    groups = _groups(nodes, report)
    size = sum(count for _, count in groups)
    _run(read, nodes, report)
    _names(read, report)
    _distributions(read, nodes, report)
    _barriers(read, nodes, report)
    _links(read, size, report)
    judge_faults(read, groups, size, report)
    judge_noise(read, nodes, report)
    judge_kinds(read, nodes, report)
    judge_expectations(read, {name for name, _ in groups}, size, report)


def _names(read: Tree, report: Report) -> None:
    name = read.get("name")
    if name is not None and not SCENARIO_NAME.fullmatch(name):
        report.value(("name",), f"must be letters, digits, '.', '_' and '-', got {shown(name)}")


def _groups(nodes: list[Tree], report: Report) -> list[tuple[str, int]]:
    groups, seen = [], set[str]()
    for i, group in enumerate(nodes):
        name = group.get("name") or f"group{i}"
        if name in _RESERVED or name.isdecimal():
            report.value(("nodes", i, "name"), f"'{name}' is reserved")
        elif name in seen:
            report.value(("nodes", i, "name"), f"two groups are called '{name}'")
        seen.add(name)
        groups.append((name, group.get("count") or 1))
    return groups


def _run(read: Tree, nodes: list[Tree], report: Report) -> None:
    run = read.get("run") or {}
    ends = [key for key in ("horizon", "rounds", "updates") if run.get(key) is not None]
    if len(ends) > 1:
        report.key(
            ("run", ends[1]), f"exactly one of horizon, rounds, updates; got {' and '.join(ends)}"
        )
    clocks = {field(field(group, "clock"), "kind") for group in nodes} - {None}
    if (
        "rounds" in ends
        and family_of(read) != "server"
        and not clocks <= {"synchronous", "barrier"}
    ):
        others = ", ".join(sorted(clocks - {"synchronous", "barrier"}))
        report.key(
            ("run", "rounds"), f"rounds need every clock synchronous or barrier, got {others}"
        )
    if run.get("stop") == "spent" and not is_private(read):
        report.value(("run", "stop"), '"spent" needs a mechanism with noise and planned releases')


def _distributions(read: Tree, nodes: list[Tree], report: Report) -> None:
    network = read.get("network") or {}
    places: list[tuple[Path, Any]] = [(("network", "latency"), network.get("latency"))]
    places += [
        (("link", i, "latency"), field(link, "latency"))
        for i, link in enumerate(read.get("link") or [])
    ]
    places += [(("nodes", i, "compute"), group.get("compute")) for i, group in enumerate(nodes)]
    places += fault_laws(read)
    for path, law in places:
        if (
            field(law, "kind") == "uniform"
            and None not in (law["min"], law["max"])
            and law["min"] > law["max"]
        ):
            report.value(
                path, f"min must be at most max, got {law['min']:g} s and {law['max']:g} s"
            )
    if network.get("silence") is not None and family_of(read) in {"server", "pairs", "alone"}:
        said = "a failure detector is for agents that tell all their neighbours: a server has its deadline"
        report.key(("network", "silence"), said)
    points = field(read.get("data"), "points")
    if (
        isinstance(points, ReadTable)
        and None not in points.values()
        and points["min"] > points["max"]
    ):
        report.value(
            ("data", "points"), f"min must be at most max, got {points['min']} and {points['max']}"
        )
    for i, group in enumerate(nodes):
        _clock(group.get("clock"), ("nodes", i, "clock"), report)


def _clock(clock: Tree | None, path: Path, report: Report) -> None:
    if field(clock, "kind") != "trace" or clock is None:
        return
    if ("wakes" in clock) == ("path" in clock):
        report.value(path, "a trace clock needs exactly one of wakes and path")
    for k, wake in enumerate(clock.get("wakes") or []):
        if not wake or None in wake:
            continue
        if wake[1] != int(wake[1]):
            report.value((*path, "wakes", k), f"must be [time, id], got {shown(wake)}")
        elif wake[0] > LONGEST_S:
            said = f"must be [time, id] with a time in seconds up to {LONGEST_S:g}"
            report.value((*path, "wakes", k), f"{said}, got {shown(wake)}: nanoseconds?")


def _barriers(read: Tree, nodes: list[Tree], report: Report) -> None:
    run, network = read.get("run") or {}, read.get("network") or {}
    if family_of(read) in {"server", "pairs"}:
        return  # a client's barrier is the server's question
    at = [i for i, group in enumerate(nodes) if field(group.get("clock"), "kind") == "barrier"]
    open_ended = [i for i in at if nodes[i]["clock"].get("timeout") is None]
    lossy = bool(network.get("loss")) or any(field(link, "loss") for link in read.get("link") or [])
    why = LOSSY if lossy else brings_silence(read)
    for i in open_ended:
        if why == LOSSY:
            report.value(("nodes", i, "clock"), f"a barrier needs a timeout where {why}")
        elif why and network.get("silence") is None:
            said = f"a barrier needs a timeout where {why}, or network.silence"
            report.value(("nodes", i, "clock"), said)
    if at and len(at) < len(nodes):
        report.value(
            ("nodes", at[0], "clock"),
            "a barrier needs every group to have one: other clocks have no rounds",
        )
    if at and family_of(read) == "alone":
        report.value(
            ("nodes", at[0], "clock"), "local agents say nothing: a barrier would never open"
        )
    latency, still = network.get("latency") or {}, bool(at)
    still = still and latency.get("kind") == "constant" and latency.get("value") == 0
    still = still and not any(field(link, "latency") for link in read.get("link") or [])
    still = still and all((field(nodes[i].get("compute"), "value") == 0) for i in at)
    if still and run.get("rounds") is None and run.get("updates") is None:
        report.value(
            ("nodes", at[0], "clock"),
            "barriers without latency or compute time never advance the time: give run.rounds",
        )


def _links(read: Tree, size: int, report: Report) -> None:
    for i, link in enumerate(read.get("link") or []):
        path: Path = ("link", i)
        if link is None:
            continue
        single = "from" in link or "to" in link
        if single == ("between" in link) or (single and not ("from" in link and "to" in link)):
            report.key(path, "needs either between = [[a, b], …] or from = a and to = b")
        if not {"latency", "loss", "rate"} & set(link):
            report.key(path, "changes nothing: give latency, loss or rate")
        for end in [e for pair in link.get("between") or [] for e in pair] + [
            link.get("from"),
            link.get("to"),
        ]:
            if end is not None and end >= size:
                report.value(
                    (*path, "between" if "between" in link else "from"),
                    f"no agent {end}: ids run from 0 to {size - 1}",
                )

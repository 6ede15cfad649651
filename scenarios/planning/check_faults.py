"""What is wrong with faults: actions that contradict each other, targets that are nowhere, conditions that cannot be read."""

from scenarios.language.problems import Report
from scenarios.planning.check_conditions import check_condition
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.clocks import waits
from scenarios.planning.durations import ConstantTable
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, action_keys
from scenarios.planning.fault_tables import AgentsTable, LinksTable
from scenarios.planning.mechanism import family_of
from scenarios.planning.metric_names import is_known, reads_models
from scenarios.planning.scenario_tables import RunTable, ScenarioTable

LOSSY = "messages can be lost"
"""Why a barrier cannot wait for every message of a round, however patient it is."""
_TIMES = ("at", "every", "when")
_REPEATED = ("times", "after", "until")


def brings_silence(read: ScenarioTable) -> str:
    """Say how faults can leave a barrier waiting; empty where they cannot."""
    kinds = [fault.kind for fault in read.fault if fault.kind is not None]
    if any(kind.loses for kind in kinds):
        return LOSSY
    return "agents crash, leave or join" if any(kind.silences for kind in kinds) else ""


def latest(run: RunTable) -> float | None:
    """Return the last instant that a run with a horizon may have; a run that is cut off keeps what comes after it."""
    return None if run.horizon is None else max(run.horizon, run.until or 0)


def check_faults(
    read: ScenarioTable, groups: list[tuple[str, int]], size: int, report: Report
) -> None:
    """Report what is wrong with each fault."""
    family = family_of(read)
    nodes = read.nodes or []
    barriers = any(waits(group.clock) for group in nodes)
    computes = any(
        group.unread or not isinstance(group.compute, ConstantTable) or group.compute.value != 0
        for group in nodes
    )
    for fault in read.fault:
        if fault.kind is None:
            continue
        _check_timing(fault, fault.kind, read.run, report)
        action = ActionCheck(
            report=report,
            groups=dict(groups),
            size=size,
            family=family,
            shows_time=family != "server" and not barriers,
            computes=computes,
            by_condition="when" in fault.given,
            oracle=bool(fault.oracle),
        )
        _check_action(fault, fault.kind, action)


def _check_timing(
    fault: FaultTable, kind: FaultKind[object], run: RunTable, report: Report
) -> None:
    given = [time for time in _TIMES if time in fault.given]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        report.key(fault.place, f"needs exactly one of {', '.join(_TIMES)}; got {got}")
        return
    for key in _REPEATED:
        if key in fault.given and given == ["at"]:
            report.key(fault.path_to(key), f"{key} belongs to every and when: at is one instant")
    if "from" in fault.given and given != ["every"]:
        said = f"from is the first instant of every: {given[0]} has none"
        report.key(fault.path_to("from"), said)
    elif {"from", "after"} <= fault.given:
        said = "every comes first at from, or one gap later than after: give one of them"
        report.key(fault.path_to("after"), said)
    if "nth" in fault.given and given != ["when"]:
        said = "nth counts the events that a condition holds of: it belongs to when"
        report.key(fault.path_to("nth"), said)
    for key, first in (("after", fault.after), ("from", fault.from_)):
        if fault.until is not None and fault.until < (first or 0):
            report.value(fault.path_to("until"), f"is before {key}")
    _check_end(fault, kind, run, given[0], report)
    if fault.when is not None:
        _check_condition(fault, fault.when, report)


def _check_end(
    fault: FaultTable, kind: FaultKind[object], run: RunTable, time: str, report: Report
) -> None:
    """A fault begins before the end of the run; where the run has no end of its own, it ends too."""
    horizon = latest(run)
    ended = horizon or run.until
    endless = ended is None and (run.rounds or run.updates)
    for key, first in (("at", fault.at), ("after", fault.after), ("from", fault.from_)):
        if horizon is not None and (first or 0) > horizon:
            report.value(fault.path_to(key), f"is after the end of the run at {horizon:g} s")
    if endless and time == "every" and not {"times", "until"} & fault.given:
        said = "never ends: without run.horizon give times or until"
        report.key(fault.path_to("every"), said)
    if endless and kind.brings is Brings.BY_ITSELF and "for" not in fault.given:
        said = "never ends: without run.horizon give for"
        report.key(fault.path_to(kind.name), said)


def _check_condition(fault: FaultTable, when: str, report: Report) -> None:
    path = fault.path_to("when")
    condition = check_condition(when, path, {}, report)
    if condition is None or fault.oracle:
        return
    known = [name for name in condition.metrics if is_known(name, {})]
    if reads_models(known) or "diverged" in when:
        report.value(
            path,
            "reads what only an oracle sees: participation would depend on data; say oracle = true, and "
            "the run's ε covers it no more",
        )


def _check_action(fault: FaultTable, kind: FaultKind[object], action: ActionCheck) -> None:
    for name in fault.beside:
        if name not in {more.name for more in kind.beside}:
            refusal = action_keys()[name].refusal
            action.report.key(fault.path_to(name), refusal.format(kind.name))
    if fault.argument is None:
        return
    once = kind.done_once(fault.argument)
    if "for" in fault.given and once:
        said = f"{once} is done once: there is nothing to undo"
        action.report.key(fault.path_to("for"), said)
    links = kind.on == "links"
    if kind.table is None:
        action.target(fault.path_to(kind.name), fault.argument, links=links)
    elif isinstance(fault.argument, (AgentsTable, LinksTable)):
        action.target(fault.argument.path_to("on"), fault.argument.on, links=links)
    if kind.check is not None:
        kind.check(action, fault, fault.argument)

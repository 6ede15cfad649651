"""What no table sees alone: tables that contradict each other, names that point nowhere.

Pure Python on the values that were read; a value that did not read is None, is in the report, and is passed over.
"""

from typing import NewType

from scenarios.language.problems import Report, shown
from scenarios.language.table_rules import KindTable
from scenarios.language.value_rules import SCENARIO_NAME
from scenarios.planning.check_expectations import check_expectations
from scenarios.planning.check_faults import LOSSY, brings_silence, check_faults
from scenarios.planning.check_mechanism import check_mechanism
from scenarios.planning.clocks import clock_kind, waits
from scenarios.planning.clocks.barrier import BarrierTable
from scenarios.planning.durations import ConstantTable
from scenarios.planning.mechanism import family_of, is_private
from scenarios.planning.scenario import Scenario
from scenarios.planning.scenario_tables import GroupTable, ScenarioTable

_RESERVED = {"all", "server", "one", "minority", "majority", "event"}


CheckedScenario = NewType("CheckedScenario", Scenario)
"""A scenario in which nothing is wrong that can be seen without its data."""


def checked(scenario: Scenario) -> CheckedScenario:
    """Return a scenario that was checked. Raises ScenarioError with everything that is wrong with it."""
    check_scenario(scenario.read, scenario.report)
    scenario.report.stop_if_any()
    return CheckedScenario(scenario)


def check_scenario(read: ScenarioTable, report: Report) -> None:
    """Report every contradiction that needs no data and no graph."""
    nodes = read.nodes or []
    groups = _groups(nodes, report)
    size = sum(count for _, count in groups)
    _run(read, report)
    _names(read, report)
    _detector(read, report)
    _barriers(read, report)
    _links(read, size, report)
    check_faults(read, groups, size, report)
    check_mechanism(read, report)
    check_expectations(read, {name for name, _ in groups}, size, report)


def _names(read: ScenarioTable, report: Report) -> None:
    name = read.name
    if name is not None and not SCENARIO_NAME.fullmatch(name):
        report.value(("name",), f"must be letters, digits, '.', '_' and '-', got {shown(name)}")


def _groups(nodes: list[GroupTable], report: Report) -> list[tuple[str, int]]:
    """Report names that cannot stand; return the name and the size of each group."""
    groups, seen = [], set[str]()
    for i, group in enumerate(nodes):
        name = group.name or f"group{i}"
        if name in _RESERVED or name.isdecimal():
            report.value(group.path_to("name"), f"'{name}' is reserved")
        elif name in seen:
            report.value(group.path_to("name"), f"two groups are called '{name}'")
        seen.add(name)
        groups.append((name, group.count or 1))
    return groups


def _run(read: ScenarioTable, report: Report) -> None:
    run = read.run
    ends = [key for key in ("horizon", "rounds", "updates") if getattr(run, key) is not None]
    if len(ends) > 1:
        report.key(
            ("run", ends[1]), f"exactly one of horizon, rounds, updates; got {' and '.join(ends)}"
        )
    nodes = [group for group in read.nodes or [] if not group.unread]
    clocks: list[KindTable | None] = [group.clock for group in nodes]
    others = {clock.kind for clock in clocks if clock is not None and not _counts_rounds(clock)}
    if "rounds" in ends and family_of(read) != "server" and others:
        report.key(
            ("run", "rounds"),
            f"rounds need every clock synchronous or barrier, got {', '.join(sorted(others))}",
        )
    if run.stop == "spent" and not is_private(read):
        report.value(("run", "stop"), '"spent" needs a mechanism with noise and planned releases')


def _counts_rounds(clock: KindTable) -> bool:
    kind = clock_kind(clock)
    return kind is not None and kind.counts_rounds


def _detector(read: ScenarioTable, report: Report) -> None:
    if read.network.silence is not None and family_of(read) in {"server", "pairs", "alone"}:
        report.key(
            ("network", "silence"),
            "a failure detector is for agents that tell all their neighbours: a server has its deadline",
        )


def _barriers(read: ScenarioTable, report: Report) -> None:
    run, network, nodes = read.run, read.network, read.nodes or []
    if family_of(read) in {"server", "pairs"}:
        return  # a client's barrier is the server's question
    barriers = [group for group in nodes if waits(group.clock)]
    lossy = bool(network.loss) or any(link.loss for link in read.link)
    why = LOSSY if lossy else brings_silence(read)
    for group in barriers:
        if not isinstance(group.clock, BarrierTable) or group.clock.timeout is not None:
            continue
        if why == LOSSY:
            report.value(group.path_to("clock"), f"a barrier needs a timeout where {why}")
        elif why and network.silence is None:
            report.value(
                group.path_to("clock"),
                f"a barrier needs a timeout where {why}, or network.silence",
            )
    if not barriers:
        return
    place = barriers[0].path_to("clock")
    if len(barriers) < len(nodes):
        report.value(place, "a barrier needs every group to have one: other clocks have no rounds")
    if family_of(read) == "alone":
        report.value(place, "local agents say nothing: a barrier would never open")
    delays = [network.latency, *(group.compute for group in barriers)]
    still = all(isinstance(delay, ConstantTable) and delay.value == 0 for delay in delays)
    still = still and not any(link.latency for link in read.link)
    if still and run.rounds is None and run.updates is None:
        report.value(
            place,
            "barriers without latency or compute time never advance the time: give run.rounds",
        )


def _links(read: ScenarioTable, size: int, report: Report) -> None:
    for link in read.link:
        if link.unread:
            continue
        single = "from" in link.given or "to" in link.given
        both = {"from", "to"} <= link.given
        if single == ("between" in link.given) or (single and not both):
            report.key(link.place, "needs either between = [[a, b], …] or from = a and to = b")
        if not {"latency", "loss", "rate"} & link.given:
            report.key(link.place, "changes nothing: give latency, loss or rate")
        pairs = link.between or []
        for end in [*(end for pair in pairs for end in pair or []), link.from_, link.to]:
            if end is not None and end >= size:
                report.value(
                    link.path_to("between" if "between" in link.given else "from"),
                    f"no agent {end}: ids run from 0 to {size - 1}",
                )

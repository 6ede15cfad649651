"""A mechanism against the rest of its scenario: budgets, losses, clocks, topologies and servers that it cannot have."""

from scenarios.language.positions import Path
from scenarios.language.problems import Report
from scenarios.language.table_rules import OwnCode
from scenarios.planning.check_budget import check_noise, check_privacy
from scenarios.planning.clocks import waits
from scenarios.planning.durations import ConstantTable
from scenarios.planning.losses import LossTable
from scenarios.planning.mechanism import (
    CheckContext,
    FamilyName,
    family_of_table,
    name_of,
    record_of,
    table_of,
)
from scenarios.planning.mechanism_tables import (
    ConsensusTable,
    DescentTable,
    MechanismTable,
    PenalisedTable,
)
from scenarios.planning.pair_latency import PairLatencyTable
from scenarios.planning.scenario_tables import ScenarioTable


def check_mechanism(read: ScenarioTable, report: Report) -> None:
    """Report what a mechanism cannot be combined with.

    Of code of the scenario's own nothing is known: its spends say what it costs.
    """
    table = table_of(read)
    if table is not None:
        around = CheckContext(read, ("mechanism",), report)
        check_noise(table, around)
        record_of(table).check(table, around)
        learns = table
        if table.inner is not None:
            learns, around = table.inner, CheckContext(read, ("mechanism", "inner"), report)
            record_of(learns).check(learns, around)
        _losses(learns, around)
        _server(learns.kind, record_of(learns).family, around)
    elif isinstance(read.mechanism, OwnCode):
        around = CheckContext(read, ("mechanism",), report)
        _server(read.mechanism.kind, family_of_table(read.mechanism), around)
        if name_of(read.task.start) == "local":
            report.value(
                ("task", "start"),
                f'"local" is made of data and would be sent free of charge; not with {read.mechanism.kind}',
            )
    check_privacy(read, report)


def nothing_else(table: MechanismTable, around: CheckContext) -> None:
    """Check nothing: the kind goes with everything."""


def _losses(table: MechanismTable, around: CheckContext) -> None:
    loss = around.read.task.loss
    if isinstance(loss, LossTable) and not loss.convex and record_of(table).needs_convex(table):
        around.report.value(
            ("task", "loss"),
            f"the {loss.kind} loss is not convex, and {table.kind} needs exact minimisers",
        )


def check_consensus(table: ConsensusTable, around: CheckContext) -> None:
    """Report what no consensus kind can have."""
    task = around.read.task
    if task.l2:
        around.report.value(
            ("task", "l2"),
            f"belongs to the other kinds: {table.kind} is regularised by mechanism.rho",
        )
    if task.reduction == "sum":
        around.report.value(
            ("task", "reduction"),
            f"{table.kind} weighs its loss by mechanism.C: C/m for each record",
        )


def check_penalties(table: PenalisedTable, around: CheckContext) -> None:
    """Report penalties that break θ ≤ η_i(t), for every agent and ever (Zhang, Khalili, Liu 2018, Theorem 3.1)."""
    check_consensus(table, around)
    eta, theta = table.eta, table.theta
    starts, growths = _each(eta.start), _each(eta.growth)
    if None in (theta, eta.cap, *starts, *growths):
        return
    for key, values in (("start", starts), ("growth", growths)):
        if len(values) not in {1, around.size}:
            around.report.value(
                (*around.place, "eta", key),
                f"must be one number or {around.size}, one for each agent, got {len(values)}",
            )
    if any(start < theta for start in starts):
        around.report.value(
            (*around.place, "eta", "start"),
            f"must be at least theta = {theta:g}, got {min(starts):g}",
        )
    if any(growth < 1 for growth in growths):
        around.report.value(
            (*around.place, "eta", "growth"),
            f"must be at least 1, got {min(growths):g}: a penalty may not fall below theta",
        )
    if eta.cap < max(starts):
        around.report.value(
            (*around.place, "eta", "cap"),
            f"must be at least start = {max(starts):g}, got {eta.cap:g}",
        )


def _each(value: float | list[float]) -> list[float]:
    """Return one number or several as a list; a number that did not read is None."""
    return value if isinstance(value, list) else [value]


def check_descent(table: DescentTable, around: CheckContext) -> None:
    """Report what contradicts itself about the noise of a coordinate descent."""
    if table.noise == "none":
        for key in ("releases", "alpha", "clip", "lipschitz"):
            if key in table.given:
                around.key(
                    key, f"means nothing without noise: set mechanism.noise, or leave {key} out"
                )
        if table.schedule not in {"uniform", None}:
            around.key("schedule", "shapes a budget: it means nothing without noise")
    if record_of(table).unit(table) is None:
        return
    if {"clip", "lipschitz"} <= table.given:
        around.key("lipschitz", "give clip or lipschitz, not both")
    norm = "l1" if table.noise == "laplace" else "l2"
    if table.lipschitz is not None and table.lipschitz.given != {norm}:
        around.value(
            "lipschitz",
            f"{table.noise} noise takes a bound in one norm: lipschitz = {{ {norm} = … }}",
        )
    if table.smoothness == "data" and table.calibration != "as_printed":
        around.value(
            "smoothness",
            '"data" enters every release and is not public; with noise use "bound" or a number',
        )


def _server(kind: str, family: FamilyName, around: CheckContext) -> None:
    """Report a server where the kind has none."""
    if family != "server" and around.read.server is not None:
        around.report.key(("server",), f"belongs to server kinds, and {kind} has none")


def check_one_answer(table: MechanismTable, around: CheckContext) -> None:
    """Report what no server kind can have whose clients answer once."""
    check_server(table, around, once=True)


def check_server(table: MechanismTable, around: CheckContext, *, once: bool = False) -> None:
    """Report what no server kind can have. `once` is whether every client answers once; if not, every round."""
    read, report = around.read, around.report
    run, task, network = read.run, read.task, read.network
    talks = "talks to its server"
    starts = "starts from its server's model"
    wrong: list[tuple[bool, Path, str]] = [
        (
            name_of(task.start) in {"file", "local"},
            ("task", "start"),
            f"{starts}: zeros or random",
        ),
        (
            task.reduction == "sum",
            ("task", "reduction"),
            "averages over records: its noise is scaled for a mean",
        ),
        (
            record_of(table).pooled and around.size != 1,
            around.place,
            "has one node: the pooled data; give count = 1",
        ),
        (bool(read.link), ("link",), f"{talks} only: no edge joins two agents"),
        (
            isinstance(network.latency, PairLatencyTable) and not network.latency.names_server,
            ("network", "latency"),
            f"{talks}, which no {name_of(network.latency)} names",
        ),
        (
            run.stop == "spent",
            ("run", "stop"),
            "ends with its rounds: spent clients wait for the rest",
        ),
    ]
    wrong += [
        (group.start == "neighbours", group.path_to("start"), starts) for group in around.groups
    ]
    for is_wrong, path, why in wrong:
        if is_wrong:
            report.value(path, f"{table.kind} {why}")
    if run.rounds is None and run.updates is None and not once and not _timed(around):
        report.key(
            ("run",), "rounds without latency or clocks never advance the time: give run.rounds"
        )


def _timed(around: CheckContext) -> bool:
    """Whether a round takes time: a latency, a computing time, or a clock."""
    laws = [around.read.network.latency, *(group.compute for group in around.groups)]
    still = all(isinstance(law, ConstantTable) and law.value == 0 for law in laws)
    return not still or not all(waits(group.clock) for group in around.groups)


def asked(around: CheckContext) -> int:
    """Return how many clients the server asks in a round, when all are present."""
    server = around.read.server
    sample = (None if server is None else server.sample) or 1.0
    return max(1, round(sample * around.size))

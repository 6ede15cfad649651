"""churn: each agent comes and goes by itself.

A distribution, or a preset of measured sessions such as `bittorrent-debian`, `scaled =` to another time (`hush list places`
has them all). `per_node = [0.3, 1, 5]`: lifetime classes, one for each agent. `by = "leave"` (default) or `"crash"`. Or `path =`: rows of id, from, to.
"""

import math
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import Many, key
from scenarios.language.value_rules import Choice, Text
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.durations import DurationTable
from scenarios.planning.fault_examples import Example, Luck, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import agent_actions, schedule
from scenarios.planning.fault_tables import POSITIVE, AgentsTable
from scenarios.planning.sessions import SESSION

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder

Spans = tuple[tuple[int, tuple[int, ...]], ...]
"""For each agent of a trace the instants, in nanoseconds, at which it goes and comes back, by turns."""


class ChurnTable(AgentsTable):
    """Sessions and downtimes by turns, or the path of a trace; `by`: how an agent goes."""

    session: DurationTable | None = key(SESSION, words="How long an agent stays, in seconds.")
    downtime: DurationTable | None = key(SESSION, words="How long an agent is away, in seconds.")
    per_node: list[float] | None = key(
        Many(POSITIVE, 1, 100),
        words="Classes of lifetimes: each agent has one of these factors of its sessions.",
    )
    path: str | None = key(
        Text("a path"), words="A trace in place of distributions: rows of id, from, to."
    )
    by: str = key(
        Choice("leave", "crash"), "leave", words="Whether agents leave, and say so, or crash."
    )


def check(at: ActionCheck, _: FaultTable, value: ChurnTable) -> None:
    """Report a churn that has neither sessions nor a trace, or both."""
    alternating = {"session", "downtime"} & value.given
    if ("path" in value.given) == bool(alternating) or len(alternating) == 1:
        at.report.key(value.place, "needs session and downtime, or the path of a trace")
    if {"path", "per_node"} <= value.given:
        at.report.key(value.path_to("per_node"), "a trace has its own sessions")


def build(at: "FaultBuilder", _: FaultTable, value: ChurnTable) -> "Action":
    """Return the action."""
    target = at.target(value.on)
    session, downtime = at.distribution(value.session), at.distribution(value.downtime)
    classes = tuple(value.per_node or (1.0,))
    trace = () if value.path is None else _read_trace(at, value.path)
    comes_per_s = 0.0
    if session is not None and downtime is not None:
        cycle_s = min(classes) * session.mean_s + downtime.mean_s
        comes_per_s = len(target.among) / cycle_s if cycle_s > 0 else math.inf
    churn = agent_actions.Churn(session, downtime, classes, trace, crashes=value.by == "crash")
    return schedule.Action(target, churn.begin, undone="calm", comes_per_s=comes_per_s)


def _read_trace(at: "FaultBuilder", name: str) -> Spans:
    """Read a trace of sessions: rows of id, from, to; an agent with rows is away between them."""
    from clocks.clock import nanoseconds
    from scenarios.planning.files import BadData, numbers

    path = at.folders.find(name)
    spans: dict[int, list[tuple[int, int]]] = {}
    for number, row in enumerate(numbers(path).tolist(), 1):
        if len(row) != 3 or row[0] not in at.everybody or not 0 <= row[1] < row[2] < 9e9:
            wanted = f"{path.name} must hold rows of id, from, to in seconds"
            raise BadData(f"{wanted}; row {number} is none")
        spans.setdefault(int(row[0]), []).append((nanoseconds(row[1]), nanoseconds(row[2])))
    try:
        return tuple((node, _turns(spans[node])) for node in sorted(spans))
    except ValueError:
        raise BadData(f"{path.name}: sessions of one agent overlap") from None


def _turns(spans: list[tuple[int, int]]) -> tuple[int, ...]:
    """Return when an agent that is there only in these spans goes and comes, by turns; it is there at first."""
    turns = list[int]()
    for instant in (0, *(end for span in sorted(spans) for end in span)):
        if turns and turns[-1] == instant:
            turns.pop()  # gone and back at one instant
        elif turns and turns[-1] > instant:
            raise ValueError("spans overlap")
        else:
            turns.append(instant)
    return tuple(turns)


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return a churn of short sessions."""
    measured = {"kind": "bittorrent-redhat", "scaled": 0.001}
    session = luck.pick((2.0, {"kind": "exponential", "mean": 2.0}, measured))
    on, by = some_agents(luck, size), luck.pick(("leave", "crash"))
    return {"churn": {"on": on, "session": session, "downtime": 1.0, "by": by}}


KIND = FaultKind(
    name="churn",
    on="agents",
    order=70,
    table=ChurnTable,
    says="come and go, by chance",
    template="churn {} session=10s downtime=5s",
    silences=True,
    loses=False,
    stalls=False,
    brings=Brings.BY_ITSELF,
    hits=Hits.LATER,
    state="",
    build=build,
    examples=(Example("churn", example),),
    check=check,
)

"""slow: computing takes so many times as long."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import POSITIVE, AgentsTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


class SlowTable(AgentsTable):
    """Computing takes `factor` times as long; factors multiply."""

    factor: float = key(POSITIVE, REQUIRED)


def check(at: ActionCheck, fault: FaultTable, value: SlowTable) -> None:
    """Report agents that compute in no time."""
    del fault
    if not at.computes:
        said = "changes nothing: no group has a nodes.compute to be slowed down"
        at.report.key(value.place, said)


def build(at: "FaultBuilder", fault: FaultTable, value: SlowTable) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import slow
    from actors.faults.schedule import Action

    del fault
    return Action(at.target(value.on), partial(slow, factor=value.factor), slows=value.factor)


KIND = FaultKind(
    name="slow",
    on="agents",
    order=60,
    table=SlowTable,
    says="computing takes so many times as long",
    words="computing takes so many times as long; factors multiply",
    template="slow {} factor=3",
    silences=False,
    loses=False,
    stalls=False,
    brings=Brings.NEVER,
    hits=Hits.UNTOLD,
    state="slow",
    build=build,
    examples=(
        Example(
            "slow",
            lambda luck, size: {
                "slow": {"on": some_agents(luck, size), "factor": luck.pick((2.0, 10.0))}
            },
            lambda world: world.computes,
        ),
    ),
    check=check,
)

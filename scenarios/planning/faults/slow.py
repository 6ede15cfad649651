"""slow: computing takes so many times as long; factors multiply."""

from functools import partial

from scenarios.language.table_rules import REQUIRED, key
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import agent_actions, schedule
from scenarios.planning.fault_tables import POSITIVE, AgentsTable


class SlowTable(AgentsTable):
    """Computing takes `factor` times as long; factors multiply."""

    factor: float = key(POSITIVE, REQUIRED, words="How many times as long computing takes.")


def check(at: ActionCheck, _: FaultTable, value: SlowTable) -> None:
    """Report agents that compute in no time."""
    if not at.computes:
        said = "changes nothing: no group has a nodes.compute to be slowed down"
        at.report.key(value.place, said)


KIND = FaultKind(
    name="slow",
    on="agents",
    order=60,
    table=SlowTable,
    says="computing takes so many times as long",
    template="slow {} factor=3",
    silences=False,
    loses=False,
    stalls=False,
    brings=Brings.NEVER,
    hits=Hits.UNTOLD,
    state="slow",
    build=lambda at, _, value: schedule.Action(
        at.target(value.on), partial(agent_actions.slow, factor=value.factor), slows=value.factor
    ),
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

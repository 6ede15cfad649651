"""storage: the disk of an agent misbehaves, which shows at its next crash.

`torn`: the last record written since then is lost; `unsynced`, `stale`: all since then are. A ledger that holds fewer
releases than the agent's counter is not trusted: nothing is released any more (`spent`, reason `storage`).
"""

from functools import partial

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Choice
from scenarios.planning.fault_examples import Example, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, Hits
from scenarios.planning.fault_parts import privacy_actions, schedule
from scenarios.planning.fault_tables import AgentsTable

STORAGE = ("torn", "unsynced", "stale")
"""What a disk may do wrong; `actors.store` does it."""


class StorageTable(AgentsTable):
    """How the disk misbehaves."""

    kind: str = key(
        Choice(*STORAGE),
        REQUIRED,
        words="What the disk loses at the next crash: the last record, or all since the fault began.",
    )


KIND = FaultKind(
    name="storage",
    on="agents",
    order=90,
    table=StorageTable,
    says="its disk misbehaves: torn, unsynced, stale",
    template="storage {} kind=torn",
    silences=False,
    loses=False,
    stalls=False,
    brings=Brings.NEVER,
    hits=Hits.UNTOLD,
    state="",
    build=lambda at, _, value: schedule.Action(
        at.target(value.on), partial(privacy_actions.break_disk, kind=value.kind)
    ),
    examples=(
        Example(
            "storage",
            lambda luck, size: {
                "storage": {"on": some_agents(luck, size), "kind": luck.pick(STORAGE)}
            },
        ),
    ),
)

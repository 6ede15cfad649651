"""Whether wakes of a world are computed in columns, and the parts that are made for that."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from actors.agent import Agent
from actors.log import Log
from actors.mailbox import Mailbox
from actors.membership import Behaviour, Membership
from clocks.clock import Clock
from clocks.virtual import VirtualClock
from mechanisms.abilities import openings_of
from scenarios.planning.plan import Plan
from scenarios.planning.wake_paths import COLUMNS, EVENTS, path_taken, refused

if TYPE_CHECKING:
    from actors.columns.path import ColumnPath


class InColumns:
    """Makes the agents of a world so that their wakes may be computed in columns."""

    def __init__(self, plan: Plan, path: "ColumnPath") -> None:
        from actors.columns.agent import ColumnAgent, ColumnMailbox

        self._plan, self._path = plan, path
        self.make_mailbox: Callable[[int, Clock, Log], Mailbox] = partial(ColumnMailbox, path.world)
        self.make_agent: Callable[..., Agent] = partial(ColumnAgent, path.world)
        self.behave: Behaviour = path.behave

    def lay_out(self, agents: Sequence[Agent], members: Membership) -> None:
        """Write down what does not change of all agents, and settle their mailboxes together.

        Raises ScenarioError where the path `columns` was asked for, and no agent can take it.
        """
        plan, path = self._plan, self._path
        path.lay_out(agents)
        if plan.path == COLUMNS and len(path.world.reasons) == plan.size:
            ((reason, _),) = Counter(path.world.reasons.values()).most_common(1)
            raise refused(reason)
        members.settle_all, members.takes_over = path.settle, path.take_over


def in_columns(plan: Plan, clock: Clock, log: Log, behave: Behaviour) -> InColumns | None:
    """Return what makes the agents of a world for columns; None where each wake is to be computed by itself.

    `behave` is what agents do whose wakes are not computed there. Raises ScenarioError where the path `columns` was asked
    for, and cannot be taken.
    """
    if path_taken(plan) == EVENTS or not isinstance(clock, VirtualClock):
        return None
    from actors.columns.path import ColumnPath
    from actors.columns.world import ColumnWorld

    opening = openings_of(plan.nodes[0].mechanism, np.zeros((1, plan.dimension)))
    world = ColumnWorld(plan.size, opening.shape[1], log, may_rest=plan.path != COLUMNS)
    return InColumns(plan, ColumnPath(world, clock, log, behave))

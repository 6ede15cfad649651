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
from clocks.activation import Barrier
from clocks.clock import Clock
from clocks.virtual import VirtualClock
from mechanisms.abilities import Participates, offers, openings_of
from scenarios.language.problems import ScenarioError
from scenarios.planning.plan import NodePlan, Plan
from scenarios.planning.wake_paths import COLUMNS, EVENTS

if TYPE_CHECKING:
    from actors.columns.path import ColumnPath


_FEW = 24
"""Samples, joins and leaves end stretches: with fewer wakes between them, settling these at once costs more than it saves."""


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
            raise _refused(reason)
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


def path_taken(plan: Plan) -> str:
    """Return which path the wakes of a plan take: `columns` where those of some agents can.

    Raises ScenarioError where that was asked for and cannot be.
    """
    if plan.path == EVENTS:
        return EVENTS
    obstacle = obstacle_to_columns(plan)
    if plan.path == COLUMNS and obstacle:
        raise _refused(obstacle)
    return EVENTS if obstacle or (plan.path != COLUMNS and _has_few_wakes(plan)) else COLUMNS


def why_events(plan: Plan) -> str:
    """Return why a run takes events by itself, in words; empty where it takes columns, or events were asked for."""
    few = "few wakes come between samples, joins and leaves" if _has_few_wakes(plan) else ""
    return "" if plan.path == EVENTS else obstacle_to_columns(plan) or few


def _has_few_wakes(plan: Plan) -> bool:
    """Whether few wakes come between two entries of the engine, samples and agents that go or come, on average."""
    entries = 1e9 / plan.sample_every + sum(2.0 * f.action.comes_per_s for f in plan.faults)
    return sum(node.activation.rate for node in plan.nodes) < _FEW * entries


def _refused(reason: str) -> ScenarioError:
    return ScenarioError.of("path", f"{COLUMNS} cannot be taken here: {reason}")


def obstacle_to_columns(plan: Plan) -> str:
    """Return why no wake of a plan is computed in columns, in words; empty where some may be."""
    if plan.engine != "virtual":
        return f"the engine is {plan.engine}"
    if plan.server is not None:
        return "agents talk to a server"
    if plan.family == "pairs":
        return "agents talk in pairs"
    if plan.silence is not None:
        return "agents suspect neighbours that are silent (network.silence)"
    reasons = [_obstacle_of(node) for node in plan.nodes]
    return Counter(reasons).most_common(1)[0][0] if all(reasons) else ""


def _obstacle_of(node: NodePlan) -> str:
    """Return why the wakes of an agent are not computed in columns, in words; empty where they may be."""
    if offers(node.mechanism, Participates):
        return "releases follow participation"
    if isinstance(node.activation, Barrier):
        return "agents wake at barriers"
    return "agents take time to compute" if node.compute is not None else ""

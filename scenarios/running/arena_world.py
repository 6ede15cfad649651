"""Whether an arena computes the wakes of a world, compiled or in stretches, and the parts that are made for that."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from actors.agent import Agent
from actors.log import Log
from actors.mailbox import Mailbox
from actors.membership import Behaviour, Membership
from clocks.activation import Barrier
from clocks.clock import Clock
from clocks.virtual import VirtualClock
from mechanisms.abilities import Participates, offers
from mechanisms.descent import CoordinateDescent
from scenarios.language.problems import ScenarioError
from scenarios.planning.plan import NodePlan, Plan
from scenarios.planning.wake_paths import AUTO, DETAILED, FAST, PLAIN, has_compiler

if TYPE_CHECKING:
    from actors.arena.arena import Arena
    from actors.arena.wakes import ArenaWakes


_LONG = 200
"""So many wakes come between two samples, at the least, where they are computed in stretches without being asked to: with
fewer, stretches are short, and what they save is small beside the samples."""
_WORTH, _WORTH_COMPILING = 20_000, 250_000
"""From so many updates on a run gains more than it takes to load what was compiled before (0.4 s), or to compile it (7 s)."""


class ArenaWorld:
    """Makes the agents of a world so that an arena may compute their wakes."""

    def __init__(self, plan: Plan, wakes: "ArenaWakes") -> None:
        from actors.arena.agent import ArenaAgent, ArenaMailbox

        self._plan, self._wakes = plan, wakes
        self.make_mailbox: Callable[[int, Clock, Log], Mailbox] = partial(ArenaMailbox, wakes.arena)
        self.make_agent: Callable[..., Agent] = partial(ArenaAgent, wakes.arena)
        self.behave: Behaviour = wakes.behave

    def lay_out(self, agents: Sequence[Agent], members: Membership) -> None:
        """Write down what does not change of all agents, and settle their mailboxes together.

        Raises ScenarioError where the path `fast` was asked for, and no agent can take it.
        """
        plan, wakes = self._plan, self._wakes
        wakes.lay_out(agents, [node.start for node in plan.nodes])
        if plan.path == FAST and len(wakes.arena.reasons) == plan.size:
            ((reason, _),) = Counter(wakes.arena.reasons.values()).most_common(1)
            raise _refused(reason)
        members.settle_all, members.takes_over = wakes.settle, wakes.take_over


def of(plan: Plan, clock: Clock, log: Log, behave: Behaviour) -> ArenaWorld | None:
    """Return what makes the agents of a world for an arena; None where each wake is to be computed by itself.

    `behave` is what agents do whose wakes are not computed there. Raises ScenarioError where the path `fast` was asked for,
    and cannot be taken.
    """
    if not isinstance(clock, VirtualClock):
        return None
    arena: Arena
    if is_compiled(plan):
        from actors.compiled.arena import CompiledArena

        arena = CompiledArena(plan.size, plan.dimension, log)
    elif has_stretches(plan):
        from actors.stretches.arena import StretchArena

        arena = StretchArena(plan.size, plan.dimension, log)
    else:
        return None
    from actors.arena.wakes import ArenaWakes

    return ArenaWorld(plan, ArenaWakes(arena, clock, log, behave))


def has_stretches(plan: Plan) -> bool:
    """Whether the wakes of a plan are computed in stretches, where they are not compiled.

    They are where the plain path was asked for, and by itself where many wakes come between two samples.
    """
    if plan.path not in {AUTO, PLAIN} or _obstacle(plan):
        return False
    return plan.path == PLAIN or _wakes_between_samples(plan) >= _LONG


def _wakes_between_samples(plan: Plan) -> float:
    """Return how many wakes of all agents come between two samples on average; NaN where a barrier decides."""
    return sum(node.activation.rate for node in plan.nodes) * plan.sample_every / 1e9


def is_compiled(plan: Plan) -> bool:
    """Whether the wakes of a plan are compiled: as asked for, or by itself where that is possible, and worth it.

    Raises ScenarioError where it was asked for and cannot be.
    """
    if plan.path not in {AUTO, FAST}:
        return False
    obstacle = _obstacle(plan)
    if plan.path == FAST:
        if obstacle:
            raise _refused(obstacle)
        return True
    return not obstacle and has_compiler() and _is_worth_it(plan)


def path_taken(plan: Plan) -> str:
    """Return which of the three paths the wakes of a plan take: of a fast run, those that can."""
    if is_compiled(plan):
        return FAST
    return DETAILED if plan.path == DETAILED else PLAIN


def _refused(reason: str) -> ScenarioError:
    return ScenarioError.of("path", f"{FAST} cannot be taken here: {reason}")


def _is_worth_it(plan: Plan) -> bool:
    expected = plan.expected_updates()
    return expected >= _WORTH_COMPILING or (expected >= _WORTH and _was_compiled())


def _was_compiled() -> bool:
    """Whether compiled code lies beside its source, from an earlier run."""
    import actors.compiled

    folder = Path(actors.compiled.__path__[0]) / "__pycache__"
    return any(folder.glob("kernel.fly-*.nbi"))


def _obstacle(plan: Plan) -> str:
    """Return why no wake of a plan is compiled, in words; empty where some may be."""
    if plan.engine != "virtual":
        return f"the engine is {plan.engine}"
    if plan.server is not None:
        return "agents talk to a server"
    if plan.silence is not None:
        return "agents suspect neighbours that are silent (network.silence)"
    reasons = [_obstacle_of(node) for node in plan.nodes]
    if all(reasons):
        return f"no wake is compiled where {Counter(reasons).most_common(1)[0][0]}"
    return ""


def _obstacle_of(node: NodePlan) -> str:
    """Return why the wakes of an agent are not compiled, in words; empty where they may be."""
    if offers(node.mechanism, Participates):
        return "releases follow participation"
    if type(node.mechanism) is not CoordinateDescent:
        return "the kind is not cd"
    if isinstance(node.activation, Barrier):
        return "agents wake at barriers"
    if node.compute is not None:
        return "agents take time to compute"
    return "agents begin with the models of neighbours" if node.adopt_neighbours else ""

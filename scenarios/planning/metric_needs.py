"""What metrics need, and why it may be lacking: test points, an optimum, local models, observers that follow."""

from typing import TYPE_CHECKING

from scenarios.planning.metric import Need, Snapshot

if TYPE_CHECKING:
    from scenarios.planning.plan import Plan


def _untested(plan: "Plan") -> str:
    shards = plan.shards
    tested = bool(shards.test) or shards.common_test is not None
    return "" if tested else "no agent has test points: give data.test_points"


def _unvalidated(plan: "Plan") -> str:
    held = plan.shards.validation
    if not held:
        return "no validation points: give data.validation"
    return "" if any(len(y) for _, y in held) else "no validation points: every agent has one point"


def no_joint(at: Snapshot) -> str:
    """Return why there is no objective; empty where there is one."""
    return f"{at.plan.kind} has no joint objective" if at.plan.joint is None else ""


def _not_convex(at: Snapshot, _: str = "") -> str:
    if at.plan.joint is None or at.is_convex:
        return no_joint(at)
    return "the objective is not convex: no exact minimum is known"


def _no_optimum(at: Snapshot, name: str) -> str:
    if lack := _not_convex(at):
        return lack
    if not at.affords(OPTIMUM):
        return f"the exact minimum is costly here: ask for {name} in an [[expect]]"
    return "" if at.optimum is not None else "the objective has no minimum: set task.l2 above 0"


def _no_local(at: Snapshot, name: str) -> str:
    if not at.affords(LOCAL_MODELS):
        return f"finding every local model is costly here: ask for {name} in an [[expect]]"
    if at.local is not None:
        return ""
    return "an agent alone has no best model to compare with: set task.l2 above 0"


def _nothing(_at: Snapshot, _name: str) -> str:
    return ""


def judged_by(score: str) -> Need:
    """Return the need of a loss that is judged by a score, `accuracy` or `rmse`."""

    def lack(at: Snapshot, _: str) -> str:
        own = at.scores.name
        return "" if own == score else f"this loss is judged by its {own}"

    return Need(lack)


TEST_POINTS = Need(lambda at, _: _untested(at.plan), _untested)
VALIDATION_POINTS = Need(lambda at, _: _unvalidated(at.plan), _unvalidated)
CONVEX = Need(_not_convex)
OPTIMUM = Need(_no_optimum)
"""The exact minimum over all declared agents."""
LOCAL_MODELS = Need(_no_local)
"""The exact model of each agent alone."""
PRESENT = Need(lambda at, _: "" if at.count("up") + at.count("down") else "no agent is present")
SERVER = Need(lambda at, _: "" if at.plan.server is not None else f"{at.plan.kind} has no server")
HOLDINGS = Need(_nothing)
"""An observer that follows which version of a model each agent holds."""
FATES = Need(_nothing)
"""An observer that follows what becomes of each release."""

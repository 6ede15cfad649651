"""What each agent gains over learning alone, and the share of agents that lose by it."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import AT_END, Metric, Share, Snapshot
from scenarios.planning.metric_needs import LOCAL_MODELS, TEST_POINTS

if TYPE_CHECKING:
    from mechanisms.vectors import Vector


def _gain(at: Snapshot) -> "Vector":
    """Return how much better each model is than the agent's local one: more accuracy, or less error."""
    sign = 1.0 if at.plan.loss.margin else -1.0
    return at.of_members(sign * (at.scores.score(at.theta, "test") - at.local_score))


def _share_below_zero(values: "Vector") -> float:
    """Return which share of the values that are not NaN is below 0; NaN where all are."""
    known = values[values == values]  # noqa: PLR0124 # NaN is not itself
    return float((known < 0).mean()) if known.size else float("nan")


_SCORE = (
    "The score is the accuracy on test points where the loss is judged by accuracy (logistic, smoothed-hinge), and minus the "
    "root mean squared error where it is judged by rmse (squared, welsch). It is never the loss. The agent's model is the one "
    "that it holds at the sample, with all the noise of the run in it. The model that it is compared with is the exact "
    "minimiser of the agent's own objective on its own points, without noise and without messages."
)
_of = partial(Metric, reads_models=True, needs=(TEST_POINTS, LOCAL_MODELS))
KINDS = (
    _of(
        "gain",
        "test score minus that of `local` on the same data",
        _gain,
        AT_END,
        per_agent=True,
        unit="a difference of accuracies (shares from 0 to 1), or of errors",
        detail=_SCORE,
    ),
    _of(
        "harmed",
        "share of agents with a gain below 0",
        lambda at: _share_below_zero(_gain(at)),
        AT_END,
        unit="a share of agents, from 0 to 1",
        detail=f"An agent counts where its `gain` is below 0: it would score better alone. {_SCORE}",
        share=Share("gain", _share_below_zero),
    ),
)

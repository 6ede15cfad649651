"""The loss of each agent's model, on its own points and on the points of all agents."""

from functools import partial

from scenarios.planning.metric import ALWAYS, Metric

_of = partial(Metric, reads_models=True, per_agent=True, unit="a loss")
KINDS = (
    _of(
        "loss",
        "mean unregularised loss of the agent's model on its own points",
        lambda at: at.of_members(at.scores.loss(at.theta)),
        ALWAYS,
    ),
    _of(
        "loss.pooled",
        "mean unregularised loss of the agent's model on the points of all agents",
        lambda at: at.of_members(at.scores.pooled(at.theta)),
    ),
)

"""The loss of each agent's model, on its own points and on the points of all agents."""

from scenarios.planning.metric import Metric, Taken

KINDS = (
    Metric(
        "loss",
        "mean unregularised loss of the agent's model on its own points",
        reads_models=True,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=lambda at: at.of_members(at.scores.loss(at.theta)),
        column=10,
    ),
    Metric(
        "loss.pooled",
        "mean unregularised loss of the agent's model on the points of all agents",
        reads_models=True,
        per_agent=True,
        compute=lambda at: at.of_members(at.scores.pooled(at.theta)),
        column=15,
    ),
)

"""The rounds of barriers and servers."""

from scenarios.planning.metric import Metric, Snapshot, Taken
from scenarios.planning.metric_needs import SERVER


def _survivors(at: Snapshot) -> float:
    server = at.with_server[at.plan.size]
    return server.survivors


KINDS = (
    Metric(
        "rounds",
        "rounds that were ended",
        reads_models=False,
        taken=Taken.AT_END,
        where=lambda at: at.plan.server is not None,
        compute=lambda at: max(agent.rounds for agent in at.with_server),
        column=185,
    ),
    Metric(
        "rounds.aborted",
        "rounds that had too few answers",
        reads_models=False,
        taken=Taken.AT_END,
        where=lambda at: at.plan.server is not None,
        compute=lambda at: sum(agent.aborted for agent in at.with_server),
        column=186,
    ),
    Metric(
        "rounds.survivors",
        "agents that answered in the server's last round",
        reads_models=False,
        needs=(SERVER,),
        compute=_survivors,
        column=187,
    ),
)

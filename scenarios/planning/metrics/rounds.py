"""The rounds of barriers and servers."""

from functools import partial

from scenarios.planning.metric import AT_END, Metric, Snapshot
from scenarios.planning.metric_needs import SERVER


def _survivors(at: Snapshot) -> float:
    server = at.with_server[at.plan.size]
    return server.survivors


_of = partial(Metric, reads_models=False, unit="rounds")
KINDS = (
    _of(
        "rounds",
        "rounds that were ended",
        lambda at: max(agent.rounds for agent in at.with_server),
        AT_END,
        where=lambda at: at.plan.server is not None,
    ),
    _of(
        "rounds.aborted",
        "rounds that had too few answers",
        lambda at: sum(agent.aborted for agent in at.with_server),
        AT_END,
        where=lambda at: at.plan.server is not None,
    ),
    _of(
        "rounds.survivors",
        "agents that answered in the server's last round",
        _survivors,
        unit="agents",
        needs=(SERVER,),
    ),
)

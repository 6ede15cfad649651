"""How old the models are that each agent holds of its neighbours."""

from scenarios.planning.metric import Metric
from scenarios.planning.metric_needs import HOLDINGS

_ALONE = "no live neighbour was heard"
KINDS = (
    Metric(
        "staleness",
        "now minus the time when the held model was published, in seconds, mean over live neighbours",
        reads_models=False,
        per_agent=True,
        needs=(HOLDINGS,),
        missing=_ALONE,
        compute=lambda at: at.traffic.staleness(at.with_server, at.now)[: at.plan.size],
        column=153,
    ),
    Metric(
        "lag",
        "how many models were published since the held one, mean over live neighbours",
        reads_models=False,
        per_agent=True,
        needs=(HOLDINGS,),
        missing=_ALONE,
        compute=lambda at: at.traffic.lag(at.with_server)[: at.plan.size],
        column=154,
    ),
)

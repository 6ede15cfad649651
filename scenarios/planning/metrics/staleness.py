"""How old the models are that each agent holds of its neighbours."""

from functools import partial

from scenarios.planning.metric import Metric
from scenarios.planning.metric_needs import HOLDINGS

_ALONE = "no live neighbour was heard"
_of = partial(Metric, reads_models=False, per_agent=True, needs=(HOLDINGS,), missing=_ALONE)
KINDS = (
    _of(
        "staleness",
        "now minus the time when the held model was published, in seconds, mean over live neighbours",
        lambda at: at.traffic.staleness(at.with_server, at.now)[: at.plan.size],
        unit="seconds",
    ),
    _of(
        "lag",
        "how many models were published since the held one, mean over live neighbours",
        lambda at: at.traffic.lag(at.with_server)[: at.plan.size],
        unit="models",
    ),
)

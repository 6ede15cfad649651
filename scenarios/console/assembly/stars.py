"""Names of metrics as a screen writes them: what an oracle alone sees has a star."""

from scenarios.planning.metric_names import METRICS


def starred(metric: str) -> str:
    """Return the name of a metric, with a star where no release tells it."""
    record = METRICS.get(metric)
    return f"{metric}*" if record is None or record.reads_models else metric

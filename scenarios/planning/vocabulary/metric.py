"""Metrics: what is measured, by which oracle, and when."""

from scenarios.planning.metric import Metric, Taken
from scenarios.planning.metric_names import FIGURES, METRICS, metric_of, split_metric
from scenarios.planning.word_cards import WordCard, WordFamily

_TAKEN = {
    Taken.ALWAYS: "at every sample (run.sample_every), and at the end",
    Taken.AT_END: "at the last sample; at every sample where an expectation, a target or a condition asks for it",
    Taken.ASKED: "at every sample, where an expectation, a target or a condition asks for it",
    Taken.AGAIN: "at the last sample, where an expectation asks for it: the plan then runs again, many times",
}
_ORACLE = (
    "yes: it reads models or data as the agents hold them, with all noise that was drawn for them. No agent and no adversary "
    "of the run sees it, and no ε covers publishing it"
)
_PUBLIC = "no: it follows from public events and charges, and reads neither models nor data"
_AGGREGATES = {"mean": "mean", "min": "least", "max": "largest", "sum": "sum"}
_FIGURES = {
    "time_to": ("the instant from which a target holds to the end", "seconds"),
    "releases_to": ("how many releases all agents had made by that instant", "releases"),
    "bytes_to": ("how many bytes were sent by that instant", "bytes"),
    "epsilon_to": (
        "the largest ε of an agent by that instant; never covered, since an oracle chose the time",
        "ε",
    ),
}
"""The figures of a target NAME in [targets]: `time_to.NAME` and so on."""


def _card(word: str) -> WordCard:
    figure = word.partition(".")[0]
    if figure in _FIGURES:
        says, unit = _FIGURES[figure]
        return WordCard(
            name=word,
            says=f"{says.capitalize()}: at the first sample after which it holds.",
            facts={
                "unit": unit,
                "stands at": "metric of [[expect]], as NAME of [targets] names it",
            },
        )
    metric = metric_of(word)
    if metric is None:
        raise KeyError(word)
    _, aggregate = split_metric(word)
    over = f" Of that the {_fold(aggregate)} over the agents." if aggregate else ""
    says = f"{metric.words[:1].upper() if metric.words[:1].isascii() else metric.words[:1]}{metric.words[1:]}."
    return WordCard(
        name=word,
        says=" ".join(filter(None, (says + over, metric.detail))),
        facts={
            "unit": metric.unit,
            "of": _whose(metric),
            "oracle's": _ORACLE if metric.reads_models else _PUBLIC,
            "sampled": _TAKEN[metric.taken],
            **_no_value(metric),
            "stands at": "metric of [[expect]] and of [targets]; metrics.csv, hush plot, --metric; "
            "docs/reference.md, section 5",
        },
    )


def _fold(aggregate: str) -> str:
    return _AGGREGATES.get(aggregate) or f"{int(aggregate[1:])}th percentile"


def _whose(metric: Metric) -> str:
    if metric.per_agent:
        return f"each agent; over agents {metric.name}.mean, .min, .max, .sum, .p01 … .p99"
    share = metric.share
    groups = "" if share is None else "; of a group with group = NAME"
    return f"the whole network: one number{groups}"


def _no_value(metric: Metric) -> dict[str, str]:
    """Return why it may have no value, where that is known without a run."""
    if isinstance(metric.missing, str) and metric.missing:
        return {"no value": f"where {metric.missing}"}
    return {}


def _names() -> list[str]:
    return [*METRICS.names(), *FIGURES]


def _is_form(word: str) -> bool:
    return metric_of(word) is not None or word.partition(".")[0] in FIGURES


KIND = WordFamily(name="metric", order=3, names=_names, card=_card, knows=_is_form)

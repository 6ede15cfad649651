"""Builds the story of a run: which metric its chart shows, what that is compared with, how budgets went."""

from collections.abc import Sequence

import numpy as np

from mechanisms.vectors import Vector
from scenarios.console.assembly.stars import starred
from scenarios.console.drawing.model import Story
from scenarios.console.drawing.styled_text import brief
from scenarios.console.sources.source import Source
from scenarios.planning.metric_names import per_agent

_FIRST = ("accuracy.test", "rmse.test", "loss", "gain", "epsilon", "objective", "gap", "consensus")
"""In which order metrics follow each other; all others come after them, as samples hold them."""
_SCORES = {"accuracy.test": 1.0, "rmse.test": -1.0}
"""Scores, and whether more of them is better."""
_NOTHING = 1e-12
"""What two orders of one sum may differ by."""


def metrics_of(source: Source) -> list[str]:
    """Return the metrics that a chart can show, the first of which it shows unless another is chosen."""
    names = source.run_state.histories.names
    return [*(n for n in _FIRST if n in names), *(n for n in names if n not in _FIRST)]


def story_of(source: Source, chosen: str, caps: Vector) -> Story:
    """Return the story of a run with a chosen metric; empty: the first that its samples hold."""
    names = metrics_of(source)
    metric = chosen if chosen in names else (names[0] if names else "loss")
    references = source.references()
    histories, facts = source.run_state.histories, source.facts
    headline, gains = _headline(source, names, metric)
    return Story(
        metric=starred(metric),
        of_agents=per_agent(metric),
        points=histories.series(metric),
        references=references.of(metric, facts),
        headline=headline,
        gains=gains,
        spent=_spent(source, caps),
    )


def _headline(source: Source, names: Sequence[str], metric: str) -> tuple[str, bool]:
    """Say what is gained over learning alone, by the last sample: its gain where it holds one, as the summary does.

    Before that it is the difference of two means, which compares the same agents where each has a score. Where one has
    none, because it is absent or diverged, nothing is said. It names the score where the chart shows another metric.
    """
    alone = source.references().alone
    state = source.run_state
    for score, sign in _SCORES.items():
        points = state.histories.series(score) if score in names and score in alone else []
        if not points:
            continue
        told = state.histories.series("gain")
        sampled = state.sampled(score)
        if told and told[-1].t_s == points[-1].t_s:
            gain = told[-1].mean
        elif isinstance(sampled, list) and None in sampled:
            return "", False
        else:
            gain = sign * (points[-1].mean - alone[score])
        gain = 0.0 if abs(gain) < _NOTHING else gain
        of_what = "" if metric in {score, "gain"} else f"{score.partition('.')[0]} "
        sign_of = "+" if gain >= 0 else "−"
        return f"{of_what}gain {sign_of}{brief(abs(gain))} over alone", gain > 0
    return "", False


def _spent(source: Source, caps: Vector) -> list[tuple[float, float]]:
    """Return the mean share of budgets at every sample; nothing where an agent has no cap, or none can be told."""
    if not caps.size or np.isnan(caps).any() or not (caps > 0).all():
        return []
    return source.run_state.histories.shares("epsilon", caps)

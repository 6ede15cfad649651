"""The value of a metric in a sample, by the name that a table has for it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenarios.language.json_numbers import aggregate, number
from scenarios.planning.metric_names import split_metric


def value_in(name: str, values: Mapping[str, Any], targets: Mapping[str, Any]) -> float:
    """Return a metric of a sample, folded over agents (the mean, unless its name says else), or a figure of a target.

    NaN where there is none.
    """
    if name in targets:
        return number(targets[name])
    base, how = split_metric(name)
    value = values.get(base)
    if isinstance(value, list):
        return aggregate(np.array([number(one) for one in value]), how or "mean")
    return number(value)

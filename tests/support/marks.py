"""Marks for many parameters at once."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """Return the values as parameters; all but the first of every `step` are marked slow."""
    return [
        pytest.param(value, marks=() if at % step == 0 else pytest.mark.slow)
        for at, value in enumerate(values)
    ]

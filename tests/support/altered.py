"""Mechanisms with a method that does something else."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


def altered(mechanism: Any, **methods: Callable[..., Any]) -> Any:
    """Return a copy of a mechanism in which these methods stand for its own; they take no `self`.

    The copy is of a subclass, so it has every other ability of the original. A wrapper with `__getattr__` would
    have none: from Python 3.12 on, `isinstance` with a Protocol looks at what stands in the class.
    """
    kind = type(mechanism)
    body = {name: staticmethod(method) for name, method in methods.items()}
    changed = copy.copy(mechanism)
    object.__setattr__(changed, "__class__", type(kind.__name__, (kind,), {"__slots__": ()} | body))
    return changed


def overflowing(mechanism: Any, *, state_too: bool = False) -> Any:
    """Return a mechanism whose next vector is infinite, and its next state where that is asked for."""

    def propose(*seen: Any) -> Any:
        step = mechanism.propose(*seen)

        def finish(rng: Any) -> Any:
            state, vector = step.finish(rng)
            vector = None if vector is None else vector * np.inf
            return (vector if state_too else state), vector

        return step._replace(finish=finish)

    return altered(mechanism, propose=propose)

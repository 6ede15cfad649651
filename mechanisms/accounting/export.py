"""A ledger as events of dp-accounting, so that anyone can compose it again with other hands."""

import math
from typing import Any

from mechanisms.accounting.loss import Loss, Tally

ADD_OR_REMOVE, REPLACE = "ADD_OR_REMOVE_ONE", "REPLACE_ONE"
"""Neighbouring relations of dp-accounting. Sensitivities are of a replacement already: additive noise goes with the default."""


def events(bag: Tally) -> dict[str, Any]:
    """Return a composed event for each relation that the library's accountants want.

    Laplace and Gaussian noise are what they are. All else becomes randomised response of the same pure ε, the worst there
    is: its totals are upper bounds. A release without a bound becomes a non-private event.
    """
    from dp_accounting import dp_event

    parts: dict[str, list[Any]] = {ADD_OR_REMOVE: [], REPLACE: []}
    for loss, times in bag.key:
        relation, event = _event(dp_event, loss)
        if (
            relation == REPLACE
        ):  # version 0.6 composes a self-composed randomised response once only
            parts[relation] += [event] * times
        else:
            parts[relation].append(dp_event.SelfComposedDpEvent(event, times))
    return {relation: dp_event.ComposedDpEvent(some) for relation, some in parts.items() if some}


def _event(dp_event: Any, loss: Loss) -> tuple[str, Any]:
    if loss.epsilon == 0:
        return ADD_OR_REMOVE, dp_event.NoOpDpEvent()
    if not math.isfinite(loss.epsilon):
        return ADD_OR_REMOVE, dp_event.NonPrivateDpEvent()
    if loss.law == "gaussian":
        return ADD_OR_REMOVE, dp_event.GaussianDpEvent(1.0 / loss.epsilon)
    if loss.law == "laplace":
        return ADD_OR_REMOVE, dp_event.LaplaceDpEvent(1.0 / loss.epsilon)
    kept = 2.0 / (1.0 + math.exp(loss.epsilon)) if loss.epsilon < 700 else 0.0
    return REPLACE, dp_event.RandomizedResponseDpEvent(kept, 2)


def as_tree(event: Any) -> Any:
    """Return an event as plain data: class names, fields, lists."""
    if isinstance(event, (list, tuple)):
        return [as_tree(each) for each in event]
    fields = getattr(type(event), "__attrs_attrs__", None)
    if fields is None:
        return event
    parts = {field.name: as_tree(getattr(event, field.name)) for field in fields}
    return {"event": type(event).__name__} | {
        "composed" if name == "event" else name: value for name, value in parts.items()
    }

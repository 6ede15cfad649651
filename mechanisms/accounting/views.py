"""What an adversary sees of a run (theory.md, 5.1)."""

import math

OUTSIDER = "outsider"


def epsilon_in(view: str, composed: float, *, shows_unreleased_model: bool) -> float:
    """Return ε in a view, from the composition of all releases.

    An outsider who is shown a model that was never released sees data without noise: ε = ∞ (A15).
    """
    if view == OUTSIDER and shows_unreleased_model:
        return math.inf
    return composed

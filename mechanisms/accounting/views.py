"""What an adversary sees of a run (theory.md, 5.1).

The *eavesdropper* reads all that leaves an agent, delivered or not. The *server* sees what clients send it, or, where they
are added up in secret, the sum minus what colluding clients know of its noise. *Aggregate* is who sees sums only, and
colludes with nobody. The *outsider* sees final models, and is charged for all that was released on the way.
"""

import math
from dataclasses import replace

from mechanisms.accounting.spend import Spend

EAVESDROPPER, SERVER, AGGREGATE, OUTSIDER = VIEWS = (
    "eavesdropper", "server", "aggregate", "outsider",
)  # fmt: skip
OF_SERVERS = (SERVER, AGGREGATE)
"""Views that exist only where there is a server."""


def seen_in(view: str, spend: Spend) -> Spend:
    """Return what a release costs in a view."""
    if view == AGGREGATE and spend.summed is not None:
        return replace(spend, charged=spend.summed)
    return spend


def epsilon_in(view: str, composed: float, *, shows_unreleased_model: bool) -> float:
    """Return ε in a view, from the composition of all releases.

    An outsider who is shown a model that was never released sees data without noise: ε = ∞ (A15).
    """
    if view == OUTSIDER and shows_unreleased_model:
        return math.inf
    return composed

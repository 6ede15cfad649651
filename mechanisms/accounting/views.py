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
    match view:
        case "aggregate":
            return spend if spend.summed is None else replace(spend, charged=spend.summed)
        case "eavesdropper" | "server" | "outsider":
            return spend
        case _:
            raise NotImplementedError(
                f"nothing is written that the view {view!r} sees of a release"
            )


def epsilon_in(view: str, composed: float, *, shows_unreleased_model: bool) -> float:
    """Return ε in a view, from the composition of all releases.

    An outsider who is shown a model that was never released sees data without noise: ε = ∞ (A15).
    """
    match view:
        case "outsider":
            return math.inf if shows_unreleased_model else composed
        case "eavesdropper" | "server" | "aggregate":
            return composed
        case _:
            raise NotImplementedError(f"no ε is written for the view {view!r}")

"""What an adversary sees of a run (theory.md, 5.1).

The *eavesdropper* reads all that leaves an agent, delivered or not. The *server* sees what clients send it, or, where they
are added up in secret, the sum minus what colluding clients know of its noise. *Aggregate* is an adversary that sees sums only, and
colludes with no client. The *outsider* sees final models, and is charged for all that was released on the way. Of steps that
are hidden behind the last model of a server it sees that model only, not the copy that a client keeps: a client that missed
the last message has an earlier one, and two models in a row show a step.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from mechanisms.accounting import gaussian
from mechanisms.accounting.loss import Loss, Tally, loss_of
from mechanisms.accounting.spend import Spend

EAVESDROPPER, SERVER, AGGREGATE, OUTSIDER = VIEWS = (
    "eavesdropper",
    "server",
    "aggregate",
    "outsider",
)
WORDS = {
    EAVESDROPPER: "Reads all that leaves an agent, delivered or not: every release of every agent.",
    SERVER: "Sees what clients send it or, where they are added up in secret, the sum minus what colluding clients know of "
    "its noise.",
    AGGREGATE: "Sees sums over clients only, and colludes with no client.",
    OUTSIDER: "Sees final models only. It is charged for all that was released on the way, but for noisy steps that only the "
    "last model shows; a model that was never released costs it ε = ∞.",
}
"""What each adversary sees, in sentences."""
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


_LAST = "last iterate"
"""The law of a step of which an outsider sees only the sum of all: the μ of a step, and its contraction."""


def loss_in(view: str, spend: Spend) -> Loss:
    """Return the loss of a release as an adversary sees it; of several last iterates `composable` makes one loss."""
    if view == OUTSIDER and spend.hidden is not None and math.isfinite(spend.charged):
        return Loss(_LAST, spend.hidden.mu, 0, spend.hidden.contraction)
    return loss_of(seen_in(view, spend))


def add_in(view: str, bag: Tally, spends: Iterable[Spend]) -> Tally:
    """Count releases as an adversary sees them, and return the bag."""
    for spend, equal in groupby(spends):
        bag.add(loss_in(view, spend), sum(1 for _ in equal))
    return bag


def has_hidden_steps(bag: Tally) -> bool:
    """Whether a bag holds steps of which only the last is seen."""
    return _LAST in bag.laws


def composable(bag: Tally) -> Tally:
    """Return a bag that every accountant can compose: all steps behind one last model are one Gaussian loss.

    Steps of different noise or contraction are composed one by one, as if all were seen.
    """
    if not has_hidden_steps(bag):
        return bag
    hidden = [(loss, times) for loss, times in bag.key if loss.law == _LAST]
    seen = Tally((loss, times) for loss, times in bag.key if loss.law != _LAST)
    if len(hidden) == 1 and not len(seen):
        (loss, times) = hidden[0]
        seen.add(Loss("gaussian", loss.epsilon * gaussian.last_iterate(loss.jacobian, times)))
        return seen
    for loss, times in hidden:
        seen.add(Loss("gaussian", loss.epsilon), times)
    return seen


def epsilon_in(view: str, composed: float, *, shows_unreleased_model: bool) -> float:
    """Return ε in a view, from the composition of all releases.

    An outsider that is shown a model that was never released sees data without noise: ε = ∞ (A15).
    """
    match view:
        case "outsider":
            return math.inf if shows_unreleased_model else composed
        case "eavesdropper" | "server" | "aggregate":
            return composed
        case _:
            raise NotImplementedError(f"no ε is written for the view {view!r}")

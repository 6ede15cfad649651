"""ε of an agent's releases as reports state it: one rule for live screens, summaries, folders, forecasts and audits."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mechanisms.accounting.compose import TIGHTEST, claims_of, headline, totals
from mechanisms.accounting.loss import Tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import (
    EAVESDROPPER,
    OUTSIDER,
    add_in,
    composable,
    epsilon_in,
    has_hidden_steps,
)

if TYPE_CHECKING:
    from mechanisms.accounting.filter import Cap


class Reader(NamedTuple):
    """In which view an agent's ε is stated, by which accountant, at which δ, and under which cap.

    `adaptive` says that releases may depend on earlier outputs: code of one's own without a schedule. `shows_model` says
    that an outsider is shown a model that was never released.
    """

    view: str
    accountant: str
    delta: float
    cap: "Cap | None" = None
    adaptive: bool = False
    shows_model: bool = False


def simplest(reader: Reader, bag: Tally) -> Reader:
    """Return a reader to whom a bag costs the same: all but an outsider compose what they see as the eavesdropper does."""
    if reader.view == OUTSIDER and (reader.shows_model or has_hidden_steps(bag)):
        return reader
    return reader._replace(view=EAVESDROPPER, shows_model=False)


def at_risk(
    releases: Tally, planned: Sequence[Spend] | None, charged: int, reader: Reader, *, stopped: bool
) -> Tally:
    """Return what is composed: the first `charged` releases, and all that a stopped agent had still planned.

    An agent that diverged was stopped by its own outputs, so that its number of releases says something of its data; what
    it would have spent does not (theory.md, 5.5).
    """
    if not stopped or planned is None:
        return releases
    return add_in(reader.view, Tally(releases.key), planned[charged:])


def epsilon_of(
    whole: Tally, reader: Reader, *, unplanned_stop: bool = False, but: tuple[str, ...] = ()
) -> tuple[float, str]:
    """Return ε of all that is at risk (`at_risk`), and the accountant or filter that it is by.

    `unplanned_stop` says that the agent diverged and had planned nothing that could be charged instead: then only what is
    valid for adaptive releases counts. `but` names accountants that are left out.
    """
    adaptive = reader.adaptive or unplanned_stop
    bag = _composable(whole, reader)
    epsilon, name = headline(bag, reader.delta, reader.accountant, adaptive=adaptive, but=but)
    cap = reader.cap if reader.adaptive and reader.accountant == TIGHTEST else None
    if cap is not None and len(whole) and cap.epsilon < epsilon:
        # what is proved of adaptive releases is the cap that was set in advance
        epsilon, name = cap.epsilon, f"{cap.accountant} filter"
    return epsilon_in(reader.view, epsilon, shows_unreleased_model=reader.shows_model), name


def side_by_side(
    whole: Tally, reader: Reader, *, unplanned_stop: bool = False, but: tuple[str, ...] = ()
) -> dict[str, float]:
    """Return ε of the same releases under every accountant that has a claim for them.

    An accountant in `but` is not asked: its ε is at most the least of the others', which stands for it.
    """
    bag, adaptive = _composable(whole, reader), reader.adaptive or unplanned_stop
    epsilons = totals(bag, reader.delta, adaptive=adaptive, but=but)
    skipped = set(but) & set(claims_of(bag, reader.delta, adaptive=adaptive))
    return epsilons | dict.fromkeys(skipped, min(epsilons.values(), default=math.inf))


def _composable(bag: Tally, reader: Reader) -> Tally:
    """Return a bag in which the hidden steps that an outsider sees the end of are one loss."""
    return composable(bag) if reader.view == OUTSIDER else bag


def largest_of_all(epsilons: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the largest ε of several ledgers under every accountant that has a claim for each of them.

    One without a claim for some ledger bounds no largest ε: basic composition knows no Gaussian noise.
    """
    each = list(epsilons)
    names = [name for name in (each[0] if each else ()) if all(name in one for one in each)]
    return {name: max(one[name] for one in each) for name in names}

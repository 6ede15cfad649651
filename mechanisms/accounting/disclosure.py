"""ε of an agent's releases as it is told: one rule for live screens, summaries, folders, forecasts and audits."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mechanisms.accounting.compose import claims_of, headline, totals
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.loss import Tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import OUTSIDER, add_in, composable, epsilon_in


class Reader(NamedTuple):
    """Under whose eyes an agent's ε is told, by whose arithmetic, at which δ, and under which cap.

    `adaptive` says that releases may depend on earlier outputs: code of one's own without a schedule. `shows_model` says
    that an outsider is shown a model that was never released.
    """

    view: str
    accountant: str
    delta: float
    cap: Cap | None = None
    adaptive: bool = False
    shows_model: bool = False


def at_risk(
    releases: Tally, planned: Sequence[Spend] | None, made: int, reader: Reader, *, stopped: bool
) -> Tally:
    """Return what is composed: the `made` releases that were charged, and all that a stopped agent had still planned.

    An agent that diverged was stopped by its own outputs, so that its number of releases says something of its data; what
    it would have spent does not (theory.md, 5.5).
    """
    if not stopped or planned is None:
        return releases
    return add_in(reader.view, Tally(releases.key), planned[made:])


def _composable(bag: Tally, reader: Reader) -> Tally:
    return composable(bag) if reader.view == OUTSIDER else bag


def epsilon_of(
    releases: Tally,
    reader: Reader,
    *,
    planned: Sequence[Spend] | None = None,
    made: int = 0,
    stopped: bool = False,
    but: tuple[str, ...] = (),
) -> tuple[float, str]:
    """Return ε of an agent's releases, and the accountant or filter that it is by.

    `releases` are its losses in the reader's view (`views.add_in`), `made` their number, `planned` all that it meant to
    release (None where nothing was planned), `stopped` whether it diverged, `but` the accountants that are left out.
    """
    whole = at_risk(releases, planned, made, reader, stopped=stopped)
    adaptive = reader.adaptive or (stopped and planned is None)
    found, name = headline(
        _composable(whole, reader), reader.delta, reader.accountant, adaptive=adaptive, but=but
    )
    cap = reader.cap
    if (
        reader.adaptive
        and reader.accountant == "tightest"
        and cap is not None
        and len(whole)
        and cap.epsilon < found
    ):
        found, name = (
            cap.epsilon,
            f"{cap.accountant} filter",
        )  # what is proved is the cap set in advance
    return epsilon_in(reader.view, found, shows_unreleased_model=reader.shows_model), name


def side_by_side(
    releases: Tally,
    reader: Reader,
    *,
    planned: Sequence[Spend] | None = None,
    made: int = 0,
    stopped: bool = False,
    but: tuple[str, ...] = (),
) -> dict[str, float]:
    """Return ε of the same releases under every accountant that has a claim for them.

    An accountant in `but` is not asked: its ε is at most the least of the others', and that is told.
    """
    whole = _composable(at_risk(releases, planned, made, reader, stopped=stopped), reader)
    adaptive = reader.adaptive or (stopped and planned is None)
    found = totals(whole, reader.delta, adaptive=adaptive, but=but)
    skipped = set(but) & set(claims_of(whole, reader.delta, adaptive=adaptive))
    return found | dict.fromkeys(skipped, min(found.values(), default=math.inf))


def largest_of_all(told: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the largest ε of several ledgers under every accountant that has a claim for each of them.

    One that has none for some ledger says nothing of the largest: basic composition knows no Gaussian noise.
    """
    each = list(told)
    names = [name for name in (each[0] if each else ()) if all(name in one for one in each)]
    return {name: max(one[name] for one in each) for name in names}

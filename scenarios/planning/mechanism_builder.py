"""From a mechanism's table and the public facts to the mechanism of every agent."""

from collections import Counter
from dataclasses import replace

from mechanisms.accounting.accountant import EPSILON
from mechanisms.accounting.accountants import rdp, simplest
from mechanisms.accounting.calibrate import Case, tightest
from mechanisms.accounting.compose import TIGHTEST
from scenarios.planning.mechanism import Builder, record_of
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.public_facts import Public
from scenarios.planning.release_charges import case_of


def calibrator(table: MechanismTable, public: Public) -> str | None:
    """Return the accountant that admits the least noise for these agents; None where one is named, or none is needed.

    Where noise does not follow from a budget, an accountant only holds caps.
    """
    kind = record_of(table)
    open_ended = any(terms.calibrate == TIGHTEST for terms in public.terms)
    if kind.noise is None or kind.unit(table) is None or not open_ended:
        return None
    if kind.gives_noise(table):
        # of one release with a pure ε, basic composition says all; the Rényi filter needs no plan
        return simplest(EPSILON, 0.0) if kind.noise.one_release else rdp.ACCOUNTANT.name
    calibrated = Counter(
        (terms, wanted)
        for i, terms in enumerate(public.terms)
        if (wanted := kind.noise.scheme(table, i, public)) is not None
    )
    cases = Counter[Case]()
    for (terms, wanted), times in calibrated.items():  # agents of equal terms are one case
        case = case_of(terms, wanted)
        if case is not None:
            cases[case] += times
    return tightest(cases) if cases else None


def builder(table: MechanismTable, public: Public, calibrate: str | None) -> Builder:
    """Return what makes the mechanisms; `calibrate` is the accountant that `calibrator` chose."""
    if calibrate is not None:
        settled = {terms: replace(terms, calibrate=calibrate) for terms in set(public.terms)}
        public = replace(public, terms=tuple(settled[terms] for terms in public.terms))
    return record_of(table).build(table, public)

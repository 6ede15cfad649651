"""The terms of an ε: without its view, its δ and its accountant it is no statement."""

from collections.abc import Iterable

import msgspec

from scenarios.language.json_numbers import show
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import SweepRecord

UNIT = "one record of one agent replaced"
"""What any two data sets that ε compares differ in."""


class EpsilonTerms(msgspec.Struct, frozen=True):
    """The adversary, the δ and the accountant of the ε of one run, and why it does not cover the run, where it does not."""

    view: str
    delta: float
    accountant: str
    not_covered: tuple[str, ...] = ()

    @property
    def guarantee(self) -> tuple[str, float]:
        """What two ε must have in common to be compared; accountants may differ, for each gives an upper bound."""
        return self.view, self.delta


def terms_of(record: RunRecord) -> EpsilonTerms | None:
    """Return the terms of a run's ε; None where it has no summary of its end. Raises `FolderError` where that is damaged."""
    if not record.is_judged:
        return None
    with guarded(record.path):
        return msgspec.convert(record.summary["epsilon"], EpsilonTerms)


def terms_of_sweep(sweep: SweepRecord) -> dict[EpsilonTerms, int]:
    """Return the terms of ε in the finished runs of a sweep, each with how many runs have them; runs that are gone have none."""
    counts: dict[EpsilonTerms, int] = {}
    for row in sweep.rows:
        if not row.is_finished:
            continue
        try:
            terms = terms_of(sweep.run(row))
        except FolderError:
            continue
        if terms is not None:
            counts[terms] = counts.get(terms, 0) + 1
    return counts


def in_words(all_terms: Iterable[EpsilonTerms]) -> str:
    """Return terms in words, those of several runs at once: `eavesdropper view, δ = 1e-05, accountant: gaussian or rdp`."""
    terms = list(all_terms)
    views = _either(term.view for term in terms)
    deltas = _either(show(term.delta) for term in terms)
    accountants = _either(term.accountant for term in terms)
    return f"{views} view, δ = {deltas}, accountant: {accountants}"


def _either(words: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(words))

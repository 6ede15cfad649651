"""Schedules of releases as numbers: every spend of any schedule once, and what caps say of whole schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.arena.columns import Words
from actors.turns import Spends
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend

if TYPE_CHECKING:
    from mechanisms.accounting.filter import Cap


class Unfit(Exception):
    """The wakes of an agent cannot be computed together with those of others; the argument says why, for a person."""


class Schedules:
    """The schedules of a world, one after the other in one list: equal ones lie at one place."""

    def __init__(self) -> None:
        self.spends: list[Spend] = []
        """Every spend of any schedule, once."""
        self.numbers: dict[Spend, int] = {}
        """The place of each among them."""
        self.scheduled: list[int] = []
        """For each release of each schedule, the number of its spend."""
        self._schedules: dict[tuple[int, ...], int] = {}
        self._known: dict[int, tuple[int, Sequence[Spend]]] = {}
        self._admitted: dict[tuple[int, int, int], tuple[Any, bool]] = {}

    def place(self, spends: Sequence[Spend]) -> int:
        """Return where the spends of a schedule begin."""
        known = self._known.get(id(spends))
        if known is None:
            numbers = tuple(map(self._number, spends))
            start = self._schedules.get(numbers)
            if start is None:
                start = self._schedules[numbers] = len(self.scheduled)
                self.scheduled += numbers
            known = self._known[id(spends)] = start, spends
        return known[0]

    def _number(self, spend: Spend) -> int:
        number = self.numbers.setdefault(spend, len(self.spends))
        if number == len(self.spends):
            self.spends.append(spend)
        return number

    def admits_all(self, cap: Cap, spends: Sequence[Spend], start: int) -> bool:
        """Whether a cap admits every release of a schedule: asked of the cap itself, release by release, once for each pair."""
        key = id(cap), start, len(spends)
        known = self._admitted.get(key)
        if known is None:
            ledger, admitted = Ledger(), True
            for spend in spends:
                if not cap.admits(ledger, spend):
                    admitted = False
                    break
                ledger.charge(spend)
            known = self._admitted[key] = cap, admitted
        return known[1]

    def note_places(self, places: Words, first: int, table: Spends) -> int:
        """Note in `places` where the log has put spends, from a place of its table on; return how many that table has."""
        for place in range(first, len(table.table)):
            known = self.numbers.get(table.table[place])
            if known is not None:
                places[known] = place
        return len(table.table)

    def nowhere(self) -> Words:
        """Return the places of all spends in the table of the log as long as it has none of them."""
        return np.full(len(self.spends), -1, np.int64)

"""What caps say of releases that are fixed in advance: asked once for all agents that share both."""

from collections.abc import Sequence

from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend

Schedule = Sequence[Spend]


class Admissions:
    """The verdicts of one cap on one schedule, filled by the cap itself as they are asked for.

    Release k follows the first k of the schedule: an agent that makes releases in its order has no other ledger then.
    """

    __slots__ = ("_cap", "_ledger", "_schedule", "_verdicts")

    def __init__(self, cap: Cap, schedule: Schedule) -> None:
        self._cap = cap
        self._schedule = schedule
        self._ledger = Ledger()
        self._verdicts: list[bool] = []

    def has(self, k: int, spend: Spend) -> bool:
        """Whether release k of the schedule is the one that costs this spend: that very object."""
        return k < len(self._schedule) and self._schedule[k] is spend

    def admits(self, k: int) -> bool:
        """Whether the cap admits release k after those before it. Raises IndexError beyond the schedule."""
        verdicts = self._verdicts
        while len(verdicts) <= k:
            spend = self._schedule[len(verdicts)]
            verdicts.append(self._cap.admits(self._ledger, spend))
            self._ledger.note(spend)
        return verdicts[k]


class AdmissionTables:
    """The verdicts of all caps of a world on its schedules: the same two objects have one table."""

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        self._tables: dict[tuple[int, int], tuple[Cap, Schedule, Admissions]] = {}

    def of(self, cap: Cap, schedule: Schedule) -> Admissions:
        """Return the table of a cap and a schedule."""
        name = id(cap), id(schedule)
        kept = self._tables.get(name)
        if kept is None:  # the two are kept with it, so that no others can have their ids
            kept = self._tables[name] = cap, schedule, Admissions(cap, schedule)
        return kept[2]

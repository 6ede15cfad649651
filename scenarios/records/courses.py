"""The charges of many agents, kept by what agents have in common: the same releases, made so many times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.vectors import distinct

Numbers = NDArray[np.int64]

NONE, OWN = -1, -2
"""In place of the number of a course: of an agent that has none yet, and of one whose releases are a list of its own."""
_ENDLESS = 1 << 62
_MOST_SEEN = 65_536


@dataclass(frozen=True, slots=True)
class Course:
    """Releases that several agents make, one after the other; each has made the first so many of them."""

    spends: tuple[Spend, ...]
    """The last of them is repeated up to `length`."""
    length: int
    is_planned: bool
    """Whether it was planned: else it is a first spend, repeated for as long as nothing else is charged."""

    def spend(self, k: int) -> Spend:
        """Return the spend of release k."""
        return self.spends[min(k, len(self.spends) - 1)]

    def between(self, first: int, end: int) -> list[Spend]:
        """Return the spends of releases `first` to `end` − 1."""
        repeated = max(0, end - max(first, len(self.spends)))
        return [*self.spends[first:end], *self.spends[-1:] * repeated]

    @property
    def planned(self) -> list[Spend] | None:
        """All planned releases; None where none were."""
        return self.between(0, self.length) if self.is_planned else None


class Courses:
    """The charges of every agent: the number of its course and how many releases it made; a list where it left its course.

    Spends are compared by their values. An agent without a plan takes the course of its first spend.
    """

    def __init__(self, planned: Iterable[Sequence[Spend] | None]) -> None:
        self.all: list[Course] = []
        self._places: dict[Spend, int] = {}
        self._seen: dict[int, tuple[Spend, int]] = {}
        self._numbers: dict[tuple[tuple[int, ...], int, bool], int] = {}
        self._flat = np.zeros(0, np.int64)
        self._firsts = np.zeros(0, np.int64)
        self._lasts = np.zeros(0, np.int64)
        self._lengths = np.zeros(0, np.int64)
        self._courses: list[tuple[int, ...]] = []
        self._kinds: list[int] = []
        self._kind_numbers: dict[tuple[tuple[int, ...], int, bool], int] = {}
        self._cost_numbers: dict[Spend, int] = {}
        self._table: list[Spend] | None = None
        self._of_table = np.zeros(0, np.int64)
        known: dict[int, tuple[Sequence[Spend], int]] = {}
        courses = list[int]()
        for spends in planned:
            if spends is None:
                courses.append(NONE)
                continue
            same = known.get(id(spends))
            if same is None:
                same = known[id(spends)] = spends, self._planned(spends)
            courses.append(same[1])
        self.course: Numbers = np.array(courses, np.int64)
        """The number of each agent's course in `all`, or NONE, or OWN."""
        self.counts: Numbers = np.zeros(len(courses), np.int64)
        """How many releases of each agent were charged."""
        self._own: dict[int, Ledger] = {}

    def _planned(self, spends: Sequence[Spend]) -> int:
        last = spends[-1] if spends else None
        if all(spend is last for spend in spends):
            return self._number((last,) if last is not None else (), len(spends), is_planned=True)
        return self._number(tuple(spends), len(spends), is_planned=True)

    def _number(self, spends: tuple[Spend, ...], length: int, *, is_planned: bool) -> int:
        """Return the number of a course; a new one gets the next."""
        places = tuple(map(self._place, spends))
        key = places, length, is_planned
        number = self._numbers.setdefault(key, len(self.all))
        if number == len(self.all):
            self.all.append(Course(spends, length, is_planned))
            self._courses.append(places)
            costs = tuple(map(self._cost, spends))
            kind = self._kind_numbers.setdefault((costs, length, is_planned), len(self._kinds))
            self._kinds.append(kind)
        return number

    def _cost(self, spend: Spend) -> int:
        """Return the number of what a spend costs: of spends that differ in scale and sensitivity only it is one."""
        cost = replace(spend, scale=0.0, sensitivity=0.0)
        return self._cost_numbers.setdefault(cost, len(self._cost_numbers))

    def _place(self, spend: Spend) -> int:
        """Return the number of a spend: equal ones have one."""
        seen = self._seen.get(id(spend))
        if seen is not None and seen[0] is spend:
            return seen[1]
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        place = self._places.setdefault(spend, len(self._places))
        self._seen[id(spend)] = spend, place
        return place

    def _lay_flat(self) -> None:
        """Bring the arrays of courses up to date."""
        known = len(self._firsts)
        if known == len(self.all):
            return
        fresh = self._courses[known:]
        sizes = np.array([len(places) for places in fresh], np.int64)
        firsts = len(self._flat) + np.cumsum(sizes) - sizes
        places = np.array([place for each in fresh for place in each], np.int64)
        lengths = np.array([course.length for course in self.all[known:]], np.int64)
        self._flat = np.concatenate([self._flat, places])
        self._firsts = np.concatenate([self._firsts, firsts])
        self._lasts = np.concatenate([self._lasts, np.maximum(sizes - 1, 0)])
        self._lengths = np.concatenate([self._lengths, lengths])

    def charge(self, agent: int, spend: Spend) -> None:
        """Count one more release of an agent."""
        number, k = int(self.course[agent]), int(self.counts[agent])
        if number == NONE:
            number = self._number((spend,), _ENDLESS, is_planned=False)
            self.course[agent] = number
        if number >= 0:
            course = self.all[number]
            if k >= course.length or self._place(course.spend(k)) != self._place(spend):
                self._leave(agent)
        if self.course[agent] == OWN:
            self._own[agent].note(spend)
        self.counts[agent] = k + 1

    def _leave(self, agent: int) -> None:
        """Give an agent a list of its own: its next release is not that of its course."""
        self._own[agent] = self.ledger(agent)
        self.course[agent] = OWN

    def charge_many(self, agents: Numbers, places: Numbers, table: list[Spend]) -> None:
        """Count releases of agents in their order; `places` says where in a table of spends each one's is.

        The table may grow between calls. One that is another object begins anew.
        """
        if not len(agents):
            return
        if self._table is not table:
            self._table, self._of_table = table, np.zeros(0, np.int64)
        fresh = np.full(len(table) - len(self._of_table), -1, np.int64)
        self._of_table = np.concatenate([self._of_table, fresh])
        new = np.flatnonzero(self.course[agents] == NONE)
        for agent, at in zip(
            *map(np.ndarray.tolist, np.unique(agents[new], return_index=True)), strict=True
        ):
            first = table[int(places[new[at]])]
            self.course[agent] = self._number((first,), _ENDLESS, is_planned=False)
        self._lay_flat()
        met = distinct(places[self.course[agents] >= 0])
        for place in met[self._of_table[met] < 0].tolist():
            self._of_table[place] = self._place(table[place])
        order = np.argsort(agents, kind="stable")
        whose = agents[order]
        starts = np.flatnonzero(np.concatenate([[True], whose[1:] != whose[:-1]]))
        sizes = np.diff(np.append(starts, len(whose)))
        k = self.counts[whose] + np.arange(len(whose)) - np.repeat(starts, sizes)
        number = self.course[whose]
        follows = number >= 0
        follows[follows] = k[follows] < self._lengths[number[follows]]
        on, number = k[follows], number[follows]
        due = self._flat[self._firsts[number] + np.minimum(on, self._lasts[number])]
        follows[follows] = due == self._of_table[places[order]][follows]
        whole = np.logical_and.reduceat(follows, starts)
        self.counts[whose[starts[whole]]] += sizes[whole]
        for start, size in zip(starts[~whole].tolist(), sizes[~whole].tolist(), strict=True):
            agent = int(whose[start])
            for at in order[start : start + size].tolist():
                self.charge(agent, table[int(places[at])])

    @property
    def kinds(self) -> Numbers:
        """The kind of each agent's course, or NONE, or OWN.

        Courses of one kind cost the same, release by release: only scale and sensitivity of their noise differ.
        """
        kinds = np.array(self._kinds, np.int64)
        on = self.course >= 0
        each: Numbers = self.course.copy()
        each[on] = kinds[self.course[on]]
        return each

    def kind(self, agent: int) -> int:
        """Return that of one agent."""
        number = int(self.course[agent])
        return self._kinds[number] if number >= 0 else number

    def since(self, agent: int, first: int) -> list[Spend]:
        """Return the spends of an agent from release `first` on."""
        number, count = int(self.course[agent]), int(self.counts[agent])
        if number == OWN:
            return self._own[agent].since(first)
        if number == NONE or first >= count:
            return []
        return self.all[number].between(first, count)

    def ledger(self, agent: int) -> Ledger:
        """Return the charges of an agent as a ledger: what is charged later is not in it."""
        ledger = Ledger()
        for spend in self.since(agent, 0):
            ledger.note(spend)
        return ledger

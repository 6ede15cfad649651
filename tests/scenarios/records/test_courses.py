"""Charges that agents have in common are kept once, and tell what a list of each agent's charges tells."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import tally
from mechanisms.accounting.spend import Spend
from scenarios.records.courses import OWN, Courses

BASE = Spend("cd", "laplace", "corrected", 1.0, 1.0, "l1", 3, 0.0, 0.1, 0.1)
SPENDS = [replace(BASE, charged=charge) for charge in (0.1, 0.2, 0.3)]
PLANS = [None, (), (SPENDS[0],) * 4, (*SPENDS, *SPENDS[::-1]), (SPENDS[0], SPENDS[1])]
AGENTS = 4

plans = st.lists(st.sampled_from(PLANS), min_size=AGENTS, max_size=AGENTS)
charges = st.lists(st.tuples(st.integers(0, AGENTS - 1), st.integers(0, 2)), max_size=40)


def copied(spend: Spend) -> Spend:
    """An equal spend that is another object, as mechanisms make one at each release."""
    return replace(spend)


def one_by_one(courses: Courses, made: list[tuple[int, int]]) -> None:
    for agent, place in made:
        courses.charge(agent, copied(SPENDS[place]))


def in_batches(courses: Courses, made: list[tuple[int, int]]) -> None:
    """In batches of seven, whose table grows as spends are met."""
    table: list[Spend] = []
    for first in range(0, len(made), 7):
        batch = made[first : first + 7]
        table += [s for s in (SPENDS[place] for _, place in batch) if s not in table]
        places = [table.index(SPENDS[place]) for _, place in batch]
        courses.charge_many(np.array([a for a, _ in batch]), np.array(places), table)


@pytest.mark.parametrize("charge", [one_by_one, in_batches])
@given(plans, charges)
def test_courses_hold_what_was_charged(
    charge: Callable[[Courses, list[tuple[int, int]]], None],
    planned: list[tuple[Spend, ...] | None],
    made: list[tuple[int, int]],
) -> None:
    courses = Courses(planned)
    charge(courses, made)
    for agent in range(AGENTS):
        told = [SPENDS[place] for whose, place in made if whose == agent]
        assert courses.counts[agent] == len(told)
        assert list(courses.ledger(agent).spends) == told
        for first in range(len(told) + 2):
            assert courses.since(agent, first) == told[first:]


@given(st.lists(st.integers(0, 2), max_size=12))
def test_a_ledger_is_the_list_of_its_charges(made: list[int]) -> None:
    ledger, told = Ledger(), [SPENDS[place] for place in made]
    assert [ledger.charge(spend) for spend in told] == list(range(len(told)))
    assert (len(ledger), list(ledger.spends)) == (len(told), told)
    assert [ledger.at(k) for k in range(len(told))] == told
    for first in range(len(told) + 2):
        assert ledger.since(first) == told[first:]
    assert ledger.tally.key == tally(told).key
    with pytest.raises(IndexError):
        ledger.at(len(told))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=6))
def test_several_equal_charges_are_as_many_single_ones(runs: list[tuple[int, int]]) -> None:
    at_once, singly = Ledger(), Ledger()
    for place, times in runs:
        assert at_once.charge(SPENDS[place], times) == len(singly)
        for _ in range(times):
            singly.charge(SPENDS[place])
        assert at_once.sums == singly.sums
    assert at_once.spends == singly.spends


def test_agents_that_follow_one_plan_have_one_course() -> None:
    """A thousand plans of equal values are one; an agent that leaves it is alone."""
    courses = Courses(tuple(map(copied, PLANS[3] or ())) for _ in range(1000))
    for agent in range(1000):
        courses.charge(agent, copied(SPENDS[0]))
    assert len(courses.all) == 1
    courses.charge(7, SPENDS[2])
    assert courses.course.tolist().count(OWN) == 1
    assert courses.course[7] == OWN


def test_charges_on_a_course_take_no_memory() -> None:
    """A million releases of ten thousand agents, in place of eight megabytes of pointers."""
    planned = (SPENDS[0],) * 100
    courses, agents = Courses([planned] * 10_000), np.arange(10_000)
    courses.charge_many(agents, np.zeros(10_000, np.int64), [SPENDS[0]])
    tracemalloc.start()
    for _ in range(99):
        courses.charge_many(agents, np.zeros(10_000, np.int64), [SPENDS[0]])
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert courses.counts.tolist() == [100] * 10_000
    assert grown < 200_000

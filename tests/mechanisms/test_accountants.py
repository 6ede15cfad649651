"""An accountant is one record: everything that lists accountants folds over the records."""

import pytest

from mechanisms.accounting.accountant import EPSILON, MIXED, MU, Accountant, unit_of
from mechanisms.accounting.accountants import ACCOUNTANTS, named, simplest
from mechanisms.accounting.calibrate import CANDIDATES
from mechanisms.accounting.compose import by, claims_of
from mechanisms.accounting.loss import Loss, Sums, Tally

BAGS = {
    EPSILON: Tally([(Loss("pure", 0.1), 3)]),
    MU: Tally([(Loss("gaussian", 0.1), 3)]),
    MIXED: Tally([(Loss("pure", 0.1), 3), (Loss("gaussian", 0.1), 3)]),
}


@pytest.mark.parametrize("unit", BAGS)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_what_is_asked_is_what_has_a_claim(unit: str, delta: float) -> None:
    bag = BAGS[unit]
    assert unit_of(bag.sums) == unit
    asked = claims_of(bag, delta)
    assert asked == tuple(n for n, one in ACCOUNTANTS.items() if one.has_claim(unit, delta))
    assert asked[0] == simplest(unit, delta)
    if delta:
        assert all(by(name, bag, delta) < 10 for name in asked)


def test_the_simplest_argument_comes_first() -> None:
    places = [one.simplicity for one in ACCOUNTANTS.values()]
    assert places == sorted(set(places))


def test_what_another_accountant_bounds_is_known_to_exist() -> None:
    for one in ACCOUNTANTS.values():
        for other in (one.stand_in, one.never_below):
            assert other is None or (other in ACCOUNTANTS and other != one.name)
        assert one.never_below is None or one.never_below in CANDIDATES


def test_an_accountant_has_one_formula_and_a_known_name() -> None:
    with pytest.raises(ValueError, match="one formula"):
        Accountant(name="new", simplicity=9, claims_for=frozenset())
    with pytest.raises(ValueError, match="unknown accountant 'new'"):
        named("new")
    assert by("zcdp", Tally(), 1e-5) == 0.0
    assert not ACCOUNTANTS["kov"].is_asked(Sums(1, float("inf")), 1e-5)

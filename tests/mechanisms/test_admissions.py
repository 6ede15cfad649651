"""A table of a cap's verdicts says what the cap says of each release, however it is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.accounting.accountants import ACCOUNTANTS
from mechanisms.accounting.admissions import Admissions, AdmissionTables
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend


def spend(charge: float, law: str = "norm-gamma") -> Spend:
    return Spend("own", law, "as_derived", 1.0, 1.0, "l2", 3, 0.0, charge, charge)


@pytest.mark.parametrize("accountant", sorted(ACCOUNTANTS))
@given(
    charges=st.lists(st.sampled_from([0.1, 0.7, 2.0]), min_size=1, max_size=12),
    epsilon=st.sampled_from([0.05, 1.0, 4.0]),
    data=st.data(),
)
def test_a_table_is_the_cap_on_each_prefix(
    accountant: str, charges: list[float], epsilon: float, data: st.DataObject
) -> None:
    cap, schedule = Cap(epsilon, 1e-5, accountant), tuple(map(spend, charges))
    expected, ledger = [], Ledger()
    for each in schedule:
        expected.append(cap.admits(ledger, each))
        ledger.charge(each)
    table = Admissions(cap, schedule)
    order = data.draw(st.permutations(range(len(schedule))))
    assert [table.admits(k) for k in order] == [expected[k] for k in order]
    with pytest.raises(IndexError):
        table.admits(len(schedule))


def test_the_same_cap_and_schedule_have_one_table_and_others_have_theirs() -> None:
    """Equal things are not the same: their tables may differ in nothing but work."""
    tables, caps = AdmissionTables(), [Cap(1.0, 1e-5, "basic"), Cap(2.0, 1e-5, "basic")]
    schedules = [(spend(0.7),) * 4, (spend(0.1),) * 4]
    made = {
        (i, j): tables.of(cap, s) for i, cap in enumerate(caps) for j, s in enumerate(schedules)
    }
    assert len(set(map(id, made.values()))) == 4
    assert all(tables.of(caps[i], schedules[j]) is table for (i, j), table in made.items())
    assert [made[0, 0].admits(k) for k in range(4)] == [True, False, False, False]
    assert [made[1, 0].admits(k) for k in range(4)] == [True, True, False, False]

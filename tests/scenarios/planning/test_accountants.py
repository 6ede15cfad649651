"""What scenarios may name as an accountant follows from its record."""

from mechanisms.accounting.accountants import ACCOUNTANTS
from mechanisms.accounting.calibrate import CANDIDATES
from scenarios.planning.accountant import KINDS, named
from scenarios.planning.metric_names import METRICS
from scenarios.planning.release_charges import Terms


def test_every_kind_has_its_mathematics_and_its_metric() -> None:
    assert set(KINDS) == set(ACCOUNTANTS) - {"kov_printed"}
    for name, kind in KINDS.items():
        assert kind.accountant is ACCOUNTANTS[name]
        assert f"epsilon.{name}" in METRICS


def test_what_may_calibrate_is_what_the_tightest_is_chosen_from() -> None:
    assert named(lambda kind: kind.calibrates) == CANDIDATES


def test_a_filter_that_a_scenario_names_is_valid_for_releases_of_its_own_code() -> None:
    assert all(kind.accountant.adaptive for kind in KINDS.values() if kind.is_filter)
    terms = Terms(1.0, 1e-5, "tightest", "basic", None)
    cap = terms.cap_of_its_own_code()
    assert cap is not None
    assert cap.accountant == "basic"

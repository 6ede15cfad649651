"""The test of an audit is planned before its runs: its power is what it says, and no more runs are made than it takes."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import numerical
from mechanisms.accounting.loss import Loss, Tally
from scenarios.api.runs import make_plan
from scenarios.auditing.audit import Order, audit, pilot
from scenarios.auditing.lower_bound import Criterion, bound_by_law
from scenarios.auditing.neighbouring_data import watched
from scenarios.auditing.planned_test import (
    FEWEST,
    MOST,
    MOST_BY_ITSELF,
    USUAL,
    WANTED,
    Planned,
    _Rough,
    forecast_of,
    law_of,
    planned,
    power_of,
    runs_for,
)
from scenarios.planning.seeds import generator
from tests.support.builders import couple, private
from tests.support.command import hush

LAWS = [("gaussian", 1.0, 0), ("laplace", 1.0, 0), ("norm-gamma", 1.0, 2), ("laplace", 0.3, 0)]
PLAN = make_plan(private())


def _case(law: str, size: float, d: int) -> tuple[Tally, Criterion]:
    unit = "mu" if law == "gaussian" else "epsilon"
    return Tally([(Loss(law, size, d), 1)]), Criterion(unit, 1e-5, 0.95)


@pytest.mark.parametrize(("law", "size", "d"), LAWS)
def test_so_many_runs_refute_twice_the_claim_as_often_as_they_say(
    law: str, size: float, d: int
) -> None:
    """Losses of twice the claim are drawn anew: 300 audits of them are refuted in 95 %, to three deviations."""
    claims, criterion = _case(law, size, d)
    of = power_of(PLAN, claims, size, criterion, others=False)
    runs = runs_for(of)
    assert runs is not None
    assert of(runs) >= WANTED
    known, (losses, mass) = law_of(claims), numerical.law(Tally([(Loss(law, 2 * size, d), 1)]))
    assert known is not None
    rng, share = generator(3, "planned"), np.maximum(mass, 0) / np.maximum(mass, 0).sum()
    refuted = 0
    for _ in range(300):
        one, other = rng.choice(losses, (2, runs), p=share)
        found = bound_by_law(("loss", one, -other), known, criterion)
        refuted += found.value > size
    deviation = math.sqrt(WANTED * (1 - WANTED) / 300)
    assert refuted / 300 >= WANTED - 3 * deviation - 0.02  # its own estimate has 400 draws


@pytest.mark.parametrize("least", [1, 19, 21, 133, 1234, 98_765, MOST])
def test_no_more_runs_than_the_power_takes(least: int) -> None:
    """Of a power that steps at some number, that number is found: to a twentieth, and two digits."""
    runs = runs_for(lambda n: 1.0 if n >= least else 0.0)
    assert runs is not None
    assert max(least, FEWEST) <= runs <= max(FEWEST, 1.17 * least)


def test_what_no_number_of_runs_can_tell_takes_the_usual_number() -> None:
    hopeless = planned(lambda _: 0.3, None)
    assert (hopeless.runs, hopeless.needed) == (USUAL, None)
    assert "no number of runs up to 1,000,000 has 95 %" in hopeless.in_words
    unknown = planned(None, None)
    assert (unknown.runs, unknown.power) == (USUAL, None)
    assert "its power is unknown" in unknown.in_words
    assert planned(None, 77).runs == planned(lambda _: 0.3, 77).runs == 77


def test_a_maximum_that_binds_is_said_with_what_it_would_take() -> None:
    dear = planned(lambda n: 1.0 if n >= 123_000 else 0.4, None)
    assert dear.runs == MOST_BY_ITSELF
    assert "the most without --runs: power 40 %" in dear.in_words
    assert "95 % takes 2 × 1" in dear.in_words


@pytest.mark.parametrize(("law", "size", "d"), LAWS)
def test_the_estimate_without_scipy_is_near(law: str, size: float, d: int) -> None:
    claims, criterion = _case(law, size, d)
    exact = runs_for(power_of(PLAN, claims, size, criterion, others=False))
    rough = _Rough(criterion.unit, criterion.delta, criterion.confidence)
    near = runs_for(power_of(PLAN, claims, size, rough, others=False))
    assert exact is not None
    assert near == pytest.approx(exact, rel=0.15)


def test_a_pilot_is_not_judged_and_changes_nothing() -> None:
    order = Order(make_plan(couple({"kind": "dvp", "alpha": 1.0})), 40)
    before = audit(order)
    first = pilot(order)
    assert first.seconds > 0
    after = audit(order, setting=first.setting)
    assert (before.lower, before.claimed, before.charged) == (
        after.lower,
        after.claimed,
        after.charged,
    )


def test_the_forecast_of_an_audit_is_about_the_claim_that_the_audit_tests() -> None:
    plan = make_plan(couple({"kind": "dvp", "alpha": 1.0}))
    order = Order(plan, 40)
    told = forecast_of(plan, watched(plan, None))
    assert told is not None
    assert told.claimed == pytest.approx(audit(order).claimed)
    exact = planned(pilot(order).power(order), None)
    assert told.planned.runs == pytest.approx(exact.runs, rel=0.2)


@pytest.mark.parametrize(
    "power", [0.0, 0.14, 0.29, 0.9449, 0.9451, 0.9499, 0.949999, 0.95, 0.9501, 1.0]
)
@pytest.mark.parametrize("needed", [310, None])
def test_a_power_that_is_not_enough_does_not_look_like_enough(
    power: float, needed: int | None
) -> None:
    """`--runs 300` said "power 95 %" of 94.9 %, and "2 × 310 have 95 %" beside it."""
    said = Planned(300, power, needed, chosen=True).in_words
    shown = int(re.findall(r"power (\d+) %", said)[0])
    assert shown - 1e-9 <= 100 * power < shown + 1 - 1e-9
    assert (shown < 95) == ("have 95 %" in said or "has 95 %" in said)


@pytest.mark.slow
def test_the_command_says_first_how_many_runs_how_long_and_with_what_power(tmp_path: Path) -> None:
    words = ("--set", "mechanism.alpha=1.0", "-j", "1", "--json", "-o", "a")
    tree = couple({"kind": "dvp", "alpha": 1.0})
    (tmp_path / "one.toml").write_text(_toml(tree))
    done = hush("audit", "one.toml", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    first = done.stderr.splitlines()[0]
    assert f"2 × {told['runs']:,} runs: power" in first
    assert "to refute losses of twice the claim" in first
    assert "with 1 worker" in first
    assert told["planned"]["power"] >= WANTED
    assert told["planned"]["against"] == "losses of twice the claim"
    assert told["runs"] == told["planned"]["runs"] == told["planned"]["runs_for_95"]
    chosen = hush("audit", "one.toml", *words[:-1], "b", "--runs", "30", cwd=tmp_path)
    assert "2 × 30 runs: power" in chosen.stderr
    assert f"2 × {told['runs']:,} have 95 %" in chosen.stderr


def _toml(tree: dict[str, object]) -> str:
    from scenarios.language.writer import to_toml

    return to_toml(tree)

"""Rényi curves and numerical distributions: the table of theory.md 5.6, closed forms, and laws of order over all accountants."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from mechanisms.accounting import gaussian, norm_gamma, numerical, renyi
from mechanisms.accounting.calibrate import Additive, Form, Perturbed, composed, uniform_charge
from mechanisms.accounting.compose import by, claims_of, headline, totals
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Loss, Tally, additive, coarsened, loss_of
from mechanisms.accounting.spend import Spend
from mechanisms.noise import LAWS

DELTA = 1e-5


def hundred(law: str, d: int = 0, jacobian: float = 0.0) -> Tally:
    return Tally([(Loss(law, 0.1, d, jacobian), 100)])


def optimum(epsilon: float, times: int, delta: float) -> float:
    """ε of `times` pure-ε releases, exactly (Kairouz, Oh, Viswanath 2015, Theorem 3.3)."""
    lost = epsilon * (times - 2 * np.arange(times + 1))
    weights = stats.binom.pmf(np.arange(times + 1), times, 1 / (1 + math.exp(epsilon)))

    def found(at: float) -> float:
        over = lost > at
        return float((weights[over] * -np.expm1(at - lost[over])).sum())

    low, high = 0.0, epsilon * times
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle) > delta else (low, middle)
    return high


def rounded_up(law: Callable[[Any], Any], width: float, delta: float) -> float:
    """ε of 100 releases whose losses are rounded up to 1e-4, by plain convolution."""
    edges = np.arange(-round(width * 1e4) - 1, round(width * 1e4) + 1) * 1e-4
    mass = np.diff(law(edges))
    size = 1 << 18
    line = np.fft.irfft(np.fft.rfft(mass, size) ** 100, size)[: 100 * (len(mass) - 1) + 1]
    lost = 100 * edges[1] + 1e-4 * np.arange(len(line))
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        over = lost > middle
        tail = float((line[over] * -np.expm1(middle - lost[over])).sum())
        low, high = (middle, high) if tail > delta else (low, middle)
    return high


# the table of theory.md, 5.6


@pytest.mark.parametrize(
    ("accountant", "bag", "expected"),
    [
        ("basic", hundred("pure"), "10.000"),
        ("kov", hundred("pure"), "5.298"),
        ("kov_printed", hundred("pure"), "3.895"),
        ("gaussian", hundred("gaussian"), "4.377"),
        ("pld", hundred("pure"), "4.307"),
    ],
)
def test_the_table_to_the_digits_shown(accountant: str, bag: Tally, expected: str) -> None:
    assert abs(by(accountant, bag, DELTA) - float(expected)) <= 0.00051


@pytest.mark.parametrize(
    ("accountant", "bag", "expected"),
    [
        ("zcdp", hundred("pure"), 4.729),
        ("rdp", hundred("pure"), 4.619),
        ("rdp", hundred("norm-gamma", 10), 1.303),
        ("rdp", hundred("norm-gamma", 100), 0.375),
        ("pld", hundred("laplace"), 4.221),
    ],
)
def test_the_table_where_ours_is_the_finer_grid(
    accountant: str, bag: Tally, expected: float
) -> None:
    """The table's own orders are coarser: 4.619 lies between ours, 4.615, and whole orders, 4.621."""
    assert expected * 0.999 <= by(accountant, bag, DELTA) <= expected + 0.0005


def test_the_row_of_whole_orders() -> None:
    orders = np.arange(2.0, 200.0)
    growth = (orders - 1) * 0.1
    curve = (np.logaddexp(growth, -growth - 0.1) - math.log1p(math.exp(-0.1))) / (orders - 1)
    bounds = 100 * curve + np.log1p(-1 / orders) - (math.log(DELTA) + np.log(orders)) / (orders - 1)
    assert by("rdp", hundred("pure"), DELTA) <= bounds.min() <= 4.6212


@pytest.mark.parametrize(
    ("d", "expected"), [(2, "2.910"), (3, "2.326"), (10, "1.201"), (100, "0.346")]
)
def test_the_row_of_norm_gamma_noise(d: int, expected: str) -> None:
    """The table rounds losses up to 1e-4, which adds 100 · 1e-4/2; ours is the finer, and below it."""
    printed = rounded_up(
        lambda at: norm_gamma.distribution(d, 0.1, np.clip(at / 0.1, -1, 1)), 0.1, DELTA
    )
    assert abs(printed - float(expected)) <= 0.00055
    ours = by("pld", hundred("norm-gamma", d), DELTA)
    assert printed - 0.0055 <= ours <= printed


@pytest.mark.parametrize(
    ("d", "expected"), [(3, "3.98"), (10, "2.18"), (30, "1.32"), (105, "0.83")]
)
def test_the_row_of_proposition_p(d: int, expected: str) -> None:
    """The table: 400 × 400 quantiles, rounded to the worse end, a Jacobian part of ε/20. Ours integrates."""
    jacobian, reach = 0.005, 0.095
    r = stats.gamma.ppf(np.arange(400) / 400, d)[:, None]
    u = np.sqrt(stats.beta.ppf((np.arange(400) + 1) / 400, 1, (d - 2) / 2))[None, :]
    worst = jacobian + np.sqrt(r * r + 2 * r * u * reach + reach**2) - r
    best = math.inf
    for order in {3: (5.0, 6.0, 7.0), 10: (6.0, 8.0, 10.0), 30: (10.0, 12.0, 14.0, 17.0)}.get(
        d, (17.0, 20.0, 24.0, 28.0)
    ):
        growth = order - 1
        rdp = math.log(np.mean(np.exp(growth * worst) + growth * np.expm1(-worst))) / growth
        bound = 100 * rdp + math.log1p(-1 / order)
        best = min(best, bound - (math.log(DELTA) + math.log(order)) / growth)
    assert float(expected) - 0.02 <= best <= float(expected) + 0.03
    assert by("rdp", hundred("objective", d, jacobian), DELTA) <= best
    assert by("rdp", hundred("objective", d), DELTA) < by(
        "rdp", hundred("objective", d, jacobian), DELTA
    )


# the exact law of norm-gamma noise


@pytest.mark.parametrize("d", [2, 3, 4, 11, 105, 400])
@pytest.mark.parametrize("epsilon", [0.02, 0.5, 4.0, 30.0])
def test_bessel_ratios_are_those_of_the_special_function(d: int, epsilon: float) -> None:
    above, below = special.kve(d / 2, epsilon), special.kve(d / 2 - 1, epsilon)
    if math.isfinite(above) and below > 0:
        assert norm_gamma.bessel_ratio(d, epsilon) == pytest.approx(above / below, rel=1e-10)


@pytest.mark.parametrize("d", [2, 3, 7, 50])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 12.0])
def test_the_law_is_that_of_drawn_noise(d: int, epsilon: float) -> None:
    """Ln p(x)/p(x − Δ) of noise of our own sampler; 5 standard errors at nine quantiles."""
    from scenarios.seeds import generator

    rng, n = generator(3, f"law/{d}/{epsilon}"), 40_000
    shift = np.eye(d)[0]
    drawn = np.array([LAWS["norm-gamma"].draw(rng, epsilon, d) for _ in range(n)])
    lost = epsilon * (np.linalg.norm(drawn - shift, axis=1) - np.linalg.norm(drawn, axis=1))
    at = np.quantile(lost, np.linspace(0.1, 0.9, 9))
    below = norm_gamma.distribution(d, epsilon, at / epsilon)
    assert np.abs(below - np.linspace(0.1, 0.9, 9)).max() < 5 * 0.5 / math.sqrt(n)


@given(st.integers(2, 60), st.floats(0.01, 20.0), st.floats(0.0, 0.999))
@settings(max_examples=60, deadline=None)
def test_a_loss_law_is_symmetric(d: int, epsilon: float, share: float) -> None:
    """δ(−ε) = 1 − e^{−ε} + e^{−ε} δ(ε): the pair is its own mirror image; δ(ε₀) = 0, δ(−ε₀) = 1 − e^{−ε₀}."""
    at = share * epsilon
    low, high = norm_gamma.deltas(d, epsilon, np.array([-at, at]) if at else np.array([0.0, 0.0]))
    assert low == pytest.approx(-math.expm1(-at) + math.exp(-at) * high, abs=1e-9)
    ends = norm_gamma.deltas(d, epsilon, np.array([-epsilon, epsilon]))
    assert ends == pytest.approx([-math.expm1(-epsilon), 0.0], abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_in_many_dimensions_the_curve_is_nearly_gaussian(epsilon: float) -> None:
    """ρ ≈ ε²/(2d) for small ε (theory.md, 5.3)."""
    for d in (100, 1000):
        curve = renyi.curve(Loss("norm-gamma", epsilon, d))
        at = int(np.searchsorted(renyi.LAMBDAS, 1.0))
        assert curve[at] == pytest.approx(epsilon**2 / d, rel=0.03)


@pytest.mark.parametrize("law", ["norm-gamma", "laplace", "pure"])
def test_curves_are_the_moments_of_the_distribution(law: str) -> None:
    """E e^{λL} from the curve and from δ(ε): E e^{λL} = 1 + λ(1+λ)∫ e^{λε} δ(ε) dε + λ · …, checked by the dots."""
    d, epsilon = 6, 1.3
    points = np.linspace(-epsilon, epsilon, 20_001)
    deltas = numerical._deltas(Loss(law, epsilon, d), points)
    # P(L > ε) = δ(ε) − δ'(ε), so that the law follows from its curve of δ
    survival = deltas - np.gradient(deltas, points)
    if law == "pure":
        survival = np.full_like(points, math.exp(epsilon) / (1 + math.exp(epsilon)))
        survival[-1] = 0.0
    for growth in (1.0, 2.0, 5.0):
        moment = math.exp(-growth * epsilon) + growth * float(
            np.trapezoid(np.exp(growth * points) * survival, points)
        )
        found = float(np.interp(growth, renyi.LAMBDAS, renyi.curve(Loss(law, epsilon, d))))
        assert found == pytest.approx(math.log(moment) / growth, rel=2e-3)


@pytest.mark.parametrize(
    ("d", "epsilon", "jacobian"), [(3, 1.0, 0.0), (10, 1.0, 0.1), (60, 0.5, 0.02)]
)
def test_proposition_p_against_drawn_noise(d: int, epsilon: float, jacobian: float) -> None:
    from scenarios.seeds import generator

    rng, n = generator(4, f"p/{d}"), 400_000
    r, u = rng.standard_gamma(d, n), np.sqrt(rng.beta(1, (d - 2) / 2, n))
    reach = epsilon - jacobian
    worst = jacobian + np.sqrt(r * r + 2 * r * reach * u + reach * reach) - r
    curve = renyi.curve(Loss("objective", epsilon, d, jacobian))
    for growth in (1.0, 3.0, 8.0):
        drawn = math.log(np.mean(np.exp(growth * worst) + growth * np.expm1(-worst))) / growth
        assert float(np.interp(growth, renyi.LAMBDAS, curve)) == pytest.approx(drawn, rel=0.02)


# against closed forms and the engine's own mechanisms


@given(st.floats(0.01, 3.0), st.integers(1, 200), st.floats(1e-9, 1e-2))
@settings(max_examples=40, deadline=None)
def test_numerical_totals_of_pure_releases_meet_the_exact_optimum(
    epsilon: float, times: int, delta: float
) -> None:
    found = by("pld", Tally([(Loss("pure", epsilon), times)]), delta)
    exact = optimum(epsilon, times, delta)
    assert exact * (1 - 1e-6) - 1e-6 <= found <= exact * 1.01 + 0.01 * epsilon


@given(st.floats(0.01, 2.0), st.integers(1, 100), st.floats(1e-9, 1e-2))
@settings(max_examples=30, deadline=None)
def test_numerical_totals_of_gaussian_noise_are_never_below_the_exact_ones(
    mu: float, times: int, delta: float
) -> None:
    found = by("pld", Tally([(Loss("gaussian", mu), times)]), delta)
    exact = gaussian.epsilon(mu * math.sqrt(times), delta)
    assert exact * (1 - 1e-6) - 1e-9 <= found <= exact * 1.01 + 1e-3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_laplace_noise_is_the_engines_own(epsilon: float) -> None:
    from dp_accounting.pld import privacy_loss_distribution as engine

    ours = by("pld", Tally([(Loss("laplace", epsilon), 30)]), DELTA)
    theirs = engine.from_laplace_mechanism(1 / epsilon, value_discretization_interval=1e-4)
    assert ours == pytest.approx(theirs.self_compose(30).get_epsilon_for_delta(DELTA), rel=0.01)


def test_one_dimension_of_norm_gamma_noise_is_laplace_noise() -> None:
    assert additive("norm-gamma", 0.3, 1) == additive("laplace", 0.3, 1)


def test_mixed_releases_cost_less_together_than_apart() -> None:
    bag = Tally([(Loss("laplace", 0.2), 20), (Loss("gaussian", 0.2), 20)])
    told = totals(bag, DELTA)
    assert told["pld"] < told["rdp"] < told["gaussian"]
    apart = by("pld", Tally([(Loss("laplace", 0.2), 20)]), DELTA / 2) + gaussian.epsilon(
        0.2 * math.sqrt(20), DELTA / 2
    )
    assert told["pld"] < apart


# laws of order


LOSSES = st.builds(
    Loss,
    st.sampled_from(["pure", "laplace", "norm-gamma", "objective", "gaussian"]),
    st.sampled_from([0.05, 0.2, 0.7, 1.5]),
    st.just(8),
    st.just(0.01),
)
BAGS = st.lists(st.tuples(LOSSES, st.integers(1, 20)), min_size=1, max_size=4)


@given(BAGS, st.sampled_from([1e-8, 1e-5, 1e-3]))
@settings(max_examples=40, deadline=None)
def test_composition_is_blind_to_order_and_never_falls(
    losses: list[tuple[Loss, int]], delta: float
) -> None:
    bag, turned = Tally(losses), Tally(losses[::-1])
    more = bag.plus(Loss("pure", 0.2))
    for name in claims_of(bag, delta):
        whole = by(name, bag, delta)
        slack = 1e-2 if name == "pld" else 1e-9  # grids differ
        assert by(name, turned, delta) == pytest.approx(whole, rel=slack, abs=slack)
        if name in claims_of(more, delta):
            assert by(name, more, delta) >= whole * (1 - slack) - slack
        assert by(name, bag, delta / 10) >= whole * (1 - slack) - slack


@given(BAGS)
@settings(max_examples=30, deadline=None)
def test_curves_and_sums_add_up(losses: list[tuple[Loss, int]]) -> None:
    bag = Tally(losses)
    parts = sum(times * renyi.curve(loss) for loss, times in losses)
    # a Jacobian part is rounded up, by 4.5 % of it at most
    assert (renyi.total(bag.key) >= parts * (1 - 1e-9)).all()
    assert renyi.total(bag.key) == pytest.approx(parts, rel=0.02)
    assert len(bag) == sum(times for _, times in losses)


@given(BAGS, st.sampled_from([1e-8, 1e-5, 1e-3]))
@settings(max_examples=30, deadline=None)
def test_the_headline_is_the_smallest_of_all(losses: list[tuple[Loss, int]], delta: float) -> None:
    told = totals(Tally(losses), delta)
    value, name = headline(Tally(losses), delta)
    assert value == told[name]
    assert value == pytest.approx(min(told.values()), rel=2e-6)
    assert told["pld" if "pld" in told else "gaussian"] <= told["zcdp"] * 1.01 + 1e-3


def test_many_different_losses_are_brought_to_few_and_never_below() -> None:
    charges = np.geomspace(0.001, 0.05, 3000)
    bag = Tally((Loss("norm-gamma", float(c), 20), 1) for c in charges)
    assert len(coarsened(bag.key, 64)) <= 65
    assert sum(times for _, times in coarsened(bag.key, 64)) == 3000
    exact = sum(renyi.curve(loss) for loss, _ in bag.key[::50]) * 50
    told = renyi.to_epsilon(renyi.total(bag.key), DELTA)
    assert renyi.to_epsilon(np.asarray(exact), DELTA) * 0.98 <= told
    assert told <= renyi.to_epsilon(np.asarray(exact), DELTA) * 1.06
    assert by("pld", bag, DELTA) <= told


@pytest.mark.parametrize(
    "loss", [Loss("pure", 0.37), Loss("norm-gamma", 0.37, 5), Loss("laplace", 0.37)]
)
def test_a_coarser_law_is_above(loss: Loss) -> None:
    bag = Tally([(loss, 10)])
    assert by("rdp", bag, DELTA) <= by("rdp", Tally([(Loss("pure", 0.37), 10)]), DELTA) + 1e-9
    assert by("pld", bag, DELTA) <= by("pld", Tally([(Loss("pure", 0.37), 10)]), DELTA) * 1.001


def test_releases_that_depend_on_outputs_have_only_what_is_valid_for_them() -> None:
    bag = hundred("pure")
    assert claims_of(bag, DELTA, adaptive=True) == ("basic",)
    assert headline(bag, DELTA, adaptive=True) == (by("basic", bag, DELTA), "basic")
    assert headline(bag, DELTA, "kov", adaptive=True)[0] == math.inf


def test_infinite_and_free_releases() -> None:
    endless = Tally([(Loss("none", math.inf), 1)])
    assert {by(name, endless, DELTA) for name in ("basic", "kov", "zcdp", "rdp", "pld")} == {
        math.inf
    }
    nothing = Tally([(Loss("pure", 0.0), 5)])
    assert {by(name, nothing, DELTA) for name in ("basic", "kov", "zcdp", "pld")} == {0.0}
    assert by("rdp", nothing, DELTA) < 1e-3
    assert by("pld", hundred("pure"), 0.0) == by("rdp", hundred("pure"), 0.0) == pytest.approx(10)
    assert by("pld", hundred("gaussian"), 0.0) == by("rdp", hundred("gaussian"), 0.0) == math.inf
    assert by("zcdp", hundred("pure"), 1.0) == 0.0
    faint = Tally([(Loss("norm-gamma", 5e-320, 4), 1)])
    assert by("pld", faint, DELTA) == by("basic", faint, DELTA)
    huge = Tally([(Loss("pure", 1e6), 2)])
    assert by("pld", huge, DELTA) == by("basic", huge, DELTA) == 2e6


# calibration and caps

FORMS: dict[str, Form] = {
    "laplace": Additive("laplace"),
    "norm-gamma": Additive("norm-gamma", 12),
    "objective": Perturbed(0.01, 12),
    "objective, steep": Perturbed(3.0, 12),
    "pure": Additive("pure"),
}


@pytest.mark.parametrize("accountant", ["rdp", "pld"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("budget", "releases"), [(0.5, 40), (4.0, 7), (2.0, 1)])
def test_calibration_inverts_the_accountants_to_one_per_cent(
    accountant: str, form: str, budget: float, releases: int
) -> None:
    charge = uniform_charge(FORMS[form], budget, DELTA, releases, accountant)
    total = composed(FORMS[form], charge, releases, DELTA, accountant)
    assert total <= budget
    assert total >= budget * 0.99
    assert composed(FORMS[form], charge * 1.01, releases, DELTA, accountant) > budget * (1 - 1e-9)


@pytest.mark.parametrize("accountant", ["rdp", "pld", "zcdp"])
@given(
    st.lists(st.sampled_from([0.05, 0.1, 0.4]), min_size=1, max_size=40),
    st.sampled_from([0.5, 2.0]),
)
@settings(max_examples=15, deadline=None)
def test_a_filter_of_curves_or_distributions_is_never_passed(
    accountant: str, charges: list[float], budget: float
) -> None:
    ledger, cap = Ledger(), Cap(budget, DELTA, accountant)
    for charge in charges:
        spend = Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, charge, charge)
        if cap.admits(ledger, spend):
            ledger.charge(spend)
        else:
            assert by(accountant, ledger.tally.plus(loss_of(spend)), DELTA) > budget
    assert cap.spent(ledger.tally) <= budget * (1 + 1e-8)
    assert cap.holds(ledger.tally)


def test_what_was_planned_needs_no_composition_and_nothing_more_is_let_through() -> None:
    spend = Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, 0.1, 0.1)
    planned = Tally([(loss_of(spend), 10)])
    cap = Cap(by("pld", planned, DELTA), DELTA, "pld", planned)
    ledger = Ledger()
    for _ in range(10):
        assert cap.admits(ledger, spend)
        ledger.charge(spend)
    assert not cap.admits(ledger, spend)
    assert not cap.holds(planned.plus(loss_of(spend)))


@pytest.mark.parametrize("d", [3, 4, 10, 105, 2000])
def test_the_nodes_of_proposition_p_have_the_moments_of_their_laws(d: int) -> None:
    """ζ‖b‖ ~ Gamma(d): mean and variance d; sin²φ ~ Beta(1, (d−2)/2): mean 2/d. Tails are counted at their worse ends."""
    radius, weights = renyi._gamma_nodes(d)
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert weights @ radius == pytest.approx(d, rel=1e-9)
    assert weights @ (radius - d) ** 2 == pytest.approx(d, rel=1e-6)
    assert radius[-1] < 1e-200  # where the loss is largest
    assert weights[-1] > 0
    angle, shares = renyi._beta_nodes(d)
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    assert shares @ np.sin(angle) ** 2 == pytest.approx(2 / d, rel=1e-6)
    assert angle[-1] == math.pi / 2
    assert shares[-1] > 0


def test_rounding_many_losses_up_never_takes_from_any_part() -> None:
    """Each coarse loss has at least the ε and the Jacobian's share of every one that it stands for."""
    losses = [Loss("objective", 0.01 * 1.003**k, 9, 0.001 * (k % 7)) for k in range(900)]
    coarse = coarsened(tuple((loss, 1) for loss in losses), 64)
    assert len(coarse) < len(losses) / 2
    for loss in losses:
        above = [c for c, _ in coarse if c.epsilon >= loss.epsilon and c.jacobian >= loss.jacobian]
        assert above
        nearest = min(above, key=lambda c: c.epsilon)
        assert nearest.epsilon <= loss.epsilon * 1.2
    fine = [renyi.curve(loss) for loss in losses[::30]]
    assert (renyi.total(tuple((loss, 1) for loss in losses)) >= np.sum(fine, axis=0)).all()


def test_the_form_of_a_perturbed_objective_is_that_of_its_guard() -> None:
    """ln(1+x), and half of the target where Φ makes it so: what `corrected` does (theory.md, 2.2)."""
    from mechanisms.perturbation import Record, corrected

    for bend, target in ((0.01, 1.0), (0.5, 0.3), (2.0, 0.1)):
        how = corrected(target, Record(1.0, bend), 0.8)
        loss = Perturbed(bend / 0.8, 7).loss(target)
        assert loss == Loss("objective", target, 7, pytest.approx(how.jacobian))  # type: ignore[arg-type]


def test_a_shortcut_is_for_parts_of_the_plan_only() -> None:
    """One more of a planned kind is composed when the ledger already holds what was not planned."""
    planned, other = (
        Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, c, c) for c in (0.1, 5.0)
    )
    bag = Tally([(loss_of(planned), 10)])
    cap = Cap(by("pld", bag, DELTA), DELTA, "pld", bag)
    ledger = Ledger()
    ledger.charge(other)
    assert not cap.admits(ledger, planned)
    assert not cap.holds(ledger.tally)


@pytest.mark.parametrize("times", [10**5, 10**6])
@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-11, 1e-13])
def test_a_million_releases_are_never_below_the_truth(times: int, delta: float) -> None:
    """Transforms err by some 1e-17 a release: that much of δ is set aside, and where it is all of it there is no claim."""
    found = by("pld", Tally([(Loss("gaussian", 0.3 / math.sqrt(times)), times)]), delta)
    assert found >= gaussian.epsilon(0.3, delta) * (1 - 1e-6)
    many = Tally([(Loss("norm-gamma", 0.3 * math.sqrt(1000) / math.sqrt(times), 1000), times)])
    # the limit of many faint releases in a thousand dimensions is Gaussian, of μ² = Σε²/d
    assert by("pld", many, delta) >= gaussian.epsilon(0.3, delta) * 0.995
    assert headline(many, delta)[0] >= gaussian.epsilon(0.3, delta) * 0.995


def test_between_orders_proposition_p_is_not_below_itself() -> None:
    """Chords of ln M, against the formula at orders between those that were computed."""
    for epsilon, d, jacobian in ((1e-3, 3, 9e-4), (0.5, 20, 0.1), (2.0, 5, 0.0)):
        loss, weights = renyi._worst_loss(epsilon - jacobian, d, jacobian)
        curve = renyi.curve(Loss("objective", epsilon, d, jacobian))
        for at in range(196, len(renyi.LAMBDAS), 37):
            growth = float(renyi.LAMBDAS[at])
            peak = growth * loss.max()
            moment = np.exp(growth * loss - peak) @ weights
            whole = moment + growth * math.exp(-min(peak, 700.0)) * float(np.expm1(-loss) @ weights)
            exact = (peak + math.log(whole)) / growth
            pure = renyi.curve(Loss("pure", epsilon))[at]
            assert curve[at] >= min(exact, pure) * (1 - 1e-9) - 1e-12
            assert curve[at] <= exact * 1.01 + 1e-9

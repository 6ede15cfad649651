"""Law: by default a budget is used whole: 98 to 100 % of it, for every corrected kind, dimension, δ and schedule."""

from typing import Any

import pytest

from mechanisms.accounting.calibrate import CANDIDATES
from mechanisms.accounting.compose import headline
from mechanisms.accounting.loss import tally
from scenarios.api.runs import make_plan
from scenarios.planning.forecast import forecast
from scenarios.planning.plan import Plan
from tests.support.builders import scenario
from tests.support.catalogue import EVERY, private, world
from tests.support.marks import one_in

CALIBRATED = {name: table for name, table in EVERY.items() if private(name)} | {
    "cd norm-gamma": {"kind": "cd", "noise": "norm-gamma", "releases": 15},
    "warm-cd laplace": {"kind": "warm-cd", "noise": "laplace", "releases": 4, "warm_wakes": 3},
    "warm-cd gaussian": {"kind": "warm-cd", "noise": "gaussian", "releases": 9, "warm_wakes": 3},
    "warm-cd objective": {
        "kind": "warm-cd",
        "noise": "norm-gamma",
        "releases": 4,
        "warm_noise": "objective",
    },
    "cd printed": {"kind": "cd", "noise": "laplace", "releases": 9, "schedule": "printed"},
    "dvp many": {"kind": "dvp", "releases": 50},
    "wddp uniform": {"kind": "wddp", "local_rounds": 10, "weights": "uniform"},
}
for left_out in (
    "dvp growing",
    "pp noise",
    "local-dp",
    "local-dp admm",
    "local-dp cd",
    "local-dp pairs",
    "local-dp fedavg",
):
    del CALIBRATED[left_out]  # alpha, noise or two ε of their own set their noise


def planned(name: str, d: int, budget: dict[str, float], **privacy: str) -> Plan:
    table = dict(CALIBRATED[name])
    table.pop("tolerate", None)
    table.pop("colluders", None)
    like = name if name in EVERY else next(n for n in EVERY if EVERY[n]["kind"] == table["kind"])
    made = world(
        like,
        mechanism=table,
        privacy=privacy,
        data={"source": "blobs", "dimension": d, "points": 60},
    )
    made["nodes"][0]["budget"] = budget
    if "server" in made:
        made["server"]["quorum"] = 1.0
    return make_plan(made)


def spent(plan: Plan) -> float:
    """The largest ε of all that the agents plan to release, by the tightest accountant, over its budget."""
    found = []
    for node in plan.nodes:
        assert node.planned is not None
        assert node.cap is not None
        found.append(headline(tally(node.planned), node.delta)[0] / node.cap.epsilon)
    return max(found)


@pytest.mark.parametrize("name", CALIBRATED)
@pytest.mark.parametrize("d", one_in(2, [2, 50]))
@pytest.mark.parametrize(
    "budget", [{"epsilon": 4.0, "delta": 1e-5}, {"epsilon": 0.5, "delta": 1e-3}]
)
def test_a_budget_is_used_whole(name: str, d: int, budget: dict[str, float]) -> None:
    plan = planned(name, d, budget)
    assert 0.98 <= spent(plan) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", CALIBRATED)
def test_no_accountant_that_a_file_may_name_adds_less_noise(name: str) -> None:
    best = spent(planned(name, 10, {"epsilon": 2.0, "delta": 1e-5}))
    for accountant in CANDIDATES:
        assert spent(
            planned(name, 10, {"epsilon": 2.0, "delta": 1e-5}, calibrate=accountant)
        ) <= best * (1 + 2e-3)


@pytest.mark.parametrize("name", ["cd norm-gamma", "dvp", "propagation output"])
def test_the_name_is_written_and_repeats_the_run(name: str) -> None:
    plan = planned(name, 10, {"epsilon": 2.0, "delta": 1e-5})
    chosen = plan.resolved["privacy"]["calibrate"]
    assert chosen == plan.privacy.calibrated
    assert chosen in {"rdp", "pld"}
    again = planned(name, 10, {"epsilon": 2.0, "delta": 1e-5}, calibrate=chosen)
    assert [node.planned for node in again.nodes] == [node.planned for node in plan.nodes]
    assert f"calibrated by {chosen}" in "\n".join(_words(plan))


@pytest.mark.parametrize(("name", "chosen"), [("local-dp", "basic"), ("pp noise", "rdp")])
def test_noise_that_is_given_needs_no_search_for_an_accountant(name: str, chosen: str) -> None:
    """One release of a pure ε needs basic composition; of many, Rényi curves are valid without a plan."""
    plan = make_plan(world(next(each for each in EVERY if each.startswith(name))))
    assert plan.privacy.calibrated == chosen


def _words(plan: Plan) -> list[str]:
    from scenarios.planning.forecast import in_words

    return in_words(forecast(plan))


def test_check_warns_where_a_named_accountant_leaves_a_tenth() -> None:
    budget = {"epsilon": 4.0, "delta": 1e-5}
    wasteful: list[Any] = forecast(planned("cd norm-gamma", 5, budget, calibrate="kov"))["warnings"]
    assert [w for w in wasteful if "leaves" in w and "% of the budget of peers" in w]
    for fine in ("pld", "tightest"):
        told = forecast(planned("cd norm-gamma", 5, budget, calibrate=fine))["warnings"]
        assert not [w for w in told if "leaves" in w]


def test_a_group_without_delta_does_not_waste_the_budget_of_another() -> None:
    tree = scenario(
        mechanism=CALIBRATED["cd norm-gamma"],
        task={"l2": 0.1},
        nodes=[
            {"name": "strict", "count": 3, "budget": {"epsilon": 4.0, "delta": 0.0}},
            {"name": "usual", "count": 3, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        ],
    )
    told = {group["name"]: group for group in forecast(make_plan(tree))["groups"]}
    assert told["usual"]["epsilon"] >= 0.98 * 4.0
    assert told["strict"]["epsilon"] == pytest.approx(4.0, rel=1e-6)
    assert told["strict"]["accountant"] == "basic"


def test_charges_have_nine_digits() -> None:
    """What a search found is rounded down, so that no digest rests on the last bits of a library."""
    for name in ("cd norm-gamma", "cd gaussian", "dvp", "pathak"):
        for node in planned(name, 10, {"epsilon": 2.0, "delta": 1e-5}).nodes:
            for spend in node.planned or ():
                assert float(f"{spend.claimed:.8e}") == spend.claimed

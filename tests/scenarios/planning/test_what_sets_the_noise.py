"""What sets the noise, and what is refused: the paragraph of the contract, kind by kind, as a table."""

import re
from pathlib import Path
from typing import Any

import pytest

from mechanisms.accounting.spend import SCALES, UNITS
from scenarios.api.runs import check, make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.forecast import forecast, in_words
from scenarios.planning.mechanism import MECHANISMS
from scenarios.records import summary_text
from tests.support.builders import perform, scenario
from tests.support.catalogue import BUDGET, EVERY, family, private, world

CONSENSUS = {"admm", "dvp", "pvp", "madmm", "pp"}
B = {"budget": BUDGET}


def build(mechanism: dict[str, Any], node: dict[str, Any], **sections: Any) -> dict[str, Any]:
    count = 1 if mechanism["kind"] == "central-gradient" else 6
    task = {} if mechanism["kind"] in CONSENSUS else {"l2": 0.1}
    nodes = [{"name": "peers", "count": count} | node]
    return scenario(**({"mechanism": mechanism, "nodes": nodes, "task": task} | sections))


ROUNDS = {"run": {"seed": 5, "rounds": 5}}
SYNC = {"clock": "synchronous"}
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    # two of budget, releases, alpha
    *[
        (f"{kind} with {what}", {"kind": kind} | more | keys, node, {}, message)
        for kind, more in (("dvp", {}), ("pvp", {}), ("cd", {"noise": "laplace"}))
        for what, keys, node, message in (
            (
                "nothing",
                {},
                {},
                "there is nothing; give two of budget, mechanism.releases, mechanism.alpha",
            ),
            ("a budget", {}, B, "there is a budget; give mechanism.releases or mechanism.alpha"),
            (
                "releases",
                {"releases": 5},
                {},
                "there is releases; give a budget or mechanism.alpha",
            ),
            ("alpha", {"alpha": 0.1}, {}, "there is alpha; give a budget or mechanism.releases"),
            (
                "three that do not fit",
                {"alpha": 3.0, "releases": 5},
                B,
                "5 releases of 3 compose to ε = 15 (basic, δ = 1e-05), above the budget 4; 1 would fit",
            ),
        )
    ],
    (
        "pp with nothing",
        {"kind": "pp"},
        {},
        {},
        "give a budget and mechanism.releases, or mechanism.noise",
    ),
    ("pp with a budget", {"kind": "pp"}, B, {}, "there is a budget; give mechanism.releases"),
    ("pp with releases", {"kind": "pp", "releases": 4}, {}, {}, "there is releases; give a budget"),
    ("pp with alpha", {"kind": "pp", "alpha": 1.0}, B, {}, "unknown key of mechanism 'pp' 'alpha'"),
    (
        "warm-cd with a budget",
        {"kind": "warm-cd", "noise": "laplace"},
        B,
        {},
        "there is a budget; give mechanism.releases",
    ),
    (
        "a growing alpha that does not fit",
        {"kind": "dvp", "alpha": {"start": 1.0, "growth": 2.0}, "releases": 9},
        B,
        {},
        "3 releases from alpha = 1 growing by 2 are above the budget 4",
    ),
    # one release takes the budget
    (
        "propagation",
        {"kind": "propagation", "noise": "objective"},
        {},
        {},
        "objective noise is set by the budget",
    ),
    ("pathak", {"kind": "pathak"}, {}, {}, "the noise of pathak is set by the budget"),
    (
        "jayaraman-output",
        {"kind": "jayaraman-output"},
        B,
        {"task": {"l2": 0.0}},
        "needs strong convexity: set task.l2",
    ),
    (
        "propagation, l2 = 0",
        {"kind": "propagation", "noise": "output"},
        B,
        {"task": {}},
        "needs strong convexity",
    ),
    # whole runs take budget and rounds
    ("wddp", {"kind": "wddp", "local_rounds": 5}, {}, {}, "the noise of wddp is set by the budget"),
    ("wddp without T", {"kind": "wddp"}, B, {}, "wddp that sends once needs local_rounds"),
    (
        "jayaraman-gradient",
        {"kind": "jayaraman-gradient"},
        B,
        {},
        "set by the budget over run.rounds: give it",
    ),
    (
        "wddp in every round",
        {"kind": "wddp", "synchronise": "every-round"},
        B,
        {},
        "the noise of wddp is set by the budget over run.rounds: give it",
    ),
    (
        "central-gradient",
        {"kind": "central-gradient"},
        {},
        ROUNDS,
        "the noise of central-gradient is set by the budget",
    ),
    (
        "pp, three that do not fit",
        {"kind": "pp", "noise": {"start": 1.0, "growth": 9.0}, "releases": 4},
        B,
        {},
        "4 releases with this noise compose to ε =",
    ),
    (
        "pvp printed by scale, rho = 0",
        {"kind": "pvp", "alpha": 1.0, "releases": 3, "rho": 0.0, "calibration": "as_printed"},
        {},
        {},
        "private by rho alone",
    ),
    (
        "a schedule too long",
        {"kind": "cd", "noise": "laplace", "releases": 50_000, "schedule": "growing"},
        B,
        {},
        "the growing schedule spans a factor of",
    ),
    (
        "a warm start without descent",
        {"kind": "warm-cd", "noise": "laplace"},
        B | SYNC,
        ROUNDS,
        "leave none of 5 rounds to the descent",
    ),
    (
        "as printed without noise",
        {"kind": "cd", "calibration": "as_printed"},
        {},
        {},
        "it means nothing without it",
    ),
    (
        "a growth above its limit",
        {"kind": "dvp", "releases": 3, "alpha": {"start": 1, "growth": 10.5}},
        {},
        {},
        "mechanism.alpha.growth: must be a number > 0 and <= 10, got 10.5",
    ),
    (
        "a bare penalty",
        {"kind": "madmm", "eta": 0.5},
        {},
        {},
        "must be a table { start, growth, cap }, got 0.5",
    ),
    (
        "theta above eta, inside",
        {
            "kind": "local-dp",
            "epsilon_features": 1.0,
            "epsilon_label": 1.0,
            "inner": {"kind": "madmm", "theta": 0.9},
        },
        {},
        {"task": {}},
        "mechanism.inner.eta.start: must be at least theta",
    ),
    (
        "C above the points, inside",
        {
            "kind": "local-dp",
            "epsilon_features": 1.0,
            "epsilon_label": 1.0,
            "inner": {"kind": "admm", "C": 1e6},
        },
        {},
        {"task": {}},
        "mechanism.inner.C: C = 1e+06 must be at most",
    ),
    # local-dp takes its two ε
    ("local-dp", {"kind": "local-dp", "epsilon_label": 1.0}, {}, {}, "needs 'epsilon_features'"),
    (
        "local-dp above a budget",
        {"kind": "local-dp", "epsilon_features": 3.0, "epsilon_label": 2.0},
        B,
        {},
        "cost epsilon_features + epsilon_label = 5, above the budget 4",
    ),
    (
        "local-dp with noise inside",
        {
            "kind": "local-dp",
            "epsilon_features": 1.0,
            "epsilon_label": 1.0,
            "inner": {"kind": "cd", "noise": "laplace"},
        },
        {},
        {},
        "the data are perturbed already",
    ),
    (
        "local-dp around itself",
        {
            "kind": "local-dp",
            "epsilon_features": 1.0,
            "epsilon_label": 1.0,
            "inner": {"kind": "dvp"},
        },
        {},
        {},
        "unknown mechanism 'dvp'",
    ),
    (
        "local-dp on numbers",
        {"kind": "local-dp", "epsilon_features": 1.0, "epsilon_label": 1.0},
        {},
        {"task": {"loss": "squared"}},
        "local-dp flips labels ±1, which the squared loss does not have",
    ),
    # never private: no finite budget
    *[
        (
            f"a budget for {kind}",
            {"kind": kind},
            B,
            {},
            f"{kind} has no noise and ε = ∞: it can keep no budget",
        )
        for kind in ("admm", "madmm", "collaborative-admm", "fedavg")
    ],
    *[
        (
            f"a budget for {kind} without noise",
            {"kind": kind, "noise": "none"} | more,
            B,
            {},
            f"{kind} without noise has ε = ∞: it can keep no budget; set mechanism.noise",
        )
        for kind, more in (
            ("cd", {}),
            ("propagation", {}),
            ("warm-cd", {}),
            ("wddp", {"local_rounds": 2}),
        )
    ],
    # δ, accountants, schedules
    (
        "Gaussian with δ = 0",
        {"kind": "wddp", "local_rounds": 4},
        {"budget": {"epsilon": 1.0, "delta": 0}},
        {},
        "no guarantee with delta = 0",
    ),
    (
        "δ of a point",
        {"kind": "dvp", "releases": 4},
        {"budget": {"epsilon": 1.0, "delta": 0.1}},
        {},
        "delta = 0.1 allows publishing a record whole",
    ),
    (
        "KOV of a Gaussian",
        {"kind": "jayaraman-gradient"},
        B,
        {**ROUNDS, "privacy": {"accountant": "kov"}},
        "kov has no claim for Gaussian noise",
    ),
    (
        "a schedule and alpha",
        {"kind": "cd", "noise": "laplace", "schedule": "growing", "alpha": 0.1, "releases": 4},
        B,
        {},
        "a schedule shapes a budget",
    ),
    (
        "a schedule of nothing",
        {"kind": "cd", "schedule": "growing"},
        {},
        {},
        "it means nothing without noise",
    ),
    # what a kind cannot do
    (
        "dvp that smooths",
        {"kind": "dvp", "releases": 4},
        {"budget": BUDGET | {"on_exhausted": "smooth"}},
        {},
        "dvp cannot smooth; cd, warm-cd and propagation can",
    ),
    (
        "wddp, summed once",
        {"kind": "wddp", "noise": "aggregate", "local_rounds": 4},
        B,
        {},
        '"aggregate" needs synchronise = "every-round"',
    ),
    (
        "tolerance in clear",
        {"kind": "wddp", "local_rounds": 4, "tolerate": 1},
        B,
        {},
        'belongs to noise = "aggregate"',
    ),
    (
        "nobody honest",
        {"kind": "wddp", "noise": "aggregate", "synchronise": "every-round", "colluders": 6},
        B,
        ROUNDS,
        "nobody's noise is left",
    ),
    (
        "theta above eta",
        {"kind": "madmm", "theta": 2.0},
        {},
        {},
        "must be at least theta = 2, got 0.5",
    ),
    (
        "a falling penalty",
        {"kind": "madmm", "eta": {"start": 1.0, "growth": 0.9}},
        {},
        {},
        "must be at least 1, got 0.9: a penalty may not fall below theta",
    ),
    (
        "penalties of five",
        {"kind": "madmm", "eta": {"start": [1.0] * 5}},
        {},
        {},
        "must be one number or 6, one for each agent, got 5",
    ),
    (
        "C above the points",
        {"kind": "admm", "C": 1e6},
        {},
        {},
        "C = 1e+06 must be at most the points of every agent",
    ),
    (
        "l2 in ADMM",
        {"kind": "admm"},
        {},
        {"task": {"l2": 0.1}},
        "admm is regularised by mechanism.rho",
    ),
    (
        "sums in ADMM",
        {"kind": "admm"},
        {},
        {"task": {"reduction": "sum"}},
        "admm weighs its loss by mechanism.C",
    ),
    (
        "printed pvp without rho",
        {"kind": "pvp", "alpha": 1.0, "releases": 3, "variant": "printed", "rho": 0.0},
        {},
        {},
        "private by rho alone",
    ),
    (
        "a share of nothing",
        {"kind": "pvp", "releases": 3, "final_share": 0.5},
        B,
        {},
        "belongs to final_dual = true",
    ),
    (
        "pp as printed, hopeless",
        {"kind": "pp", "releases": 500, "calibration": "as_printed", "C": 10.0},
        B,
        {},
        "as printed, no noise reaches this ε",
    ),
    (
        "Welsch in ADMM",
        {"kind": "admm"},
        {},
        {"task": {"loss": "welsch"}},
        "the welsch loss is not convex, and admm needs exact minimisers",
    ),
    (
        "squares in dvp",
        {"kind": "dvp", "releases": 4},
        B,
        {"task": {"loss": "squared"}},
        "has no bounded gradient, which dvp needs",
    ),
    (
        "squares in wddp",
        {"kind": "wddp", "local_rounds": 4},
        B,
        {"task": {"loss": "squared"}},
        "has no bounded gradient, which wddp needs",
    ),
    (
        "a local start",
        {"kind": "dvp", "releases": 4},
        B,
        {"task": {"start": "local"}},
        '"local" is made of data',
    ),
    (
        "a server for cd",
        {"kind": "cd"},
        {},
        {"server": {"deadline": "1s"}},
        "belongs to server kinds, and cd has none",
    ),
    (
        "a crowd of curators",
        {"kind": "central-gradient"},
        B | {"count": 6},
        ROUNDS,
        "one node: the pooled data",
    ),
    (
        "a link past the server",
        {"kind": "fedavg"},
        {},
        {"link": [{"between": [[0, 1]], "loss": 0.1}]},
        "talks to its server only",
    ),
    (
        "spent clients",
        {"kind": "wddp", "local_rounds": 4},
        B,
        {"run": {"seed": 5, "stop": "spent"}},
        "ends with its rounds",
    ),
    (
        "endless rounds",
        {"kind": "fedavg"},
        {"clock": "barrier"},
        {},
        "never advance the time: give run.rounds",
    ),
    (
        "pairs at a barrier",
        {"kind": "collaborative-admm"},
        {"clock": "barrier"},
        {},
        "trades in pairs",
    ),
    (
        "data in the step size",
        {"kind": "cd", "noise": "laplace", "releases": 3, "smoothness": "data"},
        B,
        {},
        "is not public",
    ),
]


@pytest.mark.parametrize(
    ("what", "mechanism", "node", "sections", "message"), REFUSED, ids=[case[0] for case in REFUSED]
)
def test_refused(
    what: str,
    mechanism: dict[str, Any],
    node: dict[str, Any],
    sections: dict[str, Any],
    message: str,
) -> None:
    problems = check(build(mechanism, node, **sections)).problems
    assert any(message in problem for problem in problems), (what, problems)


ACCEPTED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], int | None]] = [
    ({"kind": "dvp", "releases": 7}, B, {}, 7),
    ({"kind": "dvp", "alpha": 0.5}, B, {}, 8),
    ({"kind": "dvp", "alpha": 0.5, "releases": 3}, {}, {}, 3),
    ({"kind": "dvp", "alpha": 0.5, "releases": 8}, B, {}, 8),
    ({"kind": "dvp", "alpha": {"start": 1.0, "growth": 0.5}, "releases": 9}, B, {}, 9),
    ({"kind": "dvp", "alpha": {"start": 1.0, "growth": 2.0}}, B, {}, 2),
    ({"kind": "dvp"}, B | SYNC, ROUNDS, 5),
    ({"kind": "pp", "noise": {"start": 1.0}}, {}, {}, None),
    ({"kind": "pp", "noise": {"start": 1.0}, "releases": 4}, B, {}, 4),
    ({"kind": "warm-cd", "noise": "laplace", "releases": 4}, B, {}, 5),
    ({"kind": "propagation", "noise": "output"}, B, {}, 1),
    ({"kind": "wddp", "local_rounds": 9}, B, {}, 1),
    ({"kind": "wddp", "synchronise": "every-round"}, B, ROUNDS, 5),
    ({"kind": "jayaraman-gradient"}, B, ROUNDS, 5),
    ({"kind": "pathak"}, B, {}, 1),
    (
        {
            "kind": "cd",
            "noise": "laplace",
            "releases": 3,
            "smoothness": "data",
            "calibration": "as_printed",
        },
        B,
        {},
        3,
    ),
    (
        {"kind": "dvp", "releases": 4, "calibration": "as_printed"},
        {"budget": {"epsilon": 1.0, "delta": 0.1}},
        {},
        4,
    ),
    ({"kind": "local"}, B, {}, 0),
]


@pytest.mark.parametrize(("mechanism", "node", "sections", "planned"), ACCEPTED, ids=str)
def test_accepted(
    mechanism: dict[str, Any], node: dict[str, Any], sections: dict[str, Any], planned: int | None
) -> None:
    plan = make_plan(build(mechanism, node, **sections))
    assert plan.nodes[0].mechanism.planned == planned


@pytest.mark.parametrize("name", EVERY)
def test_a_budget_is_kept_by_the_plan_before_anything_runs(name: str) -> None:
    """What `check` prints is within the cap, and the calibration does not leave a tenth of it unused."""
    told = forecast(make_plan(world(name)))["groups"][0]
    if not private(name) or name.startswith(("local-dp", "pp noise")):
        return
    assert told["epsilon"] <= 4.0
    assert told["epsilon"] > 0.9 * 4.0 or name in {"dvp growing", "wddp sum"}


PRINTED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "dvp": (
        {"kind": "dvp", "alpha": 1.0, "releases": 1, "C": 0.1},
        {},
        "costs up to 2, not the 1 that it claims",
    ),
    "pvp": (
        {"kind": "pvp", "alpha": 1.0, "releases": 3, "variant": "printed"},
        {},
        "the claim holds",
    ),
    "pvp clean": (
        {"kind": "pvp", "alpha": 1.0, "releases": 3},
        {},
        "and claims 1: the claim holds",
    ),
    "pvp final": (
        {"kind": "pvp", "alpha": 1.0, "releases": 3, "variant": "printed", "final_dual": True},
        {},
        "not the 1 that it claims",
    ),
    "pp": ({"kind": "pp", "releases": 3}, B, "the claim holds"),
    "cd laplace": ({"kind": "cd", "noise": "laplace", "releases": 4}, B, "not the"),
    "cd gaussian": ({"kind": "cd", "noise": "gaussian", "releases": 4}, B, "the claim holds"),
    "wddp": ({"kind": "wddp", "local_rounds": 9}, B, "not the"),
    "jayaraman-output": (
        {"kind": "jayaraman-output"},
        B,
        "costs up to 6.93, not the 4 that it claims",
    ),
    "pathak": ({"kind": "pathak"}, B, "the claim holds"),
    "jayaraman-gradient": (
        {"kind": "jayaraman-gradient"},
        B | {"clock": "barrier"},
        "the claim holds",
    ),
}


@pytest.mark.parametrize("name", PRINTED)
def test_check_says_what_printed_scales_cost(name: str) -> None:
    mechanism, node, words = PRINTED[name]
    sections = ROUNDS if mechanism["kind"] == "jayaraman-gradient" else {}
    plan = make_plan(build(mechanism | {"calibration": "as_printed"}, node, **sections))
    told = forecast(plan)["groups"][0]["calibration"]
    assert told.startswith("as printed, each release costs")
    assert words in told
    corrected = make_plan(build(mechanism, node, **sections))
    assert forecast(corrected)["groups"][0]["calibration"] is None


def test_a_printed_composition_claims_its_budget() -> None:
    """E8: the claim of Theorem 1 as printed is the budget; the truth is above it."""
    mechanism = {"kind": "cd", "noise": "norm-gamma", "releases": 100, "calibration": "as_printed"}
    told = forecast(make_plan(build(mechanism, B)))["groups"][0]
    assert told["epsilon_by"]["kov"] > 4.2


def test_families_cover_every_kind() -> None:
    assert {EVERY[name]["kind"] for name in EVERY} == set(MECHANISMS)
    assert {family(name) for name in EVERY} == {
        "alone",
        "consensus",
        "personalised",
        "pairs",
        "server",
    }


def test_check_warns_of_releases_that_will_not_be_made() -> None:
    short = {"run": {"seed": 5, "horizon": 6.0}}
    told = forecast(make_plan(build({"kind": "dvp", "releases": 50}, B, **short)))
    assert any(
        "plans 50 releases over 50 wakes, and about 6 wakes come" in w for w in told["warnings"]
    )
    mechanism = {"kind": "warm-cd", "noise": "laplace", "releases": 4}
    warm = forecast(make_plan(build(mechanism, B | SYNC, run={"seed": 5, "rounds": 6})))
    assert any("plans 5 releases over 14 wakes" in w for w in warm["warnings"])
    enough = forecast(make_plan(build({"kind": "dvp", "releases": 5}, B, **short)))
    assert not any("releases over" in w for w in enough["warnings"])


@pytest.mark.parametrize("name", EVERY)
def test_check_can_tell_a_plan_whose_wakes_only_the_run_can_count(name: str) -> None:
    """Barriers with latency and a horizon: no number of wakes, and no traceback for it."""
    run = {"seed": 5, "rounds": 6} if family(name) == "server" else {"seed": 5, "horizon": 9.0}
    network = {"topology": "ring", "latency": "100ms"}
    told = check(world(name, "barrier", run=run, network=network))
    if family(name) in {"alone", "pairs"}:
        assert not told.ok
        return
    assert told.plan is not None
    figures = forecast(told.plan)
    assert in_words(figures)
    if name == "pp noise":
        assert figures["groups"][0]["epsilon"] == "inf"


@pytest.mark.parametrize("name", [n for n in EVERY if private(n)])
def test_check_shows_the_scale_of_every_noise_that_is_drawn(name: str, tmp_path: Path) -> None:
    tree = world(name)
    told = forecast(make_plan(tree))
    (group,) = told["groups"]
    drawn: dict[str, list[float]] = {}
    for line in perform(tree, tmp_path).result.ledger:
        drawn.setdefault(line["law"], []).append(line["scale"])
    shown = {noise["law"]: noise["scale"] for noise in group["noise"]}
    assert set(drawn) <= set(shown)
    for law, scales in drawn.items() if group["releases"] is not None else ():
        low, high = shown[law]["min"], shown[law]["max"]
        assert low * (1 - 1e-9) <= min(scales) <= max(scales) <= high * (1 + 1e-9)
    text = "\n".join(in_words(told))
    for noise in group["noise"]:
        assert f"noise: {noise['law']} {noise['scale']['min']:.4g}" in text
        assert noise["unit"] in text


def test_every_law_of_noise_says_what_its_scale_means() -> None:
    assert SCALES.keys() == UNITS.keys()


def uneven(delta: float, *, largest: int, printed: bool = False, **budget: Any) -> dict[str, Any]:
    """Forty agents whose sizes go from 5 to `largest`: the last of them is named so often as it has points."""
    sizes = [5 + (largest - 5) * i // 39 for i in range(40)]
    data = {"source": "blobs", "dimension": 3, "points": 1, "test_points": 0}
    data |= {"points": sum(sizes) // 40, "split": {"kind": "sizes", "of": sizes}}
    node = {"count": 40, "budget": {"epsilon": 4.0, "delta": delta} | budget}
    calibration = {"calibration": "as_printed"} if printed else {}
    mechanism = {"kind": "cd", "noise": "gaussian", "releases": 4} | calibration
    run = {"seed": 5, "horizon": 3.0}
    return build(mechanism, node, data=data, run=run)


@pytest.mark.parametrize("largest", [20, 37, 100, 128, 999, 1000, 3001])
def test_a_delta_of_a_whole_record_is_one_error_that_names_what_passes(largest: int) -> None:
    assert check(uneven(0.9 / largest, largest=largest)).ok
    refused = check(uneven(0.3, largest=largest))
    (said,) = refused.problems
    assert len(said) < 300
    m = int(re.search(r"has m = ([0-9,]+) points", said)[1].replace(",", ""))  # type: ignore[index]
    assert m == largest
    passes = float(re.search(r"give at most ([0-9.e-]+),", said)[1])  # type: ignore[index]
    assert 0.99 / largest <= passes < 1 / largest
    assert check(uneven(passes, largest=largest)).ok
    assert not check(uneven(1 / largest, largest=largest)).ok
    assert not check(uneven(passes * 1.02, largest=largest)).ok


def test_a_delta_that_is_let_stand_is_said(tmp_path: Path) -> None:
    for more, printed, why in (
        ({"delta_may_exceed": True}, False, "delta_may_exceed = true"),
        ({}, True, "as printed"),
    ):
        tree = uneven(0.3, largest=50, printed=printed, **more)
        plan = make_plan(tree)
        (warned,) = [w for w in plan.warnings if "delta" in w]
        assert warned.endswith(f"m = 50 points, and delta must be below 1/m; it stands, {why}")
        assert warned in forecast(plan)["warnings"]
        summary = perform(tree, tmp_path).outcome.summary
        assert summary["epsilon"]["delta_may_exceed"] == (["peers"] if more else [])
        text = "\n".join(summary_text.in_words(summary))
        assert warned in text
        assert ("δ of peers may exceed 1/m: budget.delta_may_exceed" in text) == bool(more)
    small = make_plan(uneven(1e-3, largest=50, delta_may_exceed=True))
    assert not [w for w in small.warnings if "delta" in w]


def test_a_delta_near_a_record_is_one_warning() -> None:
    (warned,) = [w for w in make_plan(uneven(0.005, largest=100)).warnings if "delta" in w]
    assert (
        warned == "delta = 0.005 is above 1/(10 m): the largest agent of peers has m = 100 points"
    )


@pytest.mark.parametrize(
    ("calibrate", "epsilon", "delta"),
    [("pld", 100.0, 1e-15), ("pld", 1.0, 1e-20), ("rdp", 1e-3, 1e-15)],
)
def test_where_no_noise_is_large_enough_one_located_error_says_so(
    calibrate: str, epsilon: float, delta: float
) -> None:
    """After a warm start's pure ε, a few 1e-15 of δ leave nothing: no Gaussian noise fits, however large."""
    budget = {"epsilon": epsilon, "delta": delta}
    tree = build(
        {"kind": "warm-cd", "noise": "gaussian", "releases": 9, "schedule": "growing"},
        {"count": 3, "budget": budget},
        data={"source": "blobs", "dimension": 5, "points": 20},
        task={"l2": 0.1},
        privacy={"calibrate": calibrate},
    )
    with pytest.raises(ScenarioError, match="no noise is large enough for 9 releases"):
        make_plan(tree)

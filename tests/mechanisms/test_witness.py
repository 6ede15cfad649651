"""What some data make of a release: the exact loss of each kind against densities written here, and reused noise."""

import math
from typing import Any

import numpy as np
import pytest

from mechanisms.noise import LAWS
from mechanisms.witness import REACH, REPEATS, Witness
from scenarios.api.runs import make_plan
from scenarios.auditing.neighbouring_data import neighbours
from scenarios.auditing.watched_run import observe
from scenarios.planning.context import Options
from scenarios.planning.seeds import NoiseSource
from tests.support.builders import scenario
from tests.support.catalogue import EVERY, family, private, world


@pytest.mark.parametrize("name", LAWS)
def test_log_densities_are_those_of_the_laws(name: str) -> None:
    """Up to a constant: differences of two points, written out."""
    x, y = np.array([0.3, -1.2, 2.0]), np.array([-0.1, 0.4, 0.0])
    law, s = LAWS[name], 0.7
    exact = {
        "laplace": (np.abs(y).sum() - np.abs(x).sum()) / s,
        "norm-gamma": s * (np.linalg.norm(y) - np.linalg.norm(x)),
        "gaussian": (y @ y - x @ x) / (2 * s * s),
    }[name]
    assert law.log_density(x, s) - law.log_density(y, s) == pytest.approx(exact)


CLEAR = [n for n in EVERY if private(n) and not n.startswith("local-dp")]


@pytest.mark.parametrize("name", CLEAR)
def test_the_noise_that_the_truth_implies_is_the_noise_that_was_drawn(name: str) -> None:
    """The inverse of every release, on its own data: to the grid and the solver's tolerance."""
    plan = make_plan(world(name, "synchronous", rounds=3, privacy={"grid": False}))
    mechanism: Any = plan.nodes[0].mechanism
    if getattr(mechanism, "seal", None) is not None or name == "wddp once":
        pytest.skip("what is summed or stepped through is explained by its sum")
    witness = Witness(mechanism, mechanism, mechanism)
    from scenarios.auditing.watched_run import perform, renoised

    changed = renoised(plan, "witness")
    agents = perform(changed, {0: witness.watch}).agents
    source, spends = NoiseSource(changed.seeds["noise"]).of(0), agents[0].store.ledger.spends
    noises = witness._both[0].noises
    assert len(noises) == len(spends) > 0
    for k, (spend, implied) in enumerate(zip(spends, noises, strict=True)):
        law = "norm-gamma" if spend.law == "objective" else spend.law
        unit = LAWS[law].draw(source(k), 1.0, len(implied))
        # what hides where a solver stopped is a thousandth of a millionth of the model, times its curvature here
        room = 2e-5 if spend.solve is None else 5e-4
        assert implied == pytest.approx(unit, abs=room * (1 + np.abs(unit).max()))
    assert witness.losses == [0.0] * len(spends)


@pytest.mark.parametrize("name", [n for n in EVERY if private(n)])
def test_no_loss_is_above_its_charge(name: str) -> None:
    """Of pure ε: every single release, on neighbours that differ as far as is known."""
    regularised = {} if family(name) == "consensus" else {"l2": 0.1}
    tree = world(
        name,
        "synchronous",
        rounds=3,
        task={"loss": "smoothed-hinge"} | regularised,
        data={"source": "blobs", "dimension": 3, "points": 6, "test_points": 0},
    )
    plan = make_plan(tree)
    pair = neighbours(plan, how="worst", more=Options()).plans()
    for run in range(5):
        seen = observe(pair.one, pair.node, pair.pair, f"{run}")
        if any(spend.law == "gaussian" for spend in seen.spends):
            continue  # no pure ε to stay below
        for loss, spend in zip(seen.losses, seen.spends, strict=True):
            assert abs(loss) <= spend.charged * (1 + 1e-6) + 1e-6


@pytest.mark.slow
def test_a_summed_release_is_explained_by_its_sum() -> None:
    """Gaussian noise of all, known shift: mean losses ±μ²/2 with the charge's μ (saturated hinge, no rounding)."""
    tree = world(
        "wddp sum",
        "synchronous",
        rounds=1,
        task={"loss": "smoothed-hinge"},
        data={"source": "blobs", "dimension": 2, "points": 50, "test_points": 0},
    )
    tree["mechanism"] = tree["mechanism"] | {"tolerate": 0}
    plan = make_plan(tree)
    pair = neighbours(plan, how="worst", more=Options()).plans()
    runs = [observe(pair.one, pair.node, pair.pair, f"{run}") for run in range(400)]
    mu = runs[0].spends[0].charged
    lost = np.array([seen.losses[0] for seen in runs])
    assert lost.std() == pytest.approx(mu, rel=0.15)
    assert lost.mean() == pytest.approx(mu * mu / 2, abs=4 * mu / math.sqrt(400))


def test_a_witness_lets_its_agent_be_what_it_is() -> None:
    plan = make_plan("private-consensus")
    pair = plan.nodes[0].mechanism, plan.nodes[0].mechanism
    seen = observe(plan, 0, pair, "x")
    assert set(seen.hints) == {REPEATS, REACH}
    assert seen.hints == {REPEATS: 0.0, REACH: 0.0}


@pytest.mark.slow
def test_the_secret_state_is_followed_under_each_hypothesis() -> None:
    """PVP as printed: every release's loss stays within ζ·2C/(ρB), though the un-noised state differs (2.3)."""
    tree = scenario(
        run={"seed": 1, "rounds": 40},
        network={"topology": "path"},
        data={"source": "blobs", "dimension": 2, "points": 20, "test_points": 0},
        task={"loss": "smoothed-hinge"},
        nodes=[{"count": 2, "clock": "synchronous"}],
        mechanism={"kind": "pvp", "variant": "printed", "alpha": 0.5, "rho": 0.2},
    )
    plan = make_plan(tree)
    pair = neighbours(plan, how="worst", more=Options()).plans()
    worst = 0.0
    for run in range(20):
        seen = observe(pair.one, pair.node, pair.pair, f"{run}")
        worst = max(worst, *map(abs, seen.losses))
        assert all(abs(loss) <= 0.5 * (1 + 1e-6) for loss in seen.losses)
    assert worst > 0.4  # and reached, once the centres have drifted apart


def spread_of(tree: dict[str, Any], node: int, runs: int = 500) -> tuple[float, Any]:
    plan = make_plan(tree)
    pair = neighbours(plan, how="worst", node=node, more=Options()).plans()
    seen = [observe(pair.one, pair.node, pair.pair, f"{run}") for run in range(runs)]
    return float(np.std([s.losses[0] for s in seen])), plan


UNEVEN = {
    "source": "blobs",
    "dimension": 2,
    "points": 60,
    "test_points": 0,
    "split": {"kind": "uneven", "ratio": 4},
}


@pytest.mark.slow
def test_a_sum_without_some_is_explained_by_what_is_left() -> None:
    """A client is away: its weight and its noise are. Losses deviate by μ = 2G/n over the survivors' noise."""
    tree = world(
        "wddp sum",
        "barrier",
        rounds=1,
        task={"loss": "smoothed-hinge"},
        data=UNEVEN,
        server={"quorum": 0.5, "deadline": 2.0},
        fault=[{"at": 0.0, "crash": [5]}],
    )
    deviation, plan = spread_of(tree, 0)
    assert plan.server is not None
    shares = plan.server.mechanism.shares[:5]
    reach = 2.0 * plan.server.mechanism.weights[0] / plan.shards.sizes[0]
    assert deviation == pytest.approx(reach / math.sqrt(shares.sum()), rel=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("node", [0, 5])
def test_noise_inside_a_computation_is_scaled_by_the_smallest_survivor(node: int) -> None:
    tree = world(
        "jayaraman-gradient", "barrier", rounds=1, task={"loss": "smoothed-hinge"}, data=UNEVEN
    )
    deviation, plan = spread_of(tree, node)
    central = plan.server.mechanism.central
    sizes = plan.shards.sizes
    exact = 2.0 / (6 * sizes[node]) / central.scale(6, min(sizes))
    assert deviation == pytest.approx(exact, rel=0.12)


def test_perturbed_records_are_explained_by_both_of_their_laws() -> None:
    """(ε_x/2)(‖x̃−x′‖ − ‖x̃−x‖), and ε_y where only one label agrees."""
    from mechanisms.local_privacy import Disguised

    plan = make_plan(world("local-dp", "poisson"))
    mechanism: Any = plan.nodes[0].mechanism
    x, y = mechanism.features, mechanism.labels
    other_x, other_y = x.copy(), y.copy()
    other_x[0], other_y[0] = -x[0], -y[0]
    from dataclasses import replace

    other = replace(mechanism, features=other_x, labels=other_y)
    records = x + 0.1, y
    state = Disguised(None, None, 1, records)
    told = [m.explain(state, None, 0, np.zeros(0), state).log_density for m in (mechanism, other)]
    near, far = np.linalg.norm(records[0][0] - x[0]), np.linalg.norm(records[0][0] - other_x[0])
    assert told[0] - told[1] == pytest.approx(0.5 * 2.0 * (far - near) + 1.0)

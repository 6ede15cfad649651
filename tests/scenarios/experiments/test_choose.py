"""Choices: by brute force, in the right direction, and drawn with the right chances."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from scenarios.experiments.choose import best, choice_of, drawn, is_higher_better
from scenarios.experiments.grid import grid_of
from scenarios.experiments.payment import sensitivity
from scenarios.experiments.settings import Judgement, judge
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import read_source
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.planning.seeds import generator
from tests.support.builders import private


def test_groups_are_the_settings_of_the_other_axes() -> None:
    values: dict[str, list[int | str]] = {"a.x": [1, 2], "b.y": [3, 4, 5], "c.z": ["u", "v"]}
    grid = grid_of(values, [], [0], scenarios=2)
    settings = list(grid.settings())
    groups = choice_of("loss.mean", ["b.y"], None, None, grid).groups(grid, settings)
    assert len(groups) == 2 * 2 * 2
    for group in groups:
        assert [s.values["b.y"] for s in group] == [3, 4, 5]
        assert len({(s.scenario, s.values["a.x"], s.values["c.z"]) for s in group}) == 1
    assert sorted(s.number for group in groups for s in group) == [s.number for s in settings]


def test_a_key_that_varies_with_others_chooses_them_all() -> None:
    grid = grid_of({"a.x": [1, 2], "b.y": [3, 4], "c.z": [5, 6]}, [["a.x", "b.y"]], [0])
    settings = list(grid.settings())
    groups = choice_of("loss.mean", ["b.y"], None, None, grid).groups(grid, settings)
    assert [[(s.values["a.x"], s.values["c.z"]) for s in g] for g in groups] == [
        [(1, 5), (2, 5)],
        [(1, 6), (2, 6)],
    ]


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_is_that_of_brute_force(*, higher: bool) -> None:
    for scores in product((0.0, 0.5, 1.0, math.nan), repeat=3):
        known = [s for s in scores if not math.isnan(s)]
        chosen = best(dict(enumerate(scores)), higher=higher)
        if not known:
            assert chosen is None
        else:
            assert chosen == scores.index(max(known) if higher else min(known))


@pytest.mark.parametrize(
    ("metric", "higher"),
    [
        ("accuracy.validation.mean", True),
        ("gain.mean", True),
        ("loss.mean", False),
        ("rmse.test.mean", False),
        ("gap", False),
    ],
)
def test_the_name_of_a_metric_tells_what_is_good(metric: str, *, higher: bool) -> None:
    assert is_higher_better(metric, None, "x") is higher
    assert is_higher_better(metric, "lower" if higher else "higher", "x") is not higher


def test_a_metric_of_no_known_direction_is_asked_for_one() -> None:
    with pytest.raises(ScenarioError, match="say better = higher or lower"):
        is_higher_better("messages.sent", None, "x")


@pytest.mark.slow
def test_a_choice_is_drawn_with_exponential_chances() -> None:
    """Pr(j) ∝ exp(ε u_j/(2Δ)): the counts of 20,000 draws lie within five standard deviations."""
    scores, epsilon, moves, draws = {4: 0.9, 7: 0.8, 9: 0.85}, 0.8, 0.05, 20_000
    weights = np.exp(epsilon * np.array(list(scores.values())) / (2 * moves))
    chances = weights / weights.sum()
    rng = generator(3, "test/choice")
    counts = dict.fromkeys(scores, 0)
    for _ in range(draws):
        counts[drawn(scores, epsilon, moves, rng)] += 1
    for chance, count in zip(chances, counts.values(), strict=True):
        assert abs(count - draws * chance) < 5 * math.sqrt(draws * chance * (1 - chance))


@pytest.mark.parametrize(("epsilon", "moves"), [(0.3, 0.05), (1.0, 0.01), (4.0, 0.25)])
def test_a_draw_turns_where_the_lead_of_a_score_is_that_of_the_noise(
    epsilon: float, moves: float
) -> None:
    """The second wins where ε(u₂ - u₁)/(2Δ) is above the lead of the first in Gumbel noise, to a thousandth."""
    for seed in range(20):
        first, second = generator(seed, "test/choice").gumbel(size=2)
        lead = 2 * moves * (first - second) / epsilon
        for share, number in ((0.999, 0), (1.001, 1)):
            scores = {0: 0.0, 1: lead * share}
            wanted = number if lead > 0 else 1 - number
            assert drawn(scores, epsilon, moves, generator(seed, "test/choice")) == wanted


def test_the_chances_of_a_draw_keep_its_epsilon() -> None:
    """They change by at most e^ε where every score moves by at most Δ: over all corners, at d = 3."""
    epsilon, moves = 1.3, 0.1

    def chances(scores: np.ndarray) -> np.ndarray:
        weights = np.exp(epsilon * scores / (2 * moves))
        return np.asarray(weights / weights.sum())

    base = np.array([0.2, 0.5, 0.45])
    worst = max(
        np.abs(np.log(chances(base + moves * np.array(corner)) / chances(base))).max()
        for corner in product((-1, 0, 1), repeat=3)
    )
    assert 0.4 * epsilon < worst <= epsilon


@pytest.mark.parametrize("sizes", [(1,), (3, 8), (5, 5, 2, 9)])
def test_the_sensitivity_is_what_one_label_of_the_agent_with_the_fewest_points_moves(
    sizes: tuple[int, ...],
) -> None:
    right = [np.ones(size) for size in sizes]
    before = np.mean([r.mean() for r in right])
    moved = []
    for labels in right:
        labels[0] = 0.0
        moved.append(before - np.mean([r.mean() for r in right]))
        labels[0] = 1.0
    judged = [
        Judgement(validating=len(sizes), fewest=fewest) for fewest in (min(sizes), min(sizes) + 4)
    ]
    assert sensitivity(judged) == pytest.approx(max(moved), rel=1e-12)


@pytest.mark.parametrize("points", [30, {"min": 10, "max": 60}])
def test_a_plan_is_judged_by_its_agent_with_the_fewest_validation_points(points: Any) -> None:
    world = private(
        data={"source": "separators", "dimension": 3, "points": points, "validation": 0.3}
    )
    judged = judge(read_source(world), 3, Options())
    sizes = [len(y) for _, y in resolve(checked(load(world)), Options(seed=3)).shards.validation]
    assert (judged.validating, judged.fewest) == (len(sizes), min(sizes))
    assert points == 30 or min(sizes) < max(sizes)

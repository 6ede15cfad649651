"""Ends of settings: means and intervals over seeds are those of a pencil, and cells are where their values say."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scenarios.pictures.curves import Curve, over_seeds
from scenarios.pictures.ends import end_of, lines_of, main_axis
from scenarios.pictures.kinds.heatmap import grid_of
from scenarios.pictures.picture import Material
from scenarios.pictures.settings import Setting, axes_of, only
from scenarios.records.file_guard import FolderError
from scenarios.records.sweep_record import Chosen, SweepRecord
from tests.support.swept import Label, written_sweep

SEEDS = (3, 5, 8, 13)


def figures(settings: Mapping[str, Label], seed: int) -> dict[str, float]:
    """A score that a reader can compute: ten times the budget, plus the seed; the loss has no value for seed 3."""
    budget = float(settings["nodes.all.budget.epsilon"])
    loss = math.nan if seed == 3 else budget + float(settings["network.loss"])
    return {"accuracy.test.mean": 10 * budget + seed, "epsilon.max": budget, "loss.mean": loss}


@pytest.fixture
def swept(tmp_path: Path) -> Material:
    axes = {"nodes.all.budget.epsilon": [4.0, 1.0, 2.0], "network.loss": [0.0, 0.5]}
    return Material(sweeps=(SweepRecord(written_sweep(tmp_path / "sweep", axes, SEEDS, figures)),))


def test_an_end_is_the_mean_over_seeds_with_its_interval(swept: Material) -> None:
    for setting in swept.settings:
        budget = float(setting.values["nodes.all.budget.epsilon"])
        end = end_of(setting, "accuracy.test")
        values = [10 * budget + seed for seed in SEEDS]
        low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
        assert end.seeds == 4
        assert [end.low, end.mean, end.high] == pytest.approx([low, np.mean(values), high])
        assert end_of(setting, "loss").seeds == 3
        alone = end_of(Setting(setting.values, setting.members[:1], ""), "accuracy.test")
        assert (alone.mean, alone.seeds) == (10 * budget + 3, 1)
        assert math.isnan(alone.high)
        assert math.isnan(end_of(setting, "gap").mean)


def test_a_cell_of_a_heat_map_is_the_mean_of_its_rows(swept: Material) -> None:
    columns, rows, means, names = grid_of(swept.settings, "accuracy.test")
    assert (columns, rows) == ([1.0, 2.0, 4.0], [0.0, 0.5])
    assert names == ("nodes.all.budget.epsilon", "network.loss")
    expected = [[10 * float(budget) + np.mean(SEEDS) for budget in columns]] * 2
    assert means == pytest.approx(np.array(expected))


def test_a_heat_map_of_one_axis_is_refused_without_advice_to_narrow_it_down(
    swept: Material,
) -> None:
    with pytest.raises(FolderError) as caught:
        grid_of(only(swept.settings, {"epsilon": "2"}), "loss")
    assert str(caught.value).endswith("what differs here is: network.loss")


def test_settings_are_narrowed_down_by_the_end_of_a_key(swept: Material) -> None:
    kept = only(swept.settings, {"epsilon": "2"})
    assert {s.values["nodes.all.budget.epsilon"] for s in kept} == {2.0}
    assert len(kept) == 2
    assert [axis.name for axis in axes_of(kept)] == ["network.loss"]
    for wrong in ({"epsilom": "2"}, {"epsilon": "3"}):
        with pytest.raises(FolderError, match=r"epsilon|known: 1"):
            only(swept.settings, wrong)


def test_the_longest_numeric_axis_goes_from_left_to_right_and_the_rest_makes_lines(
    swept: Material,
) -> None:
    main, others = main_axis(swept.settings)
    assert main is not None
    assert main.name == "nodes.all.budget.epsilon"
    lines = lines_of(swept.settings, others)
    assert {line: len(group) for line, group in lines.items()} == {(0.0,): 3, (0.5,): 3}


def test_axes_that_vary_together_are_one(tmp_path: Path) -> None:
    def tripled(settings: Mapping[str, Label], seed: int) -> dict[str, float]:
        del settings
        return {"loss.mean": float(seed)}

    path = written_sweep(tmp_path / "sweep", {"a": ["x", "y"], "b": [1.0, 2.0]}, [1], tripled)
    settings = [
        s for s in Material(sweeps=(SweepRecord(path),)).settings
        if (s.values["a"] == "x") == (s.values["b"] == 1.0)
    ]  # fmt: skip
    (axis,) = axes_of(settings)
    assert (axis.name, axis.beside) == ("b", ("a",))


def test_runs_that_did_not_finish_are_left_out(tmp_path: Path) -> None:
    def state(settings: Mapping[str, Label], seed: int) -> str:
        return "stopped" if settings["network.loss"] == 0.5 or seed == 8 else "finished"

    axes = {"nodes.all.budget.epsilon": [1.0], "network.loss": [0.0, 0.5]}
    path = written_sweep(tmp_path / "sweep", axes, SEEDS, figures, status=state)
    (setting,) = Material(sweeps=(SweepRecord(path),)).settings
    assert setting.seeds == [3, 5, 13]


def test_settings_that_were_chosen_stand_for_their_group(tmp_path: Path) -> None:
    """Of two losses the better one was chosen for each budget: one setting is left of each, and losses are no axis."""

    def best(settings: Mapping[str, Label]) -> bool:
        return (settings["network.loss"] == 0.5) == (settings["nodes.all.budget.epsilon"] == 1.0)

    axes = {"nodes.all.budget.epsilon": [1.0, 2.0], "network.loss": [0.0, 0.5]}
    choice = Chosen("accuracy.validation.mean", ["network.loss"], higher=True)
    path = written_sweep(tmp_path / "s", axes, SEEDS, figures, choice=choice, chosen=best)
    settings = Material(sweeps=(SweepRecord(path),)).settings
    assert [axis.name for axis in axes_of(settings)] == ["nodes.all.budget.epsilon"]
    losses = {s.values["nodes.all.budget.epsilon"]: end_of(s, "loss").mean for s in settings}
    assert losses == {1.0: 1.5, 2.0: 2.0}


def _line(at: list[float], values: list[float]) -> Curve:
    mean = np.array(values)
    return Curve(np.array(at), mean, mean, mean, mean, per_node=True, largest=mean)


def test_curves_over_seeds_are_means_of_what_each_run_holds() -> None:
    """A run holds its value until its next point, and every point is a mean of all runs."""
    curve = over_seeds([_line([0, 2, 4], [10, 20, 30]), _line([1, 2, 9], [0, 2, 4])])
    assert curve.at.tolist() == [1, 2, 4]
    assert curve.mean.tolist() == [5, 11, 16]
    half = stats.t.ppf(0.975, 1) * np.array([10, 18, 28]) / 2
    assert curve.high - curve.mean == pytest.approx(half)
    assert curve.mean - curve.low == pytest.approx(half)
    assert over_seeds([_line([0, 1], [1, 2])]).seeds == 1
    with pytest.raises(FolderError, match="no two points"):
        over_seeds([_line([0, 1], [1, 2]), _line([5, 6], [1, 2])])

"""The data card of a run: figures that a pencil gives, too, on data of a few points."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios import open_run, run_sync
from scenarios.api.runs import make_plan
from scenarios.command.main import main
from scenarios.planning.seeds import generator
from scenarios.records import data_card_text
from scenarios.records.data_card import DataCard, card_of
from scenarios.records.file_guard import FolderError
from tests.support.builders import scenario
from tests.support.command import hush


def world(agents: int, **sections: Any) -> dict[str, Any]:
    base = {
        "nodes": [{"count": agents}],
        "network": {"topology": "path"},
        "mechanism": {"kind": "local"},
    }
    return scenario(**(base | sections))


def card(pairs: list[Any], **sections: Any) -> DataCard:
    return card_of(make_plan(world(len(pairs), **sections), data=pairs))


def labelled(*labels: list[int]) -> list[Any]:
    """Points of agents with these labels; no two points are equal."""
    rng = generator(2, "test/card")
    return [(rng.uniform(-0.5, 0.5, (len(mine), 2)), mine) for mine in labels]


def test_the_skew_of_a_pure_agent_is_the_share_of_the_other_label() -> None:
    """Of 4 points 3 are +1: an agent with +1 alone is 1/4 away, one with −1 alone 3/4."""
    skew = card(labelled([1, 1, 1], [-1])).skew
    assert skew.kind == "total variation"
    assert skew.each == pytest.approx([0.25, 0.75])
    assert skew.mean == pytest.approx(0.5)
    assert skew.max == pytest.approx(0.75)
    assert card(labelled([1, -1], [1, -1, 1, -1])).skew.max == 0.0
    three = card(labelled([1, 1], [1], [-1])).skew  # ¼, ¼ and ¾: the mean is no middle
    assert (three.mean, three.max) == pytest.approx((5 / 12, 3 / 4))


def test_labels_that_positive_made_keep_their_names() -> None:
    x, _ = labelled([0, 0, 0], [])[0]
    of = card_of(
        make_plan(world(1), data=[(x, ["a", "b", "c"])], set={"data.positive": "b"}),
    )
    assert [(label.value, label.name, label.points) for label in of.labels] == [
        (-1, "not b", 2),
        (1, "b", 1),
    ]


def test_labels_are_counted_for_each_agent_under_the_names_of_their_source() -> None:
    x = labelled([0] * 3, [0] * 2)
    data = [(x[0][0], ["no", "yes", "yes"]), (x[1][0], ["no", "no"])]
    of = card(data)
    assert [(label.value, label.name, label.points) for label in of.labels] == [
        (-1, "no", 3),
        (1, "yes", 2),
    ]
    assert of.each_label == [[1, 2], [2, 0]]
    assert of.notes == ["labels: no → −1, yes → +1"]


def test_numbers_to_be_predicted_have_a_mean_a_deviation_and_a_skew_in_deviations() -> None:
    """Labels 1 1 5 5 with mean 3 and deviation 2: each agent's mean is one deviation away."""
    of = card(labelled([1, 1], [5, 5]), task={"loss": "squared", "l2": 0.1})
    assert of.labels == []
    assert (of.label_mean, of.label_deviation) == (3.0, 2.0)
    assert of.skew.kind == "mean"
    assert of.skew.each == [1.0, 1.0]


def test_norms_are_told_before_and_after_rows_are_scaled() -> None:
    """Rows (3, 4), (0, 2) and (0.3, 0.4) have norms 5, 2 and ½."""
    pairs = [([[3.0, 4.0], [0.3, 0.4]], [1, -1]), ([[0.0, 2.0]], [1])]
    of = card(pairs, data={"source": "given", "scale": "row"})
    assert of.norms_before is not None
    before, after = of.norms_before, of.norms
    assert (before.min, before.median, before.max) == pytest.approx((0.5, 2.0, 5.0))
    assert (after.min, after.median, after.max) == pytest.approx((0.5, 1.0, 1.0))
    assert of.scaled == 2
    plain = card(pairs)
    assert plain.norms_before is None
    assert plain.norms.max == pytest.approx(5.0)
    assert plain.scaled == 0


def test_equal_points_are_counted_within_agents_and_across_them() -> None:
    """0 and −0 are one number; another label makes another point."""
    one, other, zero = [0.1, 0.2], [0.2, 0.1], [0.0, 0.3]
    pairs = [
        ([one, one, one, other, zero], [1, 1, -1, 1, 1]),
        ([one, [-0.0, 0.3]], [1, 1]),
        ([one, other], [1, -1]),
    ]
    found = card(pairs).duplicates
    assert found is not None
    assert found.within == 1
    assert found.across == 2


@settings(max_examples=25)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([-1, 1])),
        min_size=4,
        max_size=40,
    )
)
def test_equal_points_are_those_that_sets_find(rows: list[tuple[int, int, int]]) -> None:
    hands = [rows[0::2], rows[1::2]]
    pairs = [([[a / 8, b / 8] for a, b, _ in hand], [y for *_, y in hand]) for hand in hands]
    found = card(pairs).duplicates
    assert found is not None
    assert found.within == sum(len(hand) - len(set(hand)) for hand in hands)
    assert found.across == len(set(hands[0]) & set(hands[1]))


SPLITS: list[dict[str, Any]] = [
    {"kind": "even"},
    {"kind": "uneven", "ratio": 9.0},
    {"kind": "dirichlet", "alpha": 0.2},
    {"kind": "shards"},
]


@pytest.mark.parametrize("split", SPLITS)
def test_points_are_conserved(split: dict[str, Any]) -> None:
    rng = generator(3, "test/card")
    x, y = rng.uniform(-0.5, 0.5, (200, 3)), np.repeat([0, 1], 100)
    keys = {"source": "given", "split": split, "test": 0.2, "validation": 0.25}
    of = card_of(make_plan(world(10, data=keys), data=(x, y)))
    assert of.points + of.common_test_points + of.validation_points == 200
    assert sum(of.each_size) == sum(label.points for label in of.labels) == of.points
    assert [sum(counts) for counts in of.each_label] == of.each_size
    assert of.sizes.min == min(of.each_size)
    assert of.sizes.max == max(of.each_size)
    shares = np.array([label.points for label in of.labels]) / of.points
    own = np.array(of.each_label) / np.array(of.each_size)[:, None]
    assert of.skew.each == pytest.approx(
        np.abs(own - shares).max(axis=1)
    )  # of two labels both differences are equal


def test_of_many_agents_the_spread_is_kept_and_no_list() -> None:
    of = card_of(
        make_plan(
            world(
                1001, data={"source": "separators", "dimension": 2, "points": 3, "test_points": 0}
            )
        )
    )
    assert (of.each_size, of.each_label, of.skew.each) == ([], [], [])
    assert len(of.skew.sorted) == 40
    assert of.skew.sorted == sorted(of.skew.sorted)
    assert len(data_card_text.in_words(of)) <= 8


def test_numbers_at_the_end_of_doubles_have_a_card_that_can_be_read() -> None:
    """The square of 1e300 is beyond all doubles; JSON holds no infinity."""
    plan = make_plan(world(2), data=labelled([1], [-1]))
    (x, y), other = plan.shards.train
    of = card_of(replace(plan, shards=replace(plan.shards, train=((1e300 + x, y), other))))
    assert of.norms.max > 1e300
    assert msgspec.json.decode(msgspec.json.encode(of), type=DataCard) == of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("card") / "r"
    run_sync(
        world(4, run={"seed": 1, "horizon": 0.5}),
        data=labelled([1, 1], [-1], [1], [-1, 1]),
        out=path,
    )
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what a command writes."""
    capsys.readouterr()
    main(arguments)
    return capsys.readouterr().out


def test_every_run_leaves_its_card_and_checksums_cover_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = open_run(folder)
    assert done.data_card is not None
    assert done.data_card.each_size == [2, 1, 1, 2]
    assert "data.json" in done.manifest["sha256"]
    shown = said(capsys, "show", str(folder))
    assert "6 training points of 4 agents" in shown
    assert "█▁█▅ share of 1, each agent" in shown


CHANGES: list[dict[str, Any]] = [
    {"each_size": [1, 1, 1, 2]},
    {"each_size": [6]},
    {"each_label": [[1]] * 4},
    {"agents": 10**9},
    {"points": -1},
    {"sizes": None},
    {"labels": "\x1b[2J"},
    {"skew": {"kind": "x", "mean": 0, "max": 0, "each": [0.0], "sorted": []}},
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_card_is_one_sentence(
    folder: Path, tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder, tmp_path / "bad")
    file = tmp_path / "bad" / "data.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(FolderError, match=r"data\.json is damaged"):
        _ = open_run(tmp_path / "bad").data_card
    assert main(["show", str(tmp_path / "bad")]) == 2
    assert "data.json is damaged" in capsys.readouterr().err


@pytest.mark.slow
def test_check_tells_the_card_before_a_run_also_in_ascii() -> None:
    told = hush("check", "quickstart", "--ascii").stdout
    assert told.isascii()
    assert "training points of 100 agents" in told
    (figures,) = json.loads(hush("check", "quickstart", "--json").stdout)
    assert figures["data"]["agents"] == 100

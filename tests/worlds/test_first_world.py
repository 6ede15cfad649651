"""The world that `hush new` writes: learning together wins in it, by as much as its text says."""

import re
import tomllib
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.command.template import TEMPLATE
from scenarios.planning.forecast import forecast
from tests.support.builders import perform

SEEDS = range(1, 11)


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder, tree = tmp_path_factory.mktemp("first"), tomllib.loads(TEMPLATE)
    return [perform(tree, folder, seed=seed).outcome.summary for seed in SEEDS]


@pytest.mark.slow
def test_a_first_world_wins_under_every_seed(summaries: list[dict[str, Any]]) -> None:
    assert all(summary["gain"] > 0.04 for summary in summaries)
    assert all(summary["verdict"] == "pass" for summary in summaries)
    assert all(summary["epsilon"]["max"] <= 4.0 for summary in summaries)
    assert all(summary["epsilon"]["covered"] for summary in summaries)


def test_a_first_world_says_by_how_much_it_wins(summaries: list[dict[str, Any]]) -> None:
    comments = [line for line in TEMPLATE.splitlines() if line.startswith("# ")]
    text = " ".join(line.removeprefix("#").strip() for line in comments[:3])
    found = re.search(
        r"accuracy of ([0-9.]+), together ([0-9.]+), .* a gain of ([0-9.]+) ± ([0-9.]+) over the seeds 1 to 10",
        text,
    )
    assert found is not None
    alone, together, gain, error = map(float, found.groups())
    gains = [summary["gain"] for summary in summaries]
    assert gain == pytest.approx(np.mean(gains), abs=0.01)
    assert error == pytest.approx(np.std(gains, ddof=1) / len(gains) ** 0.5, abs=0.005)
    scores = [summary["accuracy"]["test"] for summary in summaries]
    assert together == pytest.approx(np.mean(scores), abs=0.01)
    local = [summary["local"]["accuracy"] for summary in summaries]
    assert alone == pytest.approx(np.mean(local), abs=0.01)


def test_a_first_world_has_nothing_to_be_warned_of() -> None:
    """Its δ is below 1/(10 m) for every agent, its graph is made of no data, and check has nothing to warn of."""
    plan = make_plan(tomllib.loads(TEMPLATE))
    assert forecast(plan)["warnings"] == []

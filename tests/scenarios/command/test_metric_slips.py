"""A slip in the name of a metric gets its nearest name, wherever metrics are named."""

import re
from pathlib import Path
from typing import Any

import pytest

from scenarios.command.main import main
from scenarios.console.control.commands import carry_out
from scenarios.planning.metric_names import METRICS, known_names, names_of_agents, nearest_metric
from tests.support.builders import Ran, private
from tests.support.finished_runs import finished
from tests.support.looks import stood
from tests.support.swept import written_sweep

AXIS = "nodes.all.budget.epsilon"


def meant(hint: str) -> str | None:
    """Return the name that a hint says was meant; None where it says none."""
    named = re.match(r"did you mean '([^']+)'", hint)
    return named and named[1]


@pytest.mark.parametrize("name", METRICS)
def test_a_letter_too_many_leads_back_to_the_metric(name: str) -> None:
    slip = name + name[-1]
    if name in names_of_agents():
        assert meant(nearest_metric(slip, known_names(()))) == f"{name}.mean"
        assert meant(nearest_metric(f"{slip}.p90", known_names(()))) == f"{name}.p90"
        assert meant(nearest_metric(f"{slip}.p90", [f"{name}.mean"], any_fold=False)) == f"{name}.mean"  # fmt: skip
        assert meant(nearest_metric(f"{slip}.p90", [name])) == f"{name}.p90"
        assert meant(nearest_metric(f"{name}.men", known_names(()))) == f"{name}.mean"
    else:
        assert meant(nearest_metric(slip, known_names(()))) == name
        assert meant(nearest_metric(f"{name}.mean", known_names(()))) == name


def test_a_name_that_is_near_to_nothing_gets_no_guess() -> None:
    assert meant(nearest_metric("xyzzy.p90", known_names(()))) is None


EXPECT = '[[expect]]\nmetric = "losss"\nbelow = 1\n'
TARGET = '[targets]\nlow = { metric = "losss", below = 0.4 }\n'
WHEN = '[[fault]]\nwhen = "losss < 0.3"\noracle = true\ncrash = [1]\n'
SOMETIMES = '[[expect]]\nsometimes = "losss.p90 < 0.3"\n'
WORST = '[[fault]]\nat = "1s"\noracle = true\ncrash = { highest = "losss" }\n'
COLUMN = '[sweep]\nmetrics = ["losss"]\nseeds = "0..1"\n'
SET = 'expect=[{metric="losss",below=1}]'

PLACES: dict[str, tuple[str, list[str]]] = {
    "an expectation": (EXPECT, ["check", "W"]),
    "a target": (TARGET, ["check", "W"]),
    "a condition of a fault": (WHEN, ["check", "W"]),
    "a condition of an expectation": (SOMETIMES, ["check", "W"]),
    "a choice of agents": (WORST, ["check", "W"]),
    "--set": ("", ["check", "W", "--set", SET]),
    "the table of a sweep": (COLUMN, ["sweep", "W", "-o", "s"]),
    "sweep --metric": ("", ["sweep", "W", "--seeds", "0..1", "--metric", "losss", "-o", "s"]),
    "sweep --choose": ("", ["sweep", "W", "--seeds", "0..1", "--grid", f"{AXIS}=1,2", "--choose", "losss", "--over", AXIS, "-o", "s"]),
    "sweep --race": ("", ["sweep", "W", "--seeds", "0..1", "--race", "losss", "-o", "s"]),
    "sweep --plot": ("", ["sweep", "W", "--seeds", "0..1", "--plot", "losss", "-o", "s"]),
    "plot": ("", ["plot", "RUN", "losss"]),
    "plot with an aggregate": ("", ["plot", "RUN", "losss.p90"]),
    "plot --metric": ("", ["plot", "SWEEP", "final", "--metric", "losss"]),
    "compare": ("", ["compare", "RUN", "RUN", "--metric", "losss"]),
    "compare of sweeps": ("", ["compare", "SWEEP", "SWEEP", "--metric", "losss"]),
    "tradeoff": ("", ["tradeoff", "SWEEP", "--metric", "losss"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def ran() -> Ran:
    return finished(private())


def cells(settings: Any, _seed: int) -> dict[str, float]:
    return {"loss.mean": 1 / float(settings[AXIS]), "gap": 0.1}


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_names_a_metric_says_which_was_meant(
    place: str,
    ran: Ran,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, words = PLACES[place]
    monkeypatch.chdir(tmp_path)
    world = 'schema = 1\nextends = "library:quickstart"\n' + text
    Path("world.toml").write_text(world, encoding="utf-8")
    sweep = written_sweep(tmp_path / "sweep", {AXIS: [1.0, 2.0]}, [0, 1], cells, run=ran.outcome.folder)  # fmt: skip
    stands_for = {"W": "./world.toml", "RUN": str(ran.outcome.folder), "SWEEP": str(sweep)}
    code = main([stands_for.get(word, word) for word in words])
    assert code == 2
    said = capsys.readouterr().err
    assert re.search(r"did you mean 'loss(\.mean|\.p90)?'", said), said
    assert not Path("s").exists()


@pytest.mark.parametrize(
    "order", ["metric losss", "color losss", "break losss > 3", "until losss > 3"]
)
def test_every_order_of_a_screen_that_names_a_metric_says_which_was_meant(
    order: str, ran: Ran
) -> None:
    viewer, _ = stood(ran, 10.0)
    carry_out(viewer.session, order)
    assert re.search(r"did you mean 'loss(\.mean)?'", viewer.session.message), (
        viewer.session.message
    )

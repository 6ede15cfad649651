"""The scale that noise is drawn with is the one that the ledger states: of every private kind, on every path."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.federated import JointAnswers
from mechanisms.local_privacy import LocalPrivacy
from mechanisms.noise import LAWS
from scenarios.api.runs import make_plan
from scenarios.planning.wake_paths import obstacle_to_columns
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.catalogue import EVERY, family, private, world

LOUDER = 1.0001
ALL_SURVIVE = {"server": {"deadline": 3.0, "quorum": 1.0}}
KINDS = [name for name in EVERY if private(name)]


def performed(name: str, path: str, folder: Path, **sections: Any) -> tuple[Run, Any]:
    clock = "barrier" if family(name) == "server" else "poisson"
    plan = make_plan(world(name, clock, rounds=3, **sections))
    plan = replace(plan, path="auto" if obstacle_to_columns(plan) else path)
    run = Run(plan, folder / "run", RunGovernor(), math.inf)
    return run, asyncio.run(run.perform())


@pytest.fixture
def other_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    """All noise is drawn with a scale that differs from the one that is charged for."""

    def drawn(draw: Callable[..., Any]) -> Callable[..., Any]:
        return lambda law, rng, scale, to: draw(law, rng, scale * LOUDER, to)

    for law in LAWS.values():
        for name in ("draw", "fill"):
            monkeypatch.setattr(type(law), name, drawn(getattr(type(law), name)))
    perturbed, made = LocalPrivacy.perturbed, JointAnswers.__init__

    def other_records(mechanism: LocalPrivacy, rng: Any) -> Any:
        louder = mechanism.epsilon_features * LOUDER
        return perturbed(replace(mechanism, epsilon_features=louder), rng)

    def other_answers(answers: Any, clients: Any) -> None:
        made(answers, clients)
        if answers._stack is not None:
            answers._sigmas = answers._sigmas / LOUDER

    monkeypatch.setattr(LocalPrivacy, "perturbed", other_records)
    monkeypatch.setattr(JointAnswers, "__init__", other_answers)


@pytest.mark.usefixtures("other_scales")
@pytest.mark.parametrize("path", ["events", "columns"])
@pytest.mark.parametrize("name", KINDS)
def test_noise_of_another_scale_than_charged_ends_the_run(
    name: str, path: str, tmp_path: Path
) -> None:
    _, outcome = performed(name, path, tmp_path, **ALL_SURVIVE if family(name) == "server" else {})
    assert (outcome.code, "noise as charged: " in outcome.message) == (3, True), outcome.message


@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in KINDS for path in ("events", "columns")],
)
def test_noise_is_drawn_with_the_scale_that_its_ledger_line_states(
    name: str, path: str, tmp_path: Path
) -> None:
    run, outcome = performed(name, path, tmp_path)
    assert outcome.code == 0, outcome.message
    assert run.observers.checks.released_count > 0
    assert outcome.summary["invariants"]["noise as charged"]["verdict"] == "pass"


@pytest.mark.parametrize("quorum", [0.5, 1.0])
@pytest.mark.parametrize("name", ["jayaraman-gradient", "jayaraman-output", "pathak"])
def test_a_ledger_of_noise_that_was_never_drawn_ends_the_run(
    name: str, quorum: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A charge states 1 % more noise than is drawn, and charges for that; where all must survive, or 1 % less."""
    from scenarios.planning.server import Inside

    spend_of = Inside._spend
    for factor in (1 / 1.01, 1.01) if quorum == 1.0 else (1.01,):

        def misstated(self: Any, i: int, factor: float = factor) -> Any:
            spend, sigma = spend_of(self, i)
            if factor < 1 and self.public.sizes[i] == min(self.public.sizes):
                return spend, sigma  # a larger charge is over its budget
            scale = self.central.law.scale(spend.charged / factor, spend.sensitivity)
            return replace(spend, scale=scale, charged=spend.charged / factor), sigma

        monkeypatch.setattr(Inside, "_spend", misstated)
        tree: dict[str, Any] = {"server": {"deadline": 3.0, "quorum": quorum}}
        tree["data"] = {"dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 3}}
        tree["data"]["source"] = "blobs"
        _, outcome = performed(name, "events", tmp_path / f"{factor}", **tree)
        assert outcome.code == 3
        assert "noise as charged: round 1 has noise of the scale" in outcome.message


def test_a_release_whose_noise_was_never_drawn_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = type(LAWS["laplace"])
    monkeypatch.setattr(law, "draw", lambda *drawn: np.zeros(drawn[-1]))
    _, outcome = performed("cd laplace", "events", tmp_path)
    assert outcome.code == 3
    assert "with the scale none, its ledger states " in outcome.message

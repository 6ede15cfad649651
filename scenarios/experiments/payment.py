"""When a choice by held-out data can be paid for, and what it then costs. The proof: docs/experiments.md."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scenarios.planning.mechanism import is_private
from scenarios.planning.plan import Plan
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord

if TYPE_CHECKING:
    from scenarios.experiments.settings import Judgement

NOISE = "sweep/choice/noise"
"""The path of the seed of a cell's noise: candidates must not share their noise, or ε does not add up."""
DRAW = "sweep/choice/draw"
"""The stream by which a choice is drawn."""
COLUMNS = ("choice.epsilon.training", "choice.delta", "choice.epsilon.validation")
"""The columns of a table whose choice was paid for: what it costs a training record, and what a validation record."""


def why_not_payable(plan: Plan, read: ScenarioTable) -> str:
    """Return why no choice among runs of a plan can be paid for; empty where it can."""
    points = [len(y) for _, y in plan.shards.validation]
    reasons = (
        (not is_private(read), "its mechanism is not private, or says itself what it costs"),
        (plan.uncovered != (), f"its ε does not cover the run: {'; '.join(plan.uncovered)}"),
        (
            plan.server is not None,
            "what is judged is not what the agents released: it has a server",
        ),
        (
            plan.privacy.shows_unreleased_model,
            f"{plan.kind} releases no model: what is judged was not released",
        ),
        (
            plan.privacy.view != "eavesdropper",
            f"its ε is stated in the view {plan.privacy.view}: the choice needs one that sees every release",
        ),
        (
            read.seeds.data is None,
            "its validation points differ from seed to seed: fix seeds.data",
        ),
        (
            len(points) < plan.size or not min(points, default=0),
            "not every agent has a validation point: give data.validation",
        ),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def sensitivity(judgements: Sequence["Judgement"]) -> float:
    """Return by how much replacing one validation record of one agent moves the score of any candidate, at most.

    The score is the mean over seeds of the mean over agents of the share of right labels, and every seed has the same
    validation points: 1/(agents × fewest points of an agent).
    """
    return 1 / min(judgement.validating * judgement.fewest for judgement in judgements)


def why_not_released(record: RunRecord) -> str:
    """Return why the models that a run was judged by are no function of its releases; empty where each is its agent's last."""
    try:
        theta, released = record.models, record.released
    except FolderError as error:
        return str(error)
    if theta.shape == released.shape and np.array_equal(theta, released):
        return ""
    return "the model of some agent is not what it last released"

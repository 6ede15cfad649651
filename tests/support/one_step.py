"""One step of the ADMM family between two neighbours, on a few records, without a world."""

from typing import Any

import numpy as np

from mechanisms.duals import opening
from mechanisms.mixing import Heard
from mechanisms.objectives import LocalObjective, Loss
from scenarios.planning.seeds import NoiseSource

RHO, ETA, V = 0.1, 0.5, 2


PULL = ETA * V


KAPPA = RHO + 2 * PULL


NOISE = NoiseSource(3).of(0)


E1, E2 = np.eye(2)


def objective(rows: list[Any], loss: Loss, C: float) -> LocalObjective:
    """Margin losses on rows u; labels are all +1."""
    x = np.array(rows, dtype=np.float64)
    return LocalObjective(x, np.ones(len(x)), loss, 0.5 * RHO, weight=C / len(x))


def heard(values: list[Any]) -> Heard:
    return Heard(np.array([opening(np.array(v, dtype=np.float64)) for v in values]), np.ones(V))

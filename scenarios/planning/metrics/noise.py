"""How large the noise is beside the step."""

import math
from typing import TYPE_CHECKING

from scenarios.planning.metric import Metric, Snapshot

if TYPE_CHECKING:
    from mechanisms.vectors import Vector


def _ratio(at: Snapshot) -> "Vector":
    import numpy as np

    from mechanisms.abilities import MeasuresNoise

    ratios = []
    for agent in at.agents:
        mechanism, ratio = agent.mechanism, None
        if isinstance(mechanism, MeasuresNoise):
            releases = len(agent.store.ledger)
            ratio = mechanism.noise_to_step(agent.state, agent.heard_now(), releases)
        ratios.append(math.nan if ratio is None else ratio)
    return np.array(ratios)


KINDS = (
    Metric(
        "noise.ratio",
        "expected norm of the noise's effect over that of the noiseless step from the model as it stands; not where noise "
        "is drawn inside a secure computation",
        _ratio,
        reads_models=True,
        unit="a ratio",
        per_agent=True,
        missing="no noise enters a step, or no step was made",
    ),
)

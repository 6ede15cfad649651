"""Models that are no numbers any more: told, never sent, and not brought back by a crash."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import perform, scenario

SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}
HOT: dict[str, dict[str, Any]] = {
    "fedavg": {"kind": "fedavg", "learning_rate": 1e200, "epochs": 3},
    "wddp": {"kind": "wddp", "noise": "none", "synchronise": "every-round", "learning_rate": 1e300},
    "dvp": {"kind": "dvp", "alpha": 1e-300, "releases": 30},
    "pvp": {"kind": "pvp", "alpha": 1e-300, "releases": 30},
}


@pytest.mark.parametrize("lose", ["volatile", "all", "nothing"])
@pytest.mark.parametrize("name", HOT)
def test_what_diverges_says_so_and_poisons_nobody(tmp_path: Path, name: str, lose: str) -> None:
    fault = [
        {"at": 3.5, "for": 1.0, "crash": [1], "lose": lose}, {"at": 5.5, "for": 1.0, "crash": [2], "lose": lose},
        {"at": 7.5, "for": 1.0, "leave": [3]},
    ]  # fmt: skip
    server = {"server": {"deadline": 2.0, "quorum": 0.5}} if name in {"fedavg", "wddp"} else {}
    run = {"seed": 5, "rounds": 12}
    task = {"l2": 0.1, "loss": "squared"} if server else {}
    nodes = [{"count": 6, "clock": SYNCHRONOUS}]
    world = scenario(mechanism=HOT[name], nodes=nodes, run=run, task=task, fault=fault, **server)
    ran = perform(world, tmp_path)
    assert ran.outcome.code == 0, ran.outcome.message
    assert ran.events("diverged") or name == "dvp"  # whose ridge grows with its noise
    for agent in ran.run.members.agents:
        assert agent.diverged or np.isfinite(agent.model).all()
        assert agent.store.published is None or np.isfinite(agent.store.published[:3]).all()

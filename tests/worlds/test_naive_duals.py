"""Duals as the papers write them, added up wake by wake, against integrals of what was broadcast."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import perform
from tests.support.catalogue import world


def test_naive_duals_are_integrals_where_nothing_is_late_or_lost(tmp_path: Path) -> None:
    """Synchronous and without latency, adding f_i − f_j wake by wake is the integral, to rounding."""
    ran = [
        perform(
            world("admm", "synchronous", 60, mechanism={"kind": "admm", "duals": duals}), tmp_path
        )
        for duals in ("integral", "naive")
    ]
    assert np.abs(ran[0].theta - ran[1].theta).max() < 1e-10
    assert ran[1].outcome.summary["gap"] < 1e-3


@pytest.mark.slow
def test_naive_duals_never_heal_what_integrals_do(tmp_path: Path) -> None:
    """Every third message is lost for a while: one message heals an integral; naive duals stay wrong for ever."""
    fault = [{"at": 5.0, "for": 20.0, "loss": {"on": "all", "p": 0.3}}]
    gaps = {}
    for duals in ("integral", "naive"):
        mechanism = {"kind": "admm", "duals": duals}
        made = perform(
            world("admm", "synchronous", 400, mechanism=mechanism, fault=fault), tmp_path
        )
        gaps[duals] = made.outcome.summary["gap"]
    assert abs(gaps["integral"]) < 1e-9
    assert gaps["naive"] > 1e-4

"""A solver that remembers, beside one that does not."""

import numpy as np
import pytest

from mechanisms.objectives import LocalObjective, Logistic, SmoothedHinge, Squared
from mechanisms.solve import minimise
from mechanisms.warm import Warm


@pytest.mark.slow
def test_a_warm_solver_finds_what_a_cold_one_finds() -> None:
    """However it gets there: many linear terms, ridges that grow, jumps of six orders of magnitude."""
    rng = np.random.Generator(np.random.PCG64(1))
    x = rng.standard_normal((40, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for loss in (Logistic(), SmoothedHinge(0.05), Squared(0.3)):
        data = LocalObjective(x, np.sign(x[:, 0]), loss, 0.05, weight=50.0 / 40)
        solver = Warm(data, np.zeros(4))
        for k in range(60):
            linear = rng.standard_normal(4) * 10.0 ** rng.integers(-2, 5)
            ridge = 1.0 + k // 20
            found = solver.solve(linear, ridge)
            cold = minimise(data, linear=linear, ridge=ridge)
            assert np.linalg.norm(data.gradient(found.theta) + linear + ridge * found.theta) < 1e-6
            assert found.theta == pytest.approx(cold.theta, abs=1e-6)
        assert solver.residual <= 1e-6

"""Points of 32 bits: no record grows, sums have 64 bits, and the bounds that noise rests on hold as before."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.objectives import LocalObjective, Logistic, Loss, Squared
from scenarios.api.runs import make_plan
from scenarios.language.table_rules import keys_of
from scenarios.planning.data_sources import SOURCES, OwnSource
from scenarios.planning.packed_points import PackedPoints, toward_zero
from tests.support.builders import Ran, perform, private


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_rounding_goes_to_the_next_number_toward_zero(values: list[float]) -> None:
    x = np.array([values])
    short = toward_zero(x)
    assert (np.abs(short.astype(float)) <= np.abs(x)).all()
    with np.errstate(over="ignore"):
        above = np.nextafter(short, np.copysign(np.inf, x).astype(np.float32), dtype=np.float32)
    assert (np.abs(above.astype(float)) > np.abs(x))[np.isfinite(above)].all()
    assert (np.signbit(short) == np.signbit(x)).all()


@pytest.mark.parametrize("loss", [Logistic(), Squared(clip=2.0)])
def test_what_is_computed_from_short_points_has_64_bits(loss: Loss) -> None:
    """It is what the same numbers give when they are held in 64 bits."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))
    packed = PackedPoints.of([(x, y)])
    if loss.margin:
        packed.sign()
    packed.shorten()
    rows, labels = packed.kept(0)
    assert rows.dtype == np.float32
    short = LocalObjective.of_rows(rows, labels, loss, 0.1)
    long = LocalObjective.of_rows(rows.astype(float), labels, loss, 0.1)
    theta = rng.normal(size=5)
    assert short.features.dtype == packed.features().dtype == packed[0][0].dtype == np.float64
    assert np.array_equal(short.features, packed[0][0])
    np.testing.assert_allclose(
        packed.norms(), np.linalg.norm(packed.features(), axis=1), rtol=1e-15
    )
    for one, other in (
        (short.gradient(theta), long.gradient(theta)),
        (short.value(theta), long.value(theta)),
        (short.hessian(theta), long.hessian(theta)),
        (short.clip_at(1.0, "l2"), long.clip_at(1.0, "l2")),
        (short.longest_gradient(theta, None, "l1"), long.longest_gradient(theta, None, "l1")),
        (short.smoothness(), long.smoothness()),
    ):
        assert np.asarray(one).dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_every_source_has_the_key() -> None:
    assert all("precision" in keys_of(SOURCES[name].table) for name in SOURCES)
    assert "precision" in keys_of(OwnSource)


@pytest.mark.parametrize("path", ["events", "auto"])
def test_a_world_of_short_points_is_the_world_with_the_rounded_points(
    path: str, tmp_path: Path
) -> None:
    """Charges, noise and schedule are those of 64 bits; models move by what rounding moves."""
    made: dict[str, Any] = {}
    for precision in ("double", "single"):
        world = private(
            data={"source": "blobs", "dimension": 3, "points": 30, "precision": precision}
        )
        made[precision] = perform(world, tmp_path / precision, path=path)
    short, long = made["single"], made["double"]
    assert short.outcome.summary["epsilon"] == long.outcome.summary["epsilon"]
    assert schedule_of(short) == schedule_of(long)
    assert any("32-bit" in note for note in short.outcome.summary["notes"])
    theta, exact = (np.array([a.model for a in ran.run.agents]) for ran in (short, long))
    assert 0 < np.abs(theta - exact).max() < 1e-5


def schedule_of(ran: Ran) -> str:
    manifest = json.loads((ran.outcome.folder / "manifest.json").read_text("utf-8"))
    return str(manifest["digests"]["schedule"])


def test_memory_of_points_is_halved() -> None:
    bytes_of = {
        precision: plan.shards.train.rows.nbytes  # type: ignore[attr-defined] # packed by the planner
        for precision in ("double", "single")
        for plan in [
            make_plan(private(data={"source": "blobs", "points": 30, "precision": precision}))
        ]
    }
    assert bytes_of["double"] == 2 * bytes_of["single"] > 0

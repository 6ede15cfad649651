"""Compiled noise has the very bits of NumPy's generators: every law, every branch, any key and counter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.noise import (
    Gaussian,
    Laplace,
    NoiseGenerator,
    NoiseStream,
    NormGamma,
    SharedGenerator,
)
from tests.support.arenas import needs_numba

pytestmark = needs_numba
WORD = st.integers(0, 2**64 - 1)


def stream_of(low: int, high: int) -> NoiseStream:
    shared = SharedGenerator(NoiseGenerator(np.random.Philox(key=0)))
    return NoiseStream(np.array([low, high], np.uint64), shared)


def numbers(low: int, high: int, k: int, count: int, shape: float, scale: float) -> list[object]:
    """Return normal, gamma and Laplace numbers as compiled functions draw them."""
    from actors.compiled import noise_bits

    key = np.uint64(low), np.uint64(high)
    words, used = noise_bits.workspace(count)
    normals, laplaces = np.zeros(count), np.zeros(count)
    noise_bits.open_stream(words, used, k, *key)
    noise_bits.normals(normals, words, used, k, *key)
    gamma = noise_bits.gamma(shape, words, used, k, *key)
    noise_bits.open_stream(words, used, k, *key)
    noise_bits.laplaces(laplaces, scale, words, used, k, *key)
    return [normals.tolist(), gamma, laplaces.tolist()]


@pytest.mark.slow
@given(WORD, WORD, st.integers(0, 2**40), st.integers(1, 300), st.floats(1.0, 1e6))
@settings(max_examples=300, deadline=None)
def test_numbers_are_numpys(low: int, high: int, k: int, count: int, shape: float) -> None:
    stream = stream_of(low, high)
    rng = stream(k)
    normals, gamma = rng.standard_normal(count).tolist(), rng.standard_gamma(shape)
    laplaces = stream(k).laplace(0.0, 1.7, count).tolist()
    assert numbers(low, high, k, count, shape, 1.7) == [normals, gamma, laplaces]


@pytest.mark.parametrize("shape", [1.0, 1.5, 20.0])
def test_rare_branches_are_numpys_too(shape: float) -> None:
    """200,000 numbers of one stream: one normal in 4,000 comes from the tail, one in 100 from an edge of a layer."""
    stream, count = stream_of(5, 9), 200_000
    rng = stream(3)
    normals, gamma = rng.standard_normal(count), rng.standard_gamma(shape)
    assert np.abs(normals).max() > 3.6541528853610088  # where the ziggurat ends
    got = numbers(5, 9, 3, count, shape, 0.5)
    assert got == [normals.tolist(), gamma, stream(3).laplace(0.0, 0.5, count).tolist()]


@pytest.mark.parametrize("shape", [1.0, 1.0 + 1e-9, 2.0, 7.5])
def test_gamma_numbers_are_numpys(shape: float) -> None:
    """Many streams of one number each: shape 1 is an exponential number, whose ziggurat has edges and a tail as well."""
    from actors.compiled import noise_bits

    stream, key = stream_of(1, 2), (np.uint64(1), np.uint64(2))
    words, used = noise_bits.workspace(4)
    largest = 0.0
    for k in range(20_000):
        noise_bits.open_stream(words, used, k, *key)
        got = noise_bits.gamma(shape, words, used, k, *key)
        assert got == stream(k).standard_gamma(shape)
        largest = max(largest, got)
    assert shape > 1.0 or largest > 7.69711747013104972  # the end of the exponential ziggurat


@pytest.mark.slow
@given(
    st.integers(1, 40), st.floats(0.01, 50.0), st.sampled_from([Laplace(), NormGamma(), Gaussian()])
)
@settings(max_examples=60, deadline=None)
def test_noise_of_a_release_is_that_of_its_law(
    d: int, scale: float, law: Laplace | NormGamma | Gaussian
) -> None:
    """Only the length of norm-gamma noise may differ, by the order of a sum: two units in the last place."""
    from actors.compiled import kernel
    from actors.compiled.columns import GAUSSIAN, LAPLACE, NORM_GAMMA
    from tests.support.compiled_arrays import arrays_of_one_agent

    kinds = {"laplace": LAPLACE, "norm-gamma": NORM_GAMMA, "gaussian": GAUSSIAN}
    arrays = arrays_of_one_agent(d, kinds[law.name], key=(3, 4))
    factor = kernel._draw(arrays, arrays.agents[0], 6, scale)
    wanted = law.draw(stream_of(3, 4)(6), scale, d)
    np.testing.assert_allclose(arrays.noise * factor, wanted, rtol=1e-15, atol=0.0)

"""One root seed gives named independent streams: this module alone turns names into keys of generators."""

import hashlib
from collections.abc import Callable, Iterable

import numpy as np

from clocks.durations import Bits, Draws, draws_of
from mechanisms.noise import NoiseGenerator, NoiseStream, SharedGenerator


def _key(seed: int, path: str, size: int) -> int:
    """Hash (seed, path) to `size` bytes: distinct paths never share a stream."""
    text = f"hush/{seed}/{path}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=size).digest(), "little")


def generator(seed: int, path: str) -> np.random.Generator:
    """Return the generator of a named stream, for what is drawn once before time starts."""
    return np.random.Generator(np.random.PCG64(_key(seed, path, 16)))


def reference_generator(seed: int) -> np.random.Generator:
    """Return the generator that NumPy itself makes of a seed, where a publication says that it was used."""
    return np.random.Generator(np.random.PCG64(seed))


def derived_seed(seed: int, path: str) -> int:
    """Return a seed of its own for a purpose: a whole number from 0 to 2^63 - 1."""
    return _key(seed, path, 8) >> 1


def draws(seed: int, path: str) -> Draws:
    """Return a counter-based stream: draw n is a function of (seed, path, n) alone."""
    return draws_of(np.uint64(_key(seed, path, 8)))


def keys(seed: int, paths: Iterable[str]) -> Bits:
    """Return the keys of several such streams, in the order of their paths."""
    return _words(seed, paths, 8)


def _words(seed: int, paths: Iterable[str], size: int) -> Bits:
    """Return what `_key` hashes each path to, as words of 64 bits, the lowest first."""
    root, hashed = f"hush/{seed}/".encode(), hashlib.blake2b
    digests = b"".join([hashed(root + path.encode(), digest_size=size).digest() for path in paths])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def pads(seed: int) -> Callable[[int, int, int], Bits]:
    """Return the masks of secure aggregation: random words of (seed, client, release)."""

    def words(client: int, release: int, d: int) -> Bits:
        return draws(seed, f"mask/{client}/{release}")(0, d)

    return words


class NoiseSource:
    """Noise of release k of agent i is a function of (seed, i, k): a Philox re-keyed for each."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._shared = SharedGenerator(NoiseGenerator(np.random.Philox(key=0)))

    def of(self, agent: int) -> NoiseStream:
        """Return the noise of one agent, by the number of the release."""
        return self.of_all((agent,))[0]

    def of_all(self, agents: Iterable[int]) -> list[NoiseStream]:
        """Return the noise of several agents."""
        words = _words(self._seed, (f"noise/{agent}" for agent in agents), 16).reshape(-1, 2)
        return [NoiseStream(key, self._shared) for key in words]


def fresh_seed() -> int:
    """Draw a seed for a scenario without one; it is recorded and shown."""
    import secrets

    return secrets.randbelow(2**32)

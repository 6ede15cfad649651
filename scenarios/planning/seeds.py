"""One root seed → named independent streams. Only this module makes generators."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from clocks.durations import Bits, Draws

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _key(seed: int, path: str, size: int) -> int:
    """Hash (seed, path) to `size` bytes: distinct paths never share a stream."""
    text = f"hush/{seed}/{path}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=size).digest(), "little")


def generator(seed: int, path: str) -> np.random.Generator:
    """Return the generator of a named stream, for what is drawn once before time starts."""
    return np.random.Generator(np.random.PCG64(_key(seed, path, 16)))


def draws(seed: int, path: str) -> Draws:
    """Return a counter-based stream: draw n is a function of (seed, path, n) alone."""
    key = np.uint64(_key(seed, path, 8))

    def bits(first: int, count: int) -> Bits:
        return _mix(_counters(first, count) + key)

    return bits


def lanes(seed: int, paths: Sequence[str]) -> Draws:
    """Return several such streams side by side: a row for each path, the same draws as alone."""
    keys = np.array([_key(seed, path, 8) for path in paths], dtype=np.uint64)[:, None]

    def bits(first: int, count: int) -> Bits:
        return _mix(_counters(first, count) + keys)

    return bits


def _counters(first: int, count: int) -> Bits:
    return np.arange(first + 1, first + 1 + count, dtype=np.uint64) * _GOLDEN


def _mix(z: Bits) -> Bits:
    """Finish as splitmix64 does (Steele, Lea, Flood 2014)."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def pads(seed: int) -> Callable[[int, int, int], Bits]:
    """Return the masks of secure aggregation: random words of (seed, client, release)."""

    def words(client: int, release: int, d: int) -> Bits:
        return draws(seed, f"mask/{client}/{release}")(0, d)

    return words


class NoiseSource:
    """Noise of release k of agent i is a function of (seed, i, k): a Philox re-keyed for each."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._philox = np.random.Philox(key=0)
        self._generator = np.random.Generator(self._philox)
        self._state = self._philox.state

    def of(self, agent: int) -> Callable[[int], np.random.Generator]:
        """Return noise(k) of one agent. The generator is good until the next call for anybody."""
        key = _key(self._seed, f"noise/{agent}", 16)
        words = np.array([key & (2**64 - 1), key >> 64], dtype=np.uint64)
        counter = np.zeros(4, dtype=np.uint64)
        state, philox, shared = self._state, self._philox, self._generator

        def noise(k: int) -> np.random.Generator:
            inner = state["state"]
            inner["key"] = words
            counter[3] = k
            inner["counter"] = counter
            state["buffer_pos"] = 4
            state["has_uint32"] = 0
            philox.state = state
            return shared

        return noise


def fresh_seed() -> int:
    """Draw a seed for an author who gave none; it is recorded and shown."""
    import secrets

    return secrets.randbelow(2**32)

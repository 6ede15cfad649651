"""Sets the key and the counter of a Philox generator where NumPy keeps them: the same bits as by its `state`, in half the time.

NumPy promises the address of a generator's state, but not what lies there. So it is read first, and compared with what
`state` says; where anything differs, `state` is used.
"""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Rekey = Callable[[Words, int], None]
"""Sets the key, and the highest word of the counter; the other words are 0."""
_NEAR = 4096
"""The counter and the key lie in one object with the state: at most so many bytes away."""
_BUFFER = 4
"""So many words are drawn at once; where all of them are used, the next draw makes new ones."""


class _State(ctypes.Structure):
    """The state of Philox, as NumPy 1.17 to 2.4 lay it out (numpy/random/src/philox/philox.h)."""

    _fields_ = (  # type: ignore[mutable-override] # a tuple cannot be changed by mistake
        ("counter", ctypes.POINTER(ctypes.c_uint64 * 4)),
        ("key", ctypes.POINTER(ctypes.c_uint64 * 2)),
        ("buffer_pos", ctypes.c_int),
        ("buffer", ctypes.c_uint64 * 4),
        ("has_uint32", ctypes.c_int),
        ("uinteger", ctypes.c_uint32),
    )


class _Laid(NamedTuple):
    """A state in memory: the words of its counter and of its key as arrays, and the rest."""

    state: _State
    counter: Words
    key: Words


def rekey_of(bits: np.random.BitGenerator) -> Rekey:
    """Return what sets the key of a Philox generator: in its memory where that is known, else by its state."""
    laid = _laid_out(bits)
    return _by_state(bits) if laid is None else _in_place(laid)


def _in_place(laid: _Laid) -> Rekey:
    state, counter, key = laid
    counter[:] = 0

    def rekey(words: Words, k: int) -> None:
        key[:] = words
        counter[0] = 0  # a release draws far less than 2^64 words: the two in the middle stay 0
        counter[3] = k
        state.buffer_pos = _BUFFER
        state.has_uint32 = 0

    return rekey


def _by_state(bits: np.random.BitGenerator) -> Rekey:
    kept: Any = bits.state
    inner, counter = kept["state"], np.zeros(4, np.uint64)

    def rekey(words: Words, k: int) -> None:
        counter[3] = k
        inner["key"], inner["counter"] = words, counter
        kept["buffer_pos"], kept["has_uint32"] = _BUFFER, 0
        bits.state = kept

    return rekey


def _laid_out(bits: np.random.BitGenerator) -> _Laid | None:
    """Return where the state of a generator lies; None where that is not as it is known.

    Another generator of its kind is set to numbers of which each differs, and looked for in its memory.
    """
    if not isinstance(bits, np.random.Philox):
        return None
    known: Any = bits.state
    probe: Any = {
        "bit_generator": known["bit_generator"],
        "state": {
            "counter": np.array([11, 12, 13, 14], np.uint64),
            "key": np.array([15, 16], np.uint64),
        },
        "buffer": np.array([17, 18, 19, 20], np.uint64),
        "buffer_pos": 3,
        "has_uint32": 1,
        "uinteger": 21,
    }
    bits.state = probe
    try:
        laid = _read(bits)
        if laid is None:
            return None
        told = (laid.counter, laid.key, laid.state.buffer)
        words = [int(word) for part in told for word in part]
        rest = (laid.state.buffer_pos, laid.state.has_uint32, laid.state.uinteger)
        is_known = words == list(range(11, 21)) and rest == (3, 1, 21)
    finally:
        bits.state = known
    return laid if is_known else None


def _read(bits: np.random.BitGenerator) -> _Laid | None:
    """Return what lies at the address of a state; None where its first words point to nothing near."""
    address = int(bits.ctypes.state_address)
    state = _State.from_address(address)
    for pointer in (state.counter, state.key):
        if abs((ctypes.cast(pointer, ctypes.c_void_p).value or 0) - address) > _NEAR:
            return None
    return _Laid(
        state,
        np.ctypeslib.as_array(state.counter.contents),
        np.ctypeslib.as_array(state.key.contents),
    )

"""Arrays of an `.npz` file, whose headers are checked before anything is loaded."""

import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.planning.files import MOST_BYTES, BadData

_FLOAT = 8
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a file raises that is no archive of arrays; zipfile knows not every compression and no passwords."""


class TooLarge(Exception):
    """The arrays are larger than may be loaded; the message says how large."""


@contextmanager
def refusal(message: str) -> Iterator[None]:
    """Raise BadData where arrays are too large, or where a file cannot be read: then with a message."""
    try:
        yield
    except TooLarge as error:
        limit = f"above {MOST_BYTES / 1e9:.3g} GB for all files together"
        raise BadData(f"{error}; {limit} needs --allow-large") from None
    except UNREADABLE as error:
        raise BadData(f"{message} ({type(error).__name__})") from None


def arrays(path: Path, *names: str, most: float = math.inf) -> list[Any]:
    """Return arrays of a file as floats: real numbers only. Raises as `stored` does."""
    return [real(array) for array in stored(path, *names, most=most)]


def stored(path: Path, *names: str, most: float = math.inf) -> list[Any]:
    """Return arrays of a file as they are stored there.

    Raises TooLarge where they would take more than `most` bytes, which the headers tell, and one of `UNREADABLE` where
    the file is no archive of such arrays.
    """
    needed = size_of(path, *names)
    if needed > most:
        raise TooLarge(f"{path.name} would take {needed / 1e9:.3g} GB")
    with zipfile.ZipFile(path) as archive:
        return [_read(archive, name) for name in names]


def _read(archive: zipfile.ZipFile, name: str) -> Any:
    """Read the member whose header was checked: `np.load` would prefer one of the same name without `.npy`."""
    with archive.open(_member(name)) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def holds(path: Path, name: str) -> bool:
    """Whether a file holds an array of a name; raises one of `UNREADABLE` where it is no archive."""
    with zipfile.ZipFile(path) as archive:
        return _member(name) in archive.namelist()


def size_of(path: Path, *names: str) -> int:
    """Return how many bytes arrays take as floats, or as they are stored where that is more; reads headers only."""
    total = 0
    with zipfile.ZipFile(path) as archive:
        for name in names:
            with archive.open(_member(name)) as file:
                version = np.lib.format.read_magic(file)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(file)
            total += math.prod(shape) * max(_FLOAT, dtype.itemsize)
    return total


def _member(name: str) -> str:
    return f"{name}.npy"


def real(array: Any) -> Any:
    """Return an array as floats; complex numbers and words are refused."""
    if array.dtype.kind not in "fiub":
        raise TypeError(f"not real numbers: {array.dtype}")
    return array.astype(np.float64)

"""Append-only files that a run writes while it goes on: what they hold is whole wherever the disk ends."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class DiskFull(OSError):
    """The disk took no more; what is there is whole."""


Mark = tuple[int, Any]
"""A place in a stream: its length in bytes, and the checksum of what stands before it."""


def whole_lines(data: bytes, at: int) -> int:
    """Return how many of the first `at` bytes are whole lines."""
    return data.rfind(b"\n", 0, at) + 1


class Stream:
    """An append-only file. Short writes do not raise: they are noticed here.

    `whole` tells of what was handed to `write`, and of how many bytes of it the disk took, how many are to be kept.
    """

    def __init__(self, path: Path, whole: Callable[[bytes, int], int] = whole_lines) -> None:
        self.path = path
        self.size = 0
        self.digest = hashlib.sha256()
        self._whole = whole
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)

    def write(self, data: bytes) -> None:
        """Append; on a full disk keep what is whole and say so."""
        at = 0
        try:
            while at < len(data):
                at += os.write(self._file, data[at:] if at else data)
        except OSError as error:
            kept = self._whole(data, at)
            os.ftruncate(self._file, self.size + kept)
            self._note(data[:kept])
            raise DiskFull(error.errno, f"{error.strerror}: {self.path.name}") from None
        self._note(data)

    def _note(self, data: bytes) -> None:
        self.size += len(data)
        self.digest.update(data)

    def mark(self) -> Mark:
        """Return where the file ends now: `cut` takes it back to there."""
        return self.size, self.digest.copy()

    def cut(self, mark: Mark) -> None:
        """Take back what was written since a mark, from the file and from its checksum."""
        size, digest = mark
        os.ftruncate(self._file, size)
        self.size, self.digest = size, digest.copy()

    def synchronise(self) -> None:
        """Wait until what was written is on the disk."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

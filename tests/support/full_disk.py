"""A disk that takes so many bytes more, and then says that it is full."""

import errno
import io
import os
import stat
from collections.abc import Callable
from typing import Any

import pytest


class Disk:
    """Has room for so many bytes. What is written over bytes that are there takes none, unless `in_place` is false."""

    def __init__(self, room: int, *, in_place: bool = True) -> None:
        self.room = room
        self.written = 0
        self.in_place = in_place

    def mount(self, patch: pytest.MonkeyPatch) -> None:
        """Let whatever this process writes to files go to this disk."""
        patch.setattr(os, "write", self._to_descriptor(os.write))
        patch.setattr(io, "open", self._opening(io.open))

    def take(self, wanted: int) -> int:
        """Return how many of so many bytes there is room for. Raises `OSError` where there is none."""
        taken = min(wanted, self.room - self.written)
        if wanted and not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.written += taken
        return taken

    def _to_descriptor(self, write: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
        def written(file: int, data: Any) -> int:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return write(file, data)
            return write(file, data[: self.take(len(data))])

        return written

    def _opening(self, opened: Callable[..., Any]) -> Callable[..., Any]:
        def file(path: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            if "+" in mode and not self.in_place:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            found = opened(path, mode, *arguments, **named)
            return _OnDisk(found, self) if set(mode) & set("wxa") else found

        return file


class _OnDisk:
    """A file that was opened to be written from its beginning."""

    def __init__(self, file: Any, disk: Disk) -> None:
        self._file = file
        self._disk = disk

    def write(self, data: Any) -> Any:
        taken = self._disk.take(len(data))
        self._file.write(data[:taken])
        if taken < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return taken

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __enter__(self) -> "_OnDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

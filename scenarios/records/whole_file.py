"""Writes files whole, and tells a disk that takes no more (exit code 74) from a path that cannot be written (2)."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scenarios.records.folder_error import FolderError

_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}
"""Errors that another path on the same disk would meet, too. EFBIG is the limit of a process, which is a quota."""


def is_of_the_disk(error: OSError) -> bool:
    """Whether the disk takes no more; else the path is one that cannot be written."""
    return error.errno in _OF_THE_DISK


@contextmanager
def writing(path: Path, done: str = "written") -> Iterator[None]:
    """Raise `OSError` with the path where the disk takes no more, and `FolderError` where the path "cannot be" `done`."""
    try:
        yield
    except FolderError:
        raise
    except OSError as error:
        if is_of_the_disk(error):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise FolderError(f"{str(path)[:200]} cannot be {done}: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise FolderError(f"{str(path)[:200]} cannot be {done}: {error}") from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write one file: a reader finds it as it was before or as it is now, and a disk that is full leaves it as it was.

    Raises what `writing` raises. A link stays one. What is no plain file (a device, a pipe) is written to as it is.
    """
    data = _bytes(content)
    with writing(path):
        file = path.resolve()
        if file.exists() and not file.is_file():
            file.write_bytes(data)
            return
        fresh = file.with_name(f"{file.name}.new")
        try:
            fresh.write_bytes(data)
            fresh.replace(file)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise


def write_new(path: Path, content: str | bytes) -> bool:
    """Write one file that is not there yet; return False, and write nothing, where one is. A disk that is full leaves none.

    Raises what `writing` raises.
    """
    data = _bytes(content)
    with writing(path):
        try:
            file = path.open("xb")
        except FileExistsError:
            return False
        try:
            with file:
                file.write(data)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
    return True


def write_over(path: Path, data: bytes) -> bool:
    """Write over a file in place, which needs no room on the disk; return False, and write nothing, where it is too small.

    The rest of the file becomes blanks, so it is for JSON.
    """
    with path.open("r+b") as file:
        room = file.seek(0, os.SEEK_END)
        if len(data) > room:
            return False
        file.seek(0)
        file.write(data.ljust(room))
    return True


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content

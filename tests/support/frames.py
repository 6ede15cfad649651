"""Files of a record taken apart into frames, and put together again with right checksums, whatever they hold."""

import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from scenarios.records.record_file import BEGIN_BYTES, HEAD_BYTES

Frame = tuple[list[int], list[int]]
"""The five facts of a head, and the words that follow."""


def frames_of(path: Path) -> list[Frame]:
    """Return the frames of a whole file."""
    data, at, frames = path.read_bytes(), BEGIN_BYTES, list[Frame]()
    while at < len(data):
        head = list(struct.unpack_from("<5Q", data, at))
        at += HEAD_BYTES
        frames.append((head, list(struct.unpack_from(f"<{head[0]}q", data, at))))
        at += head[0] * 8
    return frames


def put_together(path: Path, frames: Sequence[Frame]) -> None:
    """Write frames behind the first bytes of a file, with the checksums that belong to them.

    A head that is told to have more or fewer words than follow stays so.
    """
    data = [path.read_bytes()[:BEGIN_BYTES]]
    for head, words in frames:
        payload = struct.pack(f"<{len(words)}q", *words)
        check = zlib.crc32(payload)
        checked = zlib.crc32(struct.pack("<5QI", *head, check))
        data += [struct.pack("<6Q", *head, check | checked << 32), payload]
    path.write_bytes(b"".join(data))


def edit_frames(path: Path, edit: Callable[[list[Frame]], None]) -> None:
    """Edit the frames of a file in place; heads follow the number of words."""
    frames = frames_of(path)
    edit(frames)
    for head, words in frames:
        head[0] = len(words)
    put_together(path, frames)


def payload(path: Path) -> list[int]:
    """Return the records of a file, one after the other."""
    return [word for _, words in frames_of(path) for word in words]

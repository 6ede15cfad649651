"""What is known of published data sets: their files, by which one is told from another, their licences, their citations.

No data set is part of hush. A scenario names one, and its files are looked for in a folder of the set's own, `adult/` say:
in the scenario's folder, or in one that `--data` or `HUSH_DATA` names.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scenarios.planning.delimited import beginning, content
from scenarios.planning.files import BadData, Folders, Missing


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a published set, as it is when it is not compressed; it may also lie there with the ending `.gz`.

    `size` counts its bytes. `records` is how many points it gives; 0 where it only describes others. `sorted_sha256` is the sha256 of its lines in
    sorted order, joined by line feeds: files of the same lines have the same. It is empty where it is not known.
    """

    name: str
    size: int
    lines: int
    records: int
    sha256: str
    sorted_sha256: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """The names under which it is looked for."""
        return self.name, f"{self.name}.gz"

    def difference(self, read: bytes) -> str:
        """Say how a content that was read differs from the published one; empty where it does not."""
        if len(read) == self.size and hashlib.sha256(read).hexdigest() == self.sha256:
            return ""
        lines = read.splitlines()
        if self.sorted_sha256 and _digest(b"\n".join(sorted(lines))) == self.sorted_sha256:
            for end in (b"\n", b"\r\n"):
                joined = end.join(lines)
                if self.sha256 in {_digest(joined), _digest(joined + end)}:
                    return "it has the published lines, and other line ends"
            return "it has the published lines in another order"
        if len(read) > self.size:
            return f"it is longer than the published {self.size:,} bytes"
        if len(read) < self.size:
            return f"it is shorter: {len(read):,} of {self.size:,} bytes"
        return "it is another file of the same length"


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A published data set: its files, and what may be done with them.

    `folder` is where its files lie, unless the scenario names another. `features` counts them after preprocessing, without
    a bias. Of `alternatives` any file is enough, and the others are parts of the first. `published` says where it is published, as in "is published …".
    """

    title: str
    folder: str
    files: tuple[PublishedFile, ...]
    features: int
    citation: str
    licence: str
    published: str
    alternatives: bool = False

    @property
    def points(self) -> int:
        """How many points the set gives: those of its largest file where they are alternatives, else of all of them."""
        counts = [file.records for file in self.files]
        return max(counts) if self.alternatives else sum(counts)

    def how_to_get(self, folder: str = "") -> str:
        """Return one sentence: where the set is published, and in which folder to put it; empty stands for its own."""
        names = [file.name for file in self.files]
        if self.alternatives:
            names = [f"{names[0]} (or {' or '.join(names[1:])})"]
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        return (
            f"{self.title} is published {self.published}: put {listed} into a folder '{folder or self.folder}' in the scenario's "
            f"folder, or in one that --data or HUSH_DATA names"
        )


class Located(NamedTuple):
    """A published file that was found: its name as a path below the folder where it was found, and its place."""

    file: PublishedFile
    name: str
    path: Path


def locate(
    known: PublishedSet, folders: Folders, folder: str | None, files: Sequence[PublishedFile]
) -> list[Located]:
    """Find files of a set, compressed or not; `folder` is where they lie, None stands for the set's own.

    Raises BadData: where one is missing, the message says where it is published.
    """
    folder = (folder or known.folder).rstrip("/")
    return [_located(known, folders, folder, file) for file in files]


def _located(known: PublishedSet, folders: Folders, folder: str, file: PublishedFile) -> Located:
    missing: list[str] = []
    for name in file.names:
        path = f"{folder}/{name}"
        try:
            place = folders.find(path)
        except Missing as error:
            missing.append(str(error))
            continue
        if not place.is_file():
            raise BadData(f"{path} is a folder, not a file")
        return Located(file, path, place)
    raise Missing(f"{missing[0]}; {known.how_to_get(folder)}")


def read_published(found: Located, checksum: str, most: float) -> tuple[bytes, str]:
    """Return the content of a published file, decompressed, and how it differs from what was published.

    With the checksum "published" a file that differs is refused; with "any" it is read, and the difference is returned.
    At most `most` bytes are read. Raises BadData.
    """
    match checksum:
        case "published":
            read = beginning(found.path, min(most, found.file.size))
            difference = found.file.difference(read)
            if difference:
                hint = 'checksum = "any" reads it as it is'
                raise BadData(f"{found.name} is not the file as published: {difference}; {hint}")
            return read, ""
        case "any":
            read = content(found.path, most)
            return read, found.file.difference(read)
        case other:
            raise NotImplementedError(f"no checking of files is written by {other!r}")


class FileState(NamedTuple):
    """A file of a published set, and what was found of it.

    `path` is its place, None where it is missing; `size` counts the bytes that it takes there; `difference` says how it
    differs from what was published, or why it cannot be read, and is empty where it does not.
    """

    file: PublishedFile
    path: Path | None
    size: int
    difference: str


def states(known: PublishedSet, folders: Folders) -> list[FileState]:
    """Look for every file of a set in its own folder, and compare what is there with what was published."""
    return [_state(known, folders, file) for file in known.files]


def _state(known: PublishedSet, folders: Folders, file: PublishedFile) -> FileState:
    try:
        found = _located(known, folders, known.folder, file)
    except Missing:
        return FileState(file, None, 0, "")
    except BadData as error:
        return FileState(file, None, 0, str(error))
    try:
        difference = file.difference(beginning(found.path, min(folders.most, file.size)))
    except BadData as error:
        difference = str(error)
    return FileState(file, found.path, found.path.stat().st_size, difference)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

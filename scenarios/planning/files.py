"""The files that a scenario names: where they may lie, and tables of numbers read from them."""

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.language.links import followed

if TYPE_CHECKING:
    from mechanisms.vectors import Matrix

MOST_BYTES = 1 << 30
"""What the arrays of all files of a scenario may take without --allow-large."""


class BadData(ValueError):
    """A file or an array cannot be used as it is."""


class Missing(BadData):
    """No such file in any folder that files may be read from."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where files may be read from: the scenario's folder and those that the user named."""

    own: Path
    named: tuple[Path, ...] = ()
    listed: Mapping[str, str] | None = None
    """Of a resolved scenario: the sha256 of each file it read; no other is read from its folder."""
    most: float = math.inf
    """How many bytes the arrays of all files may take."""

    def find(self, path: str) -> Path:
        """Return the real path of a file or folder inside one of the folders; links are followed.

        Raises `BadData` for anything that lies outside of them, `Missing` where there is no such file. Of a resolved
        scenario each file must be what it was, wherever it lies now.
        """
        outside = os.path.isabs(path) or ".." in Path(path).parts  # noqa: PTH117 # also "/x" elsewhere
        for folder in (self.own, *self.named):
            if not self._is_listed(path, folder) and folder is self.own:
                continue
            file = followed(folder / path)
            if not self.is_inside(file):
                outside = True
            elif file.exists():
                return _plain(file, path)
        if outside:
            raise BadData(f"must stay in the scenario's folder or one named by --data, got {path}")
        hint = "" if self.listed is None else "; origin.folder counts in a run's own folder only"
        raise Missing(f"no such file: {path} (searched the scenario's folder and --data{hint})")

    def is_inside(self, path: Path) -> bool:
        """Whether a file, its links followed, lies inside one of the folders."""
        file = followed(path)
        return any(file.is_relative_to(followed(root)) for root in (self.own, *self.named))

    def below(self, folder: Path, name: str) -> Path | None:
        """Return a file below a folder that `find` found, its links followed; None where there is none."""
        path = folder / name
        if not path.exists():
            return None
        if not self.is_inside(path):
            message = (
                f"{folder.name}/{name} is a link that leads out of the folders that may be read"
            )
            raise BadData(message)
        return _plain(followed(path), f"{folder.name}/{name}")

    def _is_listed(self, path: str, folder: Path) -> bool:
        """Whether a resolved scenario names a file that is in a folder, and it is still what it was."""
        if self.listed is None:
            return True
        below = path + "/"
        if not (folder / path).exists():
            return False  # perhaps it is in another one
        known = {n: h for n, h in self.listed.items() if n == path or n.startswith(below)}
        for name, digest in known.items():
            file = folder / name
            if not self.is_inside(file):
                raise BadData(f"{name} is a link that leads out of the folders that may be read")
            if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
                raise BadData(f"{name} has changed since the run that wrote this file")
        return bool(known)


def data_folders() -> tuple[Path, ...]:
    """Return the folders that the environment names: files may be read from them besides the scenario's own."""
    return tuple(Path(p) for p in os.environ.get("HUSH_DATA", "").split(os.pathsep) if p)


def _plain(path: Path, name: str) -> Path:
    """Return a file or folder; refuse pipes and devices, which may be read for ever."""
    if not (path.is_file() or path.is_dir()):
        raise BadData(f"{name} is neither a file nor a folder")
    return path


def numbers(path: Path) -> "Matrix":
    """Read a text file of numbers, separated by commas or blanks; a line that begins with # is a comment.

    Raises `BadData` where a line is not of numbers, or rows differ in length. No line is quoted: a file that only a
    scenario names may be anything.
    """
    import numpy as np

    try:
        lines = path.read_text("utf-8").replace(",", " ").splitlines()
    except OSError as error:
        raise BadData(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadData(f"{path.name} must be rows of numbers: it is no text") from None
    rows: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line[0] == "#":
            continue
        try:
            rows.append([float(cell) for cell in line.split()])
        except ValueError:
            raise BadData(f"{path.name} must be rows of numbers: line {number} is none") from None
        if len(rows[-1]) != len(rows[0]):
            lengths = f"line {number} has {len(rows[-1])} instead of {len(rows[0])}"
            raise BadData(f"{path.name} must be rows of equally many numbers: {lengths}")
    return np.array(rows)

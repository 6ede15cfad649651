"""The folders that runs, sweeps and audits left in `runs/` of the working folder: which there are, and when each was written.

It reads no file, so that a name can be completed or spelled out before anything is loaded.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from scenarios.language.reader import OF_A_RUN

PLACE = "runs"
MARKS = {"run": OF_A_RUN, "sweep": "sweep.json", "audit": "audit.json"}
"""The file by which each sort of folder is known."""
_RECORD = "record-*.hush"
"""What a run adds to while it goes on."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One folder of `runs/`: what it is (`run`, `sweep`, `audit`), and when it was last written (ns since 1970)."""

    path: Path
    sort: str
    written: int


def kept(sorts: Collection[str], place: Path = Path(PLACE)) -> list[Kept]:
    """Return the folders of some sorts, the newest first; of one instant, the last by name.

    Only what lies directly in `place` is looked at: the cells of a sweep are no runs of their own. What cannot be read is
    left out.
    """
    folders = []
    try:
        paths = sorted(place.iterdir())
    except OSError:
        return []
    for path in paths:
        for sort in sorts:
            written = _written(path, sort)
            if written is not None:
                folders.append(Kept(path, sort, written))
                break
    return sorted(folders, key=lambda one: (one.written, one.path.name), reverse=True)


def _written(path: Path, sort: str) -> int | None:
    """Return when a folder was last written; None where it is not of this sort."""
    try:
        written = (path / MARKS[sort]).stat().st_mtime_ns
        if sort == "run":
            written = max([written, *(one.stat().st_mtime_ns for one in path.glob(_RECORD))])
    except OSError:
        return None
    return written

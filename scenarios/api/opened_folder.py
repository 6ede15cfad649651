"""What results of runs and of sweeps share: a folder that may be temporary, a page, and what a notebook shows."""

import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scenarios.language.visible_text import visible
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import choose

if TYPE_CHECKING:
    from scenarios.records.reader import RunRecord
    from scenarios.records.sweep_record import SweepRecord


class DamagedRun(UserWarning):
    """A warning: files of a run or a sweep are not what they should be, so its figures may be anything.

    It is given once, at the first use of a figure, and raised by `open_run(…, strict=True)`. A run that was interrupted or
    cut off is no damage.
    """


class OpenedFolder:
    """A record that a script opened. A `temporary` folder goes when Python ends, unless `keep` saves it."""

    path: Path
    temporary: bool
    _has_warned = False

    if TYPE_CHECKING:

        @property
        def flaws(self) -> tuple[str, ...]:
            """What in the folder is not as it was left, a sentence each; empty where all is."""
            ...

    @property
    def damage(self) -> str:
        """What in the folder is not as it was left, in a line; empty where all is."""
        return f"{self.path}: {'; '.join(self.flaws)}" if self.flaws else ""

    def _warn_of_damage(self, stacklevel: int = 3) -> None:
        """Warn, once, where the folder is damaged; `stacklevel` is that of the line that uses a figure."""
        if not self._has_warned:
            self._has_warned = True
            if self.flaws:
                warnings.warn(visible(self.damage), DamagedRun, stacklevel=stacklevel)

    @property
    def place(self) -> str:
        """Where the folder is, in words."""
        return f"temporary {self.path}, which keep(DIR) saves" if self.temporary else str(self.path)

    def _repr_html_(self) -> str:
        """Return the record for a notebook: what it is, its figures, and a picture where the extra `plot` is installed."""
        from scenarios.pictures.report import displayed

        return displayed(cast("RunRecord | SweepRecord", self))

    def report(self, path: str | Path | None = None) -> Path:
        """Write one HTML page, that needs nothing else, and return its file: by default in the record's folder.

        Raises `FolderError` where it cannot be written, or the folder's files are damaged.
        """
        from scenarios.pictures.report import write_report

        return write_report(cast("RunRecord | SweepRecord", self), path)

    def keep(self, path: str | Path) -> Path:
        """Save a temporary folder as `path`, and return that; this result reads there from now on.

        Raises `FolderError` where the folder is not temporary, or `path` is there and not empty.
        """
        if not self.temporary:
            raise FolderError(f"{self.path} is not temporary: it stays where it is")
        to = choose("kept", 0, str(path))
        shutil.copytree(self.path, to, dirs_exist_ok=True)
        self.path, self.temporary = to, False
        return to

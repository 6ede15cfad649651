"""What a picture is: one frozen record of its kind. It draws on axes that it is given, and says what it drew.

The records stand in `scenarios/pictures/kinds/`. Nothing here loads matplotlib: `canvas` does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.pictures.settings import (
    Member,
    Setting,
    named,
    only,
    settings_of_runs,
    settings_of_sweep,
)
from scenarios.planning.kinds import Family
from scenarios.records.audit_record import AuditRecord
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import SweepRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Options:
    """How pictures are drawn, whatever they show."""

    x: str = "time"
    at: float | None = None
    """The instant of what shows a moment, in seconds of simulated time; None: the end, or the beginning of a window."""
    metric: str | None = None
    """The metric of what compares ends of runs; None: the test score, else the loss."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Values of axes to which a sweep, or several runs, are narrowed down."""
    narrow: bool = False
    """Whether the picture is one column wide: long words are cut earlier."""


@dataclass(frozen=True)
class Material:
    """What pictures are made from: runs, sweeps and audits, at least one of them."""

    runs: tuple[RunRecord, ...] = ()
    sweeps: tuple[SweepRecord, ...] = ()
    audits: tuple[AuditRecord, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings of all runs, single ones first, with names; raises `FolderError` where none has a run."""
        settings = settings_of_runs(self.runs) if self.runs else []
        for sweep in self.sweeps:
            own = settings_of_sweep(sweep)
            if len(self.sweeps) > 1 or self.runs:
                name = sweep.path.name or str(sweep.path)
                own = [Setting({"sweep": name, **s.values}, s.members, "") for s in own]
            settings += own
        if not settings:
            raise FolderError("there is no run to draw")
        return named(only(settings, self.choices))

    @property
    def folders(self) -> list[Path]:
        """The folders of all that is drawn: runs, sweeps, audits."""
        runs = [record.path for record in self.runs]
        sweeps = [record.path for record in self.sweeps]
        return [*runs, *sweeps, *(record.path for record in self.audits)]

    @property
    def members(self) -> list[Member]:
        """Every run, setting by setting."""
        return [member for setting in self.settings for member in setting.members]

    @property
    def one(self) -> Member:
        """The one run that there is; raises `FolderError` where there are several."""
        members = self.members
        if len(members) > 1:
            raise FolderError(
                f"this picture is of one run, and there are {len(members)}: name the folder of one"
            )
        return members[0]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn, in words."""

    caption: tuple[str, ...]
    """Sentences for the text file beside the picture."""
    foot: tuple[str, ...] = ()
    """A few words each that stand in the picture itself: seeds, agents, the view."""


@dataclass(frozen=True, slots=True)
class PictureKind:
    """One kind of picture."""

    name: str
    words: str
    """What it shows, for lists."""
    of: str
    """`runs`, `run` (exactly one), `sweep` (several settings) or `audit`."""
    draw: "Callable[[Axes, Material, Options], Drawn]"
    """Draws on axes. Raises `FolderError` where what it is given does not hold what the picture needs."""
    takes: frozenset[str] = frozenset()
    """Which of `x`, `at` and `metric` mean something to it."""
    height: float = 0.62
    """The height of the axes over their width, about."""


PICTURES: Family[PictureKind] = Family("scenarios.pictures.kinds", PictureKind)
"""Every kind of picture by its name."""

"""The result of a sweep for a script: its table, its runs, and where they lie."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from scenarios.api.columns import Columns, as_type, type_of
from scenarios.api.opened_folder import OpenedFolder
from scenarios.api.result import Result, open_run
from scenarios.records.sweep_record import Row, SweepRecord

if TYPE_CHECKING:
    from scenarios.pictures.canvas import Picture
    from scenarios.pictures.draw import Looks, OwnAxes


class Sweep(OpenedFolder, SweepRecord):
    """A sweep's folder, opened.

    `code` is the exit code that the command would have ended with; None where the folder was opened later. A `temporary`
    folder goes when Python ends, unless `keep` saves it.
    """

    def __init__(self, path: Path, code: int | None = None, *, temporary: bool = False) -> None:
        super().__init__(path)
        self.code = code
        self.temporary = temporary
        self._has_warned = code is not None  # its cells were judged when it was made

    def __repr__(self) -> str:
        rows = super().rows
        ended = sum(row.is_finished for row in rows)
        axes = ", ".join(axis.name for axis in self.axes) or "seeds only"
        return f"<hush sweep {self.manifest.name} over {axes}: {ended} of {len(rows)} runs finished, in {self.place}>"

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the table, in its order. Raises `FolderError` where the table is missing or damaged."""
        self._warn_of_damage()
        return super().rows

    def export(
        self, sink: str, place: str | Path, *, project: str = "hush", online: bool = False
    ) -> int:
        """Write every finished run, as `Result.export` does, and return how many there were; what varied is among settings."""
        from scenarios.api.export import export_runs
        from scenarios.records.sweep_summary import place_in_words

        runs = (
            (
                run,
                ", ".join(filter(None, (place_in_words(row.settings), f"seed {row.seed}"))),
                {f"sweep.{name}": label for name, label in row.settings.items()},
            )
            for row, run in self.runs()
        )
        return export_runs(
            sink, place, runs, group=self.manifest.name, project=project, online=online
        )

    def table(self) -> Columns:
        """Return the table as columns: a row for each cell and seed, a column for everything that varied, then metrics.

        NaN stands for a metric without a value, None for a code or a time of a run that never was.
        """
        self._warn_of_damage()
        manifest = self.manifest
        of_axes = {
            name: type_of(labels)
            for axis in self.axes
            for name, labels in {axis.name: axis.labels, **axis.beside}.items()
        }
        columns = Columns(
            {
                "cell": int,
                **({"scenario": str} if len(manifest.scenarios) > 1 else {}),
                **of_axes,
                "seed": int,
                "status": str,
                "code": int,
                "verdict": str,
                **dict.fromkeys(manifest.metrics, float),
                "wall_s": float,
                "run": str,
                "message": str,
            }
        )
        for row in self.rows:
            named = {name: as_type(row.settings[name], kind) for name, kind in of_axes.items()}
            values = {**named, **row.metrics}
            columns.add(*(values[n] if n in values else getattr(row, n) for n in columns))
        return columns

    def to_pandas(self) -> Any:
        """Return the table as a data frame of pandas; raise `MissingPackage` where that is not installed."""
        return self.table().to_pandas()

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        x: str = "time",
        ax: "OwnAxes | None" = None,
        **looks: "Unpack[Looks]",
    ) -> "OwnAxes | Picture":
        """Draw this sweep: `what` of `hush plot --list`, a metric of its runs, or several; None: four standard panels.

        Parameters, returns and errors are those of `Result.plot`. Runs that did not finish are left out.
        """
        from scenarios.pictures.draw import plot
        from scenarios.pictures.picture import Material

        self._warn_of_damage()
        return plot(Material(sweeps=(self,)), what, x, ax, **looks)

    def open(self, row: Row) -> Result:
        """Open the run of a row. Raises `FolderError` where it has none."""
        return open_run(self.folder_of(row))

    def runs(self) -> Iterator[tuple[Row, Result]]:
        """Yield each row whose run finished, with that run."""
        self._warn_of_damage()
        return ((row, self.open(row)) for row in self.rows if row.is_finished)


def open_sweep(path: str | Path) -> Sweep:
    """Open the folder of a sweep, finished or not, and return its `Sweep`; raise `FolderError` where it is none."""
    return Sweep(Path(path))

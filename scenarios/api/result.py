"""The result of a run for a script: its record, the exit code, and warnings before figures of an unfinished run."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from mechanisms.accounting.spend import UNITS
from scenarios.api.columns import Columns, Type
from scenarios.api.opened_folder import DamagedRun, OpenedFolder
from scenarios.language.json_numbers import number
from scenarios.language.visible_text import visible
from scenarios.records.ledger_file import FIELDS
from scenarios.records.proven_releases import MADE, Proof
from scenarios.records.reader import RunRecord

if TYPE_CHECKING:
    from scenarios.pictures.canvas import Picture
    from scenarios.pictures.draw import Looks, OwnAxes

_ALWAYS: dict[str, Type] = {
    "node": int,
    "k": int,
    "t": float,
    "mechanism": str,
    "law": str,
    "unit": str,
    "calibration": str,
    "scale": float,
    "sensitivity": float,
    "norm": str,
    "d": int,
    "jacobian": float,
    "claimed": float,
    "charged": float,
}
_SOMETIMES: dict[str, Type] = {
    name: str if name == MADE else int if name == "degree" else float
    for name in (*FIELDS, MADE)
    if name not in _ALWAYS
}
"""Columns of a ledger: those that every release has, and those of some kinds of releases."""


class InterruptedRun(UserWarning):
    """A warning: the figures of a run that was interrupted are those of its first part.

    It is given once, at the first use of the figures. `warnings.simplefilter("error", InterruptedRun)` makes it an error.
    """


class Result(OpenedFolder, RunRecord):
    """A run's folder, opened.

    `code` is the exit code that the command would have ended with; None where the folder was opened later. A `temporary`
    folder goes when Python ends, unless `keep` saves it. With `warns`, the first use of an interrupted run's figures gives
    an `InterruptedRun` warning: results of `run` have it, for the code that called `run` may not know that a signal ended
    it. Where the folder is damaged, the first use of a figure gives a `DamagedRun` warning.
    """

    def __init__(
        self,
        path: Path,
        code: int | None = None,
        *,
        temporary: bool = False,
        warns: bool = False,
    ) -> None:
        super().__init__(path)
        self.code = code
        self.temporary = temporary
        self._warns = warns and self.interrupted

    def __repr__(self) -> str:
        ended = self.ended
        if self.interrupted:
            ended = "interrupted before its end, the figures are of its first part"
        return f"<hush run {self.manifest.get('scenario')} in {self.place}: {ended}>"

    def export(
        self, sink: str, place: str | Path, *, project: str = "hush", online: bool = False
    ) -> None:
        """Write the run for a program that tracks experiments: `tensorboard`, `mlflow`, `wandb` or `jsonl`.

        `place` is a folder. Nothing leaves this machine unless `online` says so: then `wandb` uploads, and `mlflow` takes
        the address of a server as its place. Raises `FolderError` where that cannot be, `MissingPackage` where the
        program's package is not installed (extra `tracking`).
        """
        from scenarios.api.export import export_runs

        self._use()
        name = f"{self.manifest['scenario']}, seed {self.manifest['seed']}"
        export_runs(sink, place, [(self, name, {})], project=project, online=online)

    @property
    def interrupted(self) -> bool:
        """Whether a signal or a person ended the run before its end."""
        return self.status == "interrupted"

    @property
    def flaws(self) -> tuple[str, ...]:
        """What in the folder is not as the run left it, a sentence each; empty where all is. It warns of nothing."""
        given = self._warns, self._has_warned
        self._warns, self._has_warned = False, True  # the gate uses figures, too
        try:
            return super().flaws
        finally:
            self._warns, self._has_warned = given

    def _use(self) -> None:
        """Warn, once, before figures of an interrupted or a damaged run are used, at the line that uses them."""
        if self._warns:
            self._warns = False
            warning = f"this run was interrupted: its figures are of its first part ({self.path})"
            warnings.warn(visible(warning), InterruptedRun, stacklevel=3)
        self._warn_of_damage(stacklevel=4)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield every event that was recorded as a dict, in the order of their numbers; times are in nanoseconds."""
        self._use()
        return super().events()

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the events that hold metrics as plain values, one of each instant; see `metrics`."""
        self._use()
        return super().samples()

    @property
    def released(self) -> np.ndarray:
        """The model in the last message of each agent, NaN where the agent sent none: agents × dimension."""
        self._use()
        return super().released

    def curves(self) -> Iterator[tuple[float, dict[str, Any]]]:
        """Yield the instant (s) and the metrics of each sample, as `samples` does."""
        self._use()
        return super().curves()

    @property
    def epsilon(self) -> dict[str, Any]:
        """The ε of the run from its record alone, as `summary.json` holds it. Raises `FolderError` where it cannot be known."""
        self._use()
        return super().epsilon

    @property
    def last_sample(self) -> dict[str, Any]:
        """The metrics of the last sample; empty where there is none."""
        self._use()
        return super().last_sample

    @property
    def proof(self) -> Proof:
        """The releases that the ledger and the events prove together, and how the two differ."""
        self._use()
        return super().proof

    def report(self, path: str | Path | None = None) -> Path:
        """Write one HTML page, that needs nothing else, and return its file: by default in the run's folder.

        Raises `FolderError` where it cannot be written, or the folder's files cannot be read.
        """
        self._use()
        return super().report(path)

    def metrics(self) -> Columns:
        """Return sampled metrics as tidy columns; t in seconds, the node None for the network, NaN where there is no value.

        Of a run without an end the last rows are ε, releases and messages, recomputed from its record.
        """
        self._use()
        columns = Columns({"t": float, "node": int, "metric": str, "value": float})
        for event in super().samples():
            t = event["t"] / 1e9
            for name, value in event["values"].items():
                if isinstance(value, list):
                    for node, one in enumerate(value):
                        columns.add(t, node, name, number(one))
                else:
                    columns.add(t, None, name, number(value))
        return columns

    def ledger_table(self) -> Columns:
        """Return the ledger as columns, a row for each release, in its order; t in seconds.

        `unit` says what `claimed`, `charged` and `summed` count: `epsilon` for a pure ε, `mu` for the μ of Gaussian noise
        (adjacency: one record of one agent replaced). They are infinite where a release has no bound. Fields that only
        some kinds of releases have are columns where a release of the run has them, and hold NaN or None elsewhere.
        """
        lines = self.ledger
        present = {key for line in lines for key, value in line.items() if value is not None}
        columns = Columns(_ALWAYS | {k: kind for k, kind in _SOMETIMES.items() if k in present})
        for line in lines:
            line = line | {"t": line["t"] / 1e9, "unit": UNITS.get(line["law"])}  # noqa: PLW2901
            values = ((line.get(name), kind) for name, kind in columns.types.items())
            columns.add(*(number(v) if kind is float else v for v, kind in values))
        return columns

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """Every ledger line.

        A release that the events prove and the ledger file lacks, or charges too little, has a line that was made of its
        event: at the worst that the event allows, with `proved_by` = "events".
        """
        self._use()
        return list(self.proof.lines)

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        x: str = "time",
        ax: "OwnAxes | None" = None,
        **looks: "Unpack[Looks]",
    ) -> "OwnAxes | Picture":
        """Draw this run: `what` of `hush plot --list`, a sampled metric, or several; None: four standard panels.

        With `ax` the picture is drawn there and `ax` is returned; else a figure that displays itself in notebooks. No file
        is written. `looks` are `style`, `width`, `at`, `metric` and `only`, as in the command. Raises `FolderError` where
        there is nothing to draw, `NoMatplotlib` without the extra `plot`.
        """
        from scenarios.pictures.draw import plot
        from scenarios.pictures.picture import Material

        self._use()
        return plot(Material(runs=(self,)), what, x, ax, **looks)

    @property
    def profile(self) -> dict[str, float]:
        """The processor time of each room of hush (s), of a run with `profile`; raise `FolderError` for another."""
        from scenarios.api.profiled import read_profile

        return read_profile(self.path)

    @property
    def models(self) -> np.ndarray:
        """What each agent held at the end, by ids: an array, agents × dimension; NaN for one that has no model."""
        self._use()
        return super().models

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the run's end, as in `summary.json`; counted from events where the run did not come to its end.

        Where a figure is None, `summary["reasons"]` says why. The ε in `summary["epsilon"]` stands beside its view, δ and
        accountant.
        """
        self._use()
        return super().summary

    @property
    def verdicts(self) -> dict[str, Any]:
        """What was judged, as in `verdicts.json`: invariants and expectations; empty where the run did not come to its end."""
        self._use()
        return super().verdicts


def open_run(path: str | Path, *, strict: bool = False) -> Result:
    """Open the folder of a run, finished or not, and return its `Result`.

    Raises `FolderError` where it is none. Where the folder is damaged, the first use of a figure warns of it; with `strict`,
    `DamagedRun` is raised at once.
    """
    result = Result(Path(path))
    if strict and result.flaws:
        raise DamagedRun(visible(result.damage))
    return result

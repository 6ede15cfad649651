"""The verb `sweep`: scenarios under every setting of a grid and every seed."""

import argparse
import math
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.command.option_values import options_of, settings
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import hung, say, text_width

if TYPE_CHECKING:
    from scenarios.experiments.cells import Done
    from scenarios.experiments.grid import Setting
    from scenarios.records.sweep_record import SweepRecord

_FEW, _STEPS = 200, 20
"""Up to so many cells have a line each; of more there are so many lines of progress."""
_OFTEN_S = 0.1
_SHOWN = 12
"""So many lines of failures are shown at the end."""
_OURS = (
    "hush: this is a fault of hush. Please report the lines above with the scenario and its seed."
)


def perform(chosen: argparse.Namespace) -> int:
    """Read and judge every setting, then run what has not been run before; return the exit code."""
    from scenarios.api.packages import MissingPackage
    from scenarios.experiments.sweep import Sweeping, sweep_folder
    from scenarios.records.run_folder import folder_named, numbers
    from scenarios.records.sweep_record import SweepRecord

    _judge_pictures(chosen.plot)
    order = order_of_words(chosen)
    sweep = Sweeping(order)
    places = [folder_named(chosen.out)] if chosen.out else numbers(f"runs/{order.names[0]}-sweep")
    told = _progress(chosen)
    with sweep_folder(places, new=not chosen.out) as out:
        try:
            code = sweep.perform(out, told)
        except MissingPackage as missing:
            raise ScenarioError.of("", str(missing)) from None
        except KeyboardInterrupt:
            told.close()
            done = f"{told.done} of {len(sweep.cells)} cells are done"
            again = f"--out {shlex.quote(str(out))} goes on with the others"
            raise KeyboardInterrupt(f"interrupted: {done}; {again}") from None
        finally:
            told.close()
        if sweep.trace:
            say(*sweep.trace.rstrip().split("\n"), _OURS, error=True)
        record = SweepRecord(out)
        _conclude(record, quiet=chosen.quiet)
        for path in _pictures(record, chosen.plot, report=chosen.report):
            if not chosen.quiet:
                say(str(path))
    return code


def _judge_pictures(names: Sequence[str]) -> None:
    """Raise before anything runs what `hush plot` would raise at the end: an unknown name, no matplotlib."""
    if not names:
        return
    from scenarios.pictures.draw import canvas, kind_of
    from scenarios.pictures.picture import Material

    canvas()
    for name in filter(None, names):
        kind_of(name, Material((), (), ()))


def _pictures(record: "SweepRecord", names: Sequence[str], *, report: bool) -> "Iterator[Path]":
    """Draw pictures of the sweep and write its report; yield the files."""
    from scenarios.pictures.draw import Request, save
    from scenarios.pictures.picture import Material
    from scenarios.pictures.report import write_report

    for name in names:
        yield from save(Request(Material((), (record,), ()), (name,) if name else ()), None, None)
    if report:
        yield write_report(record, None)


def order_of_words(chosen: argparse.Namespace) -> Any:
    """Return the order of a sweep from the words of the command line."""
    from scenarios.experiments.orders import Wishes, order_of

    choose = {"by": chosen.choose, "over": chosen.over, "better": chosen.better}
    wishes = Wishes(
        grid=_grid(chosen.grid),
        zips=[_keys(words) for words in chosen.zip] or None,
        seeds=chosen.seeds,
        metrics=chosen.metric,
        choose={key: value for key, value in choose.items() if value} or None,
        race=chosen.race,
        curves=chosen.curves,
    )
    return order_of(
        chosen.scenario,
        settings(chosen.set),
        options_of(chosen),
        wishes,
        jobs=chosen.jobs,
        cluster=chosen.cluster,
        command=shlex.join(["hush", *sys.argv[1:]]),
    )


def _grid(words: Sequence[str]) -> dict[str, list[Any]]:
    """Read `--grid KEY=a,b,c`."""
    from scenarios.experiments.grid import words_as_values

    grid: dict[str, list[Any]] = {}
    for word in words:
        key, separator, values = word.partition("=")
        if not separator or not key.strip():
            problem = "must be KEY=a,b,c, such as network.loss=0,0.1"
            raise ScenarioError.of(f"--grid {word}", problem)
        if key.strip() in grid:
            raise ScenarioError.of(f"--grid {word}", f"'{key.strip()}' varies already")
        grid[key.strip()] = words_as_values(values)
    return grid


def _keys(words: str) -> list[str]:
    """Read `--zip KEY,KEY`."""
    keys = [word.strip() for word in words.split(",")]
    if len(keys) < 2 or not all(keys):
        raise ScenarioError.of(f"--zip {words}", "must be at least two keys: --zip KEY,KEY")
    return keys


def _conclude(record: "SweepRecord", *, quiet: bool) -> None:
    """Say how the sweep ended: what failed, and where the table is."""
    failed = [row for row in record.rows if row.status not in {"finished", "stopped"}]
    for row in failed[:_SHOWN]:
        place = "  ".join(f"{key}={value}" for key, value in row.settings.items())
        said = f"{place}  " if place else ""
        say(f"hush: {said}seed {row.seed}: {row.status}: {row.message}", error=True)
    if len(failed) > _SHOWN:
        say(f"hush: and {len(failed) - _SHOWN} more: see {record.path}/sweep.csv", error=True)
    if quiet:
        return
    for note in record.manifest.notes:
        say(*hung("note       ", note, text_width()))
    finished = sum(row.is_finished for row in record.rows)
    say(f"  {finished} of {len(record.rows)} cells finished: {record.path}/sweep.csv")
    say(f"  look at it: hush show {record.path}")


def _progress(chosen: argparse.Namespace) -> "Progress":
    """Return what tells of the sweep: a line that is rewritten on a terminal, lines on a pipe, or nothing."""
    if chosen.quiet:
        return Progress()
    return RewrittenLine() if is_terminal() else Lines()


def is_terminal() -> bool:
    """Whether both standard output and standard error are a terminal: then a line may be rewritten."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))


class Progress:
    """Counts the cells of a sweep that are done, and how fast; says nothing."""

    def __init__(self) -> None:
        self.done = 0
        """How many cells are done, also those that were run before and those that are not to be run any more."""
        self.failed = 0
        self._cells = 0
        self._ran = 0
        self._begun = time.perf_counter()

    def begin(self, cells: int, known: int) -> None:
        """Begin with so many cells, of which some have been run before."""
        self._cells, self.done = cells, known
        self._begun = time.perf_counter()

    def refuse(self, words: str) -> None:
        """Say which cells are run again."""
        say(f"hush: {words}", error=True)

    def note(self, setting: "Setting", seed: int, done: "Done") -> None:
        """Count a cell."""
        del setting, seed
        self.done += 1
        self._ran += 1
        self.failed += done.status != "finished"

    def stop(self, cells: int) -> None:
        """Count cells that are not to be run any more."""
        self.done += cells

    def close(self) -> None:
        """End, so that other lines can follow."""

    def in_words(self) -> str:
        """Return how far the sweep is: done, failed, cells for each second, time left."""
        spent = max(1e-9, time.perf_counter() - self._begun)
        words = f"{self.done}/{self._cells} cells"
        if self.failed:
            words += f", {self.failed} failed"
        if self._ran:
            rate = self._ran / spent
            words += f", {rate:.3g}/s, {length((self._cells - self.done) / rate)} left"
        return words


class Lines(Progress):
    """A line for each cell on standard output; of many cells, a line for every twentieth part."""

    def begin(self, cells: int, known: int) -> None:
        """Say how many cells have been run before."""
        super().begin(cells, known)
        if known:
            say(f"{known} of {cells} cells have been run before")
            sys.stdout.flush()

    def note(self, setting: "Setting", seed: int, done: "Done") -> None:
        """Tell of one cell."""
        before = self.done * _STEPS // self._cells
        super().note(setting, seed, done)
        if self._cells <= _FEW:
            say(_told(setting, seed, done))
        elif self.done * _STEPS // self._cells > before:
            say(self.in_words())
        sys.stdout.flush()


class RewrittenLine(Progress):
    """One line on standard error that is written again and again."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self._due = 0.0

    def begin(self, cells: int, known: int) -> None:
        """Show the line."""
        super().begin(cells, known)
        self._show()

    def note(self, setting: "Setting", seed: int, done: "Done") -> None:
        """Show the line again, unless it has just been shown."""
        super().note(setting, seed, done)
        if time.perf_counter() > self._due or self.done == self._cells:
            self._show()

    def _show(self) -> None:
        text = self.in_words()
        sys.stderr.write(f"\r{text.ljust(self._shown)}")
        sys.stderr.flush()
        self._shown = len(text)
        self._due = time.perf_counter() + _OFTEN_S

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            sys.stderr.write(f"\r{' ' * self._shown}\r")
            sys.stderr.flush()
            self._shown = 0


def _told(setting: "Setting", seed: int, done: "Done") -> str:
    """Return one cell in words."""
    figures = (f"{name} {v:.4g}" for name, v in done.metrics.items() if not math.isnan(v))
    word = "diverged" if done.verdict == "diverged" else done.status
    place = f"{setting.in_words()}  " if setting.labels else ""
    return f"{place}seed {seed:>6}  {word:<11} {'  '.join(figures) or done.message}"


def length(seconds: float) -> str:
    """Return a time in words: `12 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"

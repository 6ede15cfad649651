"""The verb `sweep`: scenarios under every setting of a grid and every seed."""

import argparse
import math
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scenarios.command.option_values import options_of, settings
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say

if TYPE_CHECKING:
    from scenarios.experiments.cells import Done
    from scenarios.experiments.grid import Setting

_FEW = 200
"""Up to so many cells have a line each."""


def perform(chosen: argparse.Namespace) -> int:
    """Read and judge every setting, then run what has not been run before; return the exit code."""
    from scenarios.experiments.orders import order_of
    from scenarios.experiments.sweep import Sweeping, sweep_folder
    from scenarios.records.run_folder import folder_named, numbers

    order = order_of(
        chosen.scenario,
        settings(chosen.set),
        options_of(chosen),
        grid=_grid(chosen.grid),
        seeds=chosen.seeds,
        metrics=chosen.metric,
        jobs=chosen.jobs,
        command=shlex.join(["hush", *sys.argv[1:]]),
    )
    sweep = Sweeping(order)
    stem = f"runs/{order.names[0]}-sweep"
    places = [folder_named(chosen.out)] if chosen.out else numbers(stem)
    told = Told(quiet=chosen.quiet, metrics=sweep.metrics)
    with sweep_folder(places, new=not chosen.out) as out:
        try:
            code: int = sweep.perform(out, told)
        except KeyboardInterrupt:
            done = f"{told.done} of {len(sweep.cells)} cells are done"
            raise KeyboardInterrupt(
                f"interrupted: {done}; --out {shlex.quote(str(out))} goes on with the others"
            ) from None
        if not chosen.quiet:
            say(f"  {out}/sweep.csv")
    return code


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


class Told:
    """Tells of a sweep on standard output, a line for each cell."""

    def __init__(self, *, quiet: bool, metrics: Sequence[str]) -> None:
        self.done = 0
        self._quiet = quiet
        self._metrics = metrics

    def begin(self, cells: int, known: int) -> None:
        """Say how many cells have been run before."""
        self.done = known
        if known and not self._quiet:
            say(f"{known} of {cells} cells have been run before")

    def note(self, setting: "Setting", seed: int, done: "Done") -> None:
        """Tell of one cell."""
        self.done += 1
        if self._quiet:
            return
        shown = "  ".join(
            f"{name} {value:.4g}" for name, value in done.metrics.items() if not math.isnan(value)
        )
        word = "diverged" if done.verdict == "diverged" else done.status
        words = f"{setting.in_words()}  " if setting.labels else ""
        say(f"{words}seed {seed:>6}  {word:<11} {shown or done.message}")
        sys.stdout.flush()

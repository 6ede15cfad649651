"""Names in files → constructors in code: plain dicts, one per family."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from clocks import activation, durations
from clocks.activation import Activation, Barrier
from clocks.clock import nanoseconds
from clocks.durations import Duration
from mechanisms import objectives
from mechanisms.objectives import Loss
from scenarios.language.value_rules import LONGEST_S
from scenarios.planning.datasets import BadData, Folders

Table = dict[str, Any]

_DURATIONS: dict[str, Callable[[Table], Duration]] = {
    "constant": lambda t: durations.Constant(t["value"]),
    "uniform": lambda t: durations.uniform(t["min"], t["max"]),
    "exponential": lambda t: durations.exponential(t["mean"]),
    "normal": lambda t: durations.normal(t["mean"], t["std"]),
    "lognormal": lambda t: durations.lognormal(t["median"], t["sigma"]),
    "gamma": lambda t: durations.gamma(t["mean"], t["shape"]),
    "pareto": lambda t: durations.pareto(t["min"], t["alpha"]),
    "weibull": lambda t: durations.weibull(t["scale"], t["shape"]),
}

_LOSSES: dict[str, Callable[[Table], Loss]] = {
    "logistic": lambda _: objectives.Logistic(),
    "smoothed-hinge": lambda t: objectives.SmoothedHinge(t["width"]),
    "squared": lambda t: objectives.Squared(t.get("clip", float("inf"))),
    "welsch": lambda _: objectives.Welsch(),
}

_CLOCKS: dict[str, Callable[[Table], Activation | Barrier]] = {
    "poisson": lambda t: activation.Poisson(t["rate"]),
    "synchronous": lambda t: activation.Synchronous(t["period"]),
    "barrier": lambda t: activation.Barrier(t.get("timeout"), t["quorum"]),
    "periodic": lambda t: activation.Periodic(t["period"], t["jitter"], t["drift"]),
}


class Forbidden(ValueError):
    """A scenario names code, and nobody allowed it."""


_own_files: set[str] = set()
"""The files of code of scenarios' own that was loaded in this process."""


def place_of_own(error: BaseException) -> str | None:
    """Return where in code of a scenario's own an error was raised or passed, as file:line; None where it was not."""
    found, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename in _own_files:
            found = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}"
        at = at.tb_next
    return found


def own(kind: str, *, allow_code: bool, folder: Path) -> Any:
    """Return the thing that `package.module:Thing` names."""
    if not allow_code:
        raise Forbidden(f"'{kind}' is code of the scenario's own: it runs only with --allow-code")
    module, _, name = kind.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        loaded = importlib.import_module(module)
        _own_files.add(str(getattr(loaded, "__file__", None)))
        thing = getattr(loaded, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 # whatever the author's code does
        raise Forbidden(f"'{kind}' cannot be loaded: {type(error).__name__}: {error}") from None

    def make(**parameters: Any) -> Any:
        try:
            return thing(**parameters)
        except Exception as error:  # noqa: BLE001
            raise Forbidden(f"'{kind}' cannot be made: {type(error).__name__}: {error}") from None

    return make


def duration(table: Table, folders: Folders) -> Duration:
    """Make a distribution of durations."""
    if table["kind"] == "trace":
        values = _column(folders.find(table["path"]))
        return durations.Replayed(tuple(nanoseconds(v) for v in values))
    return _DURATIONS[table["kind"]](table)


def _column(path: Path) -> list[float]:
    values = [float(v) for v in numbers(path).ravel()]
    if not values or not all(0 <= v < 9e9 for v in values):
        raise BadData(f"{path.name} must hold durations in seconds, at least one, none negative")
    return values


def numbers(path: Path) -> Any:
    """Read a text file of numbers, separated by commas or blanks; lines that begin with # are words."""
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
        except ValueError:  # not quoted: a file that only a scenario names may be anything
            raise BadData(f"{path.name} must be rows of numbers: line {number} is none") from None
        if len(rows[-1]) != len(rows[0]):
            said = f"line {number} has {len(rows[-1])} instead of {len(rows[0])}"
            raise BadData(f"{path.name} must be rows of equally many numbers: {said}")
    return np.array(rows)


def latency_matrix(table: Table, n: int, folders: Folders) -> Any:
    """Read one delay in seconds for each ordered pair of agents."""
    path = folders.find(table["path"])
    matrix = numbers(path)
    if matrix.shape != (n, n) or not (matrix >= 0).all() or not (matrix < 9e9).all():
        raise BadData(
            f"{path.name} must hold {n} × {n} delays in seconds, none negative, got {matrix.shape}"
        )
    return matrix


def loss(table: Table, code: Callable[[str], Any]) -> Loss:
    """Make a loss."""
    if "parameters" in table:
        made: Loss = code(table["kind"])(**table["parameters"])
        return made
    return _LOSSES[table["kind"]](table)


def clock(table: Table, code: Callable[[str], Any]) -> Activation | Barrier:
    """Make an activation; a trace is made per agent, by `wakes`."""
    if "parameters" in table:
        made: Activation = code(table["kind"])(**table["parameters"])
        return made
    return _CLOCKS[table["kind"]](table)


def wakes(table: Table, folders: Folders) -> dict[int, tuple[int, ...]]:
    """Return the instants of each agent of a trace clock, in order, none twice."""
    rows = table.get("wakes")
    if rows is None:
        rows = numbers(folders.find(table["path"])).tolist()
    instants: dict[int, set[int]] = {}
    for at, row in enumerate(rows, 1):
        fine = len(row) == 2 and all(0 <= number <= LONGEST_S for number in row)
        if not fine or row[1] != int(row[1]):
            said = f"a trace holds rows of time, in seconds up to {LONGEST_S:g}, and id"
            raise BadData(f"{said}; row {at} is none")
        instants.setdefault(int(row[1]), set()).add(nanoseconds(row[0]))
    return {node: tuple(sorted(times)) for node, times in instants.items()}

"""Data sources: who holds which points. Drawn once, before time starts, from named streams."""

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.vectors import Matrix, Vector
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning import shared_rows
from scenarios.planning.array_files import UNREADABLE, TooLarge, arrays, holds, stored
from scenarios.planning.seeds import generator
from scenarios.planning.splits import NoSplit, deal, sizes

Points = tuple[Matrix, Vector]
MOST_BYTES = 1 << 30
"""What the arrays of all files of a scenario may take without --allow-large."""


class BadData(ValueError):
    """The data cannot be learned from as they are."""


@dataclass(frozen=True, slots=True)
class Shards:
    """Training points of each agent; test points of each, or common ones, or none."""

    train: tuple[Points, ...]
    test: tuple[Points, ...]
    common_test: Points | None
    targets: Matrix | None
    notes: tuple[str, ...]
    shared: int = 0
    """How many source rows several agents hold, or one holds several times, as far as that is known."""

    @property
    def dimension(self) -> int:
        return int(self.train[0][0].shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(y) for _, y in self.train)


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

        Raises `BadData` for anything that lies outside of them, and where there is no such file.
        """
        outside = os.path.isabs(path) or ".." in Path(path).parts  # noqa: PTH117 # also "/x" elsewhere
        for folder in (self.own, *self.named):
            if folder is self.own and not self._is_listed(path):
                continue
            found = (folder / path).resolve()
            if not self.is_inside(found):
                outside = True
            elif found.exists():
                return _plain(found, path)
        if outside:
            raise BadData(f"must stay in the scenario's folder or one named by --data, got {path}")
        hint = "" if self.listed is None else "; origin.folder counts in a run's own folder only"
        raise BadData(f"no such file: {path} (searched the scenario's folder and --data{hint})")

    def is_inside(self, path: Path) -> bool:
        """Whether a file, its links followed, lies inside one of the folders."""
        found = path.resolve()
        return any(found.is_relative_to(root.resolve()) for root in (self.own, *self.named))

    def below(self, folder: Path, name: str) -> Path | None:
        """Return a file below a folder that `find` found, its links followed; None where there is none."""
        path = folder / name
        if not path.exists():
            return None
        if not self.is_inside(path):
            said = f"{folder.name}/{name} is a link that leads out of the folders that may be read"
            raise BadData(said)
        return _plain(path.resolve(), f"{folder.name}/{name}")

    def _is_listed(self, path: str) -> bool:
        """Whether a resolved scenario names the file, and it is still what it was."""
        if self.listed is None:
            return True
        below = path + "/"
        if not (self.own / path).exists():
            return False  # perhaps --data names the folder
        known = {n: h for n, h in self.listed.items() if n == path or n.startswith(below)}
        for name, digest in known.items():
            found = self.own / name
            if not self.is_inside(found):
                raise BadData(f"{name} is a link that leads out of the folders that may be read")
            if not found.is_file() or hashlib.sha256(found.read_bytes()).hexdigest() != digest:
                raise BadData(f"{name} has changed since the run that wrote this file")
        return bool(known)


def _plain(found: Path, name: str) -> Path:
    """Return a file or folder; refuse pipes and devices, which may be read for ever."""
    if not (found.is_file() or found.is_dir()):
        raise BadData(f"{name} is neither a file nor a folder")
    return found


@dataclass(frozen=True, slots=True)
class Demands:
    """What a task asks of its points."""

    labelled: bool
    """Whether labels are ±1."""
    scale: str = "refuse"
    """What becomes of rows above norm 1: `refuse`, or `row`, which scales them."""
    bound: str = ""
    """What rests on norms of at most 1, in words. Where nothing does, no row is refused."""


def load(data: dict[str, Any], n: int, seed: int, folders: Folders, demands: Demands) -> Shards:
    """Make or read the points of n agents."""
    match data["source"]:
        case "separators":
            shards = _separators(data, n, seed)
        case "blobs":
            shards = _blobs(data, n, seed)
        case "files":
            shards = _files(data, n, folders)
        case source:
            raise NotImplementedError(f"no points are made for data source {source!r}")
    return tidy(shards, demands)


def tidy(shards: Shards, demands: Demands) -> Shards:
    """Refuse what cannot be learned from; scale rows above norm 1 where that was asked for.

    No noise and no charge rests on test points: those above norm 1 are scaled with the others, or left as they are.
    """
    scaled, tested = 0, replace(demands, bound="")
    train, test = list[Points](), list[Points]()
    for points, kept, asked in ((shards.train, train, demands), (shards.test, test, tested)):
        for i, (x, y) in enumerate(points):
            x, changed = _bounded(x, y, i, asked)  # noqa: PLW2901
            scaled += changed
            kept.append((x, y))
    common = shards.common_test
    if common is not None:
        x, changed = _bounded(*common, None, tested)
        common, scaled = (x, common[1]), scaled + changed
    notes = shards.notes
    if scaled:
        notes = (*notes, f"{scaled} rows had a norm above 1 and were scaled to norm 1")
    return replace(shards, train=tuple(train), test=tuple(test), common_test=common, notes=notes)


def _bounded(x: Matrix, y: Vector, node: int | None, demands: Demands) -> tuple[Matrix, int]:
    whose = "the common test points" if node is None else f"node {node}"
    if x.ndim != 2 or y.ndim != 1 or len(x) != len(y):
        raise BadData(f"{whose}: x must be m × d and y of length m, got {x.shape} and {y.shape}")
    if len(y) == 0:
        raise BadData(f"{whose} has no points: an agent needs at least one")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadData(f"{whose}: a value is NaN or infinite")
    if demands.labelled and not np.isin(y, (-1.0, 1.0)).all():
        raise BadData(f"{whose}: labels must be -1 or 1, got {np.unique(y)[:5].tolist()}")
    with np.errstate(over="ignore"):  # a norm above the largest double is above 1, too
        norms = np.linalg.norm(x, axis=1)
    above = norms > 1.0 + 1e-12
    if not above.any():
        return x, 0
    match demands.scale:
        case "refuse":
            if not demands.bound:
                return x, 0
            raise BadData(
                f"{whose}: {int(above.sum())} of {len(y)} rows have a norm above the declared bound 1 "
                f'(largest {norms.max():.4g}), and {demands.bound}; scale = "row" scales them'
            )
        case "row":
            return x / np.maximum(norms, 1.0)[:, None], int(above.sum())
        case scale:
            raise NotImplementedError(f"no scaling of rows is written by {scale!r}")


def _amounts(data: dict[str, Any], n: int, seed: int) -> Any:
    """Return each agent's number of points: by `split` where given, else by `points`."""
    rng, points = generator(seed, "data/sizes"), data["points"]
    low, high = (
        (points["min"], points["max"])
        if isinstance(points, (dict, ReadTable))
        else (points, points)
    )
    if "split" not in data:
        return rng.integers(low, high, endpoint=True, size=n)
    if data["split"]["kind"] == "dirichlet":
        raise NoSplit("dirichlet shares out a pool by label; each separator has points of its own")
    split = data["split"]
    total = sum(split["of"]) if split["kind"] == "sizes" else n * (low + high) // 2
    if split["kind"] == "uniform":
        total = n * split["max"]
    return sizes(split, total, n, rng)


def _ball(rng: np.random.Generator, count: int, dimension: int) -> Matrix:
    """Draw points uniformly in the unit ball: around the origin, and never above norm 1."""
    x = rng.standard_normal((count, dimension))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x * rng.random((count, 1)) ** (1.0 / dimension)


def _labels(rng: np.random.Generator, scores: Vector, flip: float) -> Vector:
    labels = np.where(scores >= 0, 1.0, -1.0)
    return np.where(rng.random(len(labels)) < flip, -labels, labels)


def _with_bias(x: Matrix, *, bias: bool) -> Matrix:
    """Append a constant feature, and scale so that norms at most 1 stay at most 1."""
    return np.hstack([x, np.ones((len(x), 1))]) / np.sqrt(2.0) if bias else x


def _separators(data: dict[str, Any], n: int, seed: int) -> Shards:
    """The task of Bellet et al. 2018, section 5.1: each agent has a target separator of its own.

    Targets lie in the plane of the first two coordinates, normal, as in Vanhaesebrouck et al. 2017.
    """
    d, flip, tests = data["dimension"], data["flip"], data["test_points"]
    amounts = _amounts(data, n, seed)
    targets = np.zeros((n, d))
    train, test = list[Points](), list[Points]()
    for i in range(n):
        rng = generator(seed, f"data/{i}")
        targets[i, : min(2, d)] = rng.standard_normal(min(2, d))
        for kept, count, noise in ((train, int(amounts[i]), flip), (test, tests, 0.0)):
            x = _ball(rng, count, d)
            kept.append((_with_bias(x, bias=data["bias"]), _labels(rng, x @ targets[i], noise)))
    return Shards(tuple(train), tuple(test) if tests else (), None, targets, ())


def _blobs(data: dict[str, Any], n: int, seed: int) -> Shards:
    """Two normal clouds around ±½ of one random direction, in the unit ball: a pool to be split."""
    d, rng = data["dimension"], generator(seed, "data/pool")
    split = data.get("split") or {"kind": "sizes", "of": _amounts(data, n, seed).tolist()}
    points = data["points"]
    mean = (points["min"] + points["max"]) // 2 if isinstance(points, (dict, ReadTable)) else points
    total = sum(split["of"]) if split["kind"] == "sizes" else n * mean
    if split["kind"] == "uniform":
        total = n * split["max"]
    centre = rng.standard_normal(d)
    centre *= 0.5 / np.linalg.norm(centre)

    def cloud(count: int) -> Points:
        y = np.where(rng.random(count) < 0.5, 1.0, -1.0)
        x = y[:, None] * centre + 0.25 * rng.standard_normal((count, d)) / np.sqrt(d) * 2.0
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
        return _with_bias(x, bias=data["bias"]), y

    x, y = cloud(total)
    common = cloud(data["test_points"]) if data["test_points"] else None
    y = np.where(rng.random(len(y)) < data["flip"], -y, y)
    hands = deal(split, y, n, generator(seed, "data/split"))
    train = tuple((x[hand], y[hand]) for hand in hands)
    return Shards(train, (), common, None, (), shared_rows.by_number(hands))


def _files(data: dict[str, Any], n: int, folders: Folders) -> Shards:
    folder = folders.find(data["path"])
    if "split" in data:
        raise NoSplit("files are split already: one file each")
    left = folders.most

    def read(path: Path) -> Points:
        nonlocal left
        x, y = _archive(path, left)
        left -= x.nbytes + y.nbytes
        return x, y

    train, paths = list[Points](), list[Path]()
    for i in range(n):
        path = folders.below(folder, f"{i:03d}.npz")
        if path is None:
            raise BadData(f"no such file: {i:03d}.npz in {folder.name}")
        train.append(read(path))
        paths.append(path)
    if (folder / f"{n:03d}.npz").exists():
        raise BadData(f"{folder.name} holds more files than the {n} agents of [[nodes]]")
    tests = [folders.below(folder, f"test/{i:03d}.npz") for i in range(n)]
    test = [read(path) for path in tests if path is not None]
    if test and len(test) != n:
        raise BadData(f"{folder.name}/test holds {len(test)} files for {n} agents")
    dimensions = {x.shape[1] for x, _ in (*train, *test) if x.ndim == 2}
    if len(dimensions) > 1:
        raise BadData(f"all agents need one dimension, got {sorted(dimensions)}")
    shared = shared_rows.by_file(paths, [len(y) for _, y in train])
    declared = []
    for path, (_, y) in zip(paths, train, strict=True):
        rows = _declared(path, len(y), left)
        if rows is not None:
            left -= rows.nbytes
            declared.append(rows)
    return Shards(
        tuple(train), tuple(test), None, None, (), max(shared, shared_rows.by_number(declared))
    )


def _declared(path: Path, points: int, most: float) -> Any:
    """Return the whole numbers that a file declares for its points (`rows`); None where it does not."""
    if not holds(path, "rows"):
        return None
    try:
        (rows,) = stored(path, "rows", most=most)
    except TooLarge as error:
        raise too_large(error) from None
    except UNREADABLE as error:
        raise BadData(f"{path.name}: rows cannot be read ({type(error).__name__})") from None
    try:
        return shared_rows.numbered(rows, points)
    except ValueError as error:
        raise BadData(f"{path.name}: {error}") from None


def _archive(path: Path, most: float) -> Points:
    try:
        x, y = arrays(path, "x", "y", most=most)
    except TooLarge as error:
        raise too_large(error) from None
    except UNREADABLE as error:
        raise BadData(
            f"{path.name} must hold arrays x and y of numbers ({type(error).__name__})"
        ) from None
    return x, y


def too_large(error: TooLarge) -> BadData:
    """Return the refusal of arrays that would take too much memory."""
    limit = f"above {MOST_BYTES / 1e9:.3g} GB for all files together"
    return BadData(f"{error}; {limit} needs --allow-large")

"""Matrices of latency: one delay for each ordered pair of places."""

import math
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.planning.array_files import UNREADABLE, TooLarge, real, stored
from scenarios.planning.files import BadData
from scenarios.planning.traces import Hygiene, Imported, Repair
from scenarios.planning.traces.text_rows import MOST_BYTES, Row, is_header, number, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix

_MOST_TRIPLES = 1000
"""Triangles are looked at in matrices of at most so many places."""
_ALIKE = 0.01
"""Two directions differ where they do by more than this share of the longer one."""
_SLOW_S = 2.0


def array_of(path: Path) -> "Matrix":
    """Read a matrix from an .npy or .npz file; nothing in it is executed. Raises BadData."""
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist()]
            if len(names) != 1:
                raise BadData(f"must hold one array, got {len(names)}")
            return _matrix(real(stored(path, names[0], most=MOST_BYTES)[0]))
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = header(file)
            if math.prod(shape) * max(8, dtype.itemsize) > MOST_BYTES:
                raise BadData(f"would take more than {MOST_BYTES:,} bytes")
            file.seek(0)
            return _matrix(real(np.lib.format.read_array(file, allow_pickle=False)))
    except BadData:
        raise
    except TooLarge as error:
        raise BadData(f"{error}: more than {MOST_BYTES:,} bytes are not read") from None
    except UNREADABLE as error:
        raise BadData(f"is no file of numbers ({type(error).__name__})") from None


def matrix_of(rows: Sequence[Row]) -> "Matrix":
    """Read a matrix from rows of text, with a row of names above and a column of names before it, or without."""
    headed = bool(rows) and is_header(rows[0])
    body = list(rows[1:] if headed else rows)
    named = headed or all(number(row.cells[0]) is None for row in body)
    if body and named and len(body[0].cells) == len(body) + 1:
        body = [Row(row.line, row.cells[1:]) for row in body]
    values = []
    for row in body:
        read = [number(cell) for cell in row.cells]
        if None in read:
            wrong = row.cells[read.index(None)]
            raise BadData(f"{row.place}: {shown(wrong)} is no number")
        if len(read) != len(body):
            raise BadData(f"must be as wide as high: {row.place} has {len(read)} of {len(body)}")
        values.append(read)
    return _matrix(np.array(values, dtype=np.float64))


def _matrix(values: Any) -> "Matrix":
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        raise BadData(f"must be a square matrix of at least 2 × 2, got {values.shape}")
    matrix: Matrix = np.array(values, dtype=np.float64)
    return matrix


def imported(values: "Matrix", hygiene: Hygiene, unit_s: float, *, halve: bool) -> Imported:
    """Return one-way delays in seconds; `halve` those of round trips."""
    n = len(values)
    apart = ~np.eye(n, dtype=bool)
    bad = _unusable(values, apart, hygiene)
    delays = np.where(bad, np.nan, values) * (unit_s / 2 if halve else unit_s)
    _look(delays, apart, hygiene)
    delays = _mended(delays, apart, hygiene)
    np.fill_diagonal(delays, np.nan_to_num(np.diagonal(delays)))
    usage = '[network]\nlatency = {{ kind = "matrix", path = "{}" }}'
    lines = [" ".join(repr(float(cell)) for cell in row) for row in delays]
    head = "# one-way delays in seconds: a row for each sender, a column for each receiver"
    return Imported("matrix", (head, *lines), hygiene, usage)


def _places(where: "NDArray[np.bool_]") -> list[str]:
    return [f"row {i + 1}, column {j + 1}" for i, j in np.argwhere(where).tolist()]


def _unusable(
    values: "Matrix", apart: "NDArray[np.bool_]", hygiene: Hygiene
) -> "NDArray[np.bool_]":
    """Find what is no delay: missing, infinite, negative; one negative value that comes again and again stands for missing."""
    how: dict[Repair, str] = {
        "symmetric": "the other direction was taken",
        "neighbour": "the other direction was taken, else the mean of the medians of its row and its column",
    }
    none = np.isnan(values) & apart
    infinite = np.isinf(values) & apart
    negative = (values < 0) & apart & ~infinite
    times = Counter(values[negative].tolist())
    for value, count in sorted(times.items()):
        if count > 1:
            halved = f", half of {2 * value:g}" if (2 * value).is_integer() and value % 1 else ""
            what = f"missing values, written as {value:g}{halved}"
            hygiene.mend(what, _places((values == value) & negative), how)
    rest = negative & np.isin(values, [value for value, count in times.items() if count == 1])
    hygiene.mend("negative values", _places(rest), how)
    hygiene.mend("missing values", _places(none), how)
    hygiene.mend("infinite values", _places(infinite), how)
    return none | infinite | negative | (~np.isfinite(values) | (values < 0)) & ~apart


def _look(delays: "Matrix", apart: "NDArray[np.bool_]", hygiene: Hygiene) -> None:
    """Note what is odd, though it can be used, and what a reader may want to know."""
    n, known = len(delays), apart & np.isfinite(delays)
    diagonal = np.diagonal(delays)
    hygiene.find(
        "delays of a place to itself that are not 0",
        [f"row {i + 1}" for i in np.flatnonzero(np.nan_to_num(diagonal) != 0).tolist()],
        "kept: no agent sends to itself",
    )
    hygiene.find("delays of 0 between two places", _places(known & (delays == 0)), "kept")
    rows = [row.tobytes() for row in delays]
    twice = [f"row {i + 1}" for i, row in enumerate(rows) if row in rows[:i]] if n <= 5000 else []
    hygiene.find("rows that equal another", twice, "kept: two places of one site, or a copy")
    with np.errstate(invalid="ignore"):
        both = known & known.T
        differ = both & (np.abs(delays - delays.T) > _ALIKE * np.maximum(delays, delays.T))
    pairs, uneven = int(both.sum()) // 2, int(differ.sum()) // 2
    values = delays[known]
    hygiene.facts |= {
        "places": n,
        "median_s": float(np.median(values)) if len(values) else math.nan,
    }
    hygiene.facts["asymmetric"] = uneven / pairs if pairs else math.nan
    if n <= _MOST_TRIPLES:
        hygiene.facts["triangles_violated"] = violated(delays)
    if len(values) and np.median(values) > _SLOW_S:
        hygiene.find("a median above 2 s: perhaps the unit is another (--unit)", [""], "kept")


def violated(delays: "Matrix") -> float:
    """Return the share of triples of places for which a detour is shorter: d(i, j) > d(i, k) + d(k, j)."""
    n, longer, triples = len(delays), 0, 0
    apart = ~np.eye(n, dtype=bool) & np.isfinite(delays)
    for k in range(n):
        detour = delays[:, k, None] + delays[None, k, :]
        asked = apart & np.isfinite(detour)
        asked[k] = asked[:, k] = False
        triples += int(asked.sum())
        with np.errstate(invalid="ignore"):
            longer += int((asked & (delays > detour * (1 + 1e-12))).sum())
    return longer / triples if triples else math.nan


def _mended(delays: "Matrix", apart: "NDArray[np.bool_]", hygiene: Hygiene) -> "Matrix":
    """Fill what is missing, as far as that is allowed, and let both directions be alike where that is asked for."""
    fills, levels = "neighbour" in hygiene.allowed, "symmetric" in hygiene.allowed
    mended = delays.copy()
    if fills or levels:
        missing = apart & np.isnan(mended)
        mended[missing] = delays.T[missing]
    if fills:
        known = np.where(apart, delays, np.nan)
        middles = [
            np.array(
                [
                    float(np.median(v[np.isfinite(v)])) if np.isfinite(v).any() else math.nan
                    for v in lines
                ]
            )
            for lines in (known, known.T)
        ]
        missing = apart & np.isnan(mended)
        mended[missing] = ((middles[0][:, None] + middles[1][None, :]) / 2)[missing]
    if levels:
        with np.errstate(invalid="ignore"):
            uneven = apart & (mended != mended.T) & np.isfinite(mended) & np.isfinite(mended.T)
        hygiene.find(
            "pairs whose directions differ",
            _places(np.triu(uneven)),
            "both directions have the mean now",
        )
        mended = np.where(uneven, (mended + mended.T) / 2, mended)
    left = apart & np.isnan(mended)
    if fills and left.any():
        raise BadData(f"has places without any delay: {_places(left)[0]}")
    if levels:
        hygiene.mend("values missing in both directions", _places(left), {"neighbour": ""})
    return mended

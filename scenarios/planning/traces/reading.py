"""Reads a trace of whatever kind: which one a file holds, and what becomes of it."""

from collections.abc import Sequence
from pathlib import Path

from scenarios.planning.files import BadData
from scenarios.planning.traces import Hygiene, Imported
from scenarios.planning.traces.availability import NEEDS
from scenarios.planning.traces.text_rows import (
    Row,
    is_header,
    number,
    rows_of,
    size_checked,
    text_of,
)

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def read_trace(
    path: Path,
    kind: str,
    hygiene: Hygiene,
    *,
    unit: str = "s",
    halve: bool = False,
    needs: Sequence[str] = NEEDS,
    from_start: bool = False,
) -> Imported:
    """Read a file of a kind, or of the kind that it looks like ("auto").

    `halve` makes one way of round trips. `needs` are what a device of the FLASH format must be, and `from_start` counts the
    times of sessions from the first.

    Raises BadData where the file cannot be read, or holds no such thing.
    """
    size_checked(path)
    if path.suffix in {".npy", ".npz"}:
        if kind not in {"auto", "matrix"}:
            raise BadData(f"is an array: --kind matrix, not {kind}")
        from scenarios.planning.traces import matrices

        return matrices.imported(matrices.array_of(path), hygiene, UNITS[unit], halve=halve)
    text = text_of(path)
    is_json = text.lstrip().startswith("{")
    rows = [] if is_json else rows_of(text)
    kind = _kind(rows, is_json=is_json) if kind == "auto" else kind
    match kind:
        case "availability":
            from scenarios.planning.traces import availability

            if halve:
                raise BadData("holds sessions: --rtt is for delays")
            return availability.imported(
                text, rows, hygiene, UNITS[unit], needs=needs, from_start=from_start
            )
        case "matrix":
            from scenarios.planning.traces import matrices

            matrix = matrices.matrix_of(rows)
            return matrices.imported(matrix, hygiene, UNITS[unit], halve=halve)
        case "durations":
            from scenarios.planning.traces import durations

            return durations.imported(rows, hygiene, UNITS[unit], halve=halve)
        case _:
            raise NotImplementedError(f"no reader is written for {kind!r}")


def _kind(rows: Sequence[Row], *, is_json: bool) -> str:
    """Return the kind that rows look like. Raises BadData where they may be several."""
    if is_json:
        return "availability"
    body = rows[1:] if rows and is_header(rows[0]) else rows
    if not body:
        raise BadData("holds no rows")
    widths = {len(row.cells) for row in body}
    if widths == {3} and not all(
        number(cell) is not None for row in body for cell in row.cells[1:]
    ):
        return "availability"
    if widths == {1} or len(body) == 1:
        return "durations"
    square = widths in ({len(body)}, {len(body) + 1})
    if widths == {3} and not square:
        return "availability"
    if square and widths != {3}:
        return "matrix"
    raise BadData("may be of several kinds: give --kind availability, matrix or durations")

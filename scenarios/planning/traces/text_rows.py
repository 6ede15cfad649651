"""Rows of text: cells between commas, semicolons, tabs or blanks."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from scenarios.planning.files import BadData

MOST_BYTES = 256 << 20
"""No larger file is read."""
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})


class Row(NamedTuple):
    """The cells of a line, and its number from 1."""

    line: int
    cells: tuple[str, ...]

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return f"line {self.line}"


def size_checked(path: Path) -> None:
    """Raise BadData for what is no file, and for a file that is too large to be read."""
    try:
        is_file, exists = path.is_file(), path.exists()
        size = path.stat().st_size if is_file else 0
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        raise BadData(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not is_file:
        raise BadData("is no file" if exists else "there is no such file")
    if size > MOST_BYTES:
        raise BadData(f"has {size:,} bytes: more than {MOST_BYTES:,} are not read")


def text_of(path: Path) -> str:
    """Return the text of a file. Raises BadData where it is no text, or too large."""
    size_checked(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadData("is no text in UTF-8") from None
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror}") from None


def rows_of(text: str) -> list[Row]:
    """Return the rows of a text; a line that is blank or begins with # is none."""
    rows = []
    for number, line in enumerate(text.replace("\0", " ").split("\n"), 1):
        words = line.strip()
        if words and not words.startswith("#"):
            rows.append(Row(number, _cells(words)))
    return rows


def _cells(line: str) -> tuple[str, ...]:
    for mark in (",", ";", "\t"):
        if mark in line:
            return tuple(cell.strip().strip('"').strip() for cell in line.split(mark))
    return tuple(cell.strip('"') for cell in line.split())


def number(cell: str) -> float | None:
    """Return a number, NaN for a value that is written as missing; None for any other text."""
    if cell.lower() in _MISSING:
        return float("nan")
    if "_" in cell or not cell.isascii():
        return None  # float() also reads "1_000" and digits of other scripts, which other programs do not
    try:
        return float(cell)
    except ValueError:
        return None


def moment(text: str) -> float | None:
    """Return the seconds since 1970 of a date and time, taken as UTC where it names no zone; None for any other text."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def is_header(row: Row) -> bool:
    """Whether a row names columns: its last cells are neither numbers nor dates."""
    return all(number(cell) is None and moment(cell) is None for cell in row.cells[-2:])


def shown(cell: str) -> str:
    """Return a cell for an error: quoted, and no longer than forty characters."""
    return json.dumps(cell[:40], ensure_ascii=False)

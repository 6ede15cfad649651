"""Delimited text files, also compressed with gzip: read into columns of text, whatever they may hold.

A file is hostile input. Bytes are limited before and while they are decompressed, text before it is taken apart; what is
wrong is said in one sentence with the line where it stands.
"""

import csv
import gzip
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from scenarios.language.problems import nearest, shown
from scenarios.planning.files import MOST_BYTES, BadData

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 20
_LINE_BYTES = 64
"""What a line takes beside its text while rows are looked for."""
_CELL_BYTES = 64
"""What a value takes as text beside its characters."""
_BLOCK = 8192
"""So many rows are held as text at once by those that read a file in blocks."""
_MOST_COLUMNS = 100_000
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True, slots=True)
class Format:
    """How a delimited text is written.

    `names` are the columns; None where the first row names them. A line that begins with `comment` is left out. With
    `blanks`, blanks after a separator belong to it. Without `quotes`, a quote is a character as any other.
    """

    separator: str = ","
    names: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    comment: str = ""
    blanks: bool = False
    quotes: bool = True


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns of text by their names, and the line of the file where each row begins (from 1)."""

    name: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> Sequence[str]:
        """Return the values of a column. Raises BadData, which names the nearest one, where there is none."""
        if name not in self.columns:
            raise BadData(f"{self.name} has no column {shown(name)}; {known(name, self.columns)}")
        return self.columns[name]

    def place(self, row: int) -> str:
        """Return where a row stands, as errors name it."""
        return f"{self.name}, line {self.lines[row]:,}"

    def take(self, rows: Iterable[int]) -> "TextTable":
        """Return the table of some rows, by their numbers."""
        rows = list(rows)
        columns = {n: [values[row] for row in rows] for n, values in self.columns.items()}
        return TextTable(self.name, columns, [self.lines[row] for row in rows])


def known(name: str, names: Iterable[str]) -> str:
    """Return a hint for a name that a file does not know: the nearest, and what there is."""
    return nearest(name, (one[:100] for one in islice(names, 1000)))


class DelimitedText:
    """A delimited text whose rows are known by their lines, before any of them is taken apart.

    `name` is what errors call it. `most` bounds the bytes that rows of text may take at once. Raises BadData where the
    bytes are no text of the format, or its header names no columns.
    """

    def __init__(self, name: str, content: bytes, how: Format, *, most: float = math.inf) -> None:
        self.name = name
        self._how = how
        self._most = most
        content = _text_only(name, content)
        count = content.count(b"\n") + content.count(b"\r")
        self._refuse_above(len(content) + count * _LINE_BYTES)
        self._rows, self._lines = self._found(content)
        if how.names is None:
            if not self._rows:
                raise BadData(f"{name} is empty: its first row must name the columns")
            (header,) = self._parsed(self._rows[:1], self._lines[:1])
            self._rows, self._lines = self._rows[1:], self._lines[1:]
            self.names = self._checked([cell.strip() for cell in header])
        else:
            self.names = how.names
        if not self._rows:
            raise BadData(f"{name} has no rows")

    def __len__(self) -> int:
        return len(self._rows)

    def require(self, names: Iterable[str]) -> None:
        """Refuse a text that lacks one of some columns. Raises BadData, which names the nearest one."""
        missing = [name for name in names if name not in self.names]
        if missing:
            hint = known(missing[0], self.names)
            raise BadData(f"{self.name} has no column {shown(missing[0])}; {hint}")

    def read(self, rows: Sequence[int] | None = None) -> TextTable:
        """Return some rows as one table, by their numbers; None stands for all. Raises BadData."""
        count = len(self) if rows is None else len(rows)
        self._refuse_above(count * len(self.names) * _CELL_BYTES)
        return self._table(range(len(self)) if rows is None else rows)

    def blocks(self, rows: Sequence[int] | None = None) -> Iterator[TextTable]:
        """Yield some rows in tables of a few thousand, so that few are held as text at once. Raises BadData."""
        chosen = range(len(self)) if rows is None else rows
        size = max(1, min(_BLOCK, _BLOCK * 64 // max(1, len(self.names))))
        for first in range(0, len(chosen), size):
            yield self._table(chosen[first : first + size])

    def _table(self, rows: Sequence[int]) -> TextTable:
        lines = [self._lines[row] for row in rows]
        cells = self._parsed([self._rows[row] for row in rows], lines)
        wanted = len(self.names)
        for row, line in zip(cells, lines, strict=True):
            if len(row) != wanted:
                message = f"expected {wanted:,} values, found {len(row):,}"
                raise BadData(f"{self.name}, line {line:,}: {message}")
        columns = zip(*cells, strict=True) if cells else ([] for _ in self.names)
        return TextTable(self.name, dict(zip(self.names, columns, strict=True)), lines)

    def _found(self, content: bytes) -> tuple[list[bytes], list[int]]:
        """Return the text of each row, and the line where it begins; blank lines and comments are none.

        A row ends where a line does, unless it has an odd number of quotes so far: then a quoted value goes on.
        """
        lines = content.splitlines()  # of bytes: at line feeds and carriage returns only
        comment = self._how.comment.encode()
        if not self._how.quotes or b'"' not in content:
            found = [
                (line, number)
                for number, line in enumerate(lines, 1)
                if line.strip() and not (comment and line.startswith(comment))
            ]
            return [line for line, _ in found], [number for _, number in found]
        rows, begins, number = list[bytes](), list[int](), 0
        while number < len(lines):
            first, line = number, lines[number]
            number += 1
            if not line.strip() or (comment and line.startswith(comment)):
                continue
            if line.count(b'"') % 2:
                parts, quotes = [line], line.count(b'"')
                while number < len(lines) and quotes % 2:
                    parts.append(lines[number])
                    quotes += lines[number].count(b'"')
                    number += 1
                if quotes % 2:
                    raise BadData(f"{self.name}, line {first + 1:,}: a quote is not closed")
                line = b"\n".join(parts)
            rows.append(line)
            begins.append(first + 1)
        return rows, begins

    def _parsed(self, rows: Sequence[bytes], lines: Sequence[int]) -> list[list[str]]:
        how = self._how
        reader = csv.reader(
            self._decoded(rows, lines),
            delimiter=how.separator,
            skipinitialspace=how.blanks,
            quoting=csv.QUOTE_MINIMAL if how.quotes else csv.QUOTE_NONE,
            strict=True,
        )
        try:
            return list(reader)
        except csv.Error as error:
            line = lines[max(0, reader.line_num - 1)]
            reason = (
                f"a value is longer than {csv.field_size_limit():,} characters"
                if "limit" in str(error)
                else "a quote must enclose a whole value, and one inside of it be doubled"
            )
            raise BadData(f"{self.name}, line {line:,}: {reason}") from None

    def _decoded(self, rows: Sequence[bytes], lines: Sequence[int]) -> Iterator[str]:
        for row, line in zip(rows, lines, strict=True):
            try:
                yield row.decode(self._how.encoding)
            except UnicodeDecodeError:
                encoding = self._how.encoding.upper()
                raise BadData(f"{self.name}, line {line:,}: no {encoding} text") from None

    def _checked(self, header: list[str]) -> tuple[str, ...]:
        """Return the names of a header; refuse one that names a column twice or not at all."""
        if len(header) > _MOST_COLUMNS:
            raise BadData(
                f"{self.name} has {len(header):,} columns; at most {_MOST_COLUMNS:,} are read"
            )
        seen: set[str] = set()
        for place, name in enumerate(header, 1):
            if not name:
                raise BadData(
                    f"{self.name}: the first row must name every column, {place:,} has no name"
                )
            if name in seen:
                raise BadData(f"{self.name}: the first row names column {shown(name)} twice")
            seen.add(name)
        return tuple(header)

    def _refuse_above(self, needed: float) -> None:
        if needed > self._most:
            raise BadData(_too_large(self.name, needed))


def read_delimited(
    path: Path, how: Format, *, rows: Sequence[int] | None = None, most: float = MOST_BYTES
) -> TextTable:
    """Read a delimited text file, compressed or not, into columns of text.

    `rows` are the numbers of the rows that are wanted, in the order that they are wanted in; None stands for all. `most`
    bounds the bytes that it may take. Raises BadData.
    """
    return DelimitedText(path.name, content(path, most), how, most=most).read(rows)


def content(path: Path, most: float = MOST_BYTES) -> bytes:
    """Return the bytes of a file, decompressed where it is compressed with gzip: at most `most`. Raises BadData."""
    read = beginning(path, most)
    if len(read) > most:
        raise BadData(_too_large(path.name, len(read)))
    return read


def beginning(path: Path, most: float) -> bytes:
    """Return the first bytes of a file, decompressed where it is compressed with gzip: one more than `most` at the most.

    Raises BadData where the file cannot be read, or its compressed data are damaged.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_GZIP)) != _GZIP:
                file.seek(0)
                size = path.stat().st_size
                return file.read(int(min(most, size)) + 1)
            file.seek(0)
            return _unpacked(gzip.GzipFile(fileobj=file, mode="rb"), most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        cut = "end too early" if isinstance(error, EOFError) else "are damaged"
        raise BadData(f"{path.name}: its compressed data {cut}") from None
    except OSError as error:
        raise BadData(f"{path.name} cannot be read: {error.strerror}") from None


def _unpacked(packed: gzip.GzipFile, most: float) -> bytes:
    """Return what is compressed; stop as soon as it is more than `most` bytes."""
    pieces, left = list[bytes](), min(most, float(1 << 60)) + 1
    while left > 0:
        piece = packed.read(int(min(_PIECE, left)))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _text_only(name: str, content: bytes) -> bytes:
    """Return a text without its mark of UTF-8; refuse what is no text of bytes."""
    if content[:2] in _MARKS:
        raise BadData(f"{name} is {_MARKS[content[:2]]} text: write it as UTF-8")
    zero = content.find(b"\0")
    if zero >= 0:
        line = content.count(b"\n", 0, zero) + 1
        raise BadData(f"{name}, line {line:,}: a NUL byte, which no text has")
    return content.removeprefix(b"\xef\xbb\xbf")


def _too_large(name: str, needed: float) -> str:
    limit = f"above {MOST_BYTES / 1e9:.3g} GB for all files together"
    return f"{name} would take at least {needed / 1e9:.3g} GB; {limit} needs --allow-large"

"""Parquet files: their metadata are judged before any column is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.language.problems import shown
from scenarios.language.visible_text import visible
from scenarios.planning.files import BadData
from scenarios.planning.value_table import MISSING, ValueTable, refuse_large

if TYPE_CHECKING:
    from numpy.typing import NDArray

_METADATA_BYTES = 100_000_000
_NUMBER = 8


def read_parquet(path: Path, most: float) -> ValueTable:
    """Read a Parquet file: numbers and truth values as numbers, words as words. Raises BadData.

    `most` bounds the bytes that its values may take, as its metadata tell them. Needs pyarrow.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise BadData(
            "Parquet files are read by pyarrow: pip install 'hush-sim[parquet]'"
        ) from None
    with _refusal(path.name):
        opened = partial(
            parquet.ParquetFile,
            path,
            thrift_string_size_limit=_METADATA_BYTES,
            thrift_container_size_limit=_METADATA_BYTES // _NUMBER,
        )
        file = opened()
        rows, names = _judged(path.name, file, most)
        words = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # read as numbers of words: one word that a million rows share is then held once
        table = opened(read_dictionary=words).read(use_threads=False)
        if table.num_rows != rows:
            raise BadData(
                f"{path.name} holds {table.num_rows:,} rows, and says that it has {rows:,}"
            )
        columns = {
            name: _values(f"{path.name}, column {shown(name)}", table.column(place))
            for place, name in enumerate(names)
        }
    return ValueTable(path.name, columns, partial(_place, path.name), rows)


def _place(name: str, row: int) -> str:
    return f"{name}, row {row + 1:,}"


@contextmanager
def _refusal(name: str) -> Iterator[None]:
    """Raise BadData for whatever pyarrow says of a file."""
    try:
        yield
    except BadData:
        raise
    except Exception as error:  # noqa: BLE001 # a damaged file makes it raise errors of many kinds
        words = visible(str(error).partition("\n")[0][:200])
        raise BadData(f"{name} cannot be read as Parquet: {words}") from None


def _judged(name: str, file: Any, most: float) -> tuple[int, list[str]]:
    """Return how many rows a file has, and the names of its columns; refuse what cannot be used, by its metadata."""
    metadata, fields = file.metadata, list(file.schema_arrow)
    names = [field.name for field in fields]
    rows = int(metadata.num_rows)
    if rows < 1:
        raise BadData(f"{name} has no rows")
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise BadData(f"{name} names column {shown(twice)} twice")
    for field in fields:
        if not (_is_number(field.type) or _is_text(field.type) or _is_dictionary(field.type)):
            raise BadData(
                f"{name}: column {shown(field.name)} is of type {str(field.type)[:60]}; only numbers, truth values and words are read"
            )
    refuse_large(name, rows, len(names), most)
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    refuse_large(name, 1, sum(group.total_byte_size for group in groups) // _NUMBER, most)
    return rows, names


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numeric or types.is_boolean(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_dictionary(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind) and _is_text(kind.value_type))


def _values(name: str, column: Any) -> "NDArray[Any]":
    """Return a column as numbers (NaN where one is missing), or as words ("" where one is missing)."""
    import pyarrow as pa

    if _is_number(column.type):
        as_floats = column.cast(pa.float64(), safe=False)
        return np.asarray(as_floats.to_numpy(zero_copy_only=False), dtype=np.float64)
    if not (_is_text(column.type) or _is_dictionary(column.type)):
        raise BadData(f"{name} holds {str(column.type)[:60]}, and its metadata say words")
    parts = list[Any]()
    for chunk in column.chunks:
        codes = chunk if _is_dictionary(chunk.type) else chunk.dictionary_encode()
        words = np.empty(len(codes.dictionary) + 1, dtype=object)
        words[:] = [MISSING if one is None else one for one in codes.dictionary.to_pylist()] + [
            MISSING
        ]
        places = codes.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        parts.append(words[places])
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)

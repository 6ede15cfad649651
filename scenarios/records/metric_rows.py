"""A sample as rows of `metrics.csv`: an instant, an agent and a metric name one of them."""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import msgspec

from scenarios.language.json_numbers import exact_seconds

HEADER = b"t,node,metric,value\n"
_encode = msgspec.json.Encoder().encode
_AT_ONCE = 1 << 16
"""So many rows are one part at most."""
_PART = 1 << 20
"""Parts of fewer bytes are joined to one of so many."""


def rows_of(instant: int, values: dict[str, Any]) -> Iterator[bytes]:
    """Yield the rows of a sample at an instant in nanoseconds, part by part; each part is of whole rows.

    The node is empty for the network, and a value for None.
    """
    t, rows, size = exact_seconds(instant), list[bytes](), 0
    for row in chain.from_iterable(_of_metric(t, *each) for each in values.items()):
        rows.append(row)
        size += len(row)
        if size >= _PART:
            yield b"".join(rows)
            rows, size = [], 0
    yield b"".join(rows)


def _of_metric(t: str, name: str, value: Any) -> Iterator[bytes]:
    if not isinstance(value, list):
        yield f"{t},,{name},{'' if value is None else value}\n".encode()
        return
    head, middle = f"{t},".encode(), f",{name},".encode()
    for first in range(0, len(value), _AT_ONCE):
        some = value[first : first + _AT_ONCE]
        ids = _encode(list(range(first, first + len(some))))[1:-1].split(b",")
        cells = zip(repeat(head), ids, repeat(middle), _written(some), repeat(b"\n"), strict=False)
        yield b"".join(chain.from_iterable(cells))


def _written(values: list[Any]) -> list[bytes]:
    """Return numbers as Python writes them, each digit of them, and nothing for None.

    The encoder of JSON writes the same digits in a tenth of the time: only the form of small and large numbers differs.
    """
    text = _encode(values)[1:-1]
    written = text.split(b",")
    if b"null" in text or b'"' in text:
        written = list(map(_WORDS.get, written, written))
    if b"e" in text or b"0.0000" in text:
        for i, word in enumerate(written):
            if b"e" in word or b"0.0000" in word:
                written[i] = str(values[i]).encode()
    return written


_WORDS = {b"null": b"", b'"inf"': b"inf", b'"-inf"': b"-inf"}
"""What stands for no value and for infinities: in JSON, and here."""

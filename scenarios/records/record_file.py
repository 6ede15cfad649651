"""The record of a run on disk, the truth about it: `record-00000.hush`, `record-00001.hush` …, written by appending only.

Everything is 64-bit integers, the lowest byte first. A file begins with `MAGIC`, the version of the format, and its own
number; a new one begins where the last has 64 MB. Then come frames, one for each batch of events that a run handed over.
A frame has a head of `FRAME` words:

    WORDS    how many words follow the head
    SEQ      the number of its first event
    EVENTS   how many events it holds
    LAST     the latest instant in it, in nanoseconds
    HOLDS    1 where a sample is in it, else 0: readers of curves skip the others
    CHECK    crc32 of the words that follow, and << 32 that of the head before it and of the first: both are checked before
             anything of the frame is used

Behind it stand records, in the order in which things happened. The first word of each is its kind, and the number of its
words << 16:

    TURN 1   the row of a turn, as `actors.turns` has it; SPEND is a place in the table of spends of the file
    EVENT 2  an event that is in no row: its number, its instant, the place of its spend (-1: none), and its JSON, filled up
             with spaces
    SPEND 3  the next entry of the table of spends: its place, and its JSON as a line of a ledger has it

Spends are numbered in the order in which they are first needed, and each stands right before the first record that needs
it. So the records of a run, one after the other, are the same bytes whichever way it took and however its batches were cut;
where frames begin depends on its batches. Because a row is written whole, no message stands in the file without the charge
that it rests on. A run that was killed may leave a torn frame at the very end: it is read up to its last whole record.

It is no kept format. Arrow's files end in a footer, and its streams need a package of 40 MB, hold columns of one length
each, and lose a torn batch as a whole; msgpack makes an object of every number. Here rows differ in length, a torn file is
read to its end, and columns are views of the bytes, with NumPy alone.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from actors.turns import TURN

MAGIC = b"hush\r\n\x1a\n"
VERSION = 1
EVENT, SPEND = 2, 3
WORD = 8
FRAME = 6
_HEAD = struct.Struct("<6Q")
_CHECKED = struct.Struct("<5QI")
HEAD_BYTES = _HEAD.size
_BEGIN = struct.Struct("<8sQQ")
BEGIN_BYTES = _BEGIN.size
_EVENT, _SPEND = struct.Struct("<qqqq"), struct.Struct("<qq")
EVENT_WORDS, SPEND_WORDS = _EVENT.size // WORD, _SPEND.size // WORD
MOST_WORDS = 1 << 20
"""A frame is closed when it has so many words: readers hold one at a time."""
_LATEST = (1 << 63) - 1


class Head(NamedTuple):
    """The head of a frame."""

    words: int
    seq: int
    events: int
    last: int
    holds: int
    check: int
    """The checksum of what follows."""


def begin(number: int) -> bytes:
    """Return the first bytes of a file of the record."""
    return _BEGIN.pack(MAGIC, VERSION, number)


def frame(records: bytes, seq: int, events: int, last: int, *, holds_sample: bool) -> bytes:
    """Return a frame with these records, in whole words."""
    facts = len(records) // WORD, seq, events, last, int(holds_sample)
    check = zlib.crc32(records)
    return _HEAD.pack(*facts, check | zlib.crc32(_CHECKED.pack(*facts, check)) << 32) + records


def head_of(data: bytes) -> Head | None:
    """Return the head that `HEAD_BYTES` bytes hold; None where they are no head."""
    words, seq, events, last, holds, checks = _HEAD.unpack(data)
    head = Head(words, seq, events, last, holds, checks & 0xFFFFFFFF)
    if zlib.crc32(_CHECKED.pack(*head)) != checks >> 32:
        return None
    sizes_fit = 0 < head.words <= _LATEST // WORD and 0 < head.events <= _LATEST
    return head if sizes_fit and 0 < head.seq <= _LATEST and head.last <= _LATEST else None


def event_record(seq: int, t: int, spend: int, text: bytes) -> bytes:
    """Return the record of an event that is in no row."""
    filled = _filled(text)
    words = EVENT_WORDS + len(filled) // WORD
    return _EVENT.pack(EVENT | words << 16, seq, t, spend) + filled


def spend_record(place: int, text: bytes) -> bytes:
    """Return the record of an entry of the table of spends."""
    filled = _filled(text)
    return _SPEND.pack(SPEND | SPEND_WORDS + len(filled) // WORD << 16, place) + filled


def _filled(text: bytes) -> bytes:
    return text + b" " * (-len(text) % WORD)


def records(word: Callable[[int], int], words: int) -> Iterator[tuple[int, int, int]]:
    """Yield the kind, the place and the number of words of each whole record among so many words.

    `word` returns one of them. What comes after the last whole record is not told: the caller sees where it ended. Raises
    `ValueError` where something is no record.
    """
    at = 0
    while at < words:
        first = word(at)
        kind, length = first & 0xFF, first >> 16
        if kind not in {TURN, EVENT, SPEND} or length < 1:
            raise ValueError(f"word {at} begins no record")
        if at + length > words:
            return
        yield kind, at, length
        at += length


def whole_records(data: bytes, at: int) -> int:
    """Return how many of the first `at` bytes of a frame are whole records with their head; 0 where there is none."""

    def word(place: int) -> int:
        first = HEAD_BYTES + place * WORD
        return int.from_bytes(data[first : first + WORD], "little", signed=True)

    end = 0
    for _, place, length in records(word, max(0, at - HEAD_BYTES) // WORD):
        end = HEAD_BYTES + (place + length) * WORD
    return end

"""How the lines of a screen are shared out: by scale and size, never by what stands in them, so nothing jumps.

What does not fit is left out, never wrapped: first links (or losses, or throughput), then the axis of time of the
faults, of which a line of words remains, then events, then the identities; below 80 columns what stands beside.
"""

import math
from dataclasses import dataclass

SCALES = ("table", "grid", "crowd")
FEW, MANY = 24, 400
_WIDE, _TALL, _ROOMY, _BROAD = 80, 24, 30, 130
_HEAD, _LAST = 2, 1
_BORDERS = 3
"""The border of a panel and the names of its columns."""
_BINS = 14
"""A histogram in full."""
_LEAST_TABLE, _LEAST_FEED, _KEPT, _LEAST = 5, 5, 6, 4
_CROWDED = 9
"""Outliers and throughput: what is more belongs to the events."""
LEGEND = 15
"""What stands beside the cells of a grid."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How many lines everything gets; 0 is left out."""

    sums: int
    """Lines of identities."""
    cells: int
    """The grid, where it stands above the table."""
    agents: int
    """The table, the grid beside it, or the histogram."""
    middle: int
    """Links or losses and events; of a crowd outliers and throughput."""
    faults: int
    """A panel with a line of time, or 1: one line in words."""
    left: int
    """Columns of what stands on the left; 0 where nothing stands beside anything."""
    sides: bool
    """Whether links or losses stand beside the events."""
    rows: int
    """Agents in the table."""


def scale_for(count: int) -> str:
    """Choose how to show so many agents."""
    return "table" if count <= FEW else "grid" if count <= MANY else "crowd"


def lay_out(scale: str, width: int, height: int, count: int, faults: int) -> Layout:
    """Share out a screen of some size among so many agents and faults."""
    sums = 0 if height < 12 else 1 if width >= _BROAD else 2
    room = max(0, height - _HEAD - _LAST - sums)
    wide = width >= _WIDE
    left = width * 42 // 100 if wide else 0
    sides = wide and height >= _TALL and scale != "crowd"
    if scale == "crowd":
        agents, middle, low = _crowd(room, faults)
        return Layout(sums, 0, agents, middle, low, left, sides, 0)
    if scale == "table":
        agents, middle, low = _table(room, count, faults)
        return Layout(sums, 0, agents, middle, low, left, sides, rows_in(agents))
    if wide:
        left = min(max(44, left), width - 48)
        agents, middle, low = _grid(room, min(count + 1, 10) + _BORDERS, faults)
        return Layout(sums, 0, agents, middle, low, left, sides, rows_in(agents))
    whole = math.ceil(count / across(width, count)) + _BORDERS
    agents, middle, low = _grid(room, whole, faults)
    if agents < whole + _LEAST_TABLE:
        return Layout(sums, agents, 0, middle, low, left, sides, 0)
    return Layout(sums, whole, agents - whole, middle, low, left, sides, rows_in(agents - whole))


def rows_in(height: int) -> int:
    """How many agents a table of this height shows, above its sums."""
    return max(0, height - _BORDERS - 1)


def across(width: int, count: int) -> int:
    """How many cells of a grid stand beside each other: such that ids are easy to read off."""
    inner = width - 4
    room = (inner - (LEGEND if inner >= 40 else 0) - label(count) - 1) // 2
    return max(a for a in (1, 2, 5, 10, 20, 30, 40, 50, 100) if a <= max(1, room))


def label(count: int) -> int:
    """How many columns an id takes in a grid."""
    return max(4, len(str(count - 1)))


def _below(
    spare: int, faults: int, *, most: int = 10, keep: int = _KEPT, least: int = _LEAST
) -> tuple[int, int]:
    """Share out what agents leave: events and what stands beside them, then faults; at least one line of those."""
    want = _BORDERS + min(faults, 4 if spare < _ROOMY else 8)
    low = min(want, spare - keep) if faults else 0
    if low < _BORDERS + min(faults, 2):
        low = 1 if faults and spare > 0 else 0
    middle = min(most, spare - low)
    return (middle if middle >= least else 0), low


def _crowd(room: int, faults: int) -> tuple[int, int, int]:
    spare = room - _BINS
    most = _CROWDED + max(0, spare - _CROWDED) * 2 // 3
    middle, low = _below(spare, faults, most=most, keep=_CROWDED, least=5)
    if _CROWDED < middle < _CROWDED + _LEAST_FEED:
        middle = _CROWDED
    return room - middle - low, middle, low


def _grid(room: int, whole: int, faults: int) -> tuple[int, int, int]:
    middle, low = _below(room - whole, faults)
    return room - middle - low, middle, low


def _table(room: int, count: int, faults: int) -> tuple[int, int, int]:
    """All agents have rows before there are more events than six lines, or more than two faults on the axis of time."""
    whole = count + _BORDERS + 1
    middle, low = _below(room - _BORDERS - 1 - min(count, 4), faults)
    missing = max(0, whole - (room - middle - low))
    given = min(missing, max(0, middle - _KEPT))
    if given < missing <= middle - _LEAST:
        given = missing
    middle, missing = middle - given, missing - given
    low -= min(missing, max(0, low - _BORDERS - min(faults, 2)))
    agents = room - middle - low
    if middle and agents > whole:
        middle, agents = middle + agents - whole, whole
    return agents, middle, low

"""How the lines of a screen are shared out: by scale and size, never by what stands in them, so nothing jumps.

What does not fit is left out, never wrapped: first events with what stands beside them, then the story, of which a
line of words on faults remains, then the identities; below 80 columns what stands beside.
"""

import math
from dataclasses import dataclass

NETWORK = "network"
SCALES = ("table", "grid", "crowd", NETWORK)
FEW, MANY = 24, 400
_WIDE, _TALL, _BROAD, _BESIDE = 80, 24, 130, 150
_HEAD, _LAST = 2, 1
_BORDERS = 3
"""The border of a panel and the names of its columns."""
_BINS, _COARSE = 14, 9
"""A histogram in full, and with half as many bins."""
_LEAST_ROWS, _LEAST_FEED, _OUTLIERS = 8, 5, 5
_LEAST_STORY = 7
"""Borders, axis, budgets and three lines of chart; faults come on top, two of them at least."""
_GOOD_CHART = 2
"""So many lines more make the chart good to read, before there are events."""
_CHART, _TALL_CHART, _MOST_FAULTS = 9, 16, 8
_MOST_ROWS, _LINKED = 24, 16
_GRID_ROWS, _WIDEST_CELL = 10, 7
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
    """The table, the grid beside it, the histogram, or the network."""
    middle: int
    """Events, and what stands beside them; of a crowd outliers and throughput, too."""
    story: int
    """A panel with an axis of time, or 1: one line in words."""
    left: int
    """Columns of what stands on the left; 0 where nothing stands beside anything."""
    sides: bool
    """Whether a panel stands beside the events."""
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
    sides = wide and height >= _TALL and scale not in {"crowd", "network"}
    match scale:
        case "crowd":
            agents, middle, story = _share(room, _COARSE, _BINS, faults, _OUTLIERS, cursor=True)
            return Layout(sums, 0, agents, middle, story, left, sides, 0)
        case "network":
            agents, middle, story = _share(
                room, min(room, max(9, room // 2)), 4 * room // 5, faults
            )
            beside = width >= _BESIDE
            return Layout(
                sums,
                0,
                agents,
                middle,
                story,
                width * 58 // 100 if beside else 0,
                sides,
                rows_in(agents) if beside else 0,
            )
        case "table":
            least = _BORDERS + 1 + min(count, _LEAST_ROWS - _BORDERS - 1)
            links = count + 1 + _BORDERS if count <= _LINKED else 0
            agents, middle, story = _share(room, least, count + _BORDERS + 1, faults, beside=links)
            return Layout(sums, 0, agents, middle, story, left, sides, rows_in(agents))
        case "grid":
            return _grid(room, sums, width, count, faults, sides=sides)
        case _:
            raise NotImplementedError(f"no layout of {scale!r}")


def _grid(room: int, sums: int, width: int, count: int, faults: int, *, sides: bool) -> Layout:
    """Put the grid beside the table where the screen is wide; else above it, or alone."""
    if width >= _WIDE:
        left = min(max(44, width * 42 // 100), width - 48)
        cells = math.ceil(count / across(left, count)) + _BORDERS
        whole = min(
            max(cells, min(count, _MOST_ROWS) + _BORDERS + 1), max(cells, _LEAST_ROWS, room // 2)
        )
        agents, middle, story = _share(
            room, min(max(cells, count + _BORDERS + 1), _LEAST_ROWS), whole, faults
        )
        return Layout(sums, 0, agents, middle, story, left, sides, rows_in(agents))
    whole = math.ceil(count / across(width, count)) + _BORDERS
    agents, middle, story = _share(room, min(whole, _LEAST_ROWS), whole + _LEAST_ROWS, faults)
    if agents < whole + _BORDERS + 2:
        return Layout(sums, agents, 0, middle, story, 0, sides, 0)
    return Layout(sums, whole, agents - whole, middle, story, 0, sides, rows_in(agents - whole))


def _share(
    room: int,
    least: int,
    whole: int,
    faults: int,
    feed: int = _LEAST_FEED,
    beside: int = 0,
    *,
    cursor: bool = False,
) -> tuple[int, int, int]:
    """Share out `room` lines among agents, events and the story; what is over makes them larger in turn.

    `least` and `whole` are lines of the agents, `feed` those of the events at least, `beside` what a panel beside them needs. With `cursor` the cursor stands in
    those lines of the events (the outliers of a crowd), so they come before the story.
    """
    wanted = min(faults, 2)
    story = _LEAST_STORY + wanted
    if room < least + story + (feed if cursor else 0):
        story = 1 if faults and room > least else 0
    agents = min(least, room)
    rest = max(0, room - agents - story)

    def give(most: int, has: int) -> int:
        nonlocal rest
        more = max(0, min(rest, most - has))
        rest -= more
        return has + more

    middle = 0
    if cursor and rest >= feed:
        middle, rest = feed, rest - feed
    if story > 1:
        story = give(story + _GOOD_CHART, story)
    else:
        agents = give(whole, agents)
    if not middle and rest >= feed:
        middle, rest = feed, rest - feed
    agents = give(whole, agents)
    if story > 1:
        shown = min(faults, _MOST_FAULTS)
        middle = give(beside, middle) if middle else middle
        story = give(_LEAST_STORY - 3 + shown + _CHART, story)
        middle = give(10, middle) if middle else middle
        story = give(_LEAST_STORY - 3 + shown + _TALL_CHART, story)
    if middle:
        return agents, middle + rest, story
    if story > 1:
        return agents, 0, story + rest
    return agents + rest, 0, story


def rows_in(height: int) -> int:
    """How many agents a table of this height shows, above its sums."""
    return max(0, height - _BORDERS - 1)


def across(width: int, count: int) -> int:
    """How many cells of a grid stand beside each other: such that ids are easy to read off, in few rows."""
    room = _room(width, count) // 2
    fitting = [a for a in (1, 2, 5, 10, 20, 30, 40, 50, 100) if a <= max(1, room)]
    low = [a for a in fitting if math.ceil(count / a) <= _GRID_ROWS]
    return min(low) if low else max(fitting)


def cell_width(width: int, count: int) -> int:
    """How many columns a cell of a grid takes, with the blank behind it."""
    return max(2, min(_WIDEST_CELL, _room(width, count) // across(width, count)))


def _room(width: int, count: int) -> int:
    """The columns of a grid that are left for its cells."""
    inner = width - 4
    return inner - (LEGEND if inner >= 40 else 0) - label(count) - 1


def label(count: int) -> int:
    """How many columns an id takes in a grid."""
    return max(4, len(str(count - 1)))

"""Thousands of agents: a histogram of budgets, quantiles, groups, and outliers."""

from collections.abc import Sequence

from scenarios.console.drawing.model import Crowd, Model
from scenarios.console.drawing.styled_text import (
    DIM,
    GOOD,
    HEAD,
    PICK,
    PLAIN,
    STATES,
    WARN,
    Line,
    Spot,
    Target,
    amount,
    bar,
    box,
    plain,
    short,
    span,
    watch,
    within,
    words,
)

_HEADS = ("min", "p1", "p10", "p50", "p90", "p99", "max")
_FIVE = (0, 2, 3, 4, 6)
"""Which of them are shown where seven are too many."""


def histogram(model: Model, width: int, height: int) -> list[Line]:
    """Draw how many agents have spent which share of their budget."""
    crowd = model.crowd
    if crowd is None:
        return box([("budget histogram", HEAD)], _nothing(model), width, height)
    bins = crowd.bins if height - 3 >= len(crowd.bins) else _coarse(crowd.bins)
    most = max((count for _, count in bins), default=0)
    size = max(4, width - 22)
    lines: list[Line] = [
        words(f"{'ε/cap':<9} 0{'agents':^{max(7, size - 1)}}{short(most):>5}", DIM)
    ]
    for name, count in bins:
        style = WARN if name.startswith(("80", "90", "spent")) else GOOD
        drawn = bar(count / most if most else 0.0, size)
        lines.append([(f"{name:<9} ", PLAIN), (drawn, style), (f" {short(count):>5}", PLAIN)])
    title: Line = [("budget histogram ", HEAD), (f" g:view  as of {span(crowd.at_s)} ", DIM)]
    if crowd.filter:
        title.append((f" /{plain(crowd.filter)}", WARN))
    return box(title, lines if len(lines) <= height - 2 else lines[2 - height :], width, height)


def _nothing(model: Model) -> list[Line]:
    return [words("no sample yet" if model.nodes.listed else "nobody passes the filter", DIM)]


def _coarse(bins: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Put two bins into one, where all would not fit; the last stays."""
    *shares, spent = bins
    pairs = zip(shares[::2], shares[1::2], strict=True)
    return [
        (f"{one[0].partition('–')[0]}–{other[0].partition('–')[2]}", one[1] + other[1])
        for one, other in pairs
    ] + [spent]


def quantiles(model: Model, width: int, height: int) -> list[Line]:
    """Draw quantiles of every metric, states, and groups."""
    crowd = model.crowd
    if crowd is None:
        return box([("quantiles", HEAD)], _nothing(model), width, height)
    inner = width - 4 - 10
    which = tuple(range(7)) if inner >= 42 else _FIVE
    room = max(5, inner // len(which))
    lines: list[Line] = [words(" " * 10 + "".join(f"{_HEADS[i]:>{room}}" for i in which), DIM)]
    for name, values in crowd.quantiles:
        numbers = "".join(f"{within(values[i], room - 1):>{room}}" for i in which)
        lines.append(words(f"{name[:10]:<10}{numbers}"))
    lines += [words(""), _states(crowd), words("groups, medians", DIM)]
    lines += [
        words(
            f"{plain(c.name)[:12]:<12} {c.up:,}/{c.count:,} up".ljust(30)
            + f" ε {amount(c.epsilon)}  loss* {amount(c.loss, 4)}"
        )
        for c in crowd.cohorts
    ]
    title: Line = [
        ("quantiles ", HEAD),
        (f" exact, at {watch(crowd.at_s)}  * an oracle's{_of(crowd)} ", DIM),
    ]
    return box(title, lines, width, height)


def _of(crowd: Crowd) -> str:
    """Say of when the losses are, where that is another instant."""
    return "" if crowd.sampled_s == crowd.at_s else f" of {watch(crowd.sampled_s)}"


def _states(crowd: Crowd) -> Line:
    line = words("state  ", DIM)
    for state, (glyph, _, style) in STATES.items():
        if crowd.states.get(state):
            line.append((f"{glyph} {state} {crowd.states[state]:,}  ", style))
    return line


def places(width: int) -> int:
    """How many outliers stand in a line."""
    return max(1, (width - 22) // 16)


def outliers(model: Model, width: int, height: int) -> list[Line]:
    """Draw the outliers, and which of them is under the cursor."""
    lines = [] if model.crowd is None else _worst(model.crowd, places(width))
    title: Line = [("outliers ", HEAD), (" ←↑↓→  ⏎ opens an agent, f a fault at it", DIM)]
    return box(title, lines, width, height)


def _worst(crowd: Crowd, count: int) -> list[Line]:
    lines = list[Line]()
    for row, (title, entries) in enumerate(crowd.outliers):
        line: Line = [(f"worst by {title:<9}", DIM)]
        for place, (node, state, value) in enumerate(entries[:count]):
            glyph, _, style = STATES[state]
            mark = PICK if (row, place) == crowd.picked else PLAIN
            line += [
                (" ", PLAIN),
                (f"{node:>5}", Spot(mark, Target("agent", node))),
                (" ", PLAIN),
                (glyph, style),
            ]
            line.append((f" {within(value, 6):<6}", PLAIN))
        lines.append(line)
    return lines

"""Thousands of agents: a histogram of budgets, quantiles, groups, and those who stand out."""

from collections import Counter

from scenarios.console.ink import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    PLAIN,
    STATES,
    WARN,
    Line,
    amount,
    bar,
    box,
    brief,
    plain,
    short,
    span,
    watch,
    words,
)
from scenarios.console.model import Crowd, Model

_HEADS = ("min", "p1", "p10", "p50", "p90", "p99", "max")


def histogram(model: Model, width: int, height: int) -> list[Line]:
    """Draw how many agents have spent which share of their budget."""
    crowd = model.crowd
    if crowd is None:
        return box([("budget histogram", HEAD)], [words("no sample yet", DIM)], width, height)
    most = max((count for _, count in crowd.bins), default=0)
    size = max(4, width - 22)
    lines: list[Line] = [words(f"{'ε/cap':<9} 0{'nodes':^{max(0, size - 6)}}{short(most):>5}", DIM)]
    for name, count in crowd.bins:
        style = BAD if name.startswith("spent") else WARN if name.startswith(("80", "90")) else GOOD
        drawn = bar(count / most if most else 0.0, size)
        lines.append([(f"{name:<9} ", PLAIN), (drawn, style), (f" {short(count):>5}", PLAIN)])
    title: Line = [("budget histogram ", HEAD), (f" g:view  as of {span(crowd.sampled_s)} ", DIM)]
    return box(title, lines, width, height)


def quantiles(model: Model, width: int, height: int) -> list[Line]:
    """Draw quantiles of every metric, states, and groups."""
    crowd = model.crowd
    if crowd is None:
        return box([("quantiles", HEAD)], [words("no sample yet", DIM)], width, height)
    room = max(5, (width - 4 - 10) // 7)
    lines: list[Line] = [words(f"{'':<10}" + "".join(f"{h:>{room}}" for h in _HEADS), DIM)]
    for name, values in crowd.quantiles:
        lines.append(
            words(f"{name[:10]:<10}" + "".join(f"{brief(v)[: room - 1]:>{room}}" for v in values))
        )
    lines += [words(""), _states(model), words("groups, medians", DIM)]
    lines += [
        words(
            f"{plain(c.name)[:12]:<12} {c.up:,}/{c.count:,} up".ljust(30)
            + f" ε {amount(c.epsilon)}  loss* {amount(c.loss, '.4f')}"
        )
        for c in crowd.cohorts
    ]
    title: Line = [
        ("quantiles ", HEAD),
        (f" exact, as of {watch(crowd.sampled_s)}  * an oracle's ", DIM),
    ]
    return box(title, lines, width, height)


def _states(model: Model) -> Line:
    counts, line = Counter(model.nodes.states), words("state  ", DIM)
    for state, (glyph, _, style) in STATES.items():
        if counts[state]:
            line.append((f"{glyph} {state} {counts[state]:,}  ", style))
    return line


def outliers(model: Model, width: int, height: int) -> list[Line]:
    """Draw who stands out."""
    lines = [] if model.crowd is None else _worst(model.crowd, (width - 22) // 16)
    return box([("outliers ", HEAD), (" ⏎ opens a node", DIM)], lines, width, height)


def _worst(crowd: Crowd, count: int) -> list[Line]:
    found = list[Line]()
    for title, entries in crowd.outliers:
        line: Line = [(f"worst by {title:<9}", DIM)]
        for node, state, value in entries[:count]:
            glyph, _, style = STATES[state]
            line += [(f" {node:>5} ", PLAIN), (glyph, style), (f" {brief(value):<6}", PLAIN)]
        found.append(line)
    return found

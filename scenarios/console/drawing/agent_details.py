"""One agent, looked at closely: how its ε and its loss went, its ledger, its neighbours, its last messages."""

from textwrap import wrap

from scenarios.console.drawing.curves import Axis, Curve, bounds, draw_curves, labels
from scenarios.console.drawing.happenings import below_head
from scenarios.console.drawing.model import AgentDetails, Header
from scenarios.console.drawing.styled_text import (
    CUT,
    DIM,
    GOOD,
    HAND,
    HEAD,
    PICK,
    PLAIN,
    STATES,
    Line,
    Spot,
    Target,
    amount,
    beside,
    box,
    flow,
    passage,
    plain,
    seat,
    span,
    words,
)

_WIDE, _CURVES = 80, 9
_LEAST = 3
"""Fewer lines have room for a frame alone, which would say that there is nothing in it."""
_LABEL = 11
"""So many columns to the right of curves bear their labels."""


def details(agent: AgentDetails, header: Header, width: int, height: int) -> list[Line]:
    """Draw the agent: what it is, then its curves, its ledger and its neighbours, then messages.

    What does not fit is left out: first the curves, then neighbours and messages.
    """
    facts = _facts(agent, width - 4)
    top = min(height, len(facts) + 2)
    lines, rest = box(_title(agent), facts, width, top), height - top
    if rest < _LEAST:
        return lines + [words("")] * rest
    if rest < 8:
        return lines + _ledger(agent, width, rest)
    if rest >= _CURVES + 11:
        high = min(14, max(_CURVES, rest // 3))
        lines, rest = lines + _both_curves(agent, header, width, high), rest - high
    if width >= _WIDE:
        middle, left = rest // 2, width // 2
        lines += beside(_ledger(agent, left, middle), _neighbours(agent, width - left, middle))
    else:
        middle = max(2 * _LEAST, rest * 3 // 5) if rest >= 3 * _LEAST else rest
        lines += _ledger(agent, width, middle // 2)
        lines += _neighbours(agent, width, middle - middle // 2)
    return lines + (_messages(agent, width, rest - middle) if rest > middle else [])


def _both_curves(agent: AgentDetails, header: Header, width: int, height: int) -> list[Line]:
    if width < _WIDE:
        return _epsilons(agent, header, width, height)
    left = width // 2
    return beside(
        _epsilons(agent, header, left, height), _losses(agent, header, width - left, height)
    )


def _epsilons(agent: AgentDetails, header: Header, width: int, height: int) -> list[Line]:
    """Draw ε as stairs, with the cap."""
    stairs = Curve(tuple(agent.epsilons), GOOD, is_step=True)
    cap = [] if agent.row.cap is None else [(agent.row.cap, "cap", CUT)]
    title: Line = [("ε ", HEAD), (" as its ledger stood at each sample ", DIM)]
    return _curves([stairs], cap, title, header, width, height)


def _losses(agent: AgentDetails, header: Header, width: int, height: int) -> list[Line]:
    """Draw the loss of the agent, and the median of its neighbours'."""
    own = Curve(tuple((t, mine) for t, mine, _ in agent.losses), GOOD)
    others = Curve(tuple((t, theirs) for t, _, theirs in agent.losses), HAND)
    title: Line = [
        ("loss* ", HEAD),
        (" its own ", GOOD),
        (" median of its neighbours ", HAND),
    ]
    return _curves([others, own], [], title, header, width, height)


def _curves(
    curves: list[Curve],
    references: list[tuple[float, str, str]],
    title: Line,
    header: Header,
    width: int,
    height: int,
) -> list[Line]:
    rows, size = height - 3, max(8, width - 4 - _LABEL)
    if not any(curve.points for curve in curves):
        return box(title, [words("no sample of this agent is kept", DIM)], width, height)
    last = max(t for curve in curves for t, _ in curve.points)
    end = header.end_s or max(last, header.now_s, 1e-9)
    axis = Axis(end, min(header.now_s, end), *bounds(curves, [v for v, _, _ in references]))
    drawn = draw_curves(curves, [(v, style) for v, _, style in references], axis, rows, size)
    now = [(curve.points[-1][1], amount(curve.points[-1][1], 3), curve.style) for curve in curves]
    named = [(value, f"{name} {value:g}", style) for value, name, style in references]
    beside_ = labels([*now, *named], axis, rows)
    lines = [
        [*cells, (f" {beside_.get(at, ('', DIM))[0]}"[:_LABEL], beside_.get(at, ("", DIM))[1])]
        for at, cells in enumerate(drawn)
    ]
    mark = min(size - 1, int(size * min(header.now_s, end) / end))
    foot = "─" * mark + "▲" + "─" * (size - 1 - mark)
    return box(title, [*lines, [(foot, DIM), (f" {span(end)}", DIM)]], width, height)


def _title(agent: AgentDetails) -> Line:
    return [(f"agent {agent.row.id} ", HEAD), (f" group {plain(agent.group)}   esc: back ", DIM)]


def _facts(agent: AgentDetails, width: int) -> list[Line]:
    """What the table says of it, and more; as many lines as it takes."""
    row = agent.row
    glyph, _, style = STATES[row.state]
    cap = "—" if row.cap is None else f"{row.cap:g}"
    pieces = [
        f"{glyph} {row.state}",
        f"ε {amount(row.epsilon, 4)} of {cap}",
        f"loss* {amount(row.loss, 4)}",
        f"releases {row.releases}",
        f"inbox {row.inbox}",
        f"stale {span(row.stale_s)}",
        *agent.facts,
    ]
    first, *more = flow(pieces, width)
    state = len(pieces[0])
    return [[(first[:state], style), (first[state:], PLAIN)], *map(words, more)]


def _messages(agent: AgentDetails, width: int, height: int) -> list[Line]:
    lines = below_head(agent.messages, max(0, height - 2))
    if not agent.messages:
        lines = [words("none among the last events of the run", DIM)]
    return box([("messages and events of the agent", HEAD)], lines, width, height)


def _ledger(agent: AgentDetails, width: int, height: int) -> list[Line]:
    room = max(0, height - 2)
    pieces = [
        piece
        for text in agent.ledger[-room:]
        for piece in wrap(text, max(20, width - 4), subsequent_indent=" " * 8)
    ]
    lines: list[Line] = [words(piece) for piece in pieces[-room:]] if room else []
    if not agent.ledger:
        lines = [words("nothing was released", DIM)]
    return box([("ledger", HEAD)], lines, width, height)


def _neighbours(agent: AgentDetails, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(agent.cursor - room // 2, len(agent.neighbours) - room))
    lines: list[Line] = []
    for at, (node, state, to, back) in enumerate(agent.neighbours[first : first + room], first):
        glyph, _, style = STATES[state]
        target = Target("agent", node) if node < agent.count else Target("key", "escape")
        chosen = Spot(PICK if at == agent.cursor else PLAIN, target)
        link = f" to {passage(to):>6}  from {passage(back):>6}"
        name = seat(node, agent.count)
        lines.append([(f"{name:>6} ", chosen), (f"{glyph} {state:<8}", style), (link, DIM)])
    return box(
        [("neighbours ", HEAD), (" one-way, last  ↑↓ f: fault on it", DIM)], lines, width, height
    )

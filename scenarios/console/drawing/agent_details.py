"""One agent, looked at closely: its ledger, its neighbours, its last messages."""

from scenarios.console.drawing.model import AgentDetails
from scenarios.console.drawing.styled_text import (
    DIM,
    HEAD,
    PICK,
    PLAIN,
    STATES,
    Line,
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

_WIDE = 80


def details(agent: AgentDetails, width: int, height: int) -> list[Line]:
    """Draw the agent: what it is, then ledger and neighbours, side by side where there is room, then messages."""
    facts = _facts(agent, width - 4)
    top = min(height, len(facts) + 2)
    lines, rest = box(_title(agent), facts, width, top), height - top
    if rest < 8:
        return lines + _ledger(agent, width, rest)
    if width >= _WIDE:
        middle, left = rest // 2, width // 2
        lines += beside(_ledger(agent, left, middle), _neighbours(agent, width - left, middle))
    else:
        middle = rest * 3 // 5
        lines += _ledger(agent, width, middle // 2)
        lines += _neighbours(agent, width, middle - middle // 2)
    return lines + _messages(agent, width, rest - middle)


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
    lines: list[Line] = [words(text, style) for text, style in agent.messages[-(height - 2) :]]
    lines = lines or [words("none among the last events of the run", DIM)]
    return box([("messages and events of the agent", HEAD)], lines, width, height)


def _ledger(agent: AgentDetails, width: int, height: int) -> list[Line]:
    lines: list[Line] = (
        [words(text) for text in agent.ledger[-(height - 2) :]] if height > 2 else []
    )
    if not agent.ledger:
        lines = [words("nothing was released", DIM)]
    return box([("ledger", HEAD)], lines, width, height)


def _neighbours(agent: AgentDetails, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(agent.cursor - room // 2, len(agent.neighbours) - room))
    lines: list[Line] = []
    for at, (node, state, to, back) in enumerate(agent.neighbours[first : first + room], first):
        glyph, _, style = STATES[state]
        chosen = PICK if at == agent.cursor else PLAIN
        link = f" to {passage(to):>6}  from {passage(back):>6}"
        name = seat(node, agent.count)
        lines.append([(f"{name:>6} ", chosen), (f"{glyph} {state:<8}", style), (link, DIM)])
    return box(
        [("neighbours ", HEAD), (" one-way, last  ↑↓ f: fault on it", DIM)], lines, width, height
    )

"""One agent, looked at closely: its ledger, its neighbours, its last messages."""

from textwrap import wrap

from scenarios.console.ink import (
    DIM,
    HEAD,
    PICK,
    PLAIN,
    STATES,
    Line,
    amount,
    beside,
    box,
    plain,
    span,
    words,
)
from scenarios.console.model import Opened


def opened(found: Opened, width: int, height: int) -> list[Line]:
    """Draw the agent: what it is, then ledger and neighbours side by side, then messages."""
    facts = _facts(found, width)
    top = min(height, len(facts) + 2)
    rest = height - top
    middle = rest // 2 if rest >= 8 else rest
    lines = box(_title(found), facts, width, top)
    left = width // 2 if width >= 60 else width
    blocks = _ledger(found, left, middle)
    if left < width:
        blocks = beside(blocks, _neighbours(found, width - left, middle))
    lines += blocks
    if rest - middle >= 3:
        said: list[Line] = [
            words(text, style) for text, style in found.messages[-(rest - middle - 2) :]
        ]
        said = said or [words("none among the last events of the run", DIM)]
        lines += box([("messages and events of the agent", HEAD)], said, width, rest - middle)
    return lines[:height]


def _title(found: Opened) -> Line:
    return [(f"agent {found.row.id} ", HEAD), (f" group {plain(found.group)}   esc: back ", DIM)]


def _facts(found: Opened, width: int) -> list[Line]:
    """What the table says of it, and more; as many lines as it takes."""
    row = found.row
    glyph, _, style = STATES[row.state]
    cap = "—" if row.cap is None else f"{row.cap:g}"
    first: Line = [
        (f"{glyph} {row.state}   ", style),
        (f"ε {amount(row.epsilon, 4)} of {cap}   loss* {amount(row.loss, 4)}   releases {row.releases}   "
         f"inbox {row.inbox}   stale {span(row.stale_s)}", PLAIN),
    ]  # fmt: skip
    more = wrap("   ".join(found.facts), max(20, width - 4), break_on_hyphens=False)
    return [first, *(words(line) for line in more)]


def _ledger(found: Opened, width: int, height: int) -> list[Line]:
    lines: list[Line] = (
        [words(text) for text in found.ledger[-(height - 2) :]] if height > 2 else []
    )
    if not found.ledger:
        lines = [words("nothing was released", DIM)]
    return box([("ledger", HEAD)], lines, width, height)


def _neighbours(found: Opened, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(found.cursor - room // 2, len(found.neighbours) - room))
    lines: list[Line] = []
    for at, (node, state, link) in enumerate(found.neighbours[first : first + room], first):
        glyph, _, style = STATES[state]
        chosen = PICK if at == found.cursor else PLAIN
        lines.append([(f"{node:>5} ", chosen), (f"{glyph} {state:<8}", style), (f" {link}", DIM)])
    return box(
        [("neighbours ", HEAD), (" one-way, last  ↑↓ f: fault on it", DIM)], lines, width, height
    )

"""Styled text: spans, lines, bars, trends and boxes; every line of a box is exactly as wide as it."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from scenarios.language.visible_text import CELLS, visible

Span = tuple[str, str]
Line = list[Span]

GOOD, WARN, BAD, DIM, PLAIN, HEAD, PICK = "good", "warn", "bad", "dim", "plain", "head", "pick"
HAND, CUT = "hand", "cut"
"""What a person did; a link that is cut."""
HEATS = tuple(f"heat{step}" for step in range(9))
"""From the least to the most of a metric."""

STATES: dict[str, tuple[str, str, str]] = {
    "up": ("●", "o", GOOD),
    "slow": ("◐", "~", WARN),
    "paused": ("‖", "|", WARN),
    "done": ("□", "=", DIM),
    "spent": ("■", "#", WARN),
    "down": ("✕", "x", BAD),
    "diverged": ("!", "!", BAD),
    "left": ("○", "_", DIM),
    "absent": ("·", ".", DIM),
}
"""Every state has a glyph, one for ASCII, and a style; its word is its name."""
STATE_WORDS = {
    "up": "it learns and releases",
    "slow": "a fault makes its computing slower",
    "paused": "it stands still; its memory is kept",
    "done": "it has made all releases of its plan, and learns on for free",
    "spent": "its budget, or its ledger, allows no further release",
    "down": "it has crashed",
    "diverged": "its model is no longer a number",
    "left": "it has left the network",
    "absent": "it has not joined yet",
}
"""What each state means, for the legend."""
ABBREVIATIONS = (
    ("ε spent / cap", "what its ledger adds up to, and what it may not pass"),
    ("*", "seen by an oracle alone: it is not released, and no ε covers it"),
    ("rel", "releases that its ledger was charged for"),
    ("inbox", "messages on their way to it, or not yet noticed"),
    ("stale", "age of what it holds of its neighbours, on average"),
    ("ev/s", "events in a second on the wall"),
    ("inv", "invariants that hold"),
    ("p10 p50 p90", "tenth, fiftieth and ninetieth percentile over agents"),
    ("████ ░░░░", "a fault: its time that is over, and its time to come"),
)
"""What a screen shortens."""
HERE = frozenset({"up", "slow", "paused", "done", "spent"})
"""The states of an agent that is up, one way or another."""
BLOCKS = " ▏▎▍▌▋▊▉"
STEPS = "▁▂▃▄▅▆▇█"
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a cell of two by four dots, above U+2800."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a click on a text means: an agent, a link, a fault, a key, or an instant on an axis of time."""

    kind: str
    """`agent`, `link`, `fault`, `key`, or `time`."""
    value: object
    """An id, a pair of ids, the number of a fault, a key, or the first and the last instant (s) of an axis."""
    width: int = 0
    """How many columns an axis takes."""


class Spot(str):
    """A style whose text can be clicked."""

    __slots__ = ("offset", "target")
    target: Target
    offset: int
    """In which column of its target the text begins."""

    def __new__(cls, style: str, target: Target, offset: int = 0) -> "Spot":
        """Return a style that equals `style` and knows its target."""
        made = super().__new__(cls, style)
        made.target, made.offset = target, offset
        return made


def target_at(line: Line, column: int) -> tuple[Target, int] | None:
    """Return what a click in a column of a line means, and in which column of the target it is; None for nothing."""
    first = 0
    for text, style in line:
        if first <= column < first + len(text):
            return (
                (style.target, style.offset + column - first) if isinstance(style, Spot) else None
            )
        first += len(text)
    return None


_CELLS = str.maketrans(CELLS)
_SLACK = frozenset(" ─")
"""What a line has too much of, where something in it grows."""


def as_ascii(line: Line) -> Line:
    """Write a line with ASCII only, exactly as long as it was; ∞ becomes `inf`, at the cost of blanks beside it."""
    width = width_of(line)
    if any("∞" in text for text, _ in line):
        line = fit(_with_room(line), width)
    return [
        ("".join(c if c < "\x7f" else "*" for c in text.translate(_CELLS)), style)
        for text, style in line
    ]


def _with_room(line: Line) -> Line:
    """Write `inf` for ∞ and take two blanks away for it: to its left in a column of numbers, else where the next are."""
    cells, owed = list[tuple[str, str]](), 0
    for c, style in ((c, style) for text, style in line for c in text):
        if c == "∞":
            sign = len(cells) - (1 if cells and cells[-1][0] in "-−" else 0)
            if [c for c, _ in cells[max(0, sign - 3) : sign]] == [" "] * 3:
                del cells[sign - 2 : sign]
            else:
                owed += 2
            cells += [(letter, style) for letter in "inf"]
        elif owed and c in _SLACK and cells and cells[-1][0] == c:
            owed -= 1
        else:
            cells.append((c, style))
    for at in range(len(cells) - 1, 0, -1):
        if owed and cells[at][0] in _SLACK and cells[at - 1][0] == cells[at][0]:
            del cells[at]
            owed -= 1
    runs = groupby(cells, key=lambda cell: (cell[1], getattr(cell[1], "target", None)))
    return [("".join(c for c, _ in cells), style) for (style, _), cells in runs]


def plain(text: str) -> str:
    """Make a text safe to show in columns: what is invisible is spelled out, what takes two columns or none is "?"."""
    text = visible(text)
    if text.isascii():
        return text
    return "".join("?" if _is_odd(c) else c for c in text)


def _is_odd(c: str) -> bool:
    return unicodedata.east_asian_width(c) in {"W", "F"} or bool(unicodedata.combining(c))


def width_of(line: Line) -> int:
    """Return how long a line is."""
    return sum(len(text) for text, _ in line)


def fit(line: Line, width: int) -> Line:
    """Cut a line, or fill it with blanks, to a width. No line of a frame is drawn without it: what is invisible is spelled out here."""
    spans, left = [], width
    for raw, style in line:
        if left <= 0:
            break
        text = raw if raw.isprintable() else visible(raw)  # asked here, too: it is the usual case
        size = len(text)
        if size > left:
            text, size = (text[: left - 1] + "…" if left > 1 else text[:left]), left
        spans.append((text, style))
        left -= size
    if left > 0:
        spans.append((" " * left, PLAIN))
    return spans


def flow(pieces: Sequence[str], width: int) -> list[str]:
    """Put pieces into lines, as many as fit into each; none is broken."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + 3 + len(piece) <= width:
            lines[-1] += f"   {piece}"
        elif lines[-1]:
            lines.append(piece)
        else:
            lines[-1] = piece
    return lines


def words(text: str, style: str = PLAIN) -> Line:
    """Make a line of one span."""
    return [(text, style)]


def box(title: Line, lines: Sequence[Line], width: int, height: int) -> list[Line]:
    """Frame lines: what is too much is cut, what is missing is blank."""
    if height < 2 or width < 4:
        return [fit(line, width) for line in lines[:height]] + [
            words(" " * width) for _ in range(height - len(lines))
        ]
    inner = width - 4
    head = [*title[:-1], (title[-1][0].rstrip(), title[-1][1])]
    head = fit(head, min(width_of(head), width - 4))
    rule = "─" * (width - 4 - width_of(head))
    framed: list[Line] = [[("┌ ", DIM), *head, (f"{' ' if rule else ''}{rule[1:]}─┐", DIM)]]
    for at in range(height - 2):
        line = lines[at] if at < len(lines) else []
        framed.append([("│ ", DIM), *fit(line, inner), (" │", DIM)])
    return [*framed, [("└" + "─" * (width - 2) + "┘", DIM)]]


def beside(left: Sequence[Line], right: Sequence[Line]) -> list[Line]:
    """Put two blocks of one height side by side."""
    return [[*one, *other] for one, other in zip(left, right, strict=True)]


def bar(share: float, width: int) -> str:
    """Draw a share as a bar, in eighths of a cell."""
    share = 1.0 if math.isnan(share) else min(1.0, max(0.0, share))
    full, part = divmod(round(share * width * 8), 8)
    text = "█" * full + (BLOCKS[part] if part else "")
    return text + "·" * (width - len(text))


def step(share: float) -> str:
    """Draw a share as one cell."""
    share = min(1.0, max(0.0, share)) if not math.isnan(share) else 1.0
    return STEPS[min(7, int(share * 8))]


def sparkline(
    values: Sequence[float], width: int, bounds: tuple[float, float] | None = None
) -> str:
    """Draw the last values, from the lowest to the highest of `bounds`; None: of what is shown."""
    shown = [v for v in values[-width:] if math.isfinite(v)]
    if not shown:
        return " " * width
    low, high = bounds or (min(shown), max(shown))
    span = (high - low) or 1.0
    steps = [round(min(1.0, max(0.0, (v - low) / span)) * 7) for v in shown]
    return "".join(STEPS[at] for at in steps).ljust(width)


def bounds_of(series: Sequence[Sequence[float]], width: int) -> tuple[float, float] | None:
    """Return the least and the most of the last `width` values of some series; None where none is finite."""
    known = [v for values in series for v in values[-width:] if math.isfinite(v)]
    return (min(known), max(known)) if known else None


def heat(share: float) -> str:
    """Return the style of a share between 0 and 1; plain where it is unknown."""
    if math.isnan(share):
        return PLAIN
    return HEATS[min(len(HEATS) - 1, int(max(0.0, min(1.0, share)) * len(HEATS)))]


def amount(value: float, digits: int = 2, room: int = 8) -> str:
    """Write a number with so many digits, fewer where it would be too long; what is not known is a dash."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    for fewer in range(digits, -1, -1):
        text = f"{value:.{fewer}f}"
        if len(text) <= room:
            return text
    return _scientific(value)


def _scientific(value: float) -> str:
    return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def brief(value: float) -> str:
    """Write a number in five characters or so, whatever its size."""
    if not math.isfinite(value):
        return amount(value)
    size = abs(value)
    if size >= 1e5 or (0 < size < 1e-3):
        return _scientific(value)
    return f"{value:.4g}" if size < 100 else f"{value:.0f}"


def within(value: float, room: int) -> str:
    """Write a number as exactly as so many characters allow; never is a digit cut off."""
    size = abs(value)
    text = f"{value:.4g}" if 100 <= size < 1e3 else brief(value)
    if len(text) <= room or not math.isfinite(value):
        return text
    tries = [f"{value:.{digits}g}" for digits in (4, 3, 2, 1)] if size < 1e4 else [f"{value:.0f}"]
    for unit, scale in (("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if size >= scale:
            tries += [f"{value / scale:.1f}{unit}", f"{value / scale:.0f}{unit}"]
    return next((t for t in tries if len(t) <= room and "e" not in t), _scientific(value))


def seat(i: int, size: int) -> str:
    """Return the name of one of so many agents, or of the server, which has the seat behind them."""
    return str(i) if i < size else "server"


def event_columns(time: str, event: str, rest: str) -> str:
    """Write an event in the columns of a list of events: when, what, and the agent with what is said of it."""
    return f"{time:>9} {event:<11} {rest}".rstrip()


EVENT_HEAD = event_columns("time s", "event", "agent")
"""What stands above those columns."""


def passage(delay: float) -> str:
    """Write what became of a message: how long it takes, lost (−1), held (−2), or nothing yet (NaN)."""
    return span(delay) if math.isnan(delay) or delay >= 0 else "╳" if delay == -1 else "‖"


def short(count: float) -> str:
    """Write a count with at most four characters or so."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= 10 * size or (unit != "k" and count >= size):
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"


def tally(count: int, room: int) -> str:
    """Write a whole number; in thousands or more where it would be too long."""
    for unit, size in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9)):
        text = f"{count // size}{unit}"
        if len(text) <= room:
            break
    return text


def span(seconds: float) -> str:
    """Write a length of time."""
    if not math.isfinite(seconds):
        return "—"
    sign, left = ("-" if seconds < 0 else ""), abs(seconds)
    if left < 0.9995:
        return f"{sign}{left * 1e3:.0f}ms" if left else "0s"
    if left < 99.95:
        return f"{sign}{left:.1f}s"
    if left < 6000:
        return f"{sign}{left:.0f}s"
    if left < 99.95 * 3600:
        return f"{sign}{left / 3600:.1f}h"
    return f"{sign}{left / 86400:.0f}d"


def watch(seconds: float) -> str:
    """Write an instant as hours, minutes and seconds with thousandths."""
    minutes, rest = divmod(max(0.0, seconds), 60)
    hours, minutes = divmod(int(minutes), 60)
    if round(rest, 3) >= 60:
        minutes, rest = minutes + 1, 0.0
    return (f"{hours}:" if hours else "") + f"{minutes:02d}:{rest:06.3f}"

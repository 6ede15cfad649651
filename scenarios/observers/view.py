"""The live screen as a pure function: (model, width, height) → styled lines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[str, str]
Line = list[Span]

BLOCKS = " ▏▎▍▌▋▊▉█"
TREND = "▁▂▃▄▅▆▇█"
GLYPHS = {
    "up": ("●", "o", "up"),
    "down": ("✕", "x", "down"),
    "spent": ("■", "#", "spent"),
    "paused": ("‖", "=", "paused"),
    "left": ("○", ".", "left"),
    "absent": ("·", ".", "absent"),
    "diverged": ("!", "!", "diverged"),
}
GOOD, WARN, BAD, DIM, PLAIN, HEAD = "good", "warn", "bad", "dim", "plain", "head"
_STATE_STYLE = {
    "up": GOOD,
    "down": BAD,
    "paused": WARN,
    "spent": WARN,
    "left": DIM,
    "absent": DIM,
    "diverged": BAD,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One agent."""

    id: int
    state: str
    epsilon: float
    cap: float | None
    loss: float
    trend: Sequence[float]
    releases: int
    inbox: int


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that a frame shows."""

    name: str
    mechanism: str
    seed: int
    paused: bool
    speed: float
    now_s: float
    share: float | None
    events_per_s: float
    privacy: str
    broken: str
    invariants: int
    rows: Sequence[Row]
    first: int
    count: int
    up: int
    epsilon_worst: float
    loss_mean: float
    sent: int
    delivered: int
    lost: int
    rejected: int
    flying: int
    copies: int
    releases: int
    charged: int
    recorded_mb: float
    recent: Sequence[str]
    ascii: bool = False


def rows_that_fit(height: int) -> int:
    """How many agents a screen of this height shows."""
    return max(1, height - _fixed(height))


def _fixed(height: int) -> int:
    """Lines that are not agents: short screens drop the events, then the frame's own lines."""
    return 6 if height < 16 else 8 if height < 24 else 13


def frame(model: Model, width: int, height: int) -> list[Line]:
    """Draw a frame; no line is longer than the width, no frame higher than the height."""
    lines = [_title(model, width), _privacy(model)]
    lines.append([(_columns(width), HEAD)])
    lines += [_agent(row, width, model) for row in model.rows[: rows_that_fit(height)]]
    lines += [[("", PLAIN)]] * (rows_that_fit(height) - len(model.rows))
    lines.append(_totals(model))
    if height >= 24:
        lines.append([("─ events " + "─" * max(0, width - 9), DIM)])
        recent = list(model.recent)[-4:]
        lines += [[(text, PLAIN)] for text in recent] + [[("", PLAIN)]] * (4 - len(recent))
    if height >= 16:
        lines += _identities(model)
    lines.append([_keys(model)])
    return [_clip(line, width) for line in lines[:height]]


def _clip(line: Line, width: int) -> Line:
    clipped, left = [], width
    for text, style in line:
        if left <= 0:
            break
        clipped.append((text[:left], style))
        left -= len(text)
    return clipped


def bar(share: float, width: int, *, ascii_only: bool = False) -> str:
    """Draw a budget bar, in eighths of a cell."""
    share = min(1.0, max(0.0, share)) if math.isfinite(share) else 1.0
    if ascii_only:
        full = round(share * width)
        return "#" * full + "." * (width - full)
    eighths = round(share * width * 8)
    full, part = divmod(eighths, 8)
    text = "█" * full + (BLOCKS[part] if part else "")
    return text + "·" * (width - len(text))


def sparkline(values: Sequence[float], width: int, *, ascii_only: bool = False) -> str:
    """Draw the last values, lowest to highest of what is shown."""
    shown = [v for v in values if math.isfinite(v)][-width:]
    if not shown:
        return " " * width
    marks = "_.-=*#" if ascii_only else TREND
    low, high = min(shown), max(shown)
    span = (high - low) or 1.0
    return "".join(marks[round((v - low) / span * (len(marks) - 1))] for v in shown).ljust(width)


def _amount(value: float, form: str = ".2f") -> str:
    if math.isnan(value):
        return "—"
    return "∞" if value == math.inf else format(value, form)


def _title(model: Model, width: int) -> Line:
    if model.paused:
        pace = "|| pause" if model.ascii else "❚❚ pause"
    else:
        speed = "max" if model.speed == math.inf else f"×{model.speed:.3g}"
        pace = f"{'>' if model.ascii else '▶'} {speed}"
    line: Line = [(f" {model.name:<17} ", HEAD), (f"{pace:<9} ", WARN if model.paused else GOOD)]
    line.append((f"t {model.now_s:9.3f} s ", PLAIN))
    if model.share is not None:
        size = max(6, min(20, width - 72))
        line.append(
            (f"{bar(model.share, size, ascii_only=model.ascii)} {100 * model.share:3.0f}% ", PLAIN)
        )
    line.append((f"{model.events_per_s / 1e3:.1f}k ev/s  ", DIM))
    if model.broken:
        line.append((f"✕ {model.broken}", BAD))
    else:
        line.append((f"{'ok' if model.ascii else '✓'} {model.invariants} inv", GOOD))
    return line


def _privacy(model: Model) -> Line:
    return [
        (
            f" seed {model.seed}   {model.mechanism}   ε: {model.privacy}   log {model.recorded_mb:.1f} MB",
            DIM,
        )
    ]


def _columns(width: int) -> str:
    columns = "   id state     ε spent / cap            loss*"
    if width >= 80:
        columns += "   trend     rel inbox"
    return columns.ljust(width)


def _agent(row: Row, width: int, model: Model) -> Line:
    glyph, plain, word = GLYPHS[row.state]
    style = _STATE_STYLE[row.state]
    used = 0.0 if not row.cap else row.epsilon / row.cap
    cap = "—" if row.cap is None else f"{row.cap:g}"
    meter = bar(used, 10, ascii_only=model.ascii) if row.cap else " " * 10
    line: Line = [
        (f"{row.id:>5} ", PLAIN),
        (f"{plain if model.ascii else glyph} {word:<8}", style),
        (meter, BAD if used > 0.999 else WARN if used > 0.8 else GOOD),
        (f" {_amount(row.epsilon):>6}/{cap:<5}", PLAIN),
        (f"{_amount(row.loss, '.4f'):>8} ", PLAIN),
    ]
    if width >= 80:
        line.append((f" {sparkline(row.trend, 8, ascii_only=model.ascii)} ", GOOD))
        line.append((f"{row.releases:>5} {row.inbox:>5}", PLAIN))
    return line


def _totals(model: Model) -> Line:
    shown = len(model.rows)
    return [
        (f" {model.up}/{model.count} up", HEAD),
        (f"   {model.first + 1}–{model.first + shown} of {model.count}", DIM),
        (
            f"   largest ε {_amount(model.epsilon_worst)}   mean loss {_amount(model.loss_mean, '.4f')}",
            PLAIN,
        ),
        ("   * an oracle's view, not a release", DIM),
    ]


def _identities(model: Model) -> list[Line]:
    balanced = (
        model.sent + model.copies == model.delivered + model.lost + model.rejected + model.flying
    )
    mark = ("ok" if model.ascii else "✓") if balanced else "✕"
    paid = model.releases == model.charged
    return [
        [
            (
                f" messages {model.sent:,}{f' + {model.copies:,} copies' if model.copies else ''} = delivered {model.delivered:,} + lost {model.lost:,} + "
                f"rejected {model.rejected:,} + in flight {model.flying:,} ",
                PLAIN,
            ),
            (mark, GOOD if balanced else BAD),
        ],
        [
            (f" releases {model.releases:,} = charged {model.charged:,} ", PLAIN),
            (("ok" if model.ascii else "✓") if paid else "…", GOOD if paid else WARN),
        ],
    ]


def _keys(model: Model) -> Span:
    first = "space run  " if model.paused else "space pause"
    return f" {first}  . step  +/- speed  arrows PgUp PgDn scroll  q quit (keeps the run)", DIM

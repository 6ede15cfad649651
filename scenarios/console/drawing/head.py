"""The lines that frame every screen: which run, what ε stands with, the identities, the keys."""

import math
from collections.abc import Sequence
from textwrap import wrap

from scenarios.console.drawing.model import Header, Messages, Model, Prompt
from scenarios.console.drawing.styled_text import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    HERE,
    PICK,
    PLAIN,
    WARN,
    Line,
    Spot,
    Target,
    amount,
    bar,
    plain,
    short,
    span,
    watch,
    width_of,
    words,
)
from scenarios.language.json_numbers import declared_by

_BEHIND = 0.8
"""Of a run that keeps less than this share of its pace, the screen says how much it keeps."""
_WIDE, _RATE = 80, 12
"""From so many columns on, what happens in a second has a place of so many."""
_SAID = 3
"""An answer takes at most so many lines."""


def title(header: Header, width: int) -> Line:
    """Name, pace, time, progress, throughput, invariants."""
    speed = "max" if header.speed == math.inf else f"×{header.speed:.3g}"
    pace, style = {
        "held": ("❚❚ pause", WARN),
        "hurries": ("▶▶", GOOD),
        "ends": ("■ ending", WARN),
        "over": ("■ over", WARN),
        "plays": (f"▶ {speed}", GOOD),
    }[header.goes]
    line: Line = [(f"{pace:<8} ", style)]
    if header.mode != "live":
        line.append((f"{header.mode} ", WARN))
    ends = "" if header.end_s is None else f" / {watch(header.end_s)}"
    line.append((f"t {watch(header.now_s)}{ends} ", PLAIN))
    tail = _verdict(header)
    room = max(8, min(width // 4, width - width_of(line) - width_of(tail) - 4))
    name = plain(header.name)
    name = name if len(name) <= room else f"{name[: room - 1]}…"
    line.insert(0, (f" {name}  ", HEAD))
    goes = header.events_per_s and header.goes in {"plays", "hurries"}
    text = f"{short(header.events_per_s)} ev/s" if goes else ""
    rate: Line = [(f"{text:<{_RATE}}", DIM)] if width >= _WIDE else []
    left = width - width_of(line) - width_of(rate) - width_of(tail) - 6
    if header.share is not None and left >= 6:
        line.append(
            (f"{bar(header.share, min(14, left))} {100 * min(1.0, header.share):3.0f}% ", PLAIN)
        )
    return [*line, *rate, *tail]


def _verdict(header: Header) -> Line:
    """The invariants: all of them, as many as hold, or the one that broke."""
    if header.broken:
        return [(f"✕ {plain(header.broken)}", BAD)]
    if header.held is None:
        return [("? inv", WARN)]
    if header.held < header.invariants:  # of a run that was cut off, some are unknown
        return [(f"{header.held}/{header.invariants} inv", WARN)]
    return [(f"✓ {header.invariants} inv", GOOD)]


def _reserves(header: Header) -> Line:
    """What an ε on the screen does not cover, or rests on."""
    line: Line = []
    if header.steered:
        line.append(("BY HAND ", WARN))
    if not header.covered:
        line.append(("ε NOT COVERED  ", BAD))
    if declared_by(header.mechanism):
        line.append(("ε SELF-DECLARED, not checked  ", WARN))
    return line


def terms(header: Header, width: int) -> Line:
    """What every ε on the screen stands with, and what the machine is at."""
    line: Line = [(" ", PLAIN), *_reserves(header)]
    text = f"ε: {header.privacy}"
    if width_of(line) + len(text) > width:
        text = text.replace(" view", "").replace("δ = ", "δ=")
    line.append((text, DIM))
    gap = "   "
    facts = [f"seed {header.seed}", plain(header.mechanism)]
    if header.server:
        facts.append(header.server)
    if header.pace < _BEHIND * header.speed < math.inf:
        facts.append(f"keeps ×{header.pace:.2g}")
    if math.isfinite(header.left_s):
        facts.append(f"ends in {span(header.left_s)}")
    if header.mode == "live":
        facts += [f"wall {span(header.wall_s)}", f"mem {header.memory_mb:.0f} MB"]
    if header.queue is not None:
        facts.append(f"queue {short(header.queue)}")
    facts += [
        f"log {header.recorded_mb:.1f} MB",
        f"event {header.seq:,}",
    ]
    for fact in facts:
        if width_of(line) + len(gap) + len(fact) > width:
            break
        line.append((f"{gap}{fact}", DIM))
        gap = "  "
    return line


def identities(counts: Messages, width: int, count: int) -> list[Line]:
    """Messages and releases: sums that must balance, with their tick or cross; on so many lines."""
    arrived = counts.delivered + counts.lost + counts.rejected + counts.flying
    fine = counts.sent + counts.copies == arrived and counts.flying >= 0
    copies = f" + copies {counts.copies:,}" if counts.copies else ""
    messages = _judged(
        f" messages {counts.sent:,}{copies} = delivered {counts.delivered:,} + lost {counts.lost:,}"
        f" + rejected {counts.rejected:,} + in flight {counts.flying:,}",
        fine=fine,
    )
    sign = (
        "="
        if counts.releases == counts.charged
        else "≤"
        if counts.releases < counts.charged
        else ">"
    )
    paid = counts.releases <= counts.charged
    releases = _judged(
        f" releases {counts.releases:,} {sign} charged {counts.charged:,}", fine=paid
    )
    other = width_of(releases) + 2 if count == 1 else 0
    if width_of(messages) + other > width:
        numbers = [
            short(n)
            for n in (
                counts.sent + counts.copies,
                counts.delivered,
                counts.lost,
                counts.rejected,
                counts.flying,
            )
        ]
        sent, delivered, lost, rejected, flying = numbers
        text = f" {sent} msg = {delivered} in + {lost} lost + {rejected} rej + {flying} flying"
        if len(text) + 2 + other > width:
            text = f" {sent}={delivered}+{lost}✕+{rejected}rej+{flying}fly"
        messages = _judged(text, fine=fine)
    return [messages, releases] if count == 2 else [[*messages, ("  ", PLAIN), *releases]][:count]


def _judged(text: str, *, fine: bool) -> Line:
    return [(f"{text} ", PLAIN), ("✓" if fine else "✕", GOOD if fine else BAD)]


def keys(known: Sequence[tuple[str, str]], width: int) -> Line:
    """As many keys as fit, the most important first."""
    line: Line = []
    for key, word in known:
        piece = f" {key} {word} "
        if width_of(line) + len(piece) > width:
            break
        target = Target("key", key)
        line += [(f" {key}", Spot(HEAD, target)), (f" {word} ", Spot(DIM, target))]
    return line


def last_lines(model: Model, width: int) -> list[Line]:
    """How it ended; then the order that is being written and what is wrong with it, or what was answered, or the keys."""
    ended = [words(f" {plain(text)}", style) for text, style in model.ended]
    if model.prompt is not None:
        return [*ended, _prompt(model.prompt, width)]
    if model.says:
        return [*ended, *(words(text, WARN) for text in _wrapped(model.says, width))]
    return [*ended, keys(model.keys, width)]


def _wrapped(text: str, width: int) -> list[str]:
    """Say something on as many lines as it takes, at most three."""
    lines = wrap(text, max(10, width - 2), break_on_hyphens=False)
    if len(lines) > _SAID:
        lines = [*lines[: _SAID - 1], f"{lines[_SAID - 1][: max(1, width - 4)]}…"]
    return [f" {line}" for line in lines]


def _prompt(prompt: Prompt, width: int) -> Line:
    first = max(0, prompt.at - width + 12)
    before, at, after = (
        prompt.text[first : prompt.at],
        prompt.text[prompt.at : prompt.at + 1],
        prompt.text[prompt.at + 1 :],
    )
    line: Line = [(" :", HEAD), (before, PLAIN), (at or " ", PICK), (after, PLAIN)]
    if prompt.offers:
        line.append(("   " + "  ".join(prompt.offers), DIM))
    return line


def totals(model: Model, width: int) -> Line:
    """The last line under the agents: all of them, as far as it fits."""
    nodes = model.nodes
    up = sum(1 for s in nodes.states if s in HERE)
    p10, p50, p90 = nodes.losses
    worst = "" if nodes.worst is None else f" ({nodes.worst})"
    pieces: Line = [
        (f"all {up}/{nodes.count} up  ", HEAD),
        (f"ε worst {amount(nodes.epsilon_worst)}{worst}  ", PLAIN),
        (f"median {amount(nodes.epsilon_median)}  ", PLAIN),
        (
            "" if nodes.at_s in {None, model.header.now_s} else f"at {watch(nodes.at_s or 0.0)}  ",
            DIM,
        ),
        (
            f"loss* p10 {amount(p10, 3)} p50 {amount(p50, 3)} p90 {amount(p90, 3)}  ",
            PLAIN,
        ),
        ("* not a release", DIM),
    ]
    return _that_fit(pieces, width)


def _that_fit(pieces: Line, width: int) -> Line:
    """Leave out, from the first that is too long on, what does not fit as a whole."""
    kept: Line = []
    for piece in pieces:
        if width_of(kept) + len(piece[0].rstrip()) > width:
            break
        kept.append(piece)
    return kept

"""The lines that frame every screen: which run, what ε stands with, the identities, the keys."""

import math
from collections.abc import Sequence

from scenarios.console.ink import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    HERE,
    PICK,
    PLAIN,
    WARN,
    Line,
    amount,
    bar,
    plain,
    short,
    span,
    watch,
    width_of,
)
from scenarios.console.model import Header, Messages, Model, Prompt


def title(header: Header, width: int) -> Line:
    """Name, pace, time, progress, throughput, invariants."""
    if header.paused:
        pace, style = "❚❚ pause", WARN
    else:
        speed = "max" if header.speed == math.inf else f"×{header.speed:.3g}"
        pace, style = f"▶ {speed}", GOOD
    line: Line = [(f"{pace:<9}", style)]
    if header.mode == "replay":
        line.append(("replay ", WARN))
    ends = "" if header.end_s is None else f" / {watch(header.end_s)}"
    line.append((f"t {watch(header.now_s)}{ends} ", PLAIN))
    tail: Line = [(f"✓ {header.invariants} inv", GOOD)]
    if header.broken:
        tail = [(f"✕ {header.broken}", BAD)]
    room = max(8, min(width // 4, width - width_of(line) - width_of(tail) - 4))
    name = plain(header.name)
    name = name if len(name) <= room else f"{name[: room - 1]}…"
    line.insert(0, (f" {name}  ", HEAD))
    rate: Line = (
        [(f"{short(header.events_per_s)} ev/s  ", DIM)]
        if width >= 80 and header.events_per_s and not header.paused
        else []
    )
    left = width - width_of(line) - width_of(rate) - width_of(tail) - 6
    if header.share is not None and left >= 6:
        line.append(
            (f"{bar(header.share, min(14, left))} {100 * min(1.0, header.share):3.0f}% ", PLAIN)
        )
    return [*line, *rate, *tail]


def terms(header: Header, width: int) -> Line:
    """What every ε on the screen stands with, and what the machine is at."""
    line: Line = [(" ", PLAIN)]
    if header.steered:
        line.append(("BY HAND ", WARN))
    if not header.covered:
        line.append(("ε NOT COVERED  ", BAD))
    told = f"ε: {header.privacy}"
    if width_of(line) + len(told) > width:
        told = told.replace(" view", "").replace("δ = ", "δ=")
    line.append((told, DIM))
    gap = "   "
    facts = [f"seed {header.seed}", plain(header.mechanism)]
    if header.server:
        facts.append(header.server)
    if math.isfinite(header.left_s):
        facts.append(f"left {span(header.left_s)}")
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


def identities(found: Messages, width: int, count: int) -> list[Line]:
    """Messages and releases: sums that must balance, with their tick or cross; on so many lines."""
    arrived = found.delivered + found.lost + found.rejected + found.flying
    fine, paid = found.sent + found.copies == arrived, found.releases == found.charged
    copies = f" + copies {found.copies:,}" if found.copies else ""
    messages: Line = [
        (
            f" messages {found.sent:,}{copies} = delivered {found.delivered:,} + lost {found.lost:,}"
            f" + rejected {found.rejected:,} + in flight {found.flying:,} ",
            PLAIN,
        ),
        ("✓" if fine else "✕", GOOD if fine else BAD),
    ]
    releases: Line = [
        (f" releases {found.releases:,} = charged {found.charged:,} ", PLAIN),
        ("✓" if paid else "…", GOOD if paid else WARN),
    ]
    if width_of(messages) + (width_of(releases) if count == 1 else 0) > width:
        brief = f" {short(found.sent + found.copies)} msg = {short(found.delivered)} in + {short(found.lost)} lost + "
        brief += f"{short(found.rejected)} rej + {short(found.flying)} flying "
        messages = [(brief, PLAIN), messages[-1]]
    return [messages, releases] if count == 2 else [[*messages, ("  ", PLAIN), *releases]][:count]


def keys(known: Sequence[tuple[str, str]], width: int) -> Line:
    """As many keys as fit, the most important first."""
    line: Line = []
    for key, word in known:
        piece = f" {key} {word} "
        if width_of(line) + len(piece) > width:
            break
        line += [(f" {key}", HEAD), (f" {word} ", DIM)]
    return line


def last_line(model: Model, width: int) -> Line:
    """The command that is being written, or what was answered, or the keys."""
    if model.prompt is not None:
        return _prompt(model.prompt, width)
    if model.says:
        return [(f" {model.says}", WARN)]
    return keys(model.keys, width)


def _prompt(prompt: Prompt, width: int) -> Line:
    first = max(0, prompt.at - width + 12)
    before, at, after = (
        prompt.text[first : prompt.at],
        prompt.text[prompt.at : prompt.at + 1],
        prompt.text[prompt.at + 1 :],
    )
    line: Line = [(" :", HEAD), (before, PLAIN), (at or " ", PICK), (after, PLAIN)]
    if prompt.error:
        line.append((f"  {prompt.error}", BAD))
    elif prompt.offers:
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
            f"loss* p10 {amount(p10, 3)} p50 {amount(p50, 3)} p90 {amount(p90, 3)}  ",
            PLAIN,
        ),
        ("* not a release", DIM),
    ]
    return _that_fit(pieces, width)


def _that_fit(pieces: Line, width: int) -> Line:
    """Leave out, from the first that is too long on, what does not fit as a whole."""
    found: Line = []
    for piece in pieces:
        if width_of(found) + len(piece[0].rstrip()) > width:
            break
        found.append(piece)
    return found

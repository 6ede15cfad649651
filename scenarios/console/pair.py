"""Two runs in one screen, at the same simulated time: what differs first, then each beside the other."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from scenarios.conduct import Outcome, Run
from scenarios.console import keys
from scenarios.console.agents import rows_in, table
from scenarios.console.desk import Desk
from scenarios.console.frame import overlay
from scenarios.console.happenings import feed
from scenarios.console.head import identities, last_line, terms, title
from scenarios.console.ink import (
    DIM,
    HEAD,
    PLAIN,
    STATES,
    WARN,
    Line,
    as_ascii,
    beside,
    box,
    brief,
    fit,
    watch,
    words,
)
from scenarios.console.model import Model
from scenarios.console.opened import opened
from scenarios.console.scene import percentiles
from scenarios.console.screen import save, show
from scenarios.console.source import Source
from scenarios.console.svg import svg
from scenarios.console.viewer import viewer_of
from scenarios.values import folded

_SHOWN = (
    "loss", "accuracy.test", "accuracy.train", "rmse.test", "objective", "gap", "consensus", "epsilon.left",
    "updates", "derived", "releases.refused", "nodes.up", "nodes.spent",
)  # fmt: skip
_STRIDES = 400


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both runs."""

    name: str
    one: float
    other: float

    @property
    def apart(self) -> float:
        """By how much the second is above the first."""
        return self.other - self.one


def figures(one: Source, other: Source) -> list[Figure]:
    """Compare two runs as they stand: exact figures now, sampled ones at the last sample of each."""
    mine, theirs = one.messages(), other.messages()
    found = [
        Figure("ε worst", float(one.epsilons().max(initial=0.0)), float(other.epsilons().max(initial=0.0))),
        Figure("ε median", float(np.median(one.epsilons())), float(np.median(other.epsilons()))),
        *(Figure(f"loss* {n}", a, b) for n, a, b in zip(
            ("p10", "p50", "p90"), percentiles(one.scene.losses(), (10, 50, 90)),
            percentiles(other.scene.losses(), (10, 50, 90)), strict=True,
        )),
        Figure("stale s p50", _stale(one), _stale(other)),
        Figure("releases", mine.charged, theirs.charged),
        Figure("sent", mine.sent, theirs.sent),
        Figure("lost", mine.lost, theirs.lost),
        Figure("in flight", mine.flying, theirs.flying),
    ]  # fmt: skip
    for name in _SHOWN:
        a, b = one.scene.sampled(name), other.scene.sampled(name)
        if a is not None and b is not None:
            found.append(Figure(name, folded(a), folded(b)))
    return found


def _stale(source: Source) -> float:
    (found,) = percentiles([source.stale(i) for i in range(source.facts.size)], (50,))
    return float(found)


def apart(one: Source, other: Source, count: int) -> list[tuple[int, str, str, float]]:
    """Return the agents whose losses differ most: id, what each is, and by how much."""
    size = min(one.facts.size, other.facts.size)
    gaps = np.abs(np.array(other.scene.losses()[:size]) - np.array(one.scene.losses()[:size]))
    ranked = np.argsort(-np.nan_to_num(gaps, nan=-1.0), kind="stable")[:count]
    return [
        (int(i), one.scene.state(int(i)), other.scene.state(int(i)), float(gaps[i]))
        for i in ranked
        if not math.isnan(gaps[i])
    ]


def frame(
    models: tuple[Model, Model], found: Sequence[Figure], far: Sequence[tuple[int, str, str, float]],
    width: int, height: int,
) -> list[Line]:  # fmt: skip
    """Draw both: heads, differences, agents, events; what does not fit is left out from the end."""
    one, other = models
    left = width // 2
    sizes = (left, width - left)
    lines = _side_by_side(
        [[title(m.header, w), terms(m.header, w)] for m, w in zip(models, sizes, strict=True)],
        sizes,
    )
    sums = _side_by_side(
        [identities(m.messages, w)[:2] for m, w in zip(models, sizes, strict=True)], sizes
    )
    sums = sums if height >= 16 else []
    room = height - len(lines) - len(sums) - 1
    if one.help or one.menu is not None:
        body = overlay(one, width, room)
    else:
        body = _body(models, sizes, found, far, room)
    body = body[:room] + [words("")] * (room - len(body))
    drawn = [fit(line, width) for line in [*lines, *body, *sums, last_line(one, width)][:height]]
    return [as_ascii(line) for line in drawn] if one.ascii or other.ascii else drawn


def _side_by_side(blocks: Sequence[Sequence[Line]], sizes: tuple[int, int]) -> list[Line]:
    most = max(map(len, blocks))
    filled = [
        [fit(line, w) for line in [*block, *[words("")] * (most - len(block))]]
        for block, w in zip(blocks, sizes, strict=True)
    ]
    return beside(*filled)


def _body(
    models: tuple[Model, Model], sizes: tuple[int, int], found: Sequence[Figure],
    far: Sequence[tuple[int, str, str, float]], room: int,
) -> list[Line]:  # fmt: skip
    one, other = models
    width = sum(sizes)
    first = min(room, len(found) // 2 + 4, max(5, room // 2))
    lines = _differences(models, found, far, width, first)
    rest = room - first
    panels = [m.opened for m in models]
    if panels[0] is not None and panels[1] is not None:
        if rest >= 4:
            lines += beside(opened(panels[0], sizes[0], rest), opened(panels[1], sizes[1], rest))
        return lines
    events = rest * 2 // 5 if rest >= 12 else 0
    if rest - events >= 4:
        lines += beside(table(one, sizes[0], rest - events), table(other, sizes[1], rest - events))
    if events:
        lines += beside(feed(one, sizes[0], events), feed(other, sizes[1], events))
    return lines


def agents_in(height: int, count: int) -> int:
    """How many agents the tables show."""
    room = height - 5
    first = min(room, count // 2 + 4, max(5, room // 2))
    rest = room - first
    return max(1, rows_in(rest - (rest * 2 // 5 if rest >= 12 else 0)))


def _differences(
    models: tuple[Model, Model], found: Sequence[Figure], far: Sequence[tuple[int, str, str, float]],
    width: int, height: int,
) -> list[Line]:  # fmt: skip
    """Draw the figures in two columns, then the agents that are furthest apart."""
    columns = 2 if width >= 100 else 1
    across = (width - 4) // columns
    number = max(8, min(12, (across - 16) // 3))
    head: Line = [
        (f"{'':<15}{'A':>{number}}{'B':>{number}}{'B − A':>{number}} ".ljust(across) * columns, DIM)
    ]
    cells = [_figure(figure, number, across) for figure in found]
    rows = math.ceil(len(cells) / columns)
    rows = min(rows, max(1, height - 4))
    lines = [head]
    for at in range(rows):
        line: Line = []
        for cell in cells[at::rows][:columns]:
            line += cell
        lines.append(line)
    said: Line = [("loss* apart  ", DIM)]
    for node, mine, theirs, gap in far:
        said += [(f"{node} ", PLAIN), *_glyph(mine), *_glyph(theirs), (f" {brief(gap)}   ", PLAIN)]
    times = [m.header.now_s for m in models]
    head_line: Line = [
        ("differences", HEAD),
        (f"  t {watch(min(times))}  * an oracle's, as of each last sample", DIM),
    ]
    return box(head_line, [*lines, said], width, height)


def _glyph(state: str) -> Line:
    glyph, _, style = STATES[state]
    return [(glyph, style)]


def _figure(figure: Figure, number: int, across: int) -> Line:
    gap = figure.apart
    style = PLAIN if math.isnan(gap) or gap == 0 else WARN
    sign = "+" if gap > 0 else ""
    cell: Line = [
        (f"{figure.name:<15}{brief(figure.one):>{number}}{brief(figure.other):>{number}}", PLAIN),
        (f"{'' if math.isnan(gap) else sign + brief(gap):>{number}} ", style),
    ]
    return fit(cell, across)


class PairViewer:
    """Shows two runs; the first desk hears the keys, and both obey."""

    def __init__(self, one: Desk, other: Desk, *, ascii_only: bool = False) -> None:
        self.one, self.other = one, other
        self._ascii = ascii_only
        self.size = (120, 40)
        one.join((other,))
        one.save = self.save

    def models(self, height: int) -> tuple[Model, Model]:
        """Look at both."""
        found = []
        for desk in (self.one, self.other):
            desk.look.page = agents_in(height, 20)
            found.append(desk.gather.model(desk.look, ascii_only=self._ascii))
        leader = replace(
            found[0], prompt=keys.prompt_of(self.one), menu=keys.menu_of(self.one),
            help=keys.manual(self.one) if self.one.look.helps else (), says=self.one.look.says,
            keys=keys.known(self.one),
        )  # fmt: skip
        return leader, found[1]

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        one, other = self.one.source, self.other.source
        far = apart(one, other, max(2, (width - 20) // 14))
        return frame(self.models(height), figures(one, other), far, width, height)

    def press(self, key: str) -> None:
        keys.press(self.one, key)
        if self.one.look.cursor != self.other.look.cursor:
            self.other.look.cursor = self.one.look.cursor

    def set_out(self) -> None:
        self.one.deck.pace(self.one.deck.speed)

    def stamp(self) -> object:
        return [
            (d.source.seq, d.source.now, d.deck.paused, d.look.says) for d in (self.one, self.other)
        ]

    @property
    def rushes(self) -> bool:
        return not self.one.deck.paused and self.one.deck.speed == math.inf

    def interrupt(self) -> None:
        self.one.deck.stop()

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        names = [desk.source.facts.name.replace("/", "-") for desk in (self.one, self.other)]
        lines = self.draw(*self.size)
        return save(
            svg(lines, self.size[0], f"hush · {' and '.join(names)}"), path, "-and-".join(names)
        )


async def watch_both(
    runs: tuple[Run, Run], color: str, *, ascii_only: bool = False
) -> list[Outcome]:
    """Perform two runs in step while they are shown."""
    one, other = (viewer_of(run).desk for run in runs)
    viewer = PairViewer(one, other, ascii_only=ascii_only)
    return list(await show(viewer, in_step(runs), color))


async def in_step(runs: tuple[Run, Run]) -> list[Outcome]:
    """Perform two runs, neither more than a small stride ahead of the other."""
    one, other = runs
    stride = max(run.plan.horizon or run.plan.sample_every for run in runs) // _STRIDES
    one.hand.join((other.hand,), stride)
    other.hand.join((one.hand,), stride)
    return list(await asyncio.gather(one.perform(), other.perform()))

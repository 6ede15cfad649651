"""Two runs in one screen, at the same simulated time: what differs first, then each beside the other."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from scenarios.console.assembly.differences import Far, Figure, apart, columns, differences, figures
from scenarios.console.control import keys
from scenarios.console.control.command_target import Desk
from scenarios.console.drawing.agent_details import opened
from scenarios.console.drawing.agents import table
from scenarios.console.drawing.frame import finished
from scenarios.console.drawing.happenings import faults, feed
from scenarios.console.drawing.head import identities, terms, title
from scenarios.console.drawing.layout import rows_in
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import furthest, overlay
from scenarios.console.drawing.styled_text import DIM, Line, beside, box, fit, words
from scenarios.console.screens.screen import save, show
from scenarios.console.screens.svg import svg
from scenarios.console.screens.viewer import ENDED, viewer_of
from scenarios.running.control import Abreast
from scenarios.running.run import Outcome, Run

_STRIDES = 400
_LOOK_S, _SHARE = 0.08, 50
"""How often runs that go on are compared: a fiftieth of the time, at most."""
_HEAD, _LAST = 2, 1


@dataclass(frozen=True, slots=True)
class Shares:
    """How many lines everything gets; 0 is left out."""

    sums: int
    differences: int
    agents: int
    events: int
    faults: int


def share(height: int, rows: int, *, faulty: bool) -> Shares:
    """Share out a screen between so many rows of differences and the rest; left out first are events, then agents."""
    sums = 2 if height >= 16 else 0
    low = 1 if faulty and height >= 16 else 0
    room = max(0, height - _HEAD - _LAST - sums - low)
    first = min(room, rows + 4, max(5, room // 2))
    rest = room - first
    events = rest * 2 // 5 if rest >= 12 else 0
    agents = rest - events
    if agents < 5:
        first, agents = room, 0
    return Shares(sums, first, agents, events, low)


def frame(
    models: tuple[Model, Model],
    found: Sequence[Figure],
    far: Sequence[Far],
    met_s: float,
    width: int,
    height: int,
) -> list[Line]:
    """Draw both: heads, differences, agents, events, faults, identities."""
    one, other = models
    marked = _marked("A", one), _marked("B", other)
    inner = height - len(one.ended)
    shares = _shares(models, found, width, inner)
    lines = _both(marked, width, lambda m, w: [title(m.header, w), terms(m.header, w)])
    sums = _both(models, width, lambda m, w: identities(m.messages, w, shares.sums))
    room = max(0, inner - len(lines) - len(sums) - _LAST)
    on_top = replace(one, opened=None)
    body = overlay(on_top, width, room) or _body(models, found, far, met_s, width, shares)
    body = [*body[:room], *[words("")] * (room - len(body))]
    return finished(one, [*lines, *body, *sums], width, height)


def _marked(mark: str, model: Model) -> Model:
    """Put the letter of its column before the name of a run."""
    return replace(model, header=replace(model.header, name=f"{mark} {model.header.name}"))


def _shares(
    models: tuple[Model, Model], found: Sequence[Figure], width: int, height: int
) -> Shares:
    rows = math.ceil(len(found) / columns(width))
    return share(height, rows, faulty=any(m.windows for m in models))


def _both(
    models: tuple[Model, Model], width: int, draw: Callable[[Model, int], list[Line]]
) -> list[Line]:
    """Draw the same of each, side by side."""
    left = width // 2
    halves = zip(models, (left, width - left), strict=True)
    one, other = ([fit(line, w) for line in draw(model, w)] for model, w in halves)
    return beside(one, other)


def _body(
    models: tuple[Model, Model],
    found: Sequence[Figure],
    far: Sequence[Far],
    met_s: float,
    width: int,
    shares: Shares,
) -> list[Line]:
    lines = differences(found, far, met_s, width, shares.differences)
    rest = shares.agents + shares.events
    if any(m.opened is not None for m in models):
        lines += _both(models, width, lambda m, w: _opened(m, w, rest)) if rest else []
    else:
        lines += _both(models, width, lambda m, w: _table(m, w, shares.agents))
        lines += (
            _both(models, width, lambda m, w: feed(m, w, shares.events)) if shares.events else []
        )
    return lines + _both(models, width, lambda m, w: faults(m, w, shares.faults))


def _table(model: Model, width: int, height: int) -> list[Line]:
    return table(model, width, height) if height else []


def _opened(model: Model, width: int, height: int) -> list[Line]:
    if model.opened is None:
        return box(
            [("agent", DIM)], [words("there is none of this number here", DIM)], width, height
        )
    found = opened(model.opened, width, height)
    return found + [words("")] * (height - len(found))


class PairViewer:
    """Shows two runs; the first desk hears the keys, and both obey."""

    def __init__(self, one: Desk, other: Desk, *, ascii_only: bool = False) -> None:
        self.one, self.other = one, other
        self._ascii = ascii_only
        self.size = (120, 40)
        self._touched = False
        self._met: tuple[int, list[Figure], list[Far]] = 0, [], []
        """What differed when both had come to one instant."""
        self._due = 0.0
        self._closed = False
        one.join((other,))
        one.save = self.save

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        self.one.hands.follow()
        one, other = self.one.source, self.other.source
        if one.now == other.now and self._rests:
            self._compare(one.now)
        instant, found, far = self._met
        faulty = any(source.scene.windows.all(source.now) for source in (one, other))
        ended = self._ended()[: height // ENDED]
        inner = height - len(ended)
        shares = share(inner, math.ceil(len(found) / columns(width)), faulty=faulty)
        room = inner - _HEAD - _LAST - shares.sums
        leader, follower = self._models(max(1, rows_in(shares.agents)), width, room)
        models = replace(leader, ended=ended), follower
        return frame(models, found, far, instant / 1e9, width, height)

    def _ended(self) -> list[tuple[str, str]]:
        """How both ended, each with its letter: the first line of each before more of either."""
        told = [desk.source.ending() for desk in (self.one, self.other)]
        lines = [
            [(f"{mark} {text}", style) for text, style in mine]
            for mark, mine in zip("AB", told, strict=True)
        ]
        return [mine[at] for at in range(max(map(len, lines))) for mine in lines if at < len(mine)]

    @property
    def _rests(self) -> bool:
        """Whether neither run goes on."""
        return all(
            d.source.ending() or (d.deck.paused and not d.deck.hurries)
            for d in (self.one, self.other)
        )

    def meet(self, instant: int) -> None:
        """Compare both runs, which have served what is due by an instant; the last time when the first of them is over."""
        begun = time.perf_counter()
        over = self.one.source.over or self.other.source.over
        if self._closed or (begun < self._due and not over):
            return
        self._compare(instant)
        self._closed = over
        self._due = begun + max(_LOOK_S, _SHARE * (time.perf_counter() - begun))

    def _compare(self, instant: int) -> None:
        one, other = self.one.source, self.other.source
        for source in (one, other):
            source.refresh()
        width, _ = self.size
        self._met = (
            instant,
            figures(one, other, at=instant),
            apart(one, other, max(2, (width - 20) // 14)),
        )

    def _models(self, page: int, width: int, room: int) -> tuple[Model, Model]:
        """Look at both; what is open on the screen as a whole belongs to the first."""
        looks = [desk.look for desk in (self.one, self.other)]
        for look in looks:
            look.page, look.lines = page, max(1, room - 2)
        one, other = (
            desk.gather.model(desk.look, ascii_only=self._ascii) for desk in (self.one, self.other)
        )
        guide = keys.help_of(self.one)
        if guide is not None:
            looks[0].line = min(looks[0].line, furthest(guide, width, room))
            guide = replace(guide, first=looks[0].line)
        leader = replace(
            one, prompt=keys.prompt_of(self.one), menu=keys.menu_of(self.one), help=guide,
            says=looks[0].says, keys=keys.known(self.one),
        )  # fmt: skip
        return leader, other

    def press(self, key: str) -> None:
        """The first desk hears the key; cursor and what is open are the same in both."""
        self._touched = True
        keys.press(self.one, key)
        mine, theirs = self.one.look, self.other.look
        theirs.cursor, theirs.link = mine.cursor, mine.link
        known = mine.opened is not None and mine.opened < self.other.source.facts.size
        theirs.opened = mine.opened if known else None

    def set_out(self) -> None:
        for desk in (self.one, self.other):
            desk.deck.set_out()
            desk.gather.tempo.set_out()

    def stamp(self) -> object:
        return [
            (d.source.seq, d.source.now, d.deck.paused, d.look.says) for d in (self.one, self.other)
        ]

    @property
    def rushes(self) -> bool:
        return not self.one.deck.paused and self.one.deck.speed == math.inf

    @property
    def lingers(self) -> bool:
        return self._touched and self.one.stays

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        self.one.leave()

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        names = [desk.source.facts.name for desk in (self.one, self.other)]
        writing, self.one.look.writing = self.one.look.writing, None
        lines = self.draw(*self.size)
        self.one.look.writing = writing
        return save(
            svg(lines, self.size[0], f"hush · {' and '.join(names)}"), path, "-and-".join(names)
        )


async def watch_both(
    runs: tuple[Run, Run], color: str, *, ascii_only: bool = False
) -> list[Outcome]:
    """Perform two runs in step while they are shown."""
    one, other = (viewer_of(run).desk for run in runs)
    viewer = PairViewer(one, other, ascii_only=ascii_only)
    return list(await show(viewer, in_step(runs, viewer.meet), color))


async def in_step(
    runs: tuple[Run, Run], met: Callable[[int], None] = lambda _: None
) -> list[Outcome]:
    """Perform two runs, neither more than a small stride ahead of the other."""
    stride = max(run.plan.horizon or run.plan.sample_every for run in runs) // _STRIDES
    Abreast([run.governor for run in runs], max(1, stride), met)
    doing = [asyncio.ensure_future(run.perform()) for run in runs]
    try:
        return list(await asyncio.gather(*doing))
    except BaseException:  # one of them broke: the other is ended, and kept
        runs[0].governor.interrupt()
        await asyncio.gather(*doing, return_exceptions=True)
        raise

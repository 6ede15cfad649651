"""Two runs in one screen, at the same simulated time: what differs first, then each beside the other."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenarios.console.assembly.differences import Far, Figure, apart, columns, differences, figures
from scenarios.console.control.session import Session
from scenarios.console.drawing.agent_details import details
from scenarios.console.drawing.agents import table
from scenarios.console.drawing.frame import finished
from scenarios.console.drawing.happenings import faults_in_words, feed
from scenarios.console.drawing.head import identities, terms, title
from scenarios.console.drawing.layout import rows_in
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import is_popup, overlay, popup
from scenarios.console.drawing.styled_text import DIM, Line, beside, box, fit, words
from scenarios.console.screens.screen import save
from scenarios.console.screens.svg import svg
from scenarios.console.screens.viewer import ENDED, Viewer

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
    compared: Sequence[Figure],
    far: Sequence[Far],
    met_s: float,
    width: int,
    height: int,
) -> list[Line]:
    """Draw two runs: heads, differences, agents, events, faults, identities."""
    one, other = models
    marked = _marked("A", one), _marked("B", other)
    inner = height - len(one.ended)
    shares = _shares(models, compared, width, inner)
    lines = _both(marked, width, lambda m, w: [title(m.header, w), terms(m.header, w)])
    sums = _both(models, width, lambda m, w: identities(m.messages, w, shares.sums))
    room = max(0, inner - len(lines) - len(sums) - _LAST)
    on_top = replace(one, opened=None)
    if is_popup(one):
        body = popup(on_top, width, room)
    else:
        body = overlay(on_top, width, room) or _body(models, compared, far, met_s, width, shares)
    body = [*body[:room], *[words("")] * (room - len(body))]
    return finished(one, [*lines, *body, *sums], width, height)


def _marked(mark: str, model: Model) -> Model:
    """Put the letter of its column before the name of a run."""
    return replace(model, header=replace(model.header, name=f"{mark} {model.header.name}"))


def _shares(
    models: tuple[Model, Model], compared: Sequence[Figure], width: int, height: int
) -> Shares:
    rows = math.ceil(len(compared) / columns(width))
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
    compared: Sequence[Figure],
    far: Sequence[Far],
    met_s: float,
    width: int,
    shares: Shares,
) -> list[Line]:
    lines = differences(compared, far, met_s, width, shares.differences)
    rest = shares.agents + shares.events
    if any(m.opened is not None for m in models):
        lines += _both(models, width, lambda m, w: _opened(m, w, rest)) if rest else []
    else:
        lines += _both(models, width, lambda m, w: _table(m, w, shares.agents))
        lines += (
            _both(models, width, lambda m, w: feed(m, w, shares.events)) if shares.events else []
        )
    return lines + _both(models, width, lambda m, _: [faults_in_words(m)] * shares.faults)


def _table(model: Model, width: int, height: int) -> list[Line]:
    return table(model, width, height) if height else []


def _opened(model: Model, width: int, height: int) -> list[Line]:
    if model.opened is None:
        return box(
            [("agent", DIM)], [words("there is none of this number here", DIM)], width, height
        )
    lines = details(model.opened, model.header, width, height)
    return lines + [words("")] * (height - len(lines))


class PairViewer(Viewer):
    """Shows two runs; the first pane hears the keys, and both obey."""

    def __init__(
        self, session: Session, *, ascii_only: bool = False, stays_open: bool = True
    ) -> None:
        """Show a session with two live runs, which are compared whenever both have come to one instant."""
        super().__init__(session, ascii_only=ascii_only, stays_open=stays_open)
        self.one, self.other = session.panes
        self.size = (120, 40)
        self.compared: tuple[int, list[Figure], list[Far]] = 0, [], []
        """What differed when both had come to one instant (ns), the last."""
        self._due = 0.0
        self._closed = False

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        session, one, other = self.session, self.one.source, self.other.source
        session.message = session.faults.follow_up(session.message)
        if one.now == other.now and self._rests:
            self._compare(one.now)
        instant, figures_, far = self.compared
        faulty = any(source.run_state.windows.all(source.now) for source in (one, other))
        ended = self._ended()[: height // ENDED]
        inner = height - len(ended)
        shares = share(inner, math.ceil(len(figures_) / columns(width)), faulty=faulty)
        room = inner - _HEAD - _LAST - shares.sums
        for pane in session.panes:
            pane.change(page=max(1, rows_in(shares.agents)))
        leader = replace(self.with_controls(self.build(self.one), width, room), ended=ended)
        models = leader, self.build(self.other)
        self.lines = frame(models, figures_, far, instant / 1e9, width, height)
        return self.lines

    def _ended(self) -> list[tuple[str, str]]:
        """Return how both ended, each line with its letter: the first line of each before more of either."""
        endings = [
            [(f"{pane.mark} {text}", style) for text, style in pane.source.ending()]
            for pane in self.session.panes
        ]
        return [
            mine[at] for at in range(max(map(len, endings))) for mine in endings if at < len(mine)
        ]

    @property
    def _rests(self) -> bool:
        """Whether neither run goes on."""
        control = self.session.control
        held = control.paused and not control.hurries
        return held or all(pane.source.ending() for pane in self.session.panes)

    def meet(self, instant: int) -> None:
        """Compare both runs, which have served what is due by an instant (ns); the last time when the first is over."""
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
        self.compared = (
            instant,
            figures(one, other, at=instant),
            apart(one, other, max(2, (width - 20) // 14)),
        )

    def press(self, key: str) -> None:
        """Let the first pane hear the key; cursor and what is open are the same in both."""
        super().press(key)
        view = self.one.view
        known = view.opened is not None and view.opened < self.other.source.facts.size
        self.other.change(cursor=view.cursor, link=view.link, opened=view.opened if known else None)

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        names = [pane.source.facts.name for pane in self.session.panes]
        editor, self.session.editor = self.session.editor, None
        lines = self.draw(*self.size)
        self.session.editor = editor
        title = f"hush · {' and '.join(names)}"
        return save(svg(lines, self.size[0], title, self.theme), path, "-and-".join(names))

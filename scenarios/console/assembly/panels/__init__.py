"""Panels beside the events, one file each: what each shows, how that is found and drawn, and its key.

A new panel is a new file here with a record called `KIND`, and a new file in `drawing` with the function that draws it.
Commands, keys, help and frames fold over the records.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mechanisms.vectors import Vector
from scenarios.console.drawing.model import Model, SidePanel
from scenarios.console.drawing.styled_text import Line
from scenarios.console.sources.source import Source
from scenarios.planning.kinds import Family


@dataclass(frozen=True, slots=True)
class PanelInputs:
    """What a panel may be built of."""

    source: Source
    near: Sequence[Sequence[int]]
    """The neighbours of each agent."""
    epsilons: Vector
    """ε of each agent, as of the instant that the frame shows."""
    caps: Vector
    """The cap of each agent; NaN without one."""


def always(_part: Any, _model: Model, _height: int) -> bool:
    """A panel that fits at every height."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel: it stands by itself at its scales, and anywhere when it is chosen by its key."""

    name: str
    """Its name, which is its command where it has a key."""
    shows: str
    """What it shows, in the words of help."""
    build: Callable[[PanelInputs], Any]
    """Finds its part of the model of a frame."""
    draw: Callable[[Any, Model, int, int], list[Line]]
    """Draws that part, exactly as wide and as high as it is told."""
    fits: Callable[[Any, Model, int], bool] = always
    """Whether there is something to draw, and room for it in so many lines."""
    scales: frozenset[str] = frozenset()
    """Where it stands unless another is chosen: table, grid, crowd."""
    order: int = 0
    """Of several that fit, the lowest stands."""
    key: str = ""
    """The key that shows and hides it; empty for a panel that only stands by itself."""

    def part(self, inputs: PanelInputs) -> SidePanel:
        """Return the panel as it stands now."""
        return SidePanel(self.name, self.build(inputs), self.draw, self.fits)


PANELS = Family("scenarios.console.assembly.panels", Panel)


def chosen_by_key() -> list[Panel]:
    """Return the panels that have keys."""
    return [panel for panel in PANELS.values() if panel.key]


def candidates(scale: str, chosen: str) -> list[Panel]:
    """Return the panels that may stand at a scale, the first that fits: a chosen one (by its name) before the others."""
    here = [panel for panel in PANELS.values() if scale in panel.scales]
    return [*([PANELS[chosen]] if chosen else []), *sorted(here, key=lambda panel: panel.order)]

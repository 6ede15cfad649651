"""A whole frame: (model, width, height) → lines, exactly as many and as long as the screen has."""

from scenarios.console.drawing.agents import grid, table
from scenarios.console.drawing.crowd import histogram, outliers, quantiles
from scenarios.console.drawing.happenings import faults, feed
from scenarios.console.drawing.head import identities, last_lines, terms, title
from scenarios.console.drawing.layout import Layout, lay_out
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import overlay
from scenarios.console.drawing.styled_text import Line, as_ascii, beside, fit, words

_OUTLIERS, _BELOW = 5, 4
"""Lines of the outliers of a crowd, and of the panel below them."""


def frame(model: Model, width: int, height: int) -> list[Line]:
    """Draw a frame: exactly `height` lines, each exactly `width` long."""
    inner = height - len(model.ended)
    layout = lay_out(model.scale, width, inner, model.nodes.count, len(model.windows))
    lines = [title(model.header, width), terms(model.header, width)]
    sums = identities(model.messages, width, layout.sums)
    room = max(0, inner - len(lines) - len(sums) - 1)
    body = (overlay(model, width, room) or _body(model, width, layout))[:room]
    lines += [*body, *[words("")] * (room - len(body)), *sums]
    return finished(model, lines, width, height)


def finished(model: Model, lines: list[Line], width: int, height: int) -> list[Line]:
    """Put the last lines below others, over the last of them where they are more than one; cut and fill all."""
    last = last_lines(model, width)[-height:]
    drawn = [fit(line, width) for line in [*lines[: height - len(last)], *last]]
    return [as_ascii(line) for line in drawn] if model.ascii else drawn


def _body(model: Model, width: int, layout: Layout) -> list[Line]:
    lines = grid(model, width, layout.cells) if layout.cells else []
    if layout.agents:
        lines += _agents(model, width, layout)
    if layout.middle and model.scale == "crowd":
        lines += _below_crowd(model, width, layout.middle)
    elif layout.middle and layout.sides:
        right = feed(model, width - layout.left, layout.middle)
        lines += beside(_side(model, layout.left, layout.middle), right)
    elif layout.middle:
        lines += (_side if model.chosen_side else feed)(model, width, layout.middle)
    return lines + faults(model, width, layout.faults)


def _side(model: Model, width: int, height: int) -> list[Line]:
    """Draw the first panel that fits."""
    panel = next(side for side in model.sides if side.fits(side.part, model, height))
    return panel.draw(panel.part, model, width, height)


def _agents(model: Model, width: int, layout: Layout) -> list[Line]:
    left, height = layout.left, layout.agents
    if model.scale == "grid" and left:
        return beside(grid(model, left, height), table(model, width - left, height))
    if model.scale == "crowd" and left:
        return beside(histogram(model, left, height), quantiles(model, width - left, height))
    return (histogram if model.scale == "crowd" else table)(model, width, height)


def _below_crowd(model: Model, width: int, height: int) -> list[Line]:
    if height < _OUTLIERS + _BELOW:
        return outliers(model, width, height)
    lines = [*outliers(model, width, _OUTLIERS), *_side(model, width, _BELOW)]
    rest = height - len(lines)
    return lines + feed(model, width, rest) if rest else lines

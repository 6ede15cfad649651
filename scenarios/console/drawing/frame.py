"""A whole frame: (model, width, height) → lines, exactly as many and as long as the screen has."""

from scenarios.console.drawing.agent_details import details
from scenarios.console.drawing.agents import grid, table
from scenarios.console.drawing.crowd import histogram, outliers, quantiles
from scenarios.console.drawing.happenings import feed
from scenarios.console.drawing.head import identities, last_lines, terms, title
from scenarios.console.drawing.layout import Layout, lay_out
from scenarios.console.drawing.model import Model, SidePanel
from scenarios.console.drawing.network import network
from scenarios.console.drawing.overlays import HALVED, beside_popup, is_popup, overlay, popup
from scenarios.console.drawing.story import story
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
    body = overlay(model, width, room) or _under(model, width, layout, room, inner)
    body = body[:room]
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
    elif layout.middle:
        lines += _middle(model, width, layout)
    return lines + story(model, width, layout.story)


def _under(model: Model, width: int, layout: Layout, room: int, inner: int) -> list[Line]:
    """Draw what is shown; where help or a menu is open, half as wide beside that."""
    if not is_popup(model):
        return _body(model, width, layout)
    if width < HALVED:
        return popup(model, width, room)
    left = width_beside(width)
    if model.opened is not None:
        lines = details(model.opened, model.header, left, room)
    else:
        half = lay_out(model.scale, left, inner, model.nodes.count, len(model.windows))
        lines = _body(model, left, half)
    lines = [fit(line, left) for line in [*lines, *[words("")] * room][:room]]
    return beside(lines, beside_popup(model, width - left, room))


def width_beside(width: int) -> int:
    """Return how wide what stands beside a menu is."""
    return width - width // 2


def _middle(model: Model, width: int, layout: Layout) -> list[Line]:
    """Draw the events, and beside them the first panel that fits; where there is no room beside, a chosen panel alone."""
    height, left = layout.middle, layout.left or width * 42 // 100
    panel = _side(model, height)
    if panel is None:
        return feed(model, width, height)
    if layout.sides:
        right = feed(model, width - left, height)
        return beside(panel.draw(panel.part, model, left, height), right)
    return (
        panel.draw(panel.part, model, width, height)
        if model.chosen_side
        else feed(model, width, height)
    )


def _side(model: Model, height: int) -> SidePanel | None:
    """Return the first panel that fits; None where none does."""
    return next((side for side in model.sides if side.fits(side.part, model, height)), None)


def _agents(model: Model, width: int, layout: Layout) -> list[Line]:
    left, height = layout.left, layout.agents
    if model.scale == "network":
        if not left:
            return network(model, width, height)
        return beside(network(model, left, height), table(model, width - left, height))
    if model.scale == "grid" and left:
        return beside(grid(model, left, height), table(model, width - left, height))
    if model.scale == "crowd" and left:
        return beside(histogram(model, left, height), quantiles(model, width - left, height))
    return (histogram if model.scale == "crowd" else table)(model, width, height)


def _below_crowd(model: Model, width: int, height: int) -> list[Line]:
    if height < _OUTLIERS + _BELOW:
        return outliers(model, width, height)
    lines, panel = outliers(model, width, _OUTLIERS), _side(model, _BELOW)
    if panel is not None:
        lines += panel.draw(panel.part, model, width, _BELOW)
    rest = height - len(lines)
    return lines + feed(model, width, rest) if rest else lines

"""What became of the last message of every link, where there are few agents."""

from scenarios.console.assembly.panels import Panel, PanelInputs
from scenarios.console.drawing.charts import links, links_fit
from scenarios.console.sources.source import last_delay

_FEW = 16
"""Up to so many agents, every link is shown."""


def _build(inputs: PanelInputs) -> dict[tuple[int, int], float]:
    """Return the delay (s) of each link's last message; −1 lost, −2 held, NaN none."""
    if len(inputs.caps) > _FEW:
        return {}
    pairs = [(i, j) for i, near in enumerate(inputs.near) for j in near]
    return {(i, j): last_delay(inputs.source, i, j) for i, j in pairs}


KIND = Panel(
    name="links",
    shows="the last message of every link",
    build=_build,
    draw=links,
    fits=links_fit,
    scales=frozenset({"table"}),
)

"""How the losses of the agents went."""

from scenarios.console.assembly.panels import Panel
from scenarios.console.drawing.charts import losses

KIND = Panel(
    name="losses",
    shows="percentiles of the losses over time",
    build=lambda inputs: inputs.source.run_state.history(),
    draw=losses,
    scales=frozenset({"table", "grid"}),
    order=1,
)

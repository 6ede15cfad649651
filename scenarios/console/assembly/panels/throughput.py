"""How many events happen, and which share of messages is lost."""

from scenarios.console.assembly.panels import Panel
from scenarios.console.drawing.charts import throughput

KIND = Panel(
    name="throughput",
    shows="events and lost messages from sample to sample",
    build=lambda inputs: inputs.source.run_state.paces(),
    draw=throughput,
    scales=frozenset({"crowd"}),
)

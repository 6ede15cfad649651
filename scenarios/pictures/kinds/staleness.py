"""The picture of staleness: how old the models of neighbours are."""

from typing import TYPE_CHECKING

from scenarios.pictures.merged_ages import ages_of
from scenarios.pictures.metric_panel import draw_metric
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.styles import FEW, INK
from scenarios.pictures.words import seeds_of
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw the sampled metric where there is one; else the ages of models at the instants when agents merged them."""
    if all("staleness" in member.run.last for member in material.members):
        return draw_metric("staleness", axes, material, options)
    member = material.one
    if options.x != "time":
        raise FolderError(
            "'staleness' was not sampled in this run; from its events it is drawn against time only"
        )
    with guarded(member.record.path):
        ages = ages_of(member.record)
    mark = "o" if len(ages.at) <= FEW else None
    axes.fill_between(
        ages.at, ages.low, ages.high, color=INK, alpha=0.2, linewidth=0, label="80 % of merges"
    )
    axes.plot(ages.at, ages.middle, color=INK, label="median over merges", marker=mark)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("age when merged (s)")
    caption = (
        f"How old models of neighbours were when agents merged them, in seconds since they were first sent: {ages.merges:,} merges.",
        f"Line: median over the merges within a window of time; band: 80 % of them; {len(ages.at)} windows of equal length.",
        "The metric staleness (the age of what is held at a sample) was not sampled in this run.",
    )
    return Drawn(caption, (seeds_of(material.settings), f"{ages.merges:,} merges"))


KIND = PictureKind(
    "staleness", "how old the models of neighbours are", "runs", _draw, frozenset({"x"})
)

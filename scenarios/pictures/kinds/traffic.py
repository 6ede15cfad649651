"""The picture of traffic: what became of messages, counted from the start."""

from typing import TYPE_CHECKING

import numpy as np

from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.sampled_run import SampledRun, numbers
from scenarios.pictures.styles import COLOURS, DASHES
from scenarios.pictures.words import COUNTS, X_LABELS, seeds_of
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FATES = ("sent", "delivered", "superseded", "lost", "rejected", "duplicated", "in_flight")


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw the messages of one run against an axis: each fate that any message had."""
    run, x = material.one.run, options.x
    with guarded(material.one.record.path):
        at = run.axis(x)
        counts = {fate: _counted(run, fate) for fate in _FATES}
    fine = np.isfinite(at)
    if len(np.unique(at[fine])) < 2:
        raise FolderError(
            f"traffic against {x} has one point in this run, and a line needs two; {run.hint(x, len(at))}"
        )
    for place, (fate, values) in enumerate(counts.items()):
        if values.any():
            axes.plot(
                at[fine],
                values[fine],
                color=COLOURS[place],
                linestyle=DASHES[place],
                label=fate.replace("_", " "),
            )
    if not any(values.any() for values in counts.values()):
        raise FolderError(f"{run.record.path} has no messages to draw: no agent sent any")
    axes.set_ylabel("messages, from the start")
    axes.set_xlabel(X_LABELS.get(x, "largest ε of any agent"))
    if x in COUNTS:
        axes.locator_params(axis="x", integer=True)
    caption = (
        "Messages from the start, one for each receiver: sent, and what became of them.",
        "sent + duplicated = delivered + lost + rejected + in flight; a delivered message is superseded where a newer one "
        "of its sender came before it was read.",
    )
    return Drawn(caption, (seeds_of(material.settings),))


def _counted(run: SampledRun, fate: str) -> np.ndarray:
    return np.array([numbers(s.values.get(f"messages.{fate}", 0))[0] for s in run.samples])


KIND = PictureKind(
    "traffic",
    "messages sent, delivered, superseded, lost, against an axis",
    "run",
    _draw,
    frozenset({"x"}),
)

"""The picture of budgets: the ε of each agent at the end, the largest first, with the caps of their groups."""

from typing import TYPE_CHECKING

import numpy as np

from scenarios.pictures.metric_panel import caps_of
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.sampled_run import numbers
from scenarios.pictures.styles import COLOURS, DASHES, FEW, INK
from scenarios.pictures.words import (
    agents_in_words,
    privacy_of,
    seeds_of,
    written,
)
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CAPS = 4


def _draw(axes: "Axes", material: Material, _options: Options) -> Drawn:
    """Draw the ε of the agents of one run, sorted; caps as lines."""
    member = material.one
    with guarded(member.record.path):
        spent = numbers(member.run.last.get("epsilon", []))
        caps = sorted(caps_of(member).items())
    finite = np.sort(spent[np.isfinite(spent)])[::-1]
    if not finite.size:
        raise FolderError(f"{member.record.path}: no agent has a finite ε")
    rank = np.arange(1, len(finite) + 1)
    mark = "o" if len(finite) <= 3 * FEW else None
    axes.step(rank, finite, where="mid", color=INK, label="ε of each agent", marker=mark)
    for at, (cap, groups) in enumerate(caps[:_CAPS]):
        label = f"cap {cap:g} of {written(groups, 24)}"
        axes.axhline(cap, color=COLOURS[4], linestyle=DASHES[at + 1], linewidth=0.9, label=label)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("agents, the largest ε first")
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("ε at the end")
    privacy = privacy_of([member])
    rest = (
        [f"Infinite for {k} agents, which are left out."] if (k := len(spent) - finite.size) else []
    )
    lines = [f"Horizontal line: the cap {cap:g} of {groups}." for cap, groups in caps[:_CAPS]]
    caption = (
        f"The ε of {len(spent):,} agents at the end of the run, in descending order.",
        *lines,
        *rest,
        *privacy.caption,
    )
    return Drawn(caption, (seeds_of(material.settings), agents_in_words([member]), *privacy.foot))


KIND = PictureKind(
    "budgets", "the ε of every agent at the end, sorted, with the caps", "run", _draw
)

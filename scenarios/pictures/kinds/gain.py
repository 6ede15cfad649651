"""The picture of gain: what agents gain over learning alone, against how much data they have."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.vectors import Vector
from scenarios.language.json_numbers import number
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.sampled_run import numbers
from scenarios.pictures.settings import Member
from scenarios.pictures.styles import CLAIM, INK
from scenarios.pictures.words import agents_in_words, oracle, seeds_of
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RASTER = 2000


def sizes_of(member: Member) -> Vector:
    """Return how many points each agent has. Raises `FolderError` where the folder does not tell."""
    nodes = member.record.summary.get("nodes", [])
    sizes = np.array([number(node.get("points")) for node in nodes])
    if not sizes.size or not np.isfinite(sizes).any():
        raise FolderError(
            f"{member.record.path} does not tell how many points each agent has: it was cut off"
        )
    return sizes


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw a point for each agent of one run."""
    del options
    member = material.one
    with guarded(member.record.path):
        if "gain" not in member.run.last:
            raise FolderError(
                "'gain' was not sampled in this run: it needs test points, and a world that is small enough"
            )
        gains, sizes = numbers(member.run.last["gain"]), sizes_of(member)
    if len(gains) != len(sizes):
        raise FolderError(
            f"{member.record.path} is damaged: it has {len(gains)} gains of {len(sizes)} agents"
        )
    fine = np.isfinite(gains) & np.isfinite(sizes)
    if not fine.any():
        raise FolderError(f"{member.record.path}: no agent has a gain")
    harmed = fine & (gains < 0)
    many = len(gains) > _RASTER
    look: dict[str, Any] = {
        "alpha": 0.25 if many else 0.7,
        "s": 4 if many else 16,
        "linewidths": 0,
        "rasterized": many,
    }
    axes.axhline(0, color="0.3", linewidth=0.8, label="purely local")
    axes.scatter(
        sizes[fine & ~harmed],
        gains[fine & ~harmed],
        color=INK,
        marker="o",
        label="not harmed",
        **look,
    )
    if harmed.any():
        axes.scatter(sizes[harmed], gains[harmed], color=CLAIM, marker="v", label="harmed", **look)
    axes.set_xlabel("points of the agent")
    axes.locator_params(axis="x", integer=True)
    if sizes[fine].min() > 0 and sizes[fine].max() > 20 * sizes[fine].min():
        axes.set_xscale("log")
    axes.set_ylabel("gain (score)")
    share = harmed.sum() / fine.sum()
    left = [f"{int((~fine).sum())} agents have no gain and are left out."] if not fine.all() else []
    caption = (
        "What each agent gains at the end over learning alone on the same data: its test score minus that of the exact local "
        "model (for an error, the other way round), against its number of points.",
        f"Harmed, with a gain below 0: {int(harmed.sum())} of {int(fine.sum())} agents, {100 * share:.3g} %.",
        *left,
        "gain is an oracle's view: no agent sees it.",
    )
    return Drawn(
        caption,
        (
            seeds_of(material.settings),
            agents_in_words([member]),
            f"harmed: {int(harmed.sum())}",
            oracle("gain"),
        ),
    )


KIND = PictureKind(
    "gain",
    "data size against gain over learning alone, for each agent; harmed ones marked",
    "run",
    _draw,
)

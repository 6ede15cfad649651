"""The picture of a network at an instant: nodes by the budget that is used, edges by their traffic, cut ones dashed."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.vectors import Vector
from scenarios.language.json_numbers import number, show
from scenarios.pictures.layout import places
from scenarios.pictures.network_moment import Edge, NetworkMoment, network_at
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.settings import Member
from scenarios.pictures.styles import CLAIM, MAP
from scenarios.pictures.words import privacy_of, seeds_of
from scenarios.records.file_guard import guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED, _RASTER, _THICK = 30, 1500, 3.0
"""Up to so many agents have their ids written; more edges are drawn as points of an image; the widest edge in points."""


def widths(moment: NetworkMoment, edges: list[Edge]) -> Vector:
    """Return the widths of edges: in proportion to their messages, the busiest has 3 points, fewer in a crowd."""
    counts = np.array([moment.sent[edge] for edge in edges], dtype=float)
    thickest = _THICK * min(1.0, math.sqrt(_NAMED / max(1, moment.size)))
    return thickest * counts / max(1.0, float(counts.max(initial=1.0)))


def used_budgets(member: Member, moment: NetworkMoment) -> tuple[Vector, str]:
    """Return how much of its budget each agent has used, and what the numbers are: shares of caps, else ε.

    NaN stands for a server, and for an agent whose ε is infinite or not known.
    """
    used = np.full(moment.size, np.nan)
    used[: len(moment.epsilon)] = moment.epsilon[: moment.size]
    caps = np.full(moment.size, np.nan)
    for node in member.record.summary.get("nodes", []):
        if 0 <= int(node["id"]) < moment.size:
            caps[int(node["id"])] = number(node.get("cap"))
    if np.isnan(caps).all():
        known = [math.nan if cap is None else cap for cap in member.record.facts.caps]
        caps[: len(known)] = known[: moment.size]
    if np.isfinite(caps).any():
        with np.errstate(divide="ignore", invalid="ignore"):
            used = np.where(
                np.isfinite(used), used / np.where(np.isfinite(caps), caps, np.nan), np.nan
            )
        return used, "share of the cap used"
    return np.where(np.isfinite(used), used, np.nan), "ε"


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw the network of one run at an instant."""
    member = material.one
    instant = None if options.at is None else round(options.at * 1e9)
    with guarded(member.record.path):
        moment = network_at(member.record, instant)
        used, label = used_budgets(member, moment)
    at = places(moment.size, moment.edges)
    said = _draw_edges(axes, moment, at)
    said += _draw_nodes(axes, moment, at, used, label)
    margin = 0.07
    axes.set_xlim(at[:, 0].min() - margin, at[:, 0].max() + margin)
    axes.set_ylim(at[:, 1].min() - margin, at[:, 1].max() + margin)
    axes.set_aspect("equal")
    axes.set_axis_off()
    privacy = privacy_of([member])
    when = f"t = {show(moment.instant / 1e9)} s"
    sampled = (
        f"ε as of the sample at {show(moment.sampled / 1e9)} s." if moment.sampled >= 0 else ""
    )
    caption = (
        f"The network at {when}: {moment.size:,} agents, the server among them where there is one. "
        f"Places mean nothing. {sampled}".rstrip(),
        *said,
        *privacy.caption,
    )
    return Drawn(caption, (seeds_of(material.settings), when, *privacy.foot))


def _draw_edges(axes: "Axes", moment: NetworkMoment, at: np.ndarray) -> list[str]:
    from matplotlib.collections import LineCollection

    many = len(moment.edges) > _RASTER
    width = dict(zip(moment.edges, widths(moment, moment.edges).tolist(), strict=True))
    whole = [edge for edge in moment.edges if edge not in moment.cut]
    cut = [edge for edge in moment.edges if edge in moment.cut]
    looks: tuple[tuple[list[Edge], dict[str, Any]], ...] = (
        (whole, {"colors": "0.55", "label": "edge, width: messages"}),
        (
            cut,
            {"colors": CLAIM, "linestyles": (0, (2.5, 1.5)), "label": "last message lost or held"},
        ),
    )
    for edges, look in looks:
        if edges:
            lines = LineCollection(
                [at[list(edge)] for edge in edges],
                linewidths=[max(0.1 if many else 0.35, width[edge]) for edge in edges],
                alpha=0.35 if many else 0.9,
                zorder=1,
                rasterized=many,
                **look,
            )
            axes.add_collection(lines)
    busiest = max(moment.sent.values(), default=0)
    return [
        f"Edges: {len(moment.edges):,}, their widths in proportion to the messages sent over them so far, at most {busiest:,}, "
        f"{moment.sent.total():,} in all.",
        *([f"Dashed: {len(cut):,} edges whose last message was lost or held."] if cut else []),
    ]


def _draw_nodes(
    axes: "Axes", moment: NetworkMoment, at: np.ndarray, used: Vector, label: str
) -> list[str]:
    size = max(3.0, min(150.0, 2800.0 / moment.size))
    many = moment.size > _RASTER
    ids = np.arange(moment.size)
    gone = np.isin(ids, list(moment.states))
    known = np.isfinite(used)
    said = []
    top = max(1.0, float(used[known].max())) if known.any() else 1.0
    shown = axes.scatter(
        at[known, 0],
        at[known, 1],
        c=used[known],
        s=size,
        cmap=MAP,
        vmin=0,
        vmax=top,
        edgecolors="black",
        linewidths=0.0 if many else 0.5,
        zorder=3,
        rasterized=many,
    )
    if known.any():
        axes.figure.colorbar(shown, ax=axes, label=label, shrink=0.8, pad=0.02)
        said.append(f"Colours of agents: {label}.")
    if (~known).any():
        axes.scatter(
            at[~known, 0],
            at[~known, 1],
            c="white",
            s=size,
            edgecolors="black",
            linewidths=0.6,
            zorder=3,
            label="no finite ε",
            rasterized=many,
        )
        said.append(f"White: {int((~known).sum()):,} without a finite ε, or the server.")
    if gone.any():
        axes.scatter(
            at[gone, 0],
            at[gone, 1],
            c="#d55e00",
            marker="x",
            s=size * 1.4,
            linewidths=1.4,
            zorder=4,
            label="not up",
            rasterized=many,
        )
        which: dict[str, list[int]] = {}
        for i, state in sorted(moment.states.items()):
            which.setdefault(state, []).append(i)
        told = "; ".join(f"{state}: {_few(of)}" for state, of in which.items())
        said.append(f"Crosses: not up ({told}).")
    if moment.size <= _NAMED:
        for i, (x, y) in enumerate(at):
            dark = known[i] and used[i] < 0.55 * top
            colour = "white" if dark else "black"
            axes.annotate(
                str(i), (x, y), ha="center", va="center", color=colour, zorder=5, fontsize=7
            )
    return said


def _few(ids: list[int]) -> str:
    words = ", ".join(map(str, ids[:8]))
    return f"{words} and {len(ids) - 8} more" if len(ids) > 8 else words


KIND = PictureKind(
    "network",
    "the network at an instant: budgets used, traffic, edges that are cut (--at)",
    "run",
    _draw,
    frozenset({"at"}),
    height=0.85,
)

"""The picture of a timeline: wakes, releases, messages and absences of a few agents within a window."""

from typing import TYPE_CHECKING, Any

from scenarios.language.json_numbers import show
from scenarios.pictures.metric_panel import HATCHES, fault_name
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.sampled_run import SampledRun
from scenarios.pictures.styles import CHARGE, CLAIM, INK
from scenarios.pictures.timeline import Timeline, timeline_of
from scenarios.pictures.words import seeds_of, written
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AGENTS, _ON_A_COLUMN, _FAULTS = 12, 8, 3


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw a row for each agent, time from left to right."""
    member = material.one
    begins = options.at or 0.0
    with guarded(member.record.path):
        end = member.record.length / 1e9
        known = max((len(v) for v in member.run.last.values() if isinstance(v, list)), default=0)
        shown = min(known, _ON_A_COLUMN if options.narrow else _AGENTS)
        if begins >= end or not shown:
            said = (
                "everything happens at one instant"
                if end == 0
                else f"the run ends at {show(end)} s"
            )
            raise FolderError(f"there is no timeline from {show(begins)} s on: {said}")
        line = timeline_of(member.record, range(shown), begins, end)
        if line.ends <= line.begins:
            raise FolderError(
                "there is no timeline: more happens at one instant than a picture holds"
            )
        faults = _draw_faults(axes, member.run, line)
    _draw_messages(axes, line)
    _draw_agents(axes, line)
    axes.set_xlim(line.begins, line.ends)
    axes.set_ylim(shown - 0.4, -0.6)
    axes.set_yticks(range(shown))
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("agent")
    window = f"from {show(line.begins)} to {show(line.ends)} s"
    left = (
        [f"{known - shown:,} agents with higher ids, and messages from and to them, are left out."]
        if known > shown
        else []
    )
    if line.cut_short:
        left.append(
            f"The window ends where it is full; the run goes on until {show(end)} s (--at T begins elsewhere)."
        )
    caption = (
        f"What agents 0 to {shown - 1} did {window} of simulated time: {len(line.wakes)} wakes, {len(line.releases)} releases, "
        f"{len(line.ways)} messages among them.",
        "A line is a message on its way from the sender's row to the receiver's; a cross at the sender is one that was lost, "
        "or held by a fault. Grey bars: the agent was not up.",
        *faults,
        *left,
    )
    return Drawn(
        caption, (seeds_of(material.settings), f"agents 0 to {shown - 1} of {known:,}", window)
    )


def _draw_messages(axes: "Axes", line: Timeline) -> None:
    from matplotlib.collections import LineCollection

    ways = [
        ((w.leaves, w.sender), (w.arrives, w.receiver)) for w in line.ways if w.arrives is not None
    ]
    if ways:
        axes.add_collection(
            LineCollection(
                ways, colors="0.45", linewidths=0.5, alpha=0.7, zorder=2, label="message"
            )
        )
    lost = [
        (w.leaves, w.sender + (0.25 if w.receiver > w.sender else -0.25))
        for w in line.ways
        if w.arrives is None
    ]
    if lost:
        axes.plot(
            *zip(*lost, strict=True),
            "x",
            color=CLAIM,
            markersize=3.5,
            label="lost or held",
            zorder=4,
        )


def _draw_agents(axes: "Axes", line: Timeline) -> None:
    label: str | None = "not up"
    for agent, since, until in line.away:
        axes.plot(
            [since, until],
            [agent, agent],
            color="0.65",
            linewidth=5,
            solid_capstyle="butt",
            zorder=1.5,
            label=label,
        )
        label = None
    marks = (
        (line.wakes, "|", INK, "wake", 6.0),
        (line.releases, "o", INK, "release", 3.0),
        (line.exhausted, "D", CHARGE, "exhausted", 4.0),
    )
    for points, mark, colour, name, size in marks:
        if points:
            t, agents = zip(*points, strict=True)
            axes.plot(t, agents, mark, color=colour, markersize=size, label=name, zorder=5)


def _draw_faults(axes: "Axes", run: SampledRun, line: Timeline) -> list[str]:
    """Shade windows of faults within the window of the timeline."""
    said: dict[str, None] = {}
    for window in run.windows:
        ends = line.ends if window.ends is None else min(window.ends.time, line.ends)
        begins = max(window.begins.time, line.begins)
        name = fault_name(run, window.fault, window.action)
        if ends <= begins or (len(said) >= _FAULTS and name not in said):
            continue
        label = None if name in said else f"fault: {written(name, 30)}"
        said.setdefault(name)
        hatch = HATCHES[list(said).index(name)]
        look: dict[str, Any] = {
            "facecolor": "0.92",
            "edgecolor": "0.6",
            "hatch": hatch,
            "linewidth": 0,
        }
        axes.axvspan(begins, ends, zorder=0, label=label, **look)
    return [f"Shaded: while the fault {name} lasted." for name in said]


KIND = PictureKind(
    "timeline",
    "wakes, releases, messages and faults of up to twelve agents (--at)",
    "run",
    _draw,
    frozenset({"at"}),
)

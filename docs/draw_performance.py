"""Writes the table of performance.md and draws its pictures, from what was measured.

python -m benchmarks --json docs/performance.json
python docs/draw_performance.py
"""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))

from benchmarks import report  # noqa: E402
from benchmarks.report import Report, Row, figure, former, verdict  # noqa: E402
from benchmarks.rooms import ROOMS  # noqa: E402
from benchmarks.targets import LINES, Goal, Line  # noqa: E402

MEASURED, BASELINE = HERE / "performance.json", HERE.parent / "benchmarks/baseline.json"
PAGE, PICTURES = HERE / "performance.md", HERE / "performance"
NAMES = (100, 1000, 10_000)
PATHS = ("events", "columns")
COLOURS = {
    "version 0.8.0": "#999999",
    "events": "#cc79a7",
    "bare SimPy + NumPy": "#000000",
    "columns": "#0072b2",
}
ROOM_COLOURS = (
    "#000000",
    "#56b4e9",
    "#e69f00",
    "#f0e442",
    "#a6761d",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#8c6bb1",
    "#bbbbbb",
)


def rows_of(found: Report) -> dict[str, Row]:
    """Return all rows by name."""
    return {row.name: row for _, row in found.rows()}


# the table


def page(text: str, found: Report, baseline: Report) -> str:
    """Return the page with its table, its machine and its list of what is old put in anew."""
    for name, lines in (
        ("machine", machines(found)),
        ("table", table(found, baseline)),
        ("beside", beside(found, baseline)),
        ("again", again(found)),
    ):
        begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if not after:
            raise SystemExit(f"{PAGE.name} has no place for {name}: {begin} … {end}")
        text = "\n".join([before + begin, *lines, end]) + after
    return text


def table(found: Report, baseline: Report) -> list[str]:
    """Return the lines of the table of targets."""
    rows = rows_of(found)
    lines = [
        "| | before | version 0.8.0 | target | measured | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for line in LINES:
        for at, goal in enumerate(line.goals):
            lines.append(_line(line, goal, rows.get(goal.name), baseline, first=at == 0))
    return lines


def _line(line: Line, goal: Goal, row: Row | None, baseline: Report, *, first: bool) -> str:
    what = f"{line.what} · `{goal.name}`" if first else f"`{goal.name}`"
    before = line.before if first else ""
    old = former(goal.name, baseline)
    shown = "–" if old is None else _told(old, goal)
    if row is None or row.value is None:
        reason = "not yet" if row is None else row.skipped
        return f"| {what} | {before} | {shown} | {goal.words} | – | not measured: {reason} |"
    spread = ""
    if row.low is not None and row.high is not None:
        spread = f" ({_told(row.low, goal)} … {_told(row.high, goal)})"
    unit = "" if row.unit == "×" else f" {row.unit}"
    value = f"**{_told(row.value, goal)}**{unit}{spread}"
    said = verdict(row, quick=False).said
    return f"| {what} | {before} | {shown} | {goal.words}{unit} | {value} | {said} |"


def _told(value: float, goal: Goal) -> str:
    """Return a figure as the bound is told: as a share where the bound is one."""
    return f"1/{1 / value:.1f}" if goal.bound < 0.1 and value > 0 else figure(value)


def beside(found: Report, baseline: Report) -> list[str]:
    """Return the lines of the table of figures that have no target."""
    goals = {goal.name for line in LINES for goal in line.goals}
    lines = ["| | version 0.8.0 | measured |", "| --- | --- | --- |"]
    for measured, row in found.rows():
        if row.name in goals or row.value is None or measured.world == "rooms":
            continue
        old = former(row.name, baseline)
        shown = "–" if old is None else figure(old)
        lines.append(f"| {row.what} · `{row.name}` | {shown} | {figure(row.value)} {row.unit} |")
    return lines


def machines(found: Report) -> list[str]:
    """Return the description of the machines that the figures are of."""
    described = {}
    for measured in found.comparisons.values():
        m = measured.machine
        libraries = ", ".join(f"{name} {version}" for name, version in m.libraries.items())
        described[
            f"- {m.processor}, {m.cores} cores, {m.memory_gb:g} GB, {m.system}, Python {m.python}, {libraries}"
        ] = None
    loads = [measured.machine.load for measured in found.comparisons.values()]
    tail = f"- load of the machine while measuring: {min(loads):g} to {max(loads):g}; turns of each case: "
    repeats = {str(measured.repeat) for measured in found.comparisons.values()}
    return [*described, tail + ", ".join(sorted(repeats))] if loads else list(described)


def again(found: Report) -> list[str]:
    """Return which comparisons are of which commit."""
    commits: dict[str, list[str]] = {}
    for measured in found.comparisons.values():
        commits.setdefault(f"{measured.version} ({measured.commit})", []).append(measured.name)
    return [f"- {commit}: {', '.join(names)}" for commit, names in commits.items()]


# the pictures


def curves(found: Report, baseline: Report, d: int) -> dict[str, tuple[list[int], list[float]]]:
    """Return µs per update over n, by case.

    What version 0.8.0 took is its ratio to the bare loop, times what the bare loop takes here.
    """
    now, then = rows_of(found), rows_of(baseline)
    points: dict[str, list[tuple[int, float]]] = {name: [] for name in COLOURS}
    for n in NAMES:
        for path in PATHS:
            row = now.get(f"A/{n}/{d}/{path}")
            if row is not None and row.value is not None:
                points[path].append((n, row.detail["hush µs"]))
        detailed, old = now.get(f"A/{n}/{d}/events"), then.get(f"A/{n}/{d}/detailed")
        if detailed is not None and detailed.value is not None:
            points["bare SimPy + NumPy"].append((n, detailed.detail["bare µs"]))
            if old is not None and old.value is not None:
                points["version 0.8.0"].append((n, old.value * detailed.detail["bare µs"]))
    if d == 20:
        for name, case in (
            ("bare SimPy + NumPy", "bare"),
            ("columns", "columns"),
        ):
            row = now.get(f"growth/{case}")
            if row is not None and row.value is not None:
                points[name].append((100_000, row.detail["µs at 100,000"]))
        row = now.get("million/loop")
        if row is not None and row.value is not None:
            points["columns"].append((1_000_000, row.detail["µs per update"]))
    return {
        name: ([n for n, _ in some], [y for _, y in some]) for name, some in points.items() if some
    }


def draw_cost(found: Report, baseline: Report, plt: Any) -> None:
    """Draw the cost of an update against the number of agents."""
    figure_, both = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True, layout="constrained")
    for axes, d in zip(both, (100, 20), strict=True):
        for name, (n, y) in curves(found, baseline, d).items():
            dashed = name in {"version 0.8.0", "bare SimPy + NumPy"}
            axes.plot(
                n,
                y,
                color=COLOURS[name],
                marker="o",
                markersize=4,
                linestyle="--" if dashed else "-",
                label=f"hush, {name}" if name in PATHS else name,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("agents")
        axes.set_title(f"d = {d}", fontsize=9, loc="left")
        axes.grid(alpha=0.25, which="both", linewidth=0.5)
    both[0].set_ylabel("µs of processor time per update")
    handles = {
        label: handle
        for axes in both
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure_.legend(
        handles.values(), handles.keys(), frameon=False, loc="outside lower center", ncols=3
    )
    save(figure_, "cost", plt)


def bars(found: Report, baseline: Report) -> dict[str, dict[str, float]]:
    """Return µs per update by room, of each path, and of version 0.8.0 at today's pace of the bare loop."""
    names = list(ROOMS)
    made: dict[str, dict[str, float]] = {}
    now, then = rows_of(found), rows_of(baseline)
    pace, other_pace = (
        rows[name].detail.get("bare µs", 0.0) if name in rows else 0.0
        for name, rows in (("A/1000/100/events", now), ("A/1000/100/detailed", then))
    )
    cases = [("version 0.8.0", then, "detailed", pace / other_pace if other_pace else 1.0)]
    cases += [(path, now, path, 1.0) for path in PATHS]
    for label, rows, path, scale in cases:
        some = [rows.get(f"rooms/1000/100/{path}/{room}") for room in names]
        if all(row is not None and row.value is not None for row in some):
            made[label] = {
                room: scale * row.detail["µs per update"]
                for room, row in zip(names, some, strict=True)
                if row is not None
            }
    return made


def draw_rooms(found: Report, baseline: Report, plt: Any) -> None:
    """Draw where the time of an update goes."""
    made = bars(found, baseline)
    figure_, axes = plt.subplots(figsize=(8.4, 1.5 + 0.5 * len(made)), layout="constrained")
    names = list(ROOMS)
    for at, (label, rooms) in enumerate(reversed(made.items())):
        left = 0.0
        for room, colour in zip(names, ROOM_COLOURS, strict=True):
            axes.barh(
                at,
                rooms[room],
                left=left,
                height=0.62,
                color=colour,
                edgecolor="white",
                linewidth=0.6,
                label=room if at == 0 else None,
            )
            left += rooms[room]
        axes.text(left, at, f"  {left:.0f} µs", va="center", fontsize=8)
        del label
    axes.set_yticks(
        range(len(made)), [f"hush, {name}" if name in PATHS else name for name in reversed(made)]
    )
    marks = (("bare SimPy + NumPy", "bare µs", "A/1000/100/events"),)
    now = rows_of(found)
    for name, key, row_name in marks:
        row = now.get(row_name)
        if row is not None and row.value is not None:
            axes.axvline(row.detail[key], color=COLOURS[name], linestyle=":", label=name)
    axes.set_xlim(left=0)
    axes.margins(x=0.08)
    axes.set_xlabel("µs of processor time per update (n = 1,000, d = 100)")
    figure_.legend(frameon=False, loc="outside lower center", ncols=6, fontsize=8)
    save(figure_, "rooms", plt)


def save(figure_: Any, name: str, plt: Any) -> None:
    """Write one figure without what changes from day to day."""
    for axes in figure_.axes:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure_.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure_)


def main() -> None:
    """Write the page and draw both pictures."""
    try:
        found, baseline = report.read(MEASURED), report.read(BASELINE)
    except report.ReportError as error:
        raise SystemExit(f"draw_performance: {error}") from None
    if any(measured.quick for measured in found.comparisons.values()):
        raise SystemExit(f"{MEASURED} holds comparisons that were measured with --quick")
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "hush", "font.size": 9}
    from matplotlib import pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    PAGE.write_text(page(PAGE.read_text("utf-8"), found, baseline), "utf-8")
    draw_cost(found, baseline, plt)
    draw_rooms(found, baseline, plt)


if __name__ == "__main__":
    main()

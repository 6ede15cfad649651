"""Write docs/gallery.md and the pictures in docs/gallery/ from docs/gallery.json; with --run, first run the library anew.

python docs/write_gallery.py                    the page and the pictures, from the kept results
python docs/write_gallery.py --run [NAME …]     run these scenarios (default: all), and keep their results

A scenario that reads published data is run where its files are found (HUSH_DATA); else what is kept of it stays.
"""

import argparse
import json
import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from hush import run_sync
from scenarios.language.json_numbers import number
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import library_names
from scenarios.language.visible_text import say
from scenarios.pictures.sampled_run import SampledRun, Window, numbers
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.metric_names import split_metric
from scenarios.planning.scenario import Scenario, load
from scenarios.records.epsilon_terms import UNIT

DOCS = Path(__file__).parent
KEPT, PAGE, PICTURES = DOCS / "gallery.json", DOCS / "gallery.md", DOCS / "gallery"
Entry = dict[str, Any]

POINTS = 41
"""A curve has so many points at most."""
DIGITS = 4
"""So many significant digits are kept of a number."""

HEAD = f"""# Gallery

Every scenario of the library: a picture of one run, what came of it, and the command that runs it. Written by `docs/write_gallery.py` from
`docs/gallery.json`, which `python docs/write_gallery.py --run` makes anew; tests hold the page to the file, and the file to the library.

**How to read it.** A line is the mean over the agents, or what its title says; the band holds the middle 80 % of them. Dashed lines are the same measure of purely local
models (*alone*) and of the exact minimum of what the agents minimise together (*optimum*). Bars below tell when a fault lasted. All of these are an oracle's view: losses and
scores are not released. Every ε is the largest of all agents; it names its view, its δ and its accountant, and its unit is {UNIT}.
Seeds are those of the files.
"""
FOLDERS = {
    "": ("Worlds", "Small worlds, each with something that can go wrong in it."),
    "errata": (
        "Errata",
        "Flaws of published algorithms, each as printed and mended ([errata.md](errata.md)). Pictures compare what is claimed, what an audit proves that leaks at least, and what the ledger is charged.",
    ),
    "papers": (
        "Papers",
        "Figures and tables of five papers. Each picture is one run of the world that a sweep varies; [reproduction.md](reproduction.md) has the figures over all settings and seeds, and says which claims hold.",
    ),
    "questions": (
        "Questions",
        "Questions that none of the papers asks. Each picture is one run of the world that a sweep varies; [reproduction.md](reproduction.md) has the answers over all settings and seeds.",
    ),
}
"""The heading and the first words of each folder of the library, in their order."""


# --- what is kept of a run -------------------------------------------------------------------------------------------


def entry_of(name: str, folder: Path) -> Entry:
    """Run a scenario of the library in a folder that is not there yet, and return what the gallery keeps of it."""
    result = run_sync(name, out=folder)
    scenario = load(name)
    sampled = SampledRun(result)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    return {
        "schedule": manifest["digests"]["schedule"],
        "seed": manifest["seed"],
        "result": result_words(result.summary, sampled),
        "varies": sorted(scenario.read.sweep.axes),
        "seeds": scenario.read.sweep.seeds or "",
        "data": published(scenario),
        "picture": picture_of(scenario, result.summary, sampled),
    }


def published(scenario: Scenario) -> str:
    """Return the published data set that a scenario reads; empty where it reads none."""
    kind = scenario.read.data.kind
    return kind if kind in SOURCES and SOURCES[kind].published is not None else ""


def picture_of(scenario: Scenario, summary: Mapping[str, Any], run: SampledRun) -> Entry:
    """Return what is drawn: bars of what is claimed, audited and charged, or of scores, or a curve.

    A scenario that expects something of a claim or an audit shows those. Else the first metric that it expects something
    of, or that its sweep tells, and that moved, is drawn against time; else its score.
    """
    wanted = [expect.metric for expect in scenario.read.expect if expect.metric is not None]
    if any(split_metric(name)[0] in _CLAIMS for name in wanted):
        return _claims(summary, run)
    axis = next((x for x in ("time", "updates") if len(set(run.axis(x))) > 2), None)
    score = "accuracy" if "accuracy" in summary else "rmse"
    candidates = [*wanted, *scenario.read.sweep.metrics, f"{score}.test", "gap", "loss"]
    for candidate in candidates if axis is not None else ():
        name, how = split_metric(candidate)
        if name == "gain":
            name, how = f"{score}.test", "mean"
        if not _is_drawn(name):
            continue
        curve = _curve(name, how or "mean", axis or "time", summary, run)
        if curve is not None:
            return curve
    epsilon = summary["epsilon"]
    breaks = epsilon["claimed"] is not None and _is_above(epsilon["max"], epsilon["claimed"])
    return _claims(summary, run) if breaks else _scores(summary, score)


_CLAIMS = {"epsilon.claimed", "epsilon.audited", "epsilon.kov", "epsilon.pld"}
"""Who expects something of these compares what is claimed with what is charged."""


def _is_drawn(name: str) -> bool:
    """Whether a metric says more in a picture than in a number: totals and caps do not."""
    total = name.startswith(("messages.", "attack.", "releases", "harmed", "bytes"))
    return not total and (not name.startswith("epsilon") or name == "epsilon.unsent")


def _curve(
    name: str, how: str, axis: str, summary: Mapping[str, Any], run: SampledRun
) -> Entry | None:
    """Return a metric against time or updates; None where it was not sampled twice or never moved."""
    at, places = run.axis(axis), [i for i, s in enumerate(run.samples) if name in s.values]
    each = [numbers(run.samples[i].values[name]) for i in places]
    kept = [(float(at[i]), v[~np.isnan(v)]) for i, v in zip(places, each, strict=True)]
    kept = [(x, v) for x, v in kept if v.size and np.isfinite(v).all()]
    if len({x for x, _ in kept}) < 4:
        return None
    kept = [kept[i] for i in _spread(len(kept), POINTS)]
    many = max(v.size for _, v in kept) > 1
    middle = [_fold(v, how) for _, v in kept]
    if name in _GAPS:
        middle = [abs(gap) for gap in middle]
    if max(middle) - min(middle) <= 1e-9 * max(1.0, abs(max(middle))):
        return None
    picture: Entry = {
        "kind": "curve",
        "title": _title(name, how if many else ""),
        "axis": axis,
        "ends": _kept(float(at[-1])),
        "x": [_kept(x) for x, _ in kept],
        "y": [_kept(y) for y in middle],
    }
    if many and how == "mean":
        picture["band"] = [[_kept(float(np.quantile(v, q))) for _, v in kept] for q in (0.1, 0.9)]
    lines = _beside(name, how, summary)
    if lines:
        picture["lines"] = lines
    if axis == "time" and run.windows:
        picture["faults"] = _fault_rows(run.windows, float(at[-1]))
    return picture


def _fold(values: Any, how: str) -> float:
    if how.startswith("p") and how[1:].isdigit():
        return float(np.quantile(values, int(how[1:]) / 100))
    return float({"mean": np.mean, "min": np.min, "max": np.max, "sum": np.sum}[how](values))


def _beside(name: str, how: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dashed lines of a mean loss or test score, as far as the summary has them."""
    key = {"accuracy.test": "accuracy", "rmse.test": "rmse", "loss": "loss"}.get(name)
    if key is None or how != "mean":
        return {}
    found = {"alone": summary["local"], "optimum": summary["central"]}
    return {word: _kept(number(held[key])) for word, held in found.items() if held is not None}


def _fault_rows(windows: Sequence[Window], end: float) -> list[list[Any]]:
    """Return the windows of faults by action: its name, and from when to when it lasted, in seconds."""
    rows: dict[str, list[list[Any]]] = {}
    for window in windows:
        ends = end if window.ends is None else window.ends.time
        mine = rows.setdefault(window.action, [])
        if mine and window.begins.time <= mine[-1][1]:
            mine[-1][1] = max(mine[-1][1], _kept(ends))
        else:
            mine.append([_kept(window.begins.time), _kept(ends)])
    return [[action, spans[:12]] for action, spans in list(rows.items())[:3]]


def _claims(summary: Mapping[str, Any], run: SampledRun) -> Entry:
    """Return the bars of ε: claimed, proved by an audit to leak at least, and charged."""
    epsilon = summary["epsilon"]
    bars = [["claimed", epsilon["claimed"]], ["audited, at least", run.last.get("epsilon.audited")]]
    bars.append(["charged, at most", epsilon["max"]])
    shown = [[word, _kept(number(value))] for word, value in bars if value is not None]
    return {"kind": "bars", "title": f"ε ({_terms(epsilon)})", "bars": shown}


def _scores(summary: Mapping[str, Any], score: str) -> Entry:
    """Return the bars of a score at the end, beside those of local models and of the optimum."""
    bars = [["these agents", summary[score]["test"]]]
    bars += [
        [word, held[score]]
        for word, held in (("alone", summary["local"]), ("optimum", summary["central"]))
        if held is not None
    ]
    shown = [[word, _kept(number(value))] for word, value in bars if value is not None]
    return {"kind": "bars", "title": f"{score}, test points, at the end", "bars": shown}


_GAPS = ("gap", "gap.present")


def _title(name: str, how: str) -> str:
    known = {"accuracy.test": "accuracy, test points", "rmse.test": "RMSE, test points"}
    known |= dict.fromkeys(_GAPS, "objective, distance from its optimum")
    known |= {
        "nodes.up": "agents present",
        "nodes.down": "agents down",
        "rounds.aborted": "rounds aborted",
    }
    known |= {"epsilon.unsent": "ε of releases that were never sent"}
    return known.get(name, name) + (f", {how}" if how not in {"", "mean"} else "")


def result_words(summary: Mapping[str, Any], run: SampledRun) -> str:
    """Return what came of a run in one line: its score, what was expected, its ε with its terms, faults and losses."""
    score = "accuracy" if "accuracy" in summary else "rmse"
    word = {"accuracy": "accuracy", "rmse": "RMSE"}[score]
    parts = []
    if summary[score]["test"] is not None:
        alone = summary["local"]
        beside = "" if alone is None else f" (alone {_say(alone[score])})"
        parts.append(f"{word} {_say(summary[score]['test'])}{beside}")
    gone = sum(node["state"] == "diverged" for node in summary["nodes"])
    if gone:
        parts.append(f"{gone} agents diverged")
    judged = [e for e in summary["expectations"] if e["got"] is not None]
    judged = [e for e in judged if not e["wanted"].startswith(("epsilon.max", "accuracy", "gain"))]
    parts += [_judged(e) for e in judged[:3]]
    parts.append(_epsilon_words(summary))
    parts += _what_happened(summary, run)
    return "; ".join(parts)


def _judged(expect: Mapping[str, Any]) -> str:
    """Say what was got, and what was expected and when: `gap 1.4e-14, expected at most 0.01`."""
    wanted, _, when = expect["wanted"].rpartition(" (")
    metric, sign, bound = re.split(r" (<=|>=|<|>|=) ", wanted, maxsplit=1)
    words = {"<=": "at most ", ">=": "at least ", "<": "below ", ">": "above ", "=": ""}[sign]
    then = "" if when == "end)" else f" {when.rstrip(')')}"
    return f"{metric} {_say(expect['got'])}, expected {words}{bound}{then}"


def _epsilon_words(summary: Mapping[str, Any]) -> str:
    epsilon = summary["epsilon"]
    if epsilon["max"] == "inf" and epsilon["claimed"] in {None, "inf"}:
        return "no noise: ε = ∞"
    words = f"ε {_say(epsilon['max'])} ({_terms(epsilon)})"
    claimed = epsilon["claimed"]
    if claimed is not None and _is_above(epsilon["max"], claimed):
        words += f", though {_say(claimed)} is claimed"
    return words + (
        "" if epsilon["covered"] else ", which does not cover all (the summary says what)"
    )


def _terms(epsilon: Mapping[str, Any]) -> str:
    """Return the adversary, the δ and the accountant of an ε."""
    return (
        f"{epsilon['view']} view, δ = {_say(epsilon['delta'])}, accountant {epsilon['accountant']}"
    )


def _is_above(charged: Any, claimed: Any) -> bool:
    """Whether a charge is above a claim by more than rounding."""
    return number(charged) > number(claimed) * (1 + 1e-4)


def _what_happened(summary: Mapping[str, Any], run: SampledRun) -> list[str]:
    """Say which faults there were, and how many messages did not arrive."""
    end, words = summary["ended_s"], []
    actions = dict.fromkeys(window.action for window in run.windows)
    for action in actions:
        windows = [window for window in run.windows if window.action == action]
        if len(windows) > 1:
            words.append(f"fault {action} {len(windows)} times")
            continue
        ends = end if windows[0].ends is None else windows[0].ends.time
        words.append(f"fault {action} from {_say(windows[0].begins.time)} to {_say(ends)} s")
    messages = summary["messages"]
    if messages["lost"]:
        words.append(f"{messages['lost']:,} of {messages['sent']:,} messages lost")
    return words


def _say(value: Any) -> str:
    amount = number(value)
    return (
        "∞" if amount == math.inf else f"{amount:.3g}" if abs(amount) < 1000 else f"{amount:,.0f}"
    )


def _short(value: Any) -> str:
    """Return a number in the few letters that a picture has room for."""
    amount = number(value)
    if amount and math.isfinite(amount) and not 1e-3 <= abs(amount) < 1e5:
        digits, exponent = f"{amount:.1e}".split("e")
        return f"{digits}e{int(exponent)}"
    return _say(amount)


def _kept(value: float) -> float | str:
    """Return a number to so many digits as are kept; JSON has no infinity."""
    return "inf" if math.isinf(value) else float(f"{value:.{DIGITS}g}")


def _spread(count: int, most: int) -> list[int]:
    """Return at most so many places, the first and the last among them, evenly spread."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


# --- drawing ---------------------------------------------------------------------------------------------------------

WIDE, HIGH = 320, 120
LEFT, RIGHT, TOP = 44, 242, 22
STYLE = (
    "text{font:10px sans-serif;fill:#1f2328}.card{fill:#fff;stroke:#d0d7de}.line{fill:none;stroke:#0b62a8;stroke-width:1.6}"
    ".band{fill:#0b62a8;opacity:.18}.dash{stroke:#57606a;stroke-dasharray:4 3}.axis{stroke:#8c959f}.fault{fill:#b35900}"
    ".bar{fill:#0b62a8}.far{font-size:9px}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.card{fill:#161b22;stroke:#30363d}"
    ".line{stroke:#6cb6ff}.band,.bar{fill:#6cb6ff}.dash{stroke:#adbac7}.axis{stroke:#768390}.fault{fill:#f0a35e}}"
)


def svg(name: str, picture: Entry) -> str:
    """Return the picture of one entry: text and shapes on a card of its own, so that it is legible on any page."""
    drawn = {"curve": _draw_curve, "bars": _draw_bars}[picture["kind"]](picture)
    title = f"{name}: {picture['title']}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title><style>{STYLE}</style>",
            f'<rect class="card" x=".5" y=".5" width="{WIDE - 1}" height="{HIGH - 1}" rx="6"/>',
            *drawn,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{marked}>{escape(words)}</text>'


def _draw_curve(picture: Entry) -> list[str]:
    """Draw a curve with its band and dashed lines, and the windows of faults below it."""
    rows = picture.get("faults", [])
    bottom = HIGH - 18 - 11 * len(rows)
    lines: dict[str, float] = picture.get("lines", {})
    band = picture.get("band", [])
    values = [number(v) for part in (picture["y"], *band, list(lines.values())) for v in part]
    is_log = _spans_decades(values)
    scale = _scale(values, bottom, is_log=is_log)
    end = number(picture["ends"]) or 1.0

    def across(x: Any) -> float:
        return LEFT + (RIGHT - LEFT) * number(x) / end

    xs = [across(x) for x in picture["x"]]
    title = picture["title"] + (" (log scale)" if is_log else "")
    parts = [_text(8, 14, title)]
    parts.append(f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{bottom}H{RIGHT}"/>')
    if band:
        low, high = ([scale(v) for v in one] for one in band)
        edge = [*zip(xs, high, strict=True), *reversed(list(zip(xs, low, strict=True)))]
        parts.append(f'<path class="band" d="M{_path(edge)}Z"/>')
    parts.append(
        f'<path class="line" d="M{_path(zip(xs, map(scale, picture["y"]), strict=True))}"/>'
    )
    parts += _draw_dashes(lines, scale, scale(picture["y"][-1]), _short(picture["y"][-1]), bottom)
    least, most = min(values), max(values)
    parts += [
        _text(LEFT - 3, TOP + 6, _short(most), "end", "far"),
        _text(LEFT - 3, bottom, _short(least), "end", "far"),
    ]
    unit = " s" if picture["axis"] == "time" else f" {picture['axis']}"
    parts += [
        _text(LEFT, HIGH - 6, "0", "middle", "far"),
        _text(RIGHT, HIGH - 6, f"{_short(end)}{unit}", "middle", "far"),
    ]
    for at, (action, spans) in enumerate(rows):
        y = bottom + 5 + 11 * at
        for begins, ends in spans:
            width = max(1.5, across(ends) - across(begins))
            parts.append(
                f'<rect class="fault" x="{across(begins):.1f}" y="{y}" width="{width:.1f}" height="5"/>'
            )
        parts.append(_text(RIGHT + 4, y + 6, action, kind="far"))
    return parts


def _draw_dashes(
    lines: Mapping[str, Any], scale: Any, ends_at: float, said: str, bottom: float
) -> list[str]:
    """Draw dashed lines, and write beside each, and beside the end of the curve, what it is; words keep apart."""
    parts, words = [], [(ends_at, said)]
    for word, value in lines.items():
        y = scale(value)
        parts.append(f'<path class="dash" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        words.append((y, f"{word} {_short(value)}"))
    below = TOP - 4.0
    places = []
    for y, text in sorted(words):
        below = max(y + 3, below + 10)
        places.append((below, text))
    over = max(0.0, places[-1][0] - bottom - 2)
    return parts + [_text(RIGHT + 4, round(y - over, 1), text, kind="far") for y, text in places]


def _spans_decades(values: Iterable[float]) -> bool:
    """Whether values, none of them negative, are better drawn by their logarithms."""
    known = sorted(v for v in values if v > 0)
    return min(values) >= 0 and len(known) > 1 and known[-1] > 300 * known[0]


def _scale(values: Sequence[float], bottom: float, *, is_log: bool) -> Any:
    """Return the function from a value to its height in the picture."""
    floor = max(max(values) * 1e-12, min((v for v in values if v > 0), default=1.0))

    def place(value: Any) -> float:
        amount = number(value)
        return math.log(max(amount, floor)) if is_log else amount

    low, high = min(map(place, values)), max(map(place, values))
    span = (high - low) or 1.0
    return lambda value: bottom - 2 - (bottom - TOP - 4) * (place(value) - low) / span


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _draw_bars(picture: Entry) -> list[str]:
    """Draw bars from 0; an infinite one reaches the edge and says so."""
    bars = [(word, number(value)) for word, value in picture["bars"]]
    known = [value for _, value in bars if math.isfinite(value)]
    most = max(known, default=1.0) or 1.0
    parts = [_text(8, 16, picture["title"])]
    for at, (word, value) in enumerate(bars):
        y = 28 + 28 * at
        width = 150 * (1.0 if math.isinf(value) else max(0.0, value) / most)
        parts.append(_text(108, y + 12, word, "end"))
        parts.append(f'<rect class="bar" x="114" y="{y}" width="{max(width, 1):.1f}" height="16"/>')
        parts.append(_text(118 + max(width, 1), y + 12, _short(value)))
    return parts


# --- the page --------------------------------------------------------------------------------------------------------


def file_of(name: str) -> str:
    """Return the file of a scenario's picture: no two names of the library share one."""
    return f"{name.replace('/', '-')}.svg"


def page(entries: Mapping[str, Entry]) -> str:
    """Return the whole page."""
    parts = [HEAD]
    for folder, (title, words) in FOLDERS.items():
        mine = [name for name in entries if name.rpartition("/")[0] == folder]
        parts.append(f"## {title}\n\n{words}\n")
        parts += [_section(name, entries[name]) for name in mine]
    return "\n".join(parts)


def _section(name: str, entry: Entry) -> str:
    summary = load(name).read.summary
    where = (
        f" --data DIR` (`hush data` says where `{entry['data']}` is to be had)"
        if entry["data"]
        else "`"
    )
    lines = [f"### {name}", "", f"{summary}.", ""]
    lines += [f"![{name}: {entry['picture']['title']}](gallery/{file_of(name)})", ""]
    lines += [f"{entry['result']}.", "", f"`hush run {name}{where}"]
    varied = ", ".join(f"`{key}`" for key in entry["varies"])
    seeds = f" under the seeds {entry['seeds'].replace('..', ' to ')}" if entry["seeds"] else ""
    if varied or seeds:
        does = f"varies {varied}" if varied else "runs it"
        lines[-1] += (
            f" runs this world once, seed {entry['seed']}; `hush sweep {name}` {does}{seeds}."
        )
    return "\n".join([*lines, ""])


def read() -> dict[str, Entry]:
    """Return the kept entries, in the order of the library."""
    entries = json.loads(KEPT.read_text("utf-8"))["entries"] if KEPT.exists() else {}
    return {name: entries[name] for name in library_names() if name in entries}


def keep(entries: Mapping[str, Entry]) -> None:
    """Write the kept entries, a line each."""
    ordered = [name for name in library_names() if name in entries]
    lines = [
        f"{json.dumps(name)}: {json.dumps(entries[name], ensure_ascii=False)}" for name in ordered
    ]
    KEPT.write_text('{"entries": {\n' + ",\n".join(lines) + "\n}}\n", "utf-8")


def run_again(names: Sequence[str]) -> dict[str, Entry]:
    """Run scenarios, and return the entries with these made anew; one whose data are not here keeps what it has."""
    entries = read()
    for name in names or library_names():
        with tempfile.TemporaryDirectory() as folder:
            try:
                entries[name] = entry_of(name, Path(folder) / "run")
            except ScenarioError as error:
                if not published(load(name)):
                    raise
                reason = str(error).split("\n")[0]
                say(f"{name}: kept as it was; {reason}", error=True)
    return entries


def write(entries: Mapping[str, Entry]) -> None:
    """Write the page and every picture; pictures of scenarios that are gone are removed."""
    PAGE.write_text(page(entries), "utf-8")
    PICTURES.mkdir(exist_ok=True)
    for file in PICTURES.glob("*.svg"):
        if file.name not in {file_of(name) for name in entries}:
            file.unlink()
    for name, entry in entries.items():
        (PICTURES / file_of(name)).write_text(svg(name, entry["picture"]), "utf-8")


if __name__ == "__main__":
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument(
        "--run", nargs="*", metavar="NAME", help="run these scenarios anew; none: all"
    )
    chosen = words.parse_args()
    if chosen.run is not None:
        unknown = sorted(set(chosen.run) - set(library_names()))
        if unknown:
            words.error(f"the library has no {', '.join(unknown)}")
        keep(run_again(chosen.run))
    write(read())

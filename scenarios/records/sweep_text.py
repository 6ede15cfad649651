"""A sweep in words, and as JSON."""

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import msgspec

from scenarios.language.json_numbers import DUST, figure, without_dust
from scenarios.language.null_reasons import with_reasons
from scenarios.language.visible_text import UNWRAPPED, hung
from scenarios.records.epsilon_terms import UNIT
from scenarios.records.epsilon_terms import in_words as terms_in_words
from scenarios.records.sweep_summary import (
    CONFIDENCE,
    Mean,
    Setting,
    SweepSummary,
    label_in_words,
    place_in_words,
    seeds_in_words,
)

INTERVALS = (
    f"mean ± half of the {100 * CONFIDENCE:g} % t-interval over seeds; — where there is no value"
)
_REASONS = {
    "settings.*.metrics.*.mean": "no finished run has a value",
    "settings.*.metrics.*.half": "an interval needs two runs with a finite value",
    "rows.*.metrics.*": "the run has no value",
    "rows.*.code": "the run did not end",
    "rows.*.wall_s": "the run did not end",
    "choice": "nothing was to be chosen",
    "wall_s": "the sweep did not end",
    "work_s": "the sweep did not end",
}


def in_words(sweep: SweepSummary, width: int, notes: int = UNWRAPPED) -> list[str]:
    """Return a sweep as lines for a person; its table has no line longer than `width`, or is written setting by setting.

    `notes` is the width of its notes.
    """
    manifest = sweep.record.manifest
    lines = [f"{manifest.name} · sweep of {', '.join(manifest.scenarios)} · {progress(sweep)}", ""]
    lines += [f"  varies    {line}" for line in varied(sweep)]
    lines += [f"  seeds     {seeds_in_words(manifest.seeds)}"]
    lines += [
        f"  status    {statuses(sweep)}",
        *(f"            {line}" for line in lost(sweep)),
        "",
    ]
    lines += _table(sweep, width)
    lines += [f"  ε         {line}" for line in epsilon_lines(sweep)]
    lines += [line for note in manifest.notes for line in hung("note      ", note, notes)]
    if manifest.command:
        lines += ["", f"  again     {manifest.command}"]
    return lines


def progress(sweep: SweepSummary) -> str:
    """Return how the sweep ended, in a few words."""
    if sweep.is_cut_off:
        return "cut off, or still going on: the same command with the same --out goes on with it"
    return sweep.record.manifest.status


def varied(sweep: SweepSummary) -> list[str]:
    """Return what was varied, a line each."""
    axes = [(axis.name, axis.labels) for axis in sweep.record.axes]
    lines = []
    for name, labels in axes:
        lines.append(f"{name}: {', '.join(map(label_in_words, labels))}")
    return lines or ["seeds only"]


def statuses(sweep: SweepSummary) -> str:
    """Return how many runs ended in which way."""
    counts = ", ".join(f"{count} {status}" for status, count in sweep.statuses.items())
    planned = f" of {sweep.planned} planned" if sum(sweep.statuses.values()) < sweep.planned else ""
    return f"{counts or 'no run has ended'}{planned}"


def lost(sweep: SweepSummary) -> Iterator[str]:
    """Yield which runs did not finish, and why."""
    gone = [
        (setting.labels, row)
        for setting in sweep.settings
        for row in setting.rows
        if not row.is_finished
    ]
    for labels, row in gone:
        place = place_in_words(labels)
        reason = row.message.strip().splitlines()
        why = f": {reason[0]}" if reason else ""
        yield f"{f'{place}, ' if place else ''}seed {row.seed} {row.status}{why}"


def epsilon_lines(sweep: SweepSummary) -> Iterator[str]:
    """Yield the terms of ε, and what it does not cover; nothing where no run has a summary."""
    if not sweep.terms:
        return
    groups: dict[tuple[str, float], list[Any]] = {}
    for terms in sweep.terms:
        groups.setdefault(terms.guarantee, []).append(terms)
    for same in groups.values():
        yield f"{terms_in_words(same)}; {UNIT}"
    if len(groups) > 1:
        yield "runs differ in view or δ: their ε are no values of one quantity"
    for reason in sweep.not_covered:
        yield f"NOT COVERED: {reason}"


def mean_in_words(of: Mean, metric: str) -> str:
    """Return the mean of a metric with half of its interval, to the digits that the interval leaves certain."""
    mean = without_dust(of.mean, metric)
    if math.isnan(mean):
        return "—"
    if math.isinf(mean):
        return "∞" if mean > 0 else "−∞"
    if math.isnan(of.half):
        return f"{mean:.4g}"
    if of.half < DUST * max(1.0, abs(mean)):
        return f"{mean:.4g} ± 0"
    digits = 1 - math.floor(math.log10(of.half))
    if 0 <= digits <= 6 and abs(mean) < 1e9:
        return f"{mean:.{digits}f} ± {of.half:.{digits}f}"
    return f"{mean:.4g} ± {of.half:.2g}"


def chosen_in_words(setting: Setting) -> str:
    """Return whether a setting was chosen."""
    return "yes" if setting.is_chosen else "no"


def runs_in_words(setting: Setting) -> str:
    """Return how many of the runs of a setting finished."""
    done, of = len(setting.finished), len(setting.rows)
    return str(done) if done == of else f"{done} of {of}"


def _table(sweep: SweepSummary, width: int) -> list[str]:
    """Return the settings and their metrics: a table, or blocks where that is too wide for the terminal."""
    if not sweep.settings:
        return []
    metrics = sweep.record.manifest.metrics
    chosen = ["chosen"] if sweep.record.manifest.choice is not None else []
    head = [*_short(sweep.columns, metrics), *chosen, "runs", *metrics]
    body = [
        [
            *(label_in_words(label) for label in setting.labels.values()),
            *(chosen_in_words(setting) for _ in chosen),
            runs_in_words(setting),
            *(mean_in_words(setting.means[name], name) for name in metrics),
        ]
        for setting in sweep.settings
    ]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    if sum(widths) + 2 * len(widths) > width:
        return [*_blocks(sweep, metrics, width), f"  {INTERVALS}", ""]
    rows = ["  " + "  ".join(map(str.rjust, row, widths)) for row in (head, *body)]
    return [*rows, f"  {INTERVALS}", ""]


def _short(columns: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Return the last parts of the names of columns, as many as tell them apart."""
    heads = [column.rpartition(".")[2] for column in columns]
    clear = len(set(heads)) == len(heads) and not set(heads) & {"runs", *metrics}
    return heads if clear else list(columns)


def _blocks(sweep: SweepSummary, metrics: Sequence[str], width: int) -> Iterator[str]:
    room = max(map(len, metrics), default=0)
    for setting in sweep.settings:
        place = place_in_words(setting.labels)
        named = f"{f'{place}: ' if place else ''}{runs_in_words(setting)} runs"
        if sweep.record.manifest.choice is not None and setting.is_chosen:
            named += ", chosen"
        yield from wrap(named, width, initial_indent="  ", subsequent_indent="    ")
        for name in metrics:
            yield f"    {name:<{room}}  {mean_in_words(setting.means[name], name)}"


def as_tree(sweep: SweepSummary) -> dict[str, Any]:
    """Return a sweep as JSON holds it; of every null the reason stands beside it."""
    manifest = sweep.record.manifest
    settings = [
        {
            "settings": dict(setting.labels),
            "runs": len(setting.rows),
            "finished": len(setting.finished),
            "chosen": setting.is_chosen,
            "metrics": {
                name: {"mean": figure(mean.mean), "half": figure(mean.half), "values": mean.values}
                for name, mean in setting.means.items()
            },
        }
        for setting in sweep.settings
    ]
    rows = [
        msgspec.to_builtins(row) | {"metrics": {k: figure(v) for k, v in row.metrics.items()}}
        for row in sweep.rows
    ]
    terms = [{**msgspec.to_builtins(one), "runs": runs} for one, runs in sweep.terms.items()]
    tree = msgspec.to_builtins(manifest) | {
        "confidence": CONFIDENCE,
        "statuses": dict(sweep.statuses),
        "planned": sweep.planned,
        "epsilon": terms,
        "settings": settings,
        "rows": rows,
    }
    return with_reasons(tree, _REASONS)

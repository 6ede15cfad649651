"""The sections of a report on a sweep."""

from collections.abc import Iterator

from scenarios.pictures.html import Html, items, joined, pairs, preformatted, table, tag
from scenarios.pictures.page import Section
from scenarios.records.sweep_summary import (
    SweepSummary,
    choice_in_words,
    label_in_words,
    seeds_in_words,
)
from scenarios.records.sweep_text import (
    INTERVALS,
    chosen_in_words,
    epsilon_lines,
    lost,
    mean_in_words,
    progress,
    runs_in_words,
    statuses,
    varied,
)

_MOST_ROWS = 2_000
"""So many settings are listed; of more, how many there are is said."""


def title_of(sweep: SweepSummary) -> str:
    """Return the title of a report on a sweep."""
    return f"{sweep.record.manifest.name}, a sweep"


def sections(sweep: SweepSummary, pictures: Html) -> Iterator[Section]:
    """Yield the sections of a report: an id, a heading, and what it holds."""
    manifest = sweep.record.manifest
    yield "summary", "Summary", summary_of(sweep)
    yield "pictures", "Pictures", pictures
    yield "table", "Table", table_of(sweep)
    yield "privacy", "Privacy", _privacy(sweep)
    yield "lost", "Runs that did not finish", items(lost(sweep)) if list(lost(sweep)) else Html()
    yield "notes", "Notes", items(manifest.notes) if manifest.notes else Html()
    yield "environment", "Environment", _environment(sweep)
    yield "again", "Run it again", _again(sweep)


def in_short(sweep: SweepSummary) -> list[Html]:
    """Return what a notebook shows of a sweep."""
    return [verdict_of(sweep), summary_of(sweep), table_of(sweep)]


def verdict_of(sweep: SweepSummary) -> Html:
    """Return how a sweep ended, in a sentence."""
    kinds = {"finished": "good", "failed": "bad"}
    kind = kinds.get(sweep.record.manifest.status, "warn")
    return tag(
        "p",
        f"Status: {progress(sweep)}",
        tag("span", f" ({statuses(sweep)})", class_="soft"),
        class_=f"verdict {kind}",
    )


def summary_of(sweep: SweepSummary) -> Html:
    """Return what was swept, in words."""
    manifest = sweep.record.manifest
    return pairs(
        [
            ("scenarios", [", ".join(manifest.scenarios)]),
            ("varied", varied(sweep)),
            ("seeds", [f"{seeds_in_words(manifest.seeds)} ({len(manifest.seeds)})"]),
            ("runs", [statuses(sweep)]),
            *([("chosen", [choice_in_words(manifest.choice)])] if manifest.choice else []),
        ]
    )


def table_of(sweep: SweepSummary) -> Html:
    """Return a row for each setting, with the mean of each metric over its seeds."""
    metrics = sweep.record.manifest.metrics
    chosen = ["chosen"] if sweep.record.manifest.choice is not None else []
    rows = []
    for setting in sweep.settings[:_MOST_ROWS]:
        labels = [label_in_words(label) for label in setting.labels.values()] or ["all seeds"]
        means = (mean_in_words(setting.means[name], name) for name in metrics)
        marks = (chosen_in_words(setting) for _ in chosen)
        rows.append((*labels, *marks, runs_in_words(setting), *means))
    if not rows:
        return tag("p", "No run has ended yet.")
    head = (*(sweep.columns or ("setting",)), *chosen, "runs", *metrics)
    texts = (len(sweep.columns) or 1) + len(chosen)
    more = len(sweep.settings) - len(rows)
    said = (
        [tag("p", f"… and {more} more settings: the table of the sweep holds them all.")]
        if more
        else []
    )
    return joined([table(INTERVALS, head, rows, texts=texts), *said])


def _privacy(sweep: SweepSummary) -> Html:
    lines = list(epsilon_lines(sweep))
    return items(lines) if lines else Html()


def _environment(sweep: SweepSummary) -> Html:
    manifest = sweep.record.manifest
    known = {"hush": manifest.hush, **manifest.environment}
    rows = [(name, "unknown" if value is None else value) for name, value in known.items()]
    return table("Environment", ("what", "version"), rows, texts=2)


def _again(sweep: SweepSummary) -> Html:
    manifest = sweep.record.manifest
    if not manifest.command:
        return tag("p", "The sweep was called from Python: the call repeats it.")
    said = "This repeats the sweep; with the same --out, what has finished is not run again."
    return joined([tag("p", said), preformatted(manifest.command)])

"""The sections of a report on one run."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sized
from typing import Any

from scenarios.language.json_numbers import declared_by, number, self_declared, show
from scenarios.pictures.html import Html, items, joined, pairs, preformatted, table, tag
from scenarios.pictures.page import Section
from scenarios.pictures.report_data import data_of
from scenarios.records.epsilon_terms import UNIT
from scenarios.records.file_guard import FolderError
from scenarios.records.group_privacy import RunPrivacy, privacy_of
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import cut_off_in_words, epsilon_of, heard_in_words
from scenarios.records.run_folder import RESOLVED, SCENARIO
from scenarios.records.summary_text import entries, expectation_line, faults_in_words

_MOST_TEXT = 200_000
"""So many characters of a file are shown."""
_MOST_ROWS = 200
"""So many groups, expectations, faults or keys are listed; of more, how many there are is said."""
_FEW = 4
"""So many files are named in a sentence."""
_VERDICTS = {
    "pass": ("good", "passed", "every expectation and every invariant holds"),
    "fail": ("bad", "failed", "an expectation or an invariant does not hold"),
    "unknown": ("warn", "undecided", "a verdict is unknown"),
    "diverged": ("bad", "diverged", "what every agent computes is no number any more"),
}


def title_of(record: RunRecord) -> str:
    """Return the title of a report on a run."""
    return f"{record.manifest['scenario']}, seed {record.manifest['seed']}"


def sections(record: RunRecord, pictures: Html) -> Iterator[Section]:
    """Yield the sections of a report: an id, a heading, and what it holds. Empty ones are left out."""
    summary = record.summary
    yield "summary", "Summary", summary_of(record)
    yield "pictures", "Pictures", pictures
    yield "data", "Data", data_of(record.data_card)
    if record.is_judged:
        yield "verdicts", "Verdicts", _verdicts(summary)
        yield "groups", "Groups", _groups(summary)
    yield "privacy", "Privacy", _privacy(record)
    yield "faults", "Faults", _faults(summary)
    yield "notes", "Notes and warnings", _notes(record)
    yield "environment", "Environment and digests", _environment(record)
    yield "again", "Run it again", _again(record)


def head_of(record: RunRecord) -> Html:
    """Return what stands below the title: what the scenario is about, and the verdict."""
    try:
        said = str(record.resolved.get("summary", ""))
    except FolderError:
        said = ""
    return joined([*([tag("p", said)] if said else []), verdict_of(record)])


def in_short(record: RunRecord) -> list[Html]:
    """Return what a notebook shows of a run."""
    return [verdict_of(record), summary_of(record)]


def verdict_of(record: RunRecord) -> Html:
    """Return the verdict of a run in a sentence, and what must be known before anything else is believed."""
    known = record.summary.get("verdict") if record.status == "finished" else None
    if known in _VERDICTS:
        kind, word, why = _VERDICTS[known]
    else:
        kind, word, why = "warn", record.ended, "its figures are of what was recorded up to there"
    parts = [
        tag(
            "p",
            f"Verdict: {word}",
            tag("span", f": {why}.", class_="soft"),
            class_=f"verdict {kind}",
        )
    ]
    if record.caveats:
        parts.append(items(record.caveats, class_="bad"))
    return joined(parts)


def summary_of(record: RunRecord) -> Html:
    """Return the figures of a run in words."""
    if not record.is_judged:
        summary = record.summary | {"epsilon": epsilon_of(record)}
        return tag("div", *(tag("p", line.strip()) for line in cut_off_in_words(summary)))
    summary = record.summary
    ended = (
        f"{summary['status']} at {summary['ended_s']:g} s of simulated time ({summary['ended_by']})"
    )
    return pairs(
        [("ended", [ended]), ("mechanism", [summary.get("mechanism", "?")]), *entries(summary)]
    )


def _verdicts(summary: Mapping[str, Any]) -> Html:
    parts = []
    if summary["expectations"]:
        rows = [
            (_mark(e["verdict"]), expectation_line(e)[2:])
            for e in summary["expectations"][:_MOST_ROWS]
        ]
        parts.append(table("What the scenario expected", ("verdict", "expectation"), rows, texts=2))
        parts += _more(summary["expectations"], "expectations")
    invariants = [(name, _mark(of["verdict"])) for name, of in summary["invariants"].items()]
    parts.append(
        table("Invariants of the simulation", ("invariant", "verdict"), invariants, texts=2)
    )
    targets = [
        (name, show(number(value)) if value is not None else "not reached")
        for name, value in summary["targets"].items()
    ]
    if targets:
        parts.append(table("Targets", ("figure", "value"), targets))
    return joined(parts)


def _mark(verdict: str) -> Html:
    kind, word, _ = _VERDICTS.get(verdict, ("warn", verdict, ""))
    return tag("span", word, class_=kind)


def _groups(summary: Mapping[str, Any]) -> Html:
    score = "accuracy" if "accuracy" in summary else "rmse"
    head = ("group", "agents", "updates", "releases", "refused", "loss", score)
    rows = [
        (
            g["name"],
            _count(g["count"]),
            _count(g.get("updates")),
            _count(g["releases"]),
            _count(g["refused"]),
            _figure(g["loss"]),
            _figure(g[score]),
        )
        for g in summary["groups"][:_MOST_ROWS]
    ]
    return joined(
        [
            tag(
                "p",
                "Losses and scores are means over the agents of a group: an oracle's view, not released.",
            ),
            table("Agents by group, at the end", head, rows),
            *_more(summary["groups"], "groups"),
        ]
    )


def _more(those: Sized, words: str) -> list[Html]:
    """Return how many are left out of a table of the first ones, where any are."""
    more = len(those) - _MOST_ROWS
    return [tag("p", f"… and {more:,} more {words}.")] if more > 0 else []


def _count(value: int | None) -> str:
    return "—" if value is None else f"{value:,}"


def _figure(value: Any) -> str:
    known = number(value)
    return "—" if math.isnan(known) else show(known)


def _privacy(record: RunRecord) -> Html:
    """Return the ε of every group, by accountant and by view, and what they do not cover."""
    privacy = privacy_of(record)
    if privacy is None:
        said = "The run has no summary of its end: its ε, from ledger and events, is in the summary above."
        return joined([tag("p", said), *_not_covered(())])
    terms = privacy.terms
    parts = [
        tag(
            "p",
            f"Every ε is {_standing(record)} for the {terms.view} view, at the δ of its group, with {UNIT} "
            f"(sizes are public). The headline accountant of the agent with the largest ε is {terms.accountant}.",
        ),
        _by_group(record, privacy),
        _side_by_side(
            "ε by accountant, " + f"{terms.view} view",
            "accountant",
            privacy,
            lambda g: g.by_accountant,
        ),
        _side_by_side(
            "ε by view (adversary), headline accountant", "view", privacy, lambda g: g.by_view
        ),
        *_not_covered(terms.not_covered),
    ]
    if privacy.groups and any(group.releases for group in privacy.groups):
        parts += [tag("h3", "What was heard"), tag("p", " ".join(_plain(heard_in_words(record))))]
    return joined(parts)


def _standing(record: RunRecord) -> str:
    """Return what an ε of a run is: a bound, or what code of the scenario's own makes of it."""
    code = declared_by(record.resolved["mechanism"]["kind"])
    return "an upper bound" if code is None else f"a figure that is {self_declared(code)},"


def _plain(lines: list[str]) -> list[str]:
    return [line.strip().removeprefix("heard").strip() for line in lines]


def _by_group(record: RunRecord, privacy: RunPrivacy) -> Html:
    caps = {group["name"]: group for group in record.summary["groups"]}
    rows = []
    for group in privacy.groups[:_MOST_ROWS]:
        told = caps.get(group.name, {})
        charged = group.by_view.get(privacy.terms.view, math.nan)
        kept = math.isnan(group.claimed) or charged <= group.claimed * (1 + 1e-4)
        rows.append(
            (
                group.name,
                f"{group.agents:,}",
                f"{group.releases:,}",
                _count(told.get("refused")),
                "none" if told.get("cap") is None else _figure(told["cap"]),
                show(group.delta),
                _figure(group.claimed),
                _figure(charged)
                if kept
                else tag("strong", f"{_figure(charged)}, above its claim", class_="bad"),
            )
        )
    head = ("group", "agents", "releases", "refused", "cap on ε", "δ", "ε claimed", "ε charged")
    whole = table("Releases and the largest ε over the agents of each group", head, rows)
    return joined([whole, *_more(privacy.groups, "groups")])


def _side_by_side(caption: str, word: str, privacy: RunPrivacy, of: Any) -> Html:
    names = list(of(privacy.groups[0])) if privacy.groups else []
    if not names:
        return Html()
    rows = [
        (group.name, *(_figure(of(group)[name]) for name in names))
        for group in privacy.groups[:_MOST_ROWS]
    ]
    head = ("group", *(f"{word} {name}" if word == "view" else name for name in names))
    return joined([table(caption, head, rows), *_more(privacy.groups, "groups")])


def _not_covered(reasons: tuple[str, ...]) -> list[Html]:
    if not reasons:
        return []
    return [tag("h3", "Not covered by ε"), items(reasons, class_="bad")]


def _faults(summary: Mapping[str, Any]) -> Html:
    faults = summary.get("faults") or []
    if not faults:
        return Html()
    lines = faults_in_words(faults)
    return joined([items(lines[:_MOST_ROWS]), *_more(lines, "faults")])


def _notes(record: RunRecord) -> Html:
    summary = record.summary
    lines = [
        *summary.get("notes", ()),
        *summary.get("warnings", ()),
        *summary.get("differences", ()),
    ]
    if record.manifest.get("steered_by_hand"):
        lines.append("the run was steered by hand: inputs.jsonl holds what a person did")
    return joined([items(lines[:_MOST_ROWS]), *_more(lines, "notes")]) if lines else Html()


def _environment(record: RunRecord) -> Html:
    manifest = record.manifest
    known = {
        "hush": manifest.get("hush", "?"),
        "engine": manifest.get("engine", "?"),
        **manifest["environment"],
    }
    rows = [(name, "unknown" if value is None else value) for name, value in known.items()]
    digests = [
        (name, tag("code", manifest["digests"][name]))
        for name in ("schedule", "value")
        if name in manifest["digests"]
    ]
    checksums = manifest.get("sha256")
    sums = checksums.items() if isinstance(checksums, dict) else ()
    parts = [table("Environment", ("what", "version"), rows, texts=2)]
    if digests:
        parts.append(table("Digests of the run", ("of", "SHA-256"), digests, texts=2))
    if sums:
        files = [(name, tag("code", digest)) for name, digest in list(sums)[:_MOST_ROWS]]
        whole = table("Checksums of the run's files", ("file", "SHA-256"), files, texts=2)
        named = tag("summary", "Checksums of the files")
        parts.append(tag("details", named, whole, *_more(sums, "files")))
    return joined(parts)


def _again(record: RunRecord) -> Html:
    """Return the command that repeats the run, and the texts of its scenario."""
    try:
        tree = record.resolved
    except FolderError as error:
        return tag("p", f"The run cannot be repeated from its folder: {error}")
    words = ["hush", "run", str(record.resolved_file), "--seed", str(record.manifest["seed"])]
    if ":" in str(tree["mechanism"]["kind"]):
        words.append("--allow-code")
    parts = [
        tag(
            "p",
            "The resolved scenario holds every default and the seed. This repeats the run, event by event:",
        ),
        preformatted(shlex.join(words)),
        tag(
            "p",
            "Where the folder of the run is not at hand, save the resolved scenario below as a file, and run that.",
        ),
    ]
    if tree.get("origin", {}).get("in_memory"):
        said = "Its data or its graph were handed over from Python: the command needs them, as run(…, data=…) takes them."
        parts.append(tag("p", said, class_="warn"))
    elif files := tree.get("origin", {}).get("sha256"):
        named = ", ".join(list(files)[:_FEW]) + (" …" if len(files) > _FEW else "")
        said = f"Its data are files ({named}): where they are not beside the scenario, name the folder that holds them by --data DIR or HUSH_DATA."
        parts.append(tag("p", said))
    for name, words_of in (
        (SCENARIO, "The scenario as written"),
        (RESOLVED, "The resolved scenario"),
    ):
        parts.append(_file(record, name, words_of))
    return joined(parts)


def _file(record: RunRecord, name: str, words: str) -> Html:
    try:
        content, has_more = record.text(name, _MOST_TEXT)
    except FolderError as error:
        return tag("p", f"{words}: {error}.")
    parts = [tag("summary", f"{words} ({name})"), preformatted(content, aria_label=words)]
    if has_more:
        parts.append(tag("p", f"The rest of {name} is in the folder of the run."))
    return tag("details", *parts)

"""Words of pictures: labels with units, what an ε is of, seeds in short; text of files as a picture may show it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.language.visible_text import visible
from scenarios.pictures.settings import Member, Setting
from scenarios.planning.metric_names import reads_models, split_metric
from scenarios.records.epsilon_terms import UNIT, EpsilonTerms, in_words
from scenarios.records.epsilon_terms import terms_of as recorded_terms_of
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import not_covered

X_LABELS = {
    "time": "simulated time (s)",
    "rounds": "rounds",
    "updates": "updates, all agents",
    "releases": "releases, all agents",
    "bytes": "bytes sent",
}
COUNTS = frozenset({"rounds", "updates", "releases"})
"""Axes that hold whole numbers."""
_UNITS = {
    "accuracy": "share of points",
    "rmse": "unit of the label",
    "availability": "share of time",
    "harmed": "share of agents",
    "staleness": "s",
    "lag": "messages",
    "bytes.sent": "bytes",
    "messages": "messages",
    "nodes": "agents",
    "releases": "releases",
    "derived": "messages",
    "updates": "updates",
    "rounds": "rounds",
    "degree": "neighbours",
    "gain": "score",
    "time_to": "s",
    "releases_to": "releases",
    "bytes_to": "bytes",
}
"""Units of metrics by their names, or the first parts of them; what is not here has no unit."""
_LONGEST, _BROKEN = 42, 18


def terms_of(record: RunRecord) -> EpsilonTerms | None:
    """Return what the ε of a run is of: of its end, else of the world that it began with; None where neither tells."""
    known = recorded_terms_of(record)
    if known is not None:
        return known
    try:
        facts, reasons = record.facts, tuple(not_covered(record))
    except FolderError:
        return None
    largest = max((budget.delta for budget in facts.budgets), default=0.0)
    return EpsilonTerms(facts.view, largest, facts.accountant, reasons)


@dataclass(frozen=True, slots=True)
class Privacy:
    """What the ε of a picture is of, for its foot and for its caption; both empty where it shows none."""

    foot: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()


def privacy_of(members: Iterable[Member], *, shown: bool = True) -> Privacy:
    """Return what the ε of some runs is of, and what it does not cover; nothing where no ε is `shown`.

    Runs of a sweep whose folders are gone tell of none.
    """
    if not shown:
        return Privacy()
    found: dict[EpsilonTerms, None] = {}
    for member in members:
        try:
            terms = terms_of(member.record)
        except FolderError:
            continue
        if terms is not None:
            found[terms] = None
    if not found:
        unknown = "The folder does not tell the view, the δ and the accountant of ε."
        return Privacy(("ε: view and δ are not known",), (unknown,))
    words = in_words(found)
    reasons = dict.fromkeys(words for terms in found for words in terms.not_covered)
    return Privacy(
        (f"ε: {words}".replace(" = ", "\u00a0=\u00a0"),),  # a line does not end there
        (f"ε is that of {UNIT}: {words}.", *(f"ε does not cover: {why}." for why in reasons)),
    )


def is_epsilon(what: str) -> bool:
    """Whether a metric is an ε."""
    return what.startswith("epsilon")


def unit_of(what: str) -> str:
    """Return the unit of a metric; empty where it has none, or is an ε."""
    base = split_metric(what)[0]
    return _UNITS.get(base) or _UNITS.get(base.split(".", maxsplit=1)[0], "")


def metric_label(what: str) -> str:
    """Return the label of an axis that shows a metric: its name, its unit, and whether an oracle alone sees it."""
    base = split_metric(what)[0]
    if base == "epsilon":
        return written(what.replace("epsilon", "ε", 1))
    unit = unit_of(what)
    gap = " " if len(what) + len(unit) < _BROKEN else "\n"
    return written(what) + (f"{gap}({unit})" if unit else "")


def oracle(what: str) -> str:
    """Return a note on a metric that no agent sees; empty for others."""
    return f"{what}: an oracle's view" if reads_models([what]) else ""


def written(text: str, most: int = _LONGEST) -> str:
    """Return a text of a file as a picture shows it: no control character, no formula, and not too long."""
    seen = visible(text)
    if len(seen) > most:
        seen = f"{seen[: most - 1]}…"
    return seen.replace("$", r"\$")


def seeds_in_short(seeds: Iterable[int]) -> str:
    """Return seeds in a few words: `seed 7`, `seeds 0..9`, or how many there are."""
    unique = sorted(set(seeds))
    if len(unique) == 1:
        return f"seed {unique[0]}"
    if unique[-1] - unique[0] == len(unique) - 1:
        return f"seeds {unique[0]}..{unique[-1]}"
    if len(unique) <= 6:
        return f"seeds {', '.join(map(str, unique))}"
    return f"{len(unique)} seeds"


def seeds_of(settings: Sequence[Setting]) -> str:
    """Return the seeds of settings in a few words."""
    return seeds_in_short(seed for setting in settings for seed in setting.seeds)


def agents_in_words(members: Iterable[Member]) -> str:
    """Return the numbers of agents of runs in words; empty where no sample tells."""
    counts = sorted({count for member in members if (count := _agents(member.run.last))})
    if not counts:
        return ""
    many = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"{many} agent{'s' if counts[-1] != 1 else ''}"


def _agents(values: dict[str, Any]) -> int:
    return max((len(v) for v in values.values() if isinstance(v, list)), default=0)


def ended(members: Sequence[Member]) -> str:
    """Return how runs ended where any did not finish, in a few words; empty where all did."""
    ends = dict.fromkeys(m.record.ended for m in members if m.record.status != "finished")
    return ", ".join(ends)

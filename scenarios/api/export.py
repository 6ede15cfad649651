"""Writes runs for programs that track experiments: what each of them is told, whatever it makes of it."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.api.sink import SINKS, Header, Setting, Sink, Target
from scenarios.language.json_numbers import aggregate, number
from scenarios.language.problems import nearest
from scenarios.planning.metric_names import METRICS
from scenarios.records.comparison import flat
from scenarios.records.epsilon_terms import UNIT, EpsilonTerms, terms_of
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord

_FOLDS = ("mean", "min", "max")
"""What is told of a metric of agents."""
_LONGEST = 500
"""A longer list of settings, of edges say, is in the file of the resolved scenario alone."""
_OTHERWISE = {"left", "claimed", "unsent", "unheard", "unread", "audited"}
"""Figures of ε that are no ε by an accountant of that name."""
_ODD = re.compile(r"[^-\w./ ]", re.ASCII)
"""What not every program takes in a name."""
_LISTS = {"nodes", "reasons", "expectations", "invariants", "faults"}


def export_runs(
    sink: str,
    place: str | Path,
    runs: Iterable[tuple[RunRecord, str, Mapping[str, Setting]]],
    *,
    group: str = "",
    project: str = "hush",
    online: bool = False,
) -> int:
    """Write runs, each with a name and with settings of its own, and return how many there were.

    Raises `FolderError` where there is no such sink, it has no server, or a run is damaged; `MissingPackage` where its
    package is not installed.
    """
    if sink not in SINKS:
        raise FolderError(f"there is no sink {sink!r}; {nearest(sink, SINKS)}")
    kind = SINKS[sink]
    if online and not kind.can_be_online:
        raise FolderError(f"{sink} writes files only: leave online out")
    if "://" in str(place) and not online:
        said = f"{place} is a server, and what leaves this machine is asked for by online=True"
        raise FolderError(said)
    target, count = Target(str(place), project, online), 0
    for record, name, settings in runs:
        _export(record, kind.open(target), name, group, settings)
        count += 1
    return count


def _export(
    record: RunRecord, sink: Sink, name: str, group: str, settings: Mapping[str, Setting]
) -> None:
    with guarded(record.path):
        terms = terms_of(record)
        header = Header(name, group, {**settings_of(record), **settings}, tags_of(record, terms))
        final = final_of(record)
        samples = enumerate(values_of(record, terms))
    sink.begin(header)
    try:
        for step, (t, values) in samples:
            sink.log(step, t, values)
    finally:
        sink.end(final, [record.resolved_file])


def values_of(
    record: RunRecord, terms: EpsilonTerms | None
) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield each sample: its instant in seconds, and its metrics; those of agents as mean, least and largest.

    An ε has its view, δ and accountant in its name: `epsilon.max/eavesdropper/delta-1e-05/rdp`. NaN is left out.
    """
    for event in record.samples():
        values = {}
        for metric, value in event["values"].items():
            for name, one in _folded(metric, value):
                if not math.isnan(one):
                    values[_named(name, metric, terms)] = one
        yield event["t"] / 1e9, values


def _folded(metric: str, value: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(value, list):
        yield metric, number(value)
        return
    numbers = np.array([number(v) for v in value])
    for fold in _FOLDS:
        yield f"{metric}.{fold}", aggregate(numbers, fold)


def _named(name: str, metric: str, terms: EpsilonTerms | None) -> str:
    base, _, last = metric.partition(".")
    if base != "epsilon" or terms is None:
        return _ODD.sub("_", name)
    by_name = f"epsilon.{last}" in METRICS and last not in _OTHERWISE
    accountant = last if by_name else terms.accountant
    return _ODD.sub("_", f"{name}/{terms.view}/delta-{terms.delta:g}/{accountant}")


def settings_of(record: RunRecord) -> dict[str, Setting]:
    """Return the resolved scenario as dotted keys; lists as JSON."""
    settings: dict[str, Setting] = {}
    for key, value in flat({k: v for k, v in record.resolved.items() if k != "origin"}).items():
        if isinstance(value, (str, int, float)):
            settings[_ODD.sub("_", key)] = value
        elif value not in ([], {}):
            text = json.dumps(value, default=str)
            settings[_ODD.sub("_", key)] = text if len(text) <= _LONGEST else "in resolved.toml"
    return settings


def tags_of(record: RunRecord, terms: EpsilonTerms | None) -> dict[str, str]:
    """Return how a run ended, its versions and digests, and the terms of its ε, as texts."""
    manifest = record.manifest
    tags = {
        "hush": str(manifest.get("hush", "?")),
        "status": record.ended,
        "folder": str(record.path),
    }
    tags |= {
        f"digest.{k}": str(manifest["digests"][k])
        for k in ("schedule", "value")
        if k in manifest["digests"]
    }
    for at, caveat in enumerate(record.caveats):
        tags[f"caveat.{at}"] = caveat
    if terms is not None:
        tags |= {
            "epsilon.view": terms.view,
            "epsilon.delta": f"{terms.delta:g}",
            "epsilon.unit": UNIT,
        }
        tags["epsilon.accountant"] = terms.accountant
        tags["epsilon.not_covered"] = (
            "; ".join(terms.not_covered) or "nothing is known that it does not cover"
        )
    return tags


def final_of(record: RunRecord) -> dict[str, Setting]:
    """Return the figures and words of a run's end: numbers, infinite ones too, and texts; groups by their names."""
    final: dict[str, Setting] = {}
    for key, value in flat({k: v for k, v in record.summary.items() if k not in _LISTS}).items():
        name = _ODD.sub("_", key)
        if value in ("inf", "-inf"):
            final[name] = number(value)
        elif isinstance(value, (str, int, float)):
            final[name] = value
    return final

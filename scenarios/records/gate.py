"""The one gate of what runs and sweeps leave: it says what in a folder is not as it was left.

Every reader gets a run or a sweep with the verdict of this module (`RunRecord.flaws`, `SweepRecord.flaws`): the command
says it on standard error and ends with 2, Python warns of it. The record is the truth. What else lies in a folder is
believed only as far as it fits the record:

1. A manifest that says how a run ended lists every file of the run with its checksum, and each is what its checksum says.
   One that says `running` holds no checksums.
2. A run is finished only where its record ends with the event `finished`. A file that is written at the end of a run
   needs that event, too, whatever the manifest says.
3. The figures of the summary are those that the record gives: releases, refusals, messages, ε.
4. What ε rests on (δ, view, accountant) is the same in `resolved.toml`, in `world.json` and in the summary.
5. A row of a sweep's table is what its cell says.

A run that was killed is no damage: its manifest says `running`, its record is whole up to its last frame, and it holds no
file of an end. What was edited in all these places alike cannot be seen: nothing here is signed.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.json_numbers import number, show
from scenarios.planning.metric_names import is_known
from scenarios.records.file_guard import FolderError, guarded, opened
from scenarios.records.run_folder import (
    AT_THE_END,
    DATA,
    INPUTS,
    LEDGER,
    METRICS,
    PARQUET,
    RESOLVED,
    SCENARIO,
    SUMMARY,
    VERDICTS,
    WORLD,
    is_segment,
    record_segment,
)
from scenarios.records.sample_values import value_in

if TYPE_CHECKING:
    from scenarios.records.reader import RunRecord
    from scenarios.records.sweep_record import Row, SweepRecord

TABLE = "sweep.csv"
"""The table of a sweep."""
_MOST_SENTENCES = 20
"""So many flaws of a sweep are told; of more, how many there are."""
_WHILE_RUNNING = (SCENARIO, RESOLVED, WORLD, DATA, METRICS, INPUTS, record_segment(0))
"""What every run writes before its end."""
_OF_AN_END = (LEDGER, *AT_THE_END, PARQUET)
"""What no run writes before its end."""
_JUDGED = ("verdict", "invariants", "expectations")
"""What stands in the summary and in the file of verdicts."""
_TAIL = 1 << 16
"""So many bytes of the end of a file of metrics are looked at: a row is shorter."""
_DIGITS = 1e-9
"""So near is an ε that is recomputed to the one that was told: sums of the same charges may be rounded in another order."""


def flaws_of_run(record: "RunRecord") -> tuple[str, ...]:
    """Return what in a run's folder is not as the run left it, a sentence each; empty where all is."""
    flaws = list[str]()
    for rules in (flaws_of_files, _flaws_of_record, flaws_of_figures):
        try:
            with guarded(record.path):
                flaws += rules(record)
        except FolderError as error:
            flaws.append(str(error))
    return tuple(dict.fromkeys(flaws))


def _stated_end(record: "RunRecord") -> str:
    """Return how the manifest says that a run ended, whatever its record holds."""
    return str(record.manifest["status"])


def flaws_of_files(record: "RunRecord") -> Iterator[str]:
    """Yield what is wrong with the files of a run by its manifest alone: which are missing, changed, or not vouched for."""
    checksums = record.manifest.get("sha256")
    if _stated_end(record) == "running":
        if checksums or record.manifest["digests"]:
            yield "the manifest says running, and holds the checksums of an end"
        return
    if not isinstance(checksums, dict) or not checksums:
        yield "the manifest holds no checksums: the files may be anything"
        return
    expected = _expected(record)
    missing = [name for name in {**checksums, **expected} if not _holds(record.path, name)]
    if missing:
        yield f"files are missing: {', '.join(missing)}"
    present = {
        *_WHILE_RUNNING,
        *_OF_AN_END,
        *(p.name for p in record.path.iterdir() if is_segment(p)),
    }
    unlisted = sorted(n for n in present if n not in checksums and _holds(record.path, n))
    if unlisted:
        yield f"the manifest holds no checksum of: {', '.join(unlisted)}"
    changed = [
        name
        for name, digest in checksums.items()
        if name not in missing and _sha256(record.path / name) != digest
    ]
    if changed:
        yield f"checksums do not match: {', '.join(changed)}"


def _expected(record: "RunRecord") -> dict[str, None]:
    """Return the files that a run which ended so must have left."""
    if _stated_end(record) == "failed":  # the disk may have taken none of them
        return {}
    names = dict.fromkeys((*_WHILE_RUNNING, *AT_THE_END))
    omitted = "ledger" in record.manifest  # a run with too many releases says that it wrote none
    return names if omitted else {**names, LEDGER: None}


def _holds(folder: Path, name: str) -> bool:
    """Whether a file of this very folder is there."""
    return Path(name).name == name and (folder / name).is_file()


def _sha256(file: Path) -> str:
    with opened(file) as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _flaws_of_record(record: "RunRecord") -> Iterator[str]:
    """Yield how the record disagrees with itself, with the plan, and with how the manifest says that the run ended."""
    # The files first: a run that goes on meanwhile writes them after the end of its record.
    early = [name for name in _OF_AN_END if _holds(record.path, name)]
    ending = record.ending
    yield from record.proof.words
    yield from _lost_samples(record)
    if record.counts.kinds:
        for key, own in (("seed", record.facts.seed), ("scenario", record.facts.name)):
            if record.manifest[key] != own:
                yield f"the manifest names another {key} than {WORLD}"
    # A run that died before its first event may not have written what it is of.
    if record.counts.kinds or record.proof.lines:
        _ = record.epsilon, record.data_card  # they raise where a file is missing or fits no other
    if _stated_end(record) in {"finished", "interrupted"}:
        if ending is None:
            yield f"the manifest says {record.manifest['status']}, and the record does not hold the end of the run"
        elif (ending.reason == "interrupted") != (_stated_end(record) == "interrupted"):
            yield f"the manifest says {record.manifest['status']}, and the record ends with: {ending.reason}"
        return
    if _stated_end(record) == "running" and early and ending is None:
        yield f"{', '.join(early)}: written at the end of a run, and the record does not hold the end"


def _lost_samples(record: "RunRecord") -> Iterator[str]:
    """Yield that samples were written which the record does not hold: it is always ahead of them."""
    file = record.path / METRICS
    if not file.is_file():
        return
    with opened(file) as data:
        data.seek(max(0, file.stat().st_size - _TAIL))
        lines = data.read().rpartition(b"\n")[0].split(b"\n")
    instant = lines[-1].partition(b",")[0]
    if instant != b"t" and Decimal(instant.decode() or "0") * 10**9 > record.length:
        yield f"{METRICS} holds a sample of {instant.decode()} s, after the last event of the record"


def flaws_of_figures(record: "RunRecord") -> Iterator[str]:
    """Yield which figures of a run's end are not those that its record gives; none where it left no summary."""
    summary = None if _stated_end(record) == "running" else record.summary_file
    if summary is None:  # that of a run that died while its end was written is not believed
        if _stated_end(record) == "finished" and (record.path / SUMMARY).is_file():
            yield f"{SUMMARY} is empty"
        return
    if _stated_end(record) == "failed":
        yield from _lost(record, summary)
        return
    for key in ("status", "seed", "scenario"):
        if summary[key] != record.manifest[key]:
            yield f"the summary says {summary[key]}, and the manifest {record.manifest[key]}"
    if (record.path / VERDICTS).is_file() and _differ(summary, record.verdicts_file or {}):
        yield f"{VERDICTS} holds other verdicts than the summary"
    yield from _other_counts(record, summary)
    yield from _other_epsilon(record, summary)


def _lost(record: "RunRecord", summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a run that failed had counted, and its record lacks; the record may have more: the run went on."""
    releases = len(record.proof.lines)
    if summary["releases"] > releases:
        yield f"the summary counts {summary['releases']} releases, and the record {releases}"
    epsilon, proved = number(summary["epsilon"]["max"]), number(record.epsilon["max"])
    if epsilon > proved and not _is_close(epsilon, proved):
        yield f"the summary tells ε = {show(epsilon)}, and the record gives {show(proved)}"


def _other_counts(record: "RunRecord", summary: Mapping[str, Any]) -> Iterator[str]:
    counted = record.counts.messages
    pairs = [("releases", summary["releases"], len(record.proof.lines))]
    pairs += [("refused", summary["refused"], record.counts.kinds["refused"])]
    pairs += [(f"messages {key}", summary["messages"].get(key), counted[key]) for key in counted]
    for what, told, real in pairs:
        if told != real:
            yield f"the summary counts {told} {what}, and the record {real}"


def _other_epsilon(record: "RunRecord", summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield which figures of ε are not what the releases in the record cost."""
    epsilon, nodes, groups = summary["epsilon"], summary["nodes"], summary["groups"]
    budget, facts, proved = record.budget, record.facts, record.epsilon
    for key in ("view", "accountant", "delta", "declared_by", "covered", "not_covered"):
        if epsilon.get(key) != proved[key]:
            yield f"the summary's ε is one of {key} {epsilon.get(key)}, and the record's of {proved[key]}"
    sampled = [number(own) for own in record.last_sample.get("epsilon", [])]
    claims = [number(claim) for claim in record.last_sample.get("epsilon.claimed") or [None]]
    each, beside = budget.headline().tolist(), budget.side_by_side()
    lists_others = {group["name"] for group in groups} != facts.members.keys()
    if lists_others or len(nodes) != len(each) or epsilon["side_by_side"].keys() != beside.keys():
        yield "the summary lists other agents, groups or accountants than the record"
        return
    largest = {
        name: max((each[i] for i in ids), default=0.0) for name, ids in facts.members.items()
    }
    pairs = [
        *((key, epsilon.get(key), proved[key]) for key in ("max", "mean")),
        ("claimed", epsilon.get("claimed"), max(claims)),
        *((f"by {name}", epsilon["side_by_side"].get(name), of) for name, of in beside.items()),
        *(
            (f"in the view {view}", value, float(budget.by(facts.accountant, view).max()))
            for view, value in epsilon["views"].items()
        ),
        *(
            (f"agent {i}", node.get("epsilon"), each[i])
            for i, node in enumerate(nodes[: len(each)])
        ),
        *((f"agent {i}, last sample", own, each[i]) for i, own in enumerate(sampled[: len(each)])),
        *((f"group {g['name']}", g["epsilon"], largest[g["name"]]) for g in groups),
    ]
    for what, written, real in pairs:
        if not _is_close(number(written), number(real)):
            yield f"the summary tells ε = {show(number(written))} ({what}), and the record gives {show(number(real))}"
            break  # one is enough: where the record lost a release, every figure differs


def _is_close(one: float, other: float) -> bool:
    """Whether two figures are one, but for the order of sums; no figure (NaN) is equal to none."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=_DIGITS, abs_tol=1e-9)


def flaws_of_cell(record: "RunRecord") -> tuple[str, ...]:
    """Return why a run that its manifest calls finished is none, at the price of its checksums: no ε is recomputed."""
    flaws = list[str]()
    try:
        with guarded(record.path):
            flaws += flaws_of_files(record)
            if not record.is_over:
                flaws.append("the record does not hold the end of the run")
            summary, verdicts = record.summary_file, record.verdicts_file
            if summary is None or verdicts is None or _differ(summary, verdicts):
                flaws.append(f"{VERDICTS} and the summary are not of one end")
            elif summary["status"] != _stated_end(record):
                flaws.append(
                    f"the summary says {summary['status']}, and the manifest {record.manifest['status']}"
                )
    except FolderError as error:
        flaws.append(str(error))
    return tuple(flaws)


def _differ(summary: Mapping[str, Any], verdicts: Mapping[str, Any]) -> bool:
    return any(verdicts.get(key) != summary.get(key) for key in _JUDGED)


def flaws_of_sweep(sweep: "SweepRecord") -> tuple[str, ...]:
    """Return what in a sweep's folder is not as the sweep left it, a sentence each; empty where all is.

    Its table is held to its cells, row by row. A sweep that goes on may be between two writes.
    """
    flaws = list(_flaws_of_table(sweep))
    if not (sweep.path / TABLE).exists():
        return tuple(flaws)  # of a sweep that was killed before it wrote one, none is missing
    try:
        with guarded(sweep.path):
            for row in sweep.rows:
                flaws += (f"cell {row.cell}, seed {row.seed}: {why}" for why in _of_row(sweep, row))
    except FolderError as error:
        flaws.append(str(error))
    if len(flaws) > _MOST_SENTENCES:
        more = len(flaws) - _MOST_SENTENCES
        flaws[_MOST_SENTENCES:] = [f"and {more} more flaw{'s' * (more > 1)}"]
    return tuple(flaws)


def _flaws_of_table(sweep: "SweepRecord") -> Iterator[str]:
    manifest, file = sweep.manifest, sweep.path / TABLE
    if manifest.status == "running":
        return
    if not file.is_file():
        yield f"files are missing: {TABLE}"
    elif not manifest.table_sha256:
        yield f"the manifest holds no checksum of: {TABLE}"
    elif _sha256(file) != manifest.table_sha256:
        yield f"{TABLE} is not what the sweep wrote"
    settings = len(manifest.scenarios) * math.prod(len(axis.labels) for axis in manifest.axes)
    with suppress(FolderError):  # told with its rows
        places = [(row.cell, row.seed) for row in sweep.rows]
        if sorted(places) != sorted(product(range(settings), manifest.seeds)):
            yield f"{TABLE} has not a row for each setting and seed"


def _of_row(sweep: "SweepRecord", row: "Row") -> Iterator[str]:
    """Yield what a row says otherwise than the run that it is of."""
    if not row.run:
        if row.is_finished or (row.status == "missing" and sweep.manifest.status == "finished"):
            yield f"its row says {row.status}, and it has no run"
        return
    try:
        record = sweep.run(row)
    except FolderError as error:
        yield str(error)
        return
    if row.seed != record.manifest["seed"]:
        yield f"its run has seed {record.manifest['seed']}"
    if row.status != record.ended:
        yield f"its row says {row.status}, and its run {record.ended}"
    if not row.is_finished:
        return
    flaws = flaws_of_cell(record)
    yield from flaws
    if flaws:
        return
    yield from _other_figures(sweep, row, record)


def _other_figures(sweep: "SweepRecord", row: "Row", record: "RunRecord") -> Iterator[str]:
    """Yield which figures of a finished row are not those of its run."""
    summary, values = record.summary_file or {}, record.last_sample
    targets = summary.get("targets") or {}
    if row.verdict != summary.get("verdict"):
        yield f"its row says {row.verdict}, and its run {summary.get('verdict')}"
    for name in sweep.manifest.metrics:
        if name not in targets and not is_known(name, ()):
            continue  # a column that the sweep itself computed: what a choice costs
        own = value_in(name, values, targets)
        if not _is_close(row.metrics[name], own):
            yield f"its row says {name} = {show(row.metrics[name])}, and its run {show(own)}"

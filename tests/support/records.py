"""Records that were edited event by event, and cut as a kill would have cut them."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

import msgspec

from actors.events import KINDS, Charged, Event
from actors.log import BATCH, Batch
from actors.turns import Spends
from mechanisms.accounting.spend import unprotected
from scenarios.records.ledger_file import spend_of
from scenarios.records.reader import RunRecord
from scenarios.records.record_file import begin, event_record, frame, spend_record
from scenarios.records.record_writer import RecordWriter

RECORD = "record-00000.hush"


def typed(event: dict[str, Any], ledger: dict[tuple[Any, Any], dict[str, Any]]) -> Event:
    """Return an event as it lived: with what it charged, where a ledger line says so."""
    made: Event = msgspec.convert(event, Union[KINDS])  # noqa: UP007
    if not isinstance(made, Charged):
        return made
    line = ledger.get((made.node, made.k))
    spend = unprotected("cd", 1) if line is None else spend_of(line)
    return msgspec.structs.replace(made, spend=spend)


def lived(folder: Path) -> list[Event]:
    """Return the events of a folder as they lived: those that charge have their spends."""
    record = RunRecord(folder)
    ledger = {(line["node"], line["k"]): line for line in record.ledger_lines()}
    return [typed(event, ledger) for event in record.events()]


def write_record(
    folder: Path,
    events: Iterable[dict[str, Any]],
    ledger: Iterable[dict[str, Any]] = (),
    size: int = BATCH,
) -> Path:
    """Write the record of a folder anew, from events as plain values, in batches of so many."""
    charged = {(line["node"], line["k"]): line for line in ledger}
    told = [typed(event, charged) for event in events]
    for file in folder.glob("record-*.hush"):
        file.unlink()
    spends, writer = Spends(), RecordWriter(folder)
    for first in range(0, len(told), size):
        writer.add(Batch(told[first : first + size], spends))
    for stream in writer.streams:
        stream.close()
    return folder / RECORD


def write_singles(
    folder: Path, events: Iterable[dict[str, Any]], ledger: Iterable[dict[str, Any]] = ()
) -> Path:
    """Write the record of a folder anew, each event as it is given, in one frame; raise nothing whatever they say.

    A charge whose release `ledger` has stands behind its spend; another has none, as no run writes it.
    """
    pieces, places = list[bytes](), dict[bytes, int]()
    spends = {(line["node"], line["k"]): _spend_text(line) for line in ledger}
    told = list(events)
    for event in told:
        text = spends.get((event["node"], event.get("k"))) if event["kind"] == "charged" else None
        if text is not None and text not in places:
            places[text] = len(places)
            pieces.append(spend_record(places[text], text))
        place = -1 if text is None else places[text]
        pieces.append(event_record(event["seq"], event["t"], place, msgspec.json.encode(event)))
    for file in folder.glob("record-*.hush"):
        file.unlink()
    last = max(event["t"] for event in told)
    data = frame(b"".join(pieces), told[0]["seq"], len(told), last, holds_sample=True)
    (folder / RECORD).write_bytes(begin(0) + data)
    return folder / RECORD


def _spend_text(line: dict[str, Any]) -> bytes:
    return msgspec.json.encode(
        {k: v for k, v in line.items() if k not in {"seq", "t", "node", "k"}}
    )


def edit_record(folder: Path, events: list[dict[str, Any]], size: int = BATCH) -> Path:
    """Put other events into the record of a folder; those that charge keep the lines of its ledger."""
    ledger = list(RunRecord(folder).ledger_lines())
    return write_record(folder, events, ledger, size)


def events_of(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a folder as plain values, free to be edited."""
    return list(RunRecord(folder).events())


def say_interrupted(folder: Path) -> Path:
    """Let the folder of a finished run be one that a person ended: record, summary and manifest alike."""
    events = events_of(folder)
    events[-1]["reason"] = "interrupted"
    edit_record(folder, events)
    summary, manifest = folder / "summary.json", folder / "manifest.json"
    summary.write_text(summary.read_text().replace('"finished"', '"interrupted"', 1))
    tree = json.loads(manifest.read_text()) | {"status": "interrupted"}
    for name in (RECORD, summary.name):
        tree["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    manifest.write_text(json.dumps(tree))
    return folder


RUNNING: dict[str, Any] = {"status": "running", "digests": {}, "sha256": {}}
"""What the manifest of a run that goes on says of its end."""


def say_running(folder: Path) -> None:
    """Let the manifest of a folder say that the run goes on, as that of a killed run does."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | RUNNING))

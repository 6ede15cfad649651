"""Folders as hush 0.8 left them: events as JSON lines, and a ledger file that was written while the run went on."""

import hashlib
import json
import shutil
from pathlib import Path

from scenarios.records.reader import RunRecord

EVENTS, LEDGER = "events-00000.jsonl", "ledger.jsonl"


def make_old(folder: Path, to: Path | None = None) -> Path:
    """Turn a run's folder, or a copy of it, into one of hush 0.8; return it.

    Checksums in the manifest are those of its files, where there were any.
    """
    if to is not None:
        shutil.copytree(folder, to)
        folder = to
    record = RunRecord(folder)
    lines = b"".join(record.event_lines())
    ledger = "".join(
        json.dumps(line, separators=(",", ":")) + "\n" for line in record.ledger_lines()
    )
    for file in folder.glob("record-*.hush"):
        file.unlink()
    (folder / EVENTS).write_bytes(lines)
    (folder / LEDGER).write_text(ledger)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    known = manifest.get("sha256")
    if known:
        kept = {name: digest for name, digest in known.items() if not name.endswith(".hush")}
        for name in (EVENTS, LEDGER):
            kept[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        manifest["sha256"] = dict(sorted(kept.items()))
        path.write_text(json.dumps(manifest, indent=2) + "\n")
    return folder

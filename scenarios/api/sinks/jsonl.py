"""jsonl: lines of JSON, for programs of one's own."""

import json
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from scenarios.api.sink import Header, Setting, SinkKind, Target
from scenarios.language.json_numbers import figure, plain
from scenarios.records.run_folder import numbered


class _Lines:
    """A folder of its own for each run, with one file: a line when it begins, one for each sample, one when it ends."""

    def __init__(self, target: Target) -> None:
        self._folder = target.folder
        self._file: TextIOWrapper | None = None

    def begin(self, header: Header) -> None:
        path = numbered(str(self._folder / "run")) / "run.jsonl"
        self._file = path.open("w", encoding="utf-8")
        tree = {"name": header.name, "group": header.group}
        self._write(tree | {"settings": dict(header.settings), "tags": dict(header.tags)})

    def log(self, step: int, t: float, values: Mapping[str, float]) -> None:
        self._write({"step": step, "t": t, "values": {k: figure(v) for k, v in values.items()}})

    def end(self, summary: Mapping[str, Setting], files: Sequence[Path]) -> None:
        texts = {file.name: file.read_text("utf-8", errors="replace") for file in files}
        self._write({"summary": {k: plain(v) for k, v in summary.items()}, "files": texts})
        assert self._file is not None, "it was begun"  # noqa: S101
        self._file.close()

    def _write(self, tree: Mapping[str, Any]) -> None:
        assert self._file is not None, "it was begun"  # noqa: S101
        self._file.write(json.dumps(tree) + "\n")


KIND = SinkKind("jsonl", "a file of JSON lines for each run", _Lines, can_be_online=False)

"""tensorboard: event files, written by the package tensorboardX."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.api.packages import required
from scenarios.api.sink import Header, Setting, SinkKind, Target
from scenarios.records.run_folder import numbered


class _Events:
    """A folder of its own for each run. The wall time of a scalar is the simulated time; its value is rounded to 32 bits."""

    def __init__(self, target: Target) -> None:
        package = "the export to TensorBoard", "hush-sim[tracking]"
        self._board = required("tensorboardX", *package)
        self._summaries = required("tensorboardX.proto.summary_pb2", *package)
        self._folder = target.folder
        self._writer: Any = None
        self._last = 0, 0.0

    def begin(self, header: Header) -> None:
        self._writer = self._board.SummaryWriter(logdir=str(numbered(str(self._folder / "run"))))
        told = {"name": header.name, "group": header.group}
        self._text("run", told | dict(header.tags))
        self._text("settings", header.settings)

    def log(self, step: int, t: float, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._scalar(name, value, step, t)
        self._last = step, t

    def end(self, summary: Mapping[str, Setting], files: Sequence[Path]) -> None:
        step, t = self._last
        for name, value in summary.items():
            if isinstance(value, (int, float)):
                self._scalar(f"final/{name}", value, step, t)
        self._text("final", {k: v for k, v in summary.items() if isinstance(v, str)})
        for file in files:
            text = file.read_text("utf-8", errors="replace")
            self._writer.add_text(f"files/{file.name}", text, 0, walltime=0.0)
        self._writer.close()

    def _scalar(self, name: str, value: float, step: int, t: float) -> None:
        """Write one number. `add_scalar` of the package would warn of an infinite one, which an ε may be."""
        one = self._summaries.Summary.Value(tag=name, simple_value=value)
        self._writer.file_writer.add_summary(self._summaries.Summary(value=[one]), step, t)

    def _text(self, name: str, tree: Mapping[str, Any]) -> None:
        self._writer.add_text(name, json.dumps(dict(tree)), 0, walltime=0.0)


KIND = SinkKind("tensorboard", "a folder of event files for each run", _Events, can_be_online=False)

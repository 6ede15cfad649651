"""mlflow: a store of files, or a tracking server, written by the package mlflow-skinny."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.api.packages import required
from scenarios.api.sink import Header, Setting, SinkKind, Target

_BATCH, _SETTINGS = 1000, 100
"""The largest numbers of metrics and of settings that the program takes at once."""
_LONGEST = 5000
"""The longest text that it takes as a setting or as a tag."""
_KEY = 250
_LOCAL = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",
}
"""It tells its makers nothing, and writes to files, which it does only where that is allowed."""


class _Tracked:
    """A run of an experiment that is called as the project. The time of a metric is the simulated time."""

    def __init__(self, target: Target) -> None:
        for name, value in _LOCAL.items():
            os.environ.setdefault(name, value)
        tracking = required("mlflow.tracking", "the export to MLflow", "hush-sim[tracking]")
        self._entities = required("mlflow.entities", "the export to MLflow", "hush-sim[tracking]")
        place = target.place if target.online else target.folder.resolve().as_uri()
        self._client: Any = tracking.MlflowClient(tracking_uri=place)
        self._project = target.project
        self._run = ""
        self._metrics: list[Any] = []
        self._last = 0, 0.0

    def begin(self, header: Header) -> None:
        known = self._client.get_experiment_by_name(self._project)
        at = known.experiment_id if known else self._client.create_experiment(self._project)
        tags = dict(header.tags) | ({"group": header.group} if header.group else {})
        short = {key[:_KEY]: value[:_LONGEST] for key, value in tags.items()}
        self._run = self._client.create_run(at, run_name=header.name, tags=short).info.run_id
        settings = [
            self._entities.Param(key[:_KEY], str(value)[:_LONGEST])
            for key, value in header.settings.items()
        ]
        for first in range(0, len(settings), _SETTINGS):
            self._client.log_batch(self._run, params=settings[first : first + _SETTINGS])

    def log(self, step: int, t: float, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._metrics.append(self._entities.Metric(name, value, int(t * 1000), step))
            if len(self._metrics) == _BATCH:
                self._flush()
        self._last = step, t

    def end(self, summary: Mapping[str, Setting], files: Sequence[Path]) -> None:
        numbers = {f"final/{k}": float(v) for k, v in summary.items() if not isinstance(v, str)}
        self.log(*self._last, numbers)
        self._flush()
        for key, value in summary.items():
            if isinstance(value, str):
                self._client.set_tag(self._run, f"final.{key}"[:_KEY], value[:_LONGEST])
        for file in files:
            self._client.log_artifact(self._run, str(file))
        self._client.set_terminated(self._run, "FINISHED")

    def _flush(self) -> None:
        if self._metrics:
            self._client.log_batch(self._run, metrics=self._metrics)
            self._metrics = []


KIND = SinkKind(
    "mlflow",
    "a run of an experiment, in a store of files, or on a server with `online`",
    _Tracked,
    can_be_online=True,
)

"""Reads back what programs that track experiments were told: by their own readers, or from the bytes of their files."""

import json
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Tracked:
    """One run as a program holds it; instants in seconds, values by step and name."""

    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)
    values: dict[int, dict[str, float]] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    def add(self, step: int, t: float, name: str, value: float) -> None:
        if name.startswith("final/"):
            self.summary[name.removeprefix("final/")] = value
        else:
            self.times[step] = t
            self.values.setdefault(step, {})[name] = value


def jsonl(folder: Path) -> list[Tracked]:
    runs = []
    for file in sorted(folder.glob("*/run.jsonl")):
        begin, *samples, end = map(json.loads, file.read_text("utf-8").splitlines())
        run = Tracked(begin["name"], begin["settings"], begin["tags"])
        for sample in samples:
            for name, value in sample["values"].items():
                run.add(sample["step"], sample["t"], name, float(value))
        words = end["summary"].items()
        run.summary = {k: float(v) if v in ("inf", "-inf") else v for k, v in words}
        runs.append(run)
    return runs


def _records(data: bytes) -> Iterator[bytes]:
    """Yield the records of an event file: length, its checksum, content, its checksum (the TFRecord format)."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += 16 + length


def tensorboard(folder: Path) -> list[Tracked]:
    from tensorboardX.proto.event_pb2 import Event

    runs = []
    for file in sorted(folder.glob("*/events.out.*")):
        run = Tracked()
        for record in _records(file.read_bytes()):
            event = Event.FromString(record)
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    run.add(event.step, event.wall_time, value.tag, value.simple_value)
                    continue
                text = value.tensor.string_val[0].decode()
                match value.tag.removesuffix("/text_summary"):
                    case "run":
                        run.tags = json.loads(text)
                        run.name = run.tags["name"]
                    case "settings":
                        run.settings = json.loads(text)
                    case "final":
                        run.summary |= json.loads(text)
                    case other:
                        assert other.startswith("files/"), other
        runs.append(run)
    return runs


def mlflow(folder: Path) -> list[Tracked]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=folder.resolve().as_uri())
    runs = []
    names = [experiment.experiment_id for experiment in client.search_experiments()]
    for one in client.search_runs(names):
        run = Tracked(one.info.run_name, one.data.params, one.data.tags)
        for key in one.data.metrics:
            for metric in client.get_metric_history(one.info.run_id, key):
                run.add(metric.step, metric.timestamp / 1000, key, metric.value)
        words = {k: v for k, v in run.tags.items() if k.startswith("final.")}
        run.summary |= {k.removeprefix("final."): v for k, v in words.items()}
        runs.append(run)
    return runs


def _logged(data: bytes) -> Iterator[bytes]:
    """Yield the records of a file of W&B: blocks of 32 KiB with parts of records (the log format of LevelDB)."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield whole
            whole = b""


def wandb(folder: Path) -> list[Tracked]:
    from wandb.proto import wandb_internal_pb2

    kind: Any = getattr(wandb_internal_pb2, "Record")  # noqa: B009 # its type is made when it is loaded
    runs = []
    for file in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        run = Tracked()
        for record in _whole(file, kind):
            match record.WhichOneof("record_type"):
                case "run":
                    run.name = record.run.display_name
                    run.settings |= _items(record.run.config.update)
                case "history":
                    values = _items(record.history.item)
                    t, step = values.pop("t"), int(values.pop("_step"))
                    for name, value in values.items():
                        if not name.startswith("_"):
                            run.add(step, t, name, float(value))
                case "summary":
                    found = _items(record.summary.update)
                    final = {
                        k.removeprefix("final/"): v
                        for k, v in found.items()
                        if k.startswith("final/")
                    }
                    run.summary |= final
        run.tags = {
            k.removeprefix("hush."): v for k, v in run.settings.items() if k.startswith("hush.")
        }
        runs.append(run)
    return runs


def _whole(file: Path, kind: Any) -> list[Any]:
    """Return the records of a file; the program's own process writes the last of them a few milliseconds after `finish`."""
    until = time.monotonic() + 5.0
    while True:
        records = [kind.FromString(data) for data in _logged(file.read_bytes())]
        if any(record.WhichOneof("record_type") == "exit" for record in records):
            return records
        assert time.monotonic() < until, f"{file} is not complete"
        time.sleep(0.01)


def _items(items: Any) -> dict[str, Any]:
    return {item.key or item.nested_key[-1]: json.loads(item.value_json) for item in items}


READERS = {"jsonl": jsonl, "tensorboard": tensorboard, "mlflow": mlflow, "wandb": wandb}
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}

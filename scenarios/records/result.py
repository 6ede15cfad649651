"""What is left of a run, read back from its folder."""

import math
import shutil
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.language.null_reasons import with_reasons
from scenarios.language.visible_text import visible
from scenarios.planning.array_files import UNREADABLE, arrays
from scenarios.records import run_folder
from scenarios.records.file_guard import FolderError, Summary, Verdicts, json_of, resolved
from scenarios.records.proven_releases import Proof, proof_of


class Columns(dict[str, list[Any]]):
    """Tidy columns: t, node, metric, value."""

    def to_pandas(self) -> Any:
        """Return a data frame, where pandas is installed."""
        import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pd.DataFrame(dict(self))


class InterruptedRun(UserWarning):
    """The figures of a run that was interrupted are those of its first part."""


class Result:
    """A run's folder, opened.

    `code` is the exit code that the command would have ended with; None where the folder was opened
    later. A `temporary` folder goes when Python ends, unless `keep` saves it. With `warns`, the first
    use of an interrupted run's figures gives an `InterruptedRun` warning: results of `run` have it,
    for the code that called `run` may not know that a signal ended it.
    """

    def __init__(
        self,
        path: Path,
        code: int | None = None,
        *,
        temporary: bool = False,
        warns: bool = False,
    ) -> None:
        self.path = path
        self.code = code
        self.temporary = temporary
        self.manifest = run_folder.read_manifest(path)
        self._warns = warns and self.interrupted

    def __repr__(self) -> str:
        place = f"temporary {self.path}, which keep(DIR) saves" if self.temporary else self.path
        ended = self.status
        if self.interrupted:
            ended = "interrupted before its end, the figures are of its first part"
        return f"<hush run {self.manifest.get('scenario')} in {place}: {ended}>"

    @property
    def status(self) -> str:
        """`running` (or killed), `finished`, `interrupted` or `failed`."""
        return str(self.manifest["status"])

    @property
    def interrupted(self) -> bool:
        """Whether a signal or a person ended the run before its end."""
        return self.status == "interrupted"

    def keep(self, path: str | Path) -> Path:
        """Save a temporary folder as `path`, and return that; this result reads there from now on.

        Raises `FolderError` where the folder is not temporary, or `path` is there and not empty.
        """
        if not self.temporary:
            raise run_folder.FolderError(f"{self.path} is not temporary: it stays where it is")
        to = run_folder.choose("run", 0, str(path))
        shutil.copytree(self.path, to, dirs_exist_ok=True)
        self.path, self.temporary = to, False
        return to

    def _use(self, *, method: bool = False) -> None:
        """Warn, once, before figures of an interrupted run are used, at the line that uses them."""
        if self._warns:
            self._warns = False
            said = f"this run was interrupted: its figures are of its first part ({self.path})"
            warnings.warn(visible(said), InterruptedRun, stacklevel=3 if method else 4)

    @cached_property
    def clocks(self) -> frozenset[str]:
        """Kinds of the agents' clocks; none where the scenario of the run is not readable any more."""
        try:
            nodes = resolved(self.path)["nodes"]
        except FolderError:
            return frozenset()
        return frozenset(str(group.get("clock", {}).get("kind", "?")) for group in nodes)

    @property
    def ended(self) -> str:
        """How the run ended, in a word or two: `cut off` where its manifest does not say that it did."""
        return "cut off" if self.status == "running" else self.status

    @cached_property
    def flaws(self) -> tuple[str, ...]:
        """What is wrong with the files of a run that ended: missing, changed, or without a checksum."""
        return tuple(run_folder.flaws(self.path))

    @property
    def is_judged(self) -> bool:
        """Whether `summary.json` tells the run's end: it is there, and says the same of it as the manifest.

        A run that died, or whose disk was full, while its end was written left a summary of an end that never was.
        """
        found = self._json("summary.json", Summary)
        return bool(found) and found["status"] == self.status

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What must be said before anything of this run is believed, for a person; empty for one that is whole."""
        found = []
        if self.status == "running":
            found.append("the run was cut off, or still goes on: its manifest says running")
        elif self.status == "failed":
            found.append(f"the run failed: {self.manifest.get('message') or 'no reason is known'}")
        elif self.status != "finished":
            found.append(f"the run was {self.status}: it did not come to its end")
        missing = [name for name in run_folder.AT_THE_END if not (self.path / name).is_file()]
        if self.status == "failed" and missing:
            found.append(f"it left no {', no '.join(missing)}")
        return (*found, *self.flaws, *self.proof.words)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield every event that was recorded."""
        self._use(method=True)
        return run_folder.events(self.path)

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the events that hold metrics, one of each instant.

        The end of a run has a sample of its own. Where it comes at the instant of an ordinary one
        it holds all that the other does, and more: the other is left out.
        """
        former: dict[str, Any] | None = None
        for event in self.events():
            if event["kind"] != "sampled":
                continue
            if former is not None and former["t"] < event["t"]:
                yield former
            former = event
        if former is not None:
            yield former

    def metrics(self) -> Columns:
        """Return sampled metrics as tidy columns; the node is None for the network."""
        self._use(method=True)
        columns = Columns(t=[], node=[], metric=[], value=[])

        def add(t: float, node: int | None, name: str, value: Any) -> None:
            columns["t"].append(t)
            columns["node"].append(node)
            columns["metric"].append(name)
            columns["value"].append(math.nan if value is None else float(value))

        for event in self.samples():
            t = event["t"] / 1e9
            for name, value in event["values"].items():
                if isinstance(value, list):
                    for node, one in enumerate(value):
                        add(t, node, name, one)
                else:
                    add(t, None, name, value)
        return columns

    @cached_property
    def proof(self) -> Proof:
        """The releases that the ledger and the events prove together, and how the two differ."""
        return proof_of(self.path)

    @cached_property
    def ledger(self) -> list[dict[str, Any]]:
        """Every ledger line.

        A release that the events prove and the ledger file lacks, or charges too little, has a line that was made of
        its event: at the worst that the event allows, with `proved_by` = "events". A warning says so.
        """
        self._use()
        for words in self.proof.words:
            warnings.warn(visible(f"{self.path}: {words}"), stacklevel=3)
        return list(self.proof.lines)

    @cached_property
    def models(self) -> np.ndarray:
        """What each node held at the end: nodes × dimension."""
        self._use()
        file = self.path / "models.npz"
        try:
            return np.asarray(arrays(file, "theta")[0])
        except UNREADABLE as error:
            raise FolderError(f"{file} cannot be read: {type(error).__name__}") from None

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`summary.json`; recomputed from events where there is none of the run's end."""
        self._use()
        return self._json("summary.json", Summary) if self.is_judged else self._recomputed()

    @cached_property
    def verdicts(self) -> dict[str, Any]:
        """`verdicts.json`; empty where nothing was judged at the run's end."""
        self._use()
        return (self._json("verdicts.json", Verdicts) or {}) if self.is_judged else {}

    def _json(self, name: str, shape: Any) -> Any:
        """Return a file of the run's end; None where it is not there, or holds nothing."""
        path = self.path / name
        if not path.exists():
            return None
        found = json_of(path, dict[str, Any])
        return json_of(path, shape) if found else None

    def _recomputed(self) -> dict[str, Any]:
        """Count what the events say: messages, releases and the last sample."""
        counts: dict[str, int] = {}
        sent = 0
        values: dict[str, Any] = {}
        ended = 0
        for event in self.events():
            counts[event["kind"]] = counts.get(event["kind"], 0) + 1
            ended = event["t"]
            if event["kind"] == "sent":
                sent += len(event["to"])
            elif event["kind"] == "sampled":
                values = event["values"]
        arrived = {k: counts.get(k, 0) for k in ("delivered", "lost", "rejected", "duplicated")}
        flying = (
            sent
            + arrived["duplicated"]
            - arrived["delivered"]
            - arrived["lost"]
            - arrived["rejected"]
        )
        recounted = {
            "scenario": self.manifest["scenario"],
            "seed": self.manifest["seed"],
            "status": self.ended,
            "ended_s": ended / 1e9,
            "updates": counts.get("woke", 0),
            "releases": len(self.proof.lines),
            "refused": counts.get("refused", 0),
            "derived": counts.get("derived", 0),
            "messages": {
                "sent": sent,
                "superseded": counts.get("superseded", 0),
                "in_flight": flying,
                **arrived,
            },
            "last_sample": values,
            "differences": list(self.proof.words),
        }
        return with_reasons(recounted, {"last_sample.*": "the metric had no value then"})


def open_run(path: str | Path) -> Result:
    """Open the folder of a run, finished or not."""
    return Result(Path(path))

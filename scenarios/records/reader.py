"""Reads what a run left in its folder: the one reader of the formats on disk, whether the run ended or was cut off.

Whatever stands in the files is checked before it is used (see `file_guard`): what a run cannot have written raises
`FolderError`, which names the file. What a killed run did not finish (the end of a line, a file) is left out.
"""

import tomllib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from actors.events import Event, Finished, Sampled
from scenarios.language.json_numbers import listed
from scenarios.language.null_reasons import UNDECLARED, with_reasons
from scenarios.planning.array_files import UNREADABLE, arrays
from scenarios.records.budget import Budget
from scenarios.records.data_card import DataCard
from scenarios.records.event_counts import Counts
from scenarios.records.file_guard import (
    Digests,
    FolderError,
    Manifest,
    Resolved,
    Summary,
    Verdicts,
    Versioned,
    decoded,
    guarded,
    opened,
    reason_of,
)
from scenarios.records.gate import flaws_of_figures, flaws_of_run
from scenarios.records.ledger_file import lines_of_ledger
from scenarios.records.proven_releases import Proof, agreeing, prove
from scenarios.records.recomputed_privacy import budget_of, epsilon_of
from scenarios.records.record_reader import Record
from scenarios.records.row_guard import MOST_SEATS
from scenarios.records.run_folder import (
    AT_THE_END,
    DATA,
    LEDGER,
    MANIFEST,
    MODELS,
    RESOLVED,
    SCHEMA,
    SUMMARY,
    VERDICTS,
    WORLD,
    record_segments,
)
from scenarios.records.world_facts import Facts

CUT_OFF = "the run was cut off, or still goes on: its manifest says running"


def without_notes(text: str) -> str:
    """Return a scenario without its comments: what a run noted in it at its end is among them."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


class RunRecord:
    """The record of one run; each part is read when it is asked for. Raises `FolderError` where `path` holds no run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = _manifest(path)

    @property
    def status(self) -> str:
        """`running` (or killed), `finished`, `interrupted` or `failed`; `cut off` where the record lacks the end that the manifest tells."""
        status = str(self.manifest["status"])
        needs_an_end = status in {"finished", "interrupted"}
        return "cut off" if needs_an_end and not self._is_readably_over else status

    @property
    def _is_readably_over(self) -> bool:
        try:
            return self.is_over
        except FolderError:
            return False

    @property
    def ended(self) -> str:
        """How the run ended, in a word or two: `cut off` where its manifest or its record does not say that it did."""
        return "cut off" if self.status == "running" else self.status

    # events

    @cached_property
    def _source(self) -> Record:
        """Where the events stand."""
        return Record(record_segments(self.path), self._seats)

    def _seats(self) -> int:
        """How many agents there can be, the server among them: as many as the world has, where that is known."""
        facts = self._known_facts()
        return MOST_SEATS if facts is None else facts.seats

    def typed_events(self) -> Iterator[Event]:
        """Yield every whole event; what is cut off is where a run was killed."""
        return self._source.typed()

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield every whole event as plain values."""
        return self._source.plain()

    def event_lines(self) -> Iterator[bytes]:
        """Yield every whole event as JSON lines, one or many at a time."""
        return self._source.lines()

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the events that hold metrics as plain values, one of each instant.

        The end of a run has a sample of its own. Where it comes at the instant of an ordinary one it holds all that the
        other does, and more: the other is left out. Of a run without an end the last one is recomputed from the record.
        """
        return (msgspec.to_builtins(event) for event in self._samples())

    def curves(self) -> Iterator[tuple[float, dict[str, Any]]]:
        """Yield the instant (s) and the metrics of each sample, as `samples` does."""
        return ((event.t / 1e9, event.values) for event in self._samples())

    def _samples(self) -> Iterator[Sampled]:
        former: Sampled | None = None
        for event in self._source.sampled():
            if former is not None and former.t < event.t:
                yield former
            former = event
        if former is not None:
            yield former
        end = self.unsampled_end
        if end is not None:
            yield end

    @cached_property
    def unsampled_end(self) -> Sampled | None:
        """What the record of a run without an end proves of its last instant; None where it has an end, or no event.

        Models are not in a record: only what follows from its events is known. It has the number of the last event.
        """
        if self.is_over or not self.counts.kinds:
            return None
        counts = self.counts
        values = {
            "epsilon": listed(self.budget.headline()),
            "releases": self.budget.counts.tolist(),
            **{f"messages.{key}": count for key, count in counts.messages.items()},
        }
        return Sampled(counts.last, counts.ended, None, None, values)

    @cached_property
    def counts(self) -> Counts:
        """How many events of each kind there are, and which agents diverged."""
        return self._source.counts()

    @property
    def ending(self) -> Finished | None:
        """The event `finished`; None where the record does not hold the end of the run."""
        return self._source.ending

    @property
    def is_over(self) -> bool:
        """Whether the record holds the end of the run."""
        return self.ending is not None

    @cached_property
    def budget(self) -> Budget:
        """A budget that was charged with every release, as the run had it after its last event. Do not charge it."""
        return budget_of(self)

    @cached_property
    def epsilon(self) -> dict[str, Any]:
        """The ε of the run from its record alone, as `summary.json` holds it. Raises `FolderError` where it cannot be known."""
        return epsilon_of(self)

    @property
    def length(self) -> int:
        """The instant of the last whole event, in nanoseconds."""
        return self._source.length

    @cached_property
    def last_sample(self) -> dict[str, Any]:
        """The metrics of the last sample; empty where there is none.

        Of a run without an end, what its record proves (ε, releases, messages) is as of its last event.
        """
        last = self._source.last_sample
        end = self.unsampled_end
        return ({} if last is None else last.values) | ({} if end is None else end.values)

    @property
    def size(self) -> int:
        """The bytes of all events."""
        return sum(file.stat().st_size for file in record_segments(self.path))

    # releases

    @cached_property
    def proof(self) -> Proof:
        """The releases that the ledger and the events prove together, and how the two differ."""
        try:
            lines: Iterable[dict[str, Any]] = self._source.ledger()
            exported = self._other_ledger()
            if exported is None:
                lines, facts = self._source.charges()
                proof = agreeing(lines, facts, self._known_facts() if len(lines) else None)
                if proof is not None:
                    return proof
            return prove(lines, self._source.releases(), self._known_facts, self.path, exported)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FolderError):
                raise
            raise FolderError(f"{self.path}: {LEDGER} is damaged: {error}") from None

    def _other_ledger(self) -> Iterator[dict[str, Any]] | None:
        """Return the lines of a ledger file that is not what the record gives; None where it is, or there is none."""
        file = self.path / LEDGER
        if not file.exists():
            return None
        return None if _has_text(file, self._source.ledger_text()) else lines_of_ledger(file)

    def ledger_text(self) -> Iterator[bytes]:
        """Yield the ledger's lines as they stand in its file, one or many at a time."""
        return self._source.ledger_text()

    def ledger_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the ledger's lines, as far as they were written; none where they are missing."""
        return self._source.ledger()

    # the world

    @cached_property
    def facts(self) -> Facts:
        """What the world of the run was; raises `FolderError` where that is missing or damaged."""
        file = self.path / WORLD
        with guarded(file):
            facts = msgspec.convert(_json(file, Facts), Facts)
            why = facts.misfit()
            for number in range(len(facts.plans)):
                facts.planned(number)
        if why:
            raise FolderError(f"{file} is damaged: {why}")
        return facts

    @cached_property
    def data_card(self) -> DataCard:
        """What is known of the run's points; raises `FolderError` where the file is missing or damaged."""
        file = self.path / DATA
        with guarded(file):
            card = msgspec.convert(_json(file, DataCard), DataCard)
            why = card.misfit()
        if why:
            raise FolderError(f"{file} is damaged: {why}")
        return card

    def _known_facts(self) -> Facts | None:
        try:
            return self.facts
        except FolderError:
            return None

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The scenario in full; raises `FolderError` where it cannot be used."""
        path = self.path / RESOLVED
        try:
            tree: dict[str, Any] = tomllib.loads(path.read_bytes().decode())
            msgspec.convert(tree, Resolved)
        except OSError as error:
            raise FolderError(f"{path} cannot be read: {error.strerror}") from None
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise FolderError(f"{path} is damaged: {reason_of(error)}") from None
        return tree

    @property
    def resolved_file(self) -> Path:
        """The file that repeats the run."""
        return self.path / RESOLVED

    def text(self, name: str, most: int) -> tuple[str, bool]:
        """Return the first characters of a file of text, at most so many, and whether it has more.

        Raises `FolderError` where it cannot be read.
        """
        path = self.path / name
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                content = file.read(most + 1)
        except OSError as error:
            raise FolderError(f"{path} cannot be read: {error.strerror}") from None
        return content[:most], len(content) > most

    @cached_property
    def clocks(self) -> frozenset[str]:
        """Kinds of the agents' clocks; none where the scenario of the run is not readable any more."""
        try:
            nodes = self.resolved["nodes"]
        except FolderError:
            return frozenset()
        return frozenset(str(group.get("clock", {}).get("kind", "?")) for group in nodes)

    # the end

    @cached_property
    def summary_file(self) -> dict[str, Any] | None:
        """What `summary.json` says, believed or not; None where it is not there, or empty."""
        summary: dict[str, Any] | None = self._at_the_end(SUMMARY, Summary)
        return summary

    @cached_property
    def verdicts_file(self) -> dict[str, Any] | None:
        """What `verdicts.json` says, believed or not; None where it is not there, or empty."""
        verdicts: dict[str, Any] | None = self._at_the_end(VERDICTS, Verdicts)
        return verdicts

    @cached_property
    def is_judged(self) -> bool:
        """Whether the summary tells the run's end: it says the same of it as the manifest, and its figures are the record's.

        A run that died, or whose disk was full, while its end was written left a summary of an end that never was.
        """
        if self.summary_file is None:
            return False
        return self.summary_file["status"] == self.status and not any(flaws_of_figures(self))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures of the run's end; counted from its events where it has none, or they are not those of its record."""
        if self.is_judged and self.summary_file is not None:
            return self.summary_file
        return self._counted()

    @cached_property
    def verdicts(self) -> dict[str, Any]:
        """The verdicts of the run's end; empty where nothing was judged."""
        return (self.verdicts_file or {}) if self.is_judged else {}

    @cached_property
    def models(self) -> np.ndarray:
        """What each agent held at the end: agents × dimension."""
        return self._array("theta")

    @property
    def released(self) -> np.ndarray:
        """The model in the last message of each agent, NaN where the agent sent none: agents × dimension."""
        return self._array("released")

    def _array(self, name: str) -> np.ndarray:
        file = self.path / MODELS
        try:
            return np.asarray(arrays(file, name)[0])
        except UNREADABLE as error:
            raise FolderError(f"{file} cannot be read: {type(error).__name__}") from None

    def _at_the_end(self, name: str, shape: Any) -> Any:
        """Return a file of the run's end; None where it is not there, or holds nothing."""
        path = self.path / name
        if not path.exists():
            return None
        content = _json(path, dict[str, Any])
        return _json(path, shape) if content else None

    def _counted(self) -> dict[str, Any]:
        """Count what the events say: messages, releases, ε and the last sample."""
        counts = self.counts
        counted = {
            "scenario": self.manifest["scenario"],
            "seed": self.manifest["seed"],
            "status": self.ended,
            "ended_s": counts.ended / 1e9,
            "updates": counts.kinds["woke"],
            "releases": len(self.proof.lines),
            "refused": counts.kinds["refused"],
            "derived": counts.kinds["derived"],
            "messages": counts.messages,
            "epsilon": self.epsilon,
            "last_sample": self.last_sample,
            "differences": list(self.proof.words),
        }
        return with_reasons(
            counted,
            {
                "last_sample.*": "the metric had no value then",
                "epsilon.declared_by": UNDECLARED,
            },
        )

    # what must be known before any of it is believed

    @cached_property
    def flaws(self) -> tuple[str, ...]:
        """What in the folder is not as the run left it, a sentence each; empty where all is. See `gate`."""
        return flaws_of_run(self)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What must be said before anything of this run is believed, for a person; empty for one that is whole."""
        words = []
        if self.ended == "cut off":
            words.append(CUT_OFF if self.status == "running" else "the run was cut off")
        elif self.status == "failed":
            words.append(f"the run failed: {self.manifest.get('message') or 'no reason is known'}")
        elif self.status != "finished":
            words.append(f"the run was {self.status}: it did not come to its end")
        missing = [name for name in AT_THE_END if not (self.path / name).is_file()]
        if self.status == "failed" and missing:
            words.append(f"it left no {', no '.join(missing)}")
        return (*words, *self.flaws)


def _has_text(file: Path, text: Iterable[bytes]) -> bool:
    """Whether a file holds a text, byte by byte."""
    with opened(file) as found:
        return all(found.read(len(piece)) == piece for piece in text) and not found.read(1)


def _json(path: Path, shape: Any) -> Any:
    """Return a file of JSON as plain values; raise `FolderError` where it is unreadable, or has another shape."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {error.strerror}") from None
    return decoded(data, path, shape)


def _manifest(path: Path) -> dict[str, Any]:
    """Read the manifest of a run; refuse a folder that holds pipes or devices, which may be read for ever."""
    file = path / MANIFEST
    if not file.is_file():
        said = f"is not the folder of a run: it has no readable {MANIFEST}"
        raise FolderError(f"{path} {said}")
    for entry in path.iterdir():
        if entry.exists() and not (entry.is_file() or entry.is_dir()):
            raise FolderError(f"{entry} is neither a file nor a folder: nothing is read")
    schema = _json(file, Versioned)["schema"]
    if schema != SCHEMA:
        raise FolderError(f"{path} is of schema {schema}: this hush reads schema {SCHEMA}")
    manifest: dict[str, Any] = {"environment": {}, "digests": {}} | _json(file, Manifest)
    with guarded(file):
        msgspec.convert(manifest["digests"], Digests)
    return manifest

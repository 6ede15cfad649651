"""The shapes of a run's files: content that does not have them is a `FolderError`, with file and reason.

A folder may come from anywhere: killed runs leave torn files, disks fail, people edit. Each file has a
shape here, by which it is checked before anything of it is used. Fields that no reader needs are not
named and may be anything.
What a shape cannot say (a number that fits no other file) `guarded` turns into the same error.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from actors.events import (
    KINDS,
    Charged,
    Event,
    Merged,
    Proposed,
    Refused,
    Sampled,
    Sent,
)
from scenarios.language.problems import ScenarioError
from scenarios.records.folder_error import (
    FolderError as FolderError,  # noqa: PLC0414 # it is raised by what checks shapes, and known with them
)

MOST = 10_000_000
"""So many agents, releases of a plan and seats are read at most: more is no run, and would fill the memory."""
_LATEST = (1 << 63) - 1
_DAMAGE = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    AssertionError,
    OverflowError,
    ZeroDivisionError,
    RecursionError,
)
"""What reading content raises that does not fit: no error of the disk, and no memory that is short."""


@contextmanager
def guarded(what: object) -> Iterator[None]:
    """Turn what malformed content raises into a `FolderError` that names `what`: a folder, or a file of it."""
    try:
        yield
    except (FolderError, ScenarioError):
        raise
    except _DAMAGE as error:
        raise FolderError(f"{what} is damaged: {reason_of(error)}") from None


@contextmanager
def opened(file: Path) -> Iterator[BufferedReader]:
    """Open a file of a folder for reading; raise `FolderError` where that cannot be."""
    try:
        data = file.open("rb")
    except OSError as error:
        raise FolderError(f"{file} cannot be read: {error.strerror}") from None
    with data:
        yield data


Whole = Annotated[int, Meta(ge=0, le=_LATEST)]
Amount = Annotated[int, Meta(ge=0, le=MOST)]
Number = float | Literal["inf", "-inf"]
Figure = Number | None
"""A number as JSON holds it: no number is null, infinity is a word."""
Cost = Annotated[float, Meta(ge=0)] | Literal["inf"]


class Versioned(msgspec.Struct):
    """The one field that manifests of every schema have."""

    schema: int


class Manifest(msgspec.Struct):
    """What is needed of `manifest.json`."""

    schema: int
    status: str
    scenario: str
    seed: int
    path: Literal["events", "columns"]
    """How wakes were computed."""
    engine: str = ""
    message: str = ""
    steered_by_hand: bool = False
    environment: dict[str, str | int | None] = {}
    digests: dict[str, Any] = {}
    sha256: Any = None
    """Of each file; a manifest without any vouches for none, and `RunRecord.flaws` says so."""


class _Conditional(msgspec.Struct):
    on: str
    first: int


class Digests(msgspec.Struct):
    """What is needed of the digests of a manifest."""

    schedule: str = ""
    value: str = ""
    version: int = 1
    conditional: _Conditional | None = None


class _Judged(msgspec.Struct):
    verdict: str


class _Expected(msgspec.Struct):
    verdict: Literal["pass", "fail", "unknown"]
    wanted: str
    got: Figure = None
    t: Figure = None
    note: str | None = None


class Verdicts(msgspec.Struct):
    """What is needed of `verdicts.json`."""

    invariants: dict[str, _Judged] | None = None
    expectations: list[_Expected] | None = None


class _Score(msgspec.Struct):
    train: Figure
    test: Figure


class _Loss(msgspec.Struct):
    mean: Figure
    max: Figure


class _Epsilon(msgspec.Struct):
    max: Number
    mean: Number
    delta: Figure
    accountant: str
    view: str
    side_by_side: dict[str, Figure]
    views: dict[str, Figure]
    claimed: Figure = None
    covered: bool = True


class _Messages(msgspec.Struct):
    sent: int
    delivered: int
    lost: int
    rejected: int
    duplicated: int
    in_flight: int


class _Group(msgspec.Struct):
    name: str
    count: int
    releases: int
    refused: int
    epsilon: Figure
    cap: Figure
    loss: Figure
    accuracy: Figure = None
    rmse: Figure = None


class _Node(msgspec.Struct):
    state: str
    left: Figure = None
    points: Amount | None = None


class _Rounds(msgspec.Struct):
    rounds: int
    aborted: int


class _Fault(msgspec.Struct):
    name: str
    fired: int
    struck: int
    touched: int


class Summary(msgspec.Struct):
    """What is needed of `summary.json`."""

    scenario: str
    seed: int
    status: str
    ended_s: float
    ended_by: str
    updates: int
    releases: int
    derived: int
    refused: int
    messages: _Messages
    objective: Figure
    gap: Figure
    loss: _Loss
    local: dict[str, Figure] | None
    gain: float | None
    epsilon: _Epsilon
    groups: list[_Group]
    nodes: list[_Node]
    targets: dict[str, Figure]
    expectations: list[_Expected]
    invariants: dict[str, _Judged]
    notes: list[str]
    warnings: list[str]
    harmed: float | None = None
    central: dict[str, Figure] | None = None
    accuracy: _Score | None = None
    rmse: _Score | None = None
    server: _Rounds | None = None
    faults: list[_Fault] | None = None
    steered_by_hand: bool = False
    verdict: str | None = None


class _Budget(msgspec.Struct):
    delta: Annotated[float, Meta(ge=0, lt=1)] = 1e-5
    epsilon: float | None = None


class _Agents(msgspec.Struct):
    count: Annotated[int, Meta(ge=1, le=MOST)]
    budget: _Budget | None = None
    clock: dict[str, Any] = {}

    @property
    def delta(self) -> float:
        """The δ at which their ε is stated: that of a budget that says nothing where they have none."""
        return (self.budget or _Budget()).delta

    @property
    def epsilon(self) -> float | None:
        """The ε of their budget; None where they have none."""
        return (self.budget or _Budget()).epsilon


class _Mechanism(msgspec.Struct):
    kind: str


class _Privacy(msgspec.Struct):
    accountant: str
    views: Annotated[list[str], Meta(min_length=1)]


class Resolved(msgspec.Struct):
    """What is needed of `resolved.toml` by readers; a run of it reads it as any scenario."""

    nodes: Annotated[list[_Agents], Meta(min_length=1)]
    mechanism: _Mechanism
    privacy: _Privacy
    fault: list[dict[str, Any]] = []


class Spent(msgspec.Struct, kw_only=True):
    """What is needed of a spend in the record of a run."""

    mechanism: str
    law: str
    calibration: str
    scale: float
    sensitivity: Cost
    norm: str
    d: Amount
    jacobian: float
    claimed: Cost
    charged: Cost
    summed: Cost | None = None


class Charge(Spent, kw_only=True):
    """What is needed of a line of `ledger.jsonl`."""

    node: Amount
    k: Whole
    seq: Whole = 0
    t: Whole = 0


def reason_of(error: Exception) -> str:
    """Return why something cannot be decoded; content is never quoted, for the file may be a link to any other."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "it is no text"
    return str(error) if isinstance(error, ValueError) else repr(error)


def decoded(data: bytes, what: object, shape: Any) -> Any:
    """Return JSON as plain values; raise `FolderError` where it does not have a shape."""
    try:
        msgspec.json.decode(data, type=shape)
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise FolderError(f"{what} is damaged: {reason_of(error)}") from None


_EVENT = msgspec.json.Decoder(Union[KINDS])  # noqa: UP007
_COSTED = (Proposed, Charged, Refused)


def event_of(line: bytes, what: object) -> Event:
    """Return the event that a line of a file holds; raise `FolderError` where it is none."""
    try:
        event: Event = _EVENT.decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        problem = f"{what} is damaged: a line of it is no event: {reason_of(error)}"
        raise FolderError(problem) from None
    why = _unfit(event)
    if why:
        raise FolderError(f"{what} is damaged: event {event.seq}: {why}")
    return event


def _unfit(event: Event) -> str:
    """Return what in an event cannot be; empty where all can."""
    if not (0 < event.seq < _LATEST and 0 <= event.t < _LATEST):
        return "its number or its instant is out of range"
    if isinstance(event, Sent) and len(event.to) != len(event.arrives):
        return "a message has other receivers than arrivals"
    if isinstance(event, Merged) and len(event.senders) != len(event.versions):
        return "what was merged has other senders than versions"
    if isinstance(event, _COSTED) and not _is_cost(event.charged):
        return "its charge is none"
    if isinstance(event, Sampled) and not all(map(_is_metric, event.values.values())):
        return "a metric is no number"
    return ""


def _is_cost(value: float | str) -> bool:
    return value == "inf" if isinstance(value, str) else value >= 0


def _is_metric(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_figure, value))
    return _is_figure(value)


def _is_figure(value: Any) -> bool:
    if value is None or value in ("inf", "-inf"):
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

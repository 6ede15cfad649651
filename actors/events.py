"""What happened, as frozen data in the past tense (contract, section 6)."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from clocks.clock import Clock

Values = dict[str, Any]


class Event(
    msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag=str.lower, omit_defaults=True
):
    """The common part: number, instant in nanoseconds, whose, and the number of what caused it."""

    seq: int
    t: int
    node: int | None
    cause: int | None


class Started(Event, frozen=True, tag="started"):
    """A run began."""

    scenario: str = ""
    nodes: int = 0
    late_ns: int = 0


class Woke(Event, frozen=True, tag="woke"):
    """An agent's clock woke it."""

    late_ns: int = 0


class Proposed(Event, frozen=True, tag="proposed"):
    """A release was fixed, without noise: what it will cost if it is made."""

    k: int
    charged: float | str
    late_ns: int = 0


class Charged(Event, frozen=True, tag="charged"):
    """The ledger took the spend; from here it counts, whatever happens to the message."""

    k: int
    charged: float | str
    late_ns: int = 0


class Refused(Event, frozen=True, tag="refused"):
    """The release would have broken the cap."""

    k: int
    charged: float | str
    spent: float
    cap: float
    late_ns: int = 0


class Released(Event, frozen=True, tag="released"):
    """A vector that read data afresh is ready to leave."""

    k: int
    late_ns: int = 0


class Derived(Event, frozen=True, tag="derived"):
    """A vector made of what was already released and heard is ready to leave."""

    version: int
    late_ns: int = 0


class Sent(Event, frozen=True, tag="sent"):
    """One message left for its receivers; arrival −1 is lost on the way."""

    version: int
    to: Sequence[int]
    arrives: Sequence[int]
    bytes: int
    resent: bool = False
    late_ns: int = 0


class Delivered(Event, frozen=True, tag="delivered"):
    """A message reached its receiver at `arrived`; noticed when somebody looked."""

    sender: int
    version: int
    arrived: int
    late_ns: int = 0


class Superseded(Event, frozen=True, tag="superseded"):
    """A delivered message that was never read: a newer one of the same sender was there."""

    sender: int
    version: int
    late_ns: int = 0


class Lost(Event, frozen=True, tag="lost"):
    """A message was lost on its link; `node` is its sender."""

    receiver: int
    version: int
    late_ns: int = 0


class Rejected(Event, frozen=True, tag="rejected"):
    """A message arrived at a receiver that was not up."""

    sender: int
    version: int
    arrived: int
    late_ns: int = 0


class Merged(Event, frozen=True, tag="merged"):
    """A woken agent took over what its neighbours sent."""

    senders: Sequence[int]
    versions: Sequence[int]
    late_ns: int = 0


class Joined(Event, frozen=True, tag="joined"):
    """An agent became a member, for the first time or again."""

    late_ns: int = 0


class Left(Event, frozen=True, tag="left"):
    """An agent left and said goodbye."""

    late_ns: int = 0


class Crashed(Event, frozen=True, tag="crashed"):
    """An agent stopped without a word."""

    lost: str
    late_ns: int = 0


class Restarted(Event, frozen=True, tag="restarted"):
    """A crashed agent came back, with the same ledger."""

    releases: int
    late_ns: int = 0


class FaultBegan(Event, frozen=True, tag="fault_began"):
    """The scenario did something to the world."""

    fault: int
    action: str
    targets: Sequence[int]
    late_ns: int = 0


class FaultEnded(Event, frozen=True, tag="fault_ended"):
    """The scenario undid it."""

    fault: int
    action: str
    targets: Sequence[int]
    late_ns: int = 0


class Spent(Event, frozen=True, tag="spent"):
    """An agent has made its last release: planned ones are done, or the cap refused one."""

    reason: str
    late_ns: int = 0


class Diverged(Event, frozen=True, tag="diverged"):
    """A model is no longer finite; its agent goes on without data."""

    late_ns: int = 0


class RoundOpened(Event, frozen=True, tag="round_opened"):
    """A server asked some of its clients."""

    round: int
    asked: Sequence[int]
    late_ns: int = 0


class RoundClosed(Event, frozen=True, tag="round_closed"):
    """A server took over what its clients answered."""

    round: int
    survivors: Sequence[int]
    late_ns: int = 0


class RoundAborted(Event, frozen=True, tag="round_aborted"):
    """A server threw a round away."""

    round: int
    survivors: Sequence[int]
    reason: str
    late_ns: int = 0


class Sampled(Event, frozen=True, tag="sampled"):
    """The oracle looked at every model: values of metrics, per node or for the network."""

    values: Values
    late_ns: int = 0


class Violated(Event, frozen=True, tag="violated"):
    """An invariant broke."""

    invariant: str
    detail: str
    late_ns: int = 0


class Finished(Event, frozen=True, tag="finished"):
    """The run ended."""

    reason: str
    late_ns: int = 0


KINDS: tuple[type[Event], ...] = (
    Started, Woke, Proposed, Charged, Refused, Released, Derived, Sent, Delivered, Superseded, Lost,
    Rejected, Merged, Joined, Left, Crashed, Restarted, FaultBegan, FaultEnded, Spent, Diverged,
    RoundOpened, RoundClosed, RoundAborted, Sampled, Violated, Finished,
)  # fmt: skip

Observer = Callable[[Any], None]
Folder = Callable[[list[Any]], None]
BATCH = 4096


class Log:
    """Numbers events and tells them: at once to whoever asked for their kind, in batches to recorders.

    An observer that raises ends the run.
    """

    __slots__ = ("_batch", "_clock", "_folders", "_routes", "seq")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._routes: dict[type[Event], tuple[Observer, ...]] = dict.fromkeys(KINDS, ())
        self._folders: tuple[Folder, ...] = ()
        self._batch: list[Any] = []
        self.seq = 0

    def watch(self, observer: Observer, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Tell an observer events of these kinds at once, after those who asked before it."""
        for kind in kinds:
            self._routes[kind] = (*self._routes[kind], observer)

    def collect(self, folder: Folder) -> None:
        """Hand a folder all events, in order, at the latest when `drain` is called."""
        self._folders = (*self._folders, folder)

    @property
    def is_full(self) -> bool:
        """Whether enough has been collected to be handed over: asked between entries."""
        return len(self._batch) >= BATCH

    def drain(self) -> None:
        """Hand over what has been collected."""
        if self._batch:
            batch, self._batch = self._batch, []
            for folder in self._folders:
                folder(batch)

    def tell(self, event: Event) -> None:
        """Tell an event that its maker numbered with the next `seq`: the hot path of mailboxes."""
        self._batch.append(event)
        for observe in self._routes[type(event)]:
            observe(event)

    def emit(self, kind: type[Event], node: int | None, cause: int | None, *fields: Any) -> int:
        """Make an event of this instant, tell it, and return its number."""
        clock = self._clock
        self.seq = seq = self.seq + 1
        if clock.late:
            event = kind(seq, clock.now, node, cause, *fields, late_ns=clock.late)  # type: ignore[call-arg]
        else:
            event = kind(seq, clock.now, node, cause, *fields)
        self._batch.append(event)
        for observe in self._routes[kind]:
            observe(event)
        return seq

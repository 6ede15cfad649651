"""What happened, as frozen data in the past tense (reference.md, section 6)."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from mechanisms.accounting.spend import Spend

Values = dict[str, Any]


class Event(
    msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag=str.lower, omit_defaults=True
):
    """The common part: number, instant in nanoseconds, agent, and the number of the event that caused it."""

    seq: int
    t: int
    node: int | None
    cause: int | None

    def complete(self, late_ns: int) -> None:
        """Note how late, in nanoseconds of wall time, a new event is served: before anything reads it."""
        force_setattr(self, "late_ns", late_ns)


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
    spend: Spend | None = None
    """What was charged, in full. Only in memory: the ledger file has it, and an event that was read has None."""
    late_ns: int = 0

    @property
    def as_recorded(self) -> "Charged":
        """The event as files of events hold it."""
        return replace(self, spend=None)


class Refused(Event, frozen=True, tag="refused"):
    """The release would have broken the cap, or all planned ones are made: `reason` says which.

    `spent` and `cap` are of the budget, both None where the plan is what was fulfilled.
    """

    k: int
    charged: float | str
    spent: float | None
    cap: float | None
    reason: str = "cap"
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
    """One message left for its receivers; arrival −1 is lost on the way, −2 held by a fault; `by` names the faults that touched it."""

    version: int
    to: Sequence[int]
    arrives: Sequence[int]
    bytes: int
    resent: bool = False
    by: Sequence[int] = ()
    late_ns: int = 0


class Delivered(Event, frozen=True, tag="delivered"):
    """A message reached its receiver at `arrived`; noticed when the receiver looked."""

    sender: int
    version: int
    arrived: int
    late_ns: int = 0


class Superseded(Event, frozen=True, tag="superseded"):
    """A delivered message was never read: a newer one of the same sender was there."""

    sender: int
    version: int
    late_ns: int = 0


class Lost(Event, frozen=True, tag="lost"):
    """A message was lost on its link; `node` is its sender, `by` are the faults that touched it."""

    receiver: int
    version: int
    by: Sequence[int] = ()
    late_ns: int = 0


class Rejected(Event, frozen=True, tag="rejected"):
    """A message arrived at a receiver that was not up, or arrived damaged."""

    sender: int
    version: int
    arrived: int
    reason: str = ""
    late_ns: int = 0


class Duplicated(Event, frozen=True, tag="duplicated"):
    """A copy of a message is on its way; `node` is its sender."""

    receiver: int
    version: int
    arrives: int
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
    """An agent left; its neighbours know it at once."""

    late_ns: int = 0


class Crashed(Event, frozen=True, tag="crashed"):
    """An agent stopped; its neighbours notice only its silence."""

    lost: str
    late_ns: int = 0


class Restarted(Event, frozen=True, tag="restarted"):
    """A crashed agent came back, with the same ledger."""

    releases: int
    late_ns: int = 0


class Paused(Event, frozen=True, tag="paused"):
    """An agent stands still: it keeps what it holds, and what arrives waits."""

    late_ns: int = 0


class Resumed(Event, frozen=True, tag="resumed"):
    """An agent goes on."""

    late_ns: int = 0


class FaultBegan(Event, frozen=True, tag="fault_began"):
    """The scenario did something to the world; `until` is when it is undone, −1 where it lasts."""

    fault: int
    action: str
    targets: Sequence[int]
    until: int = -1
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
    Started,
    Woke,
    Proposed,
    Charged,
    Refused,
    Released,
    Derived,
    Sent,
    Delivered,
    Superseded,
    Lost,
    Rejected,
    Duplicated,
    Merged,
    Joined,
    Left,
    Crashed,
    Restarted,
    Paused,
    Resumed,
    FaultBegan,
    FaultEnded,
    Spent,
    Diverged,
    RoundOpened,
    RoundClosed,
    RoundAborted,
    Sampled,
    Violated,
    Finished,
)

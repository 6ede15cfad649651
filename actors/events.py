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
    """A run began. It is the first event."""

    scenario: str = ""
    """The name of the scenario."""
    nodes: int = 0
    """How many agents there are; a server is one more, with this number as its id."""
    late_ns: int = 0


class Woke(Event, frozen=True, tag="woke"):
    """An agent's clock woke it. Told before anything else of the wake, after what arrived was delivered."""

    late_ns: int = 0


class Proposed(Event, frozen=True, tag="proposed"):
    """A release was fixed, without noise: what it will cost if it is made. Told at a wake of a private agent, before its budget is asked."""

    k: int
    """The number of the release among those of the agent, from 0."""
    charged: float | str
    """What it will cost: ε, or the μ of Gaussian noise, rounded up to 1e-9; `inf` where it has no bound."""
    late_ns: int = 0


class Charged(Event, frozen=True, tag="charged"):
    """The ledger took the spend; from here it counts, whatever happens to the message. Told before the noise is drawn."""

    k: int
    """The number of the release."""
    charged: float | str
    """What it costs, as of `proposed`."""
    spend: Spend | None = None
    """What was charged, in full. Only in memory: the ledger file has it, and an event that was read has None."""
    late_ns: int = 0

    @property
    def as_recorded(self) -> "Charged":
        """The event as files of events hold it."""
        return replace(self, spend=None)


class Refused(Event, frozen=True, tag="refused"):
    """The release would have broken the cap, or all planned ones are made: `reason` says which. Told in place of `charged`.

    `spent` and `cap` are of the budget, both None where the plan is what was fulfilled.
    """

    k: int
    """The number that the release would have had."""
    charged: float | str
    """What it would have cost."""
    spent: float | None
    """The ε that is spent, as the filter of the cap counts it."""
    cap: float | None
    """The ε of the budget."""
    reason: str = "cap"
    """`cap`, or `planned`: all planned releases are made."""
    late_ns: int = 0


class Released(Event, frozen=True, tag="released"):
    """A vector that read data afresh is ready to leave. Told after its noise was added."""

    k: int
    """The number of the release."""
    late_ns: int = 0


class Derived(Event, frozen=True, tag="derived"):
    """A vector made of what was already released and heard is ready to leave. It read no data and cost nothing."""

    version: int
    """The number of the vector among those of the agent."""
    late_ns: int = 0


class Sent(Event, frozen=True, tag="sent"):
    """One message left for its receivers; arrival −1 is lost on the way, −2 held by a fault; `by` names the faults that touched it."""

    version: int
    """The number of the vector among those of its sender."""
    to: Sequence[int]
    """The receivers."""
    arrives: Sequence[int]
    """The instant of each arrival, in nanoseconds."""
    bytes: int
    """The size of the message to one receiver."""
    resent: bool = False
    """Whether the same vector was sent before."""
    by: Sequence[int] = ()
    """The numbers of the faults that touched it."""
    late_ns: int = 0


class Delivered(Event, frozen=True, tag="delivered"):
    """A message reached its receiver at `arrived`; noticed when the receiver looked, which is when it is told."""

    sender: int
    """The agent that sent it."""
    version: int
    """The number of the vector among those of its sender."""
    arrived: int
    """The instant of its arrival, in nanoseconds."""
    late_ns: int = 0


class Superseded(Event, frozen=True, tag="superseded"):
    """A delivered message was never read: a newer one of the same sender was there."""

    sender: int
    """The agent that sent it."""
    version: int
    """The number of the vector that was not read."""
    late_ns: int = 0


class Lost(Event, frozen=True, tag="lost"):
    """A message was lost on its link; `node` is its sender, `by` are the faults that touched it. Told at once after `sent`."""

    receiver: int
    """The agent that it does not reach."""
    version: int
    """The number of the vector."""
    by: Sequence[int] = ()
    """The numbers of these faults; empty where the link lost it by itself."""
    late_ns: int = 0


class Rejected(Event, frozen=True, tag="rejected"):
    """A message arrived at a receiver that was not up, or arrived damaged."""

    sender: int
    """The agent that sent it."""
    version: int
    """The number of the vector."""
    arrived: int
    """The instant of its arrival, in nanoseconds."""
    reason: str = ""
    """`corrupt`, or empty: the receiver was not up."""
    late_ns: int = 0


class Duplicated(Event, frozen=True, tag="duplicated"):
    """A copy of a message is on its way; `node` is its sender."""

    receiver: int
    """The agent that gets the copy."""
    version: int
    """The number of the vector."""
    arrives: int
    """The instant of its arrival, in nanoseconds; −2 where a fault holds it."""
    late_ns: int = 0


class Merged(Event, frozen=True, tag="merged"):
    """A woken agent took over what its neighbours sent. Told at a wake at which something new was there."""

    senders: Sequence[int]
    """The neighbours."""
    versions: Sequence[int]
    """The number of the vector of each."""
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
    """What it lost: `volatile` (model and mailbox), `all` (what it last published, too) or `nothing`. The ledger is never lost."""
    late_ns: int = 0


class Restarted(Event, frozen=True, tag="restarted"):
    """A crashed agent came back, with the same ledger."""

    releases: int
    """How many releases its ledger holds."""
    late_ns: int = 0


class Paused(Event, frozen=True, tag="paused"):
    """An agent stands still: it keeps what it holds, and what arrives waits."""

    late_ns: int = 0


class Resumed(Event, frozen=True, tag="resumed"):
    """An agent goes on after a pause."""

    late_ns: int = 0


class FaultBegan(Event, frozen=True, tag="fault_began"):
    """The scenario, or a person, did something to the world; `until` is when it is undone, −1 where it lasts."""

    fault: int
    """The number of the fault in the scenario file, from 0; faults by hand follow."""
    action: str
    """The name of the action."""
    targets: Sequence[int]
    """The agents that it acts on, or the ends of its links."""
    until: int = -1
    """The instant at which it is undone, in nanoseconds."""
    late_ns: int = 0


class FaultEnded(Event, frozen=True, tag="fault_ended"):
    """The scenario, or a person, undid it; `cause` is the `fault_began` that it ends."""

    fault: int
    """The number of the fault."""
    action: str
    """What undid it: `heal`, `restart`, `join`, `leave` or `resume`."""
    targets: Sequence[int]
    """The agents that it acted on."""
    late_ns: int = 0


class Spent(Event, frozen=True, tag="spent"):
    """An agent has made its last release: planned ones are done, or the cap refused one. Told once for each agent."""

    reason: str
    """`planned`, `cap`, or `storage`: its ledger is not trusted any more."""
    late_ns: int = 0


class Diverged(Event, frozen=True, tag="diverged"):
    """A model is no longer finite; its agent goes on without data."""

    late_ns: int = 0


class RoundOpened(Event, frozen=True, tag="round_opened"):
    """A server asked some of its clients."""

    round: int
    """The number of the round, from 1."""
    asked: Sequence[int]
    """The clients."""
    late_ns: int = 0


class RoundClosed(Event, frozen=True, tag="round_closed"):
    """A server took over what its clients answered."""

    round: int
    """The number of the round."""
    survivors: Sequence[int]
    """The clients that answered in time."""
    late_ns: int = 0


class RoundAborted(Event, frozen=True, tag="round_aborted"):
    """A server threw a round away."""

    round: int
    """The number of the round."""
    survivors: Sequence[int]
    """The clients that answered in time."""
    reason: str
    """Why, in words."""
    late_ns: int = 0


class Sampled(Event, frozen=True, tag="sampled"):
    """The oracle looked at every model: values of metrics, per agent or for the network. Told at the start, every `run.sample_every`, and at the end."""

    values: Values
    """The metrics by name: a list with a value for each agent, or one value of the network; null where there is none."""
    late_ns: int = 0


class Violated(Event, frozen=True, tag="violated"):
    """An invariant broke. The run goes on, and ends with exit code 3."""

    invariant: str
    """The name of the invariant."""
    detail: str
    """What was wrong, in words."""
    late_ns: int = 0


class Finished(Event, frozen=True, tag="finished"):
    """The run ended. It is the last event."""

    reason: str
    """`horizon`, `rounds`, `updates`, `spent`, `interrupted`, or why no wake can come."""
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

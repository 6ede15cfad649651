"""What agents send to each other."""

import msgspec
from msgspec.structs import replace

from mechanisms.vectors import Vector


class Message(msgspec.Struct, frozen=True, gc=False):
    """One vector that left an agent; all receivers of a broadcast share it.

    `version` numbers what the sender published, so that the newest wins; `round` is the sender's
    count of wakes, which barriers wait for, or of what it answers; a control message has no vector; `sent` is the
    event that sent it first; a receiver answers a message that `asks`, and rejects one that is `corrupt`. `reads` holds
    the newest version that the sender had merged of each of its neighbours; None where no mechanism asks for that.
    """

    sender: int
    version: int
    round: int
    vector: Vector | None
    sent: int
    asks: bool = False
    corrupt: bool = False
    reads: dict[int, int] | None = None

    def damaged(self) -> "Message":
        """Return the message as a faulty link delivers it: its receiver will reject it."""
        return replace(self, corrupt=True)

    def poisoned(self, vector: Vector) -> "Message":
        """Return the message with another vector in place of its own."""
        return replace(self, vector=vector)

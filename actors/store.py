"""Simulated durable storage: what survives a crash, by design."""

from mechanisms.accounting.ledger import Ledger
from mechanisms.vectors import Vector


class Store:
    """An agent's ledger with its release counter, and what it last published."""

    __slots__ = (
        "ledger", "published", "published_round", "published_to", "published_version", "version",
    )  # fmt: skip

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.version = 0
        self.published: Vector | None = None
        self.published_version = -1
        self.published_round = 0
        self.published_to: int | None = None
        """The slot of the one neighbour it was for; None where it was for all."""

    def publish(self, vector: Vector, round_: int, to: int | None = None) -> int:
        """Remember a vector that is about to leave, its round and whom it is for, and number it."""
        self.published_to = to
        self.published_round = round_
        self.published, self.published_version = vector, self.version
        self.version += 1
        return self.published_version

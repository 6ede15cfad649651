"""Simulated durable storage: what survives a crash, by design."""

from mechanisms.accounting.ledger import Ledger
from mechanisms.vectors import Vector


class Store:
    """An agent's ledger with its release counter, and what it last published."""

    __slots__ = ("ledger", "published", "published_round", "published_version", "version")

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.version = 0
        self.published: Vector | None = None
        self.published_version = -1
        self.published_round = 0

    def publish(self, vector: Vector, round_: int) -> int:
        """Remember a vector that is about to leave, and its round, and number it."""
        self.published_round = round_
        self.published, self.published_version = vector, self.version
        self.version += 1
        return self.published_version

"""Simulated durable storage: what survives a crash, by design, and what faults of a disk do to it."""

from mechanisms.accounting.ledger import Ledger
from mechanisms.vectors import Vector


class Store:
    """An agent's ledger with its release counter, and what it last published.

    The ledger lies on a disk, the counter in a place of its own that only counts up. After a crash the two are
    compared: a disk that holds fewer releases than were counted cannot be trusted, and nothing is released any more.
    A counter that is behind the ledger is set by it. So nothing that a disk does makes a ledger shorter.
    """

    __slots__ = (
        "_disk_faults",
        "_readable",
        "counter",
        "ledger",
        "published",
        "published_round",
        "published_to",
        "published_version",
        "trusted",
        "version",
    )

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.counter = 0
        self.trusted = True
        self._disk_faults: list[tuple[str, int]] = []
        self._readable = 0
        self.version = 0
        self.published: Vector | None = None
        self.published_version = -1
        self.published_round = 0
        self.published_to: int | None = None
        """The slot of the one neighbour it was for; None where it was for all."""

    @property
    def made(self) -> int:
        """How many releases were charged: the length of the ledger."""
        return len(self.ledger)

    def publish(self, vector: Vector, round_: int, to: int | None = None) -> int:
        """Store a vector that is about to leave, its round and the slot of its one receiver; return its version."""
        self.published_to = to
        self.published_round = round_
        self.published, self.published_version = vector, self.version
        self.version += 1
        return self.published_version

    def add_disk_fault(self, kind: str) -> tuple[str, int]:
        """Let the disk fail from now on; it shows at the next crash. Return what `remove_disk_fault` takes."""
        fault = kind, len(self.ledger)
        self._disk_faults.append(fault)
        return fault

    def remove_disk_fault(self, fault: tuple[str, int]) -> None:
        """Let the disk work again."""
        self._disk_faults.remove(fault)

    def crash(self) -> None:
        """Lose what a misbehaving disk loses: a torn last record, or all since it stopped writing."""
        self._readable = len(self.ledger)
        for kind, since in self._disk_faults:
            match kind:
                case "torn":
                    if len(self.ledger) > since:
                        self._readable = min(self._readable, len(self.ledger) - 1)
                case "unsynced" | "stale":
                    self._readable = min(self._readable, since)
                case _:
                    raise NotImplementedError(f"nothing is written that a disk loses when {kind!r}")

    def recover(self) -> bool:
        """Compare disk and counter after a crash; false when the ledger cannot be trusted any more."""
        self.trusted = self.trusted and self._readable >= len(self.ledger)
        self.counter = max(self.counter, len(self.ledger))
        return self.trusted

    def roll_back(self) -> None:
        """Set both counters back, as restoring an old machine does."""
        self.counter = 0
        self.version //= 2

"""The kinds of clock: when an agent wakes. One record in one file each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import KindTable
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Family

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


@dataclass(frozen=True, slots=True)
class ClockInputs:
    """What a clock may be made of beside its table."""

    agents: int
    folders: Folders


class ClockTable(KindTable):
    """The parameters of a clock."""

    def clocks(self, inputs: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        """Return a function from an agent's id to its clock. Raises BadData."""
        raise NotImplementedError(f"no clock is made for {self.kind!r}")


@dataclass(frozen=True, slots=True)
class ClockKind:
    """A kind of clock."""

    name: str
    table: type[ClockTable]
    example: Mapping[str, Any]
    """A table of this kind, for tests and random worlds."""
    counts_rounds: bool
    """Whether all agents wake as often: `rounds` may end the run."""
    waits: bool
    """Whether a wake waits for messages of neighbours."""


CLOCKS = Family(__name__, ClockKind)


def clock_kind(table: KindTable | None) -> ClockKind | None:
    """Return the kind of a clock; None for code of the scenario's own and a table that did not read."""
    return CLOCKS[table.kind] if isinstance(table, ClockTable) else None


def waits(table: KindTable | None) -> bool:
    """Whether the wakes of a clock wait for messages; false for code of the scenario's own."""
    kind = clock_kind(table)
    return kind is not None and kind.waits

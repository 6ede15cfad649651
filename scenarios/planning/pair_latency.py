"""Latency that depends on the pair: one distribution for each ordered pair of agents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Text
from scenarios.planning.files import BadData, Folders

if TYPE_CHECKING:
    from clocks.durations import Duration

PairLaw = Callable[[int, int], "Duration"]
"""The distribution of delays from one agent to another."""


@dataclass(frozen=True, slots=True)
class Seats:
    """What a latency of pairs may ask: ids by group, the id of the server, the seed of the network, and files."""

    groups: Mapping[str, tuple[int, ...]]
    server: int | None
    """The id of the server, which is in no group; None where there is none."""
    seed: int
    folders: Folders

    @property
    def agents(self) -> int:
        """The number of agents, without the server."""
        return sum(map(len, self.groups.values()))

    @property
    def count(self) -> int:
        """The number of agents, with the server."""
        return self.agents + (self.server is not None)


class PairLatencyTable(KindTable):
    """A latency that depends on who sends to whom."""

    names_server: ClassVar[bool] = False
    """Whether it says how far a server is."""

    def laws(self, seats: Seats) -> PairLaw:
        """Return the distribution of each ordered pair; equal pairs have one and the same. Raises BadData."""
        raise NotImplementedError(f"no latency of pairs is written for {self.kind!r}")


class LatencyMatrixTable(PairLatencyTable):
    """A file that holds one delay in seconds for each ordered pair of agents."""

    path: str = key(
        Text("a path"),
        REQUIRED,
        words="A file with a delay in seconds for each ordered pair of agents.",
    )

    def laws(self, seats: Seats) -> PairLaw:
        from clocks.durations import Constant
        from scenarios.planning.files import numbers

        n, path = seats.agents, seats.folders.find(self.path)
        matrix = numbers(path)
        if matrix.shape != (n, n) or not (matrix >= 0).all() or not (matrix < 9e9).all():
            raise BadData(
                f"{path.name} must hold {n} × {n} delays in seconds, none negative, got {matrix.shape}"
            )
        return lambda sender, receiver: Constant(float(matrix[sender, receiver]))

"""Wakes at listed instants: rows of time in seconds and id, or the path of a file that holds them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.problems import Report, shown
from scenarios.language.table_rules import Many, key
from scenarios.language.value_rules import LONGEST_S, Number, Text
from scenarios.planning.clocks import ClockInputs, ClockKind, ClockTable
from scenarios.planning.files import BadData

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


class TraceTable(ClockTable):
    """Wakes at listed instants: rows of time in seconds and id, or the path of a file that holds them."""

    wakes: list[list[float]] | None = key(
        Many(Many(Number(low=0), 2, 2), 1),
        words="Pairs of an instant in seconds and the id that wakes then.",
    )
    path: str | None = key(Text("a path"), words="A file with such rows.")

    def check(self, report: Report) -> None:
        if ("wakes" in self.given) == ("path" in self.given):
            report.value(self.place, "a trace clock needs exactly one of wakes and path")
        for k, wake in enumerate(self.wakes or []):
            if not wake or None in wake:
                continue
            if wake[1] != int(wake[1]):
                report.value(self.path_to("wakes", k), f"must be [time, id], got {shown(wake)}")
            elif wake[0] > LONGEST_S:
                wanted = f"must be [time, id] with a time in seconds up to {LONGEST_S:g}"
                report.value(self.path_to("wakes", k), f"{wanted}, got {shown(wake)}: nanoseconds?")

    def clocks(self, inputs: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        from clocks.activation import Trace

        instants = self._instants(inputs)
        if any(not 0 <= agent < inputs.agents for agent in instants):
            raise BadData(f"no agent {max(instants)}: ids run from 0 to {inputs.agents - 1}")
        return lambda agent: Trace(instants.get(agent, ()))

    def _instants(self, inputs: ClockInputs) -> dict[int, tuple[int, ...]]:
        """Return the instants of each agent in nanoseconds, in order, none twice."""
        from clocks.clock import nanoseconds
        from scenarios.planning.files import numbers

        rows = self.wakes
        if rows is None:
            assert self.path is not None, "the check asks for one of both"  # noqa: S101
            rows = numbers(inputs.folders.find(self.path)).tolist()
        instants: dict[int, set[int]] = {}
        for at, row in enumerate(rows, 1):
            fits = len(row) == 2 and all(0 <= number <= LONGEST_S for number in row)
            if not fits or row[1] != int(row[1]):
                wanted = f"a trace holds rows of time, in seconds up to {LONGEST_S:g}, and id"
                raise BadData(f"{wanted}; row {at} is none")
            instants.setdefault(int(row[1]), set()).add(nanoseconds(row[0]))
        return {agent: tuple(sorted(times)) for agent, times in instants.items()}


KIND = ClockKind(
    name="trace",
    table=TraceTable,
    example={"wakes": [[1.0, 0], [2.0, 1]]},
    counts_rounds=False,
    waits=False,
)

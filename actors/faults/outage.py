"""Outages of regions: each region fails and comes back as a whole, by itself or with all others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from actors.faults.absences import Absences
from actors.faults.context import FaultContext, Firing, Undo
from clocks.clock import FAULT
from clocks.durations import Draws, Duration

_START, _FIRST = 0, 1
"""Which draws of a chain decide how it begins, and from where on how long it stays as it is."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Up and down by turns, for times that are drawn; `begins_down` of 2^64 draws begin down."""

    up: Duration
    down: Duration
    begins_down: int

    async def run(self, context: FaultContext, draws: Draws, turn: Callable[[bool], bool]) -> None:
        """Tell `turn` at once and at every change whether it is up, until that returns false."""
        clock, up, number = context.clock, int(draws(_START, 1)[0]) >= self.begins_down, _FIRST
        while turn(up):
            law = self.up if up else self.down
            lasts = int(law.draw(draws(number, 1), number)[0])
            await clock.sleep_until(clock.now + max(1, lasts), FAULT)
            up, number = not up, number + 1


@dataclass(slots=True)
class _Region:
    """The agents of a region, and which chains are down now."""

    nodes: tuple[int, ...]
    down: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Outage:
    """A region is up while its own chain and the shared one are: its agents go and come back at the same instants.

    `own` and `shared` are None where such a chain never fails.
    """

    regions: tuple[tuple[str, tuple[int, ...]], ...]
    own: Chain | None
    shared: Chain | None
    crashes: bool = False

    def begin(self, firing: Firing) -> Undo:
        """Let the regions fail and come back, until this is undone; agents that are not hit stay."""
        absences, context, hit = Absences(firing, crashes=self.crashes), firing.context, firing.hit
        regions = {
            name: _Region(tuple(i for i in nodes if i in hit)) for name, nodes in self.regions
        }

        def turn(chain: str, affected: tuple[_Region, ...], *, up: bool) -> bool:
            for region in affected if not absences.over else ():
                was = bool(region.down)
                (region.down.discard if up else region.down.add)(chain)
                if bool(region.down) != was:
                    for node in region.nodes:
                        absences.turn(node, on=was)
            return not absences.over

        def follow(chain: Chain, name: str, affected: tuple[_Region, ...]) -> None:
            draws = context.stream(f"{firing.path}/{name}")
            context.clock.spawn(
                partial(chain.run, context, draws, lambda up: turn(name, affected, up=up))
            )

        if self.shared is not None:
            follow(self.shared, "shared", tuple(regions.values()))
        for name, region in regions.items():
            if self.own is not None and region.nodes:
                follow(self.own, f"region/{name}", (region,))
        return absences.end

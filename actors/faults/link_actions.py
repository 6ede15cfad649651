"""What a scenario does to links: losses, delays, copies, damage, disorder, throttles, holds and partitions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from actors.faults import link_effects
from actors.faults.context import Link, Make, Stage, Strike, Undo
from actors.faults.targets import Target

Direction = Literal["both", "to", "from"]
_WAYS: dict[Direction, tuple[bool, bool]] = {
    "both": (True, True),
    "to": (True, False),
    "from": (False, True),
}
"""Whether a direction means messages to the target, and messages from it."""


@dataclass(frozen=True, slots=True)
class Where:
    """Links that touch some agents, or given pairs; `to` and `from` take one direction of them.

    Of a pair [a, b], `to` is from a to b.
    """

    target: Target
    pairs: tuple[Link, ...] = ()
    direction: Direction = "both"

    def links(self, hit: tuple[int, ...], stage: Stage) -> Iterator[Link]:
        """Yield the directed links."""
        to, back = _WAYS[self.direction]
        if self.pairs:
            for a, b in self.pairs:
                if to:
                    yield a, b
                if back:
                    yield b, a
            return
        chosen = set(hit)
        for i, j in stage.links():
            if (back and i in chosen) or (to and j in chosen):
                yield i, j


@dataclass(frozen=True, slots=True)
class Ailment:
    """What kind of trouble a link has, with its parameters; each link has its own state and chance."""

    of: type[link_effects.Trouble]
    parameters: tuple[tuple[str, Any], ...] = ()

    def maker(self, strike: Strike) -> Make:
        """Return what makes the trouble of each link."""
        by_chance = "chance" in getattr(self.of, "__dataclass_fields__", {})

        def make(i: int, j: int) -> link_effects.Trouble:
            given = dict(self.parameters)
            if by_chance:
                stream = strike.stage.stream(f"{strike.path}/{i}→{j}")
                given["chance"] = link_effects.Chance(stream)
            return self.of(strike.fault, **given)  # type: ignore[call-arg]

        return make


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something happens to the messages of some links."""

    name: str
    where: Where
    ailment: Ailment
    undone: str = "heal"

    @property
    def target(self) -> Target:
        return self.where.target

    def begin(self, strike: Strike) -> Undo | None:
        """Lay it on the links; `cause` is not needed: what it does to messages names the strike.fault."""
        return strike.stage.burden(
            self.where.links(strike.hit, strike.stage),
            self.ailment.maker(strike),
        )


@dataclass(frozen=True, slots=True)
class Partition:
    """Some links are cut, slow, or keep what is sent until they heal (`jam`).

    Between groups; between a target and everybody else; or between two halves that only a bridge joins.
    """

    target: Target
    shape: Literal["groups", "isolate", "bridge"]
    ailment: Ailment
    groups: tuple[tuple[int, ...], ...] = ()
    direction: Direction = "both"
    name: str = "partition"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        """Lay it on the links that cross; `cause` is not needed here either."""
        side = self._sides(strike.hit, len(strike.stage.members.agents))
        crossing = (
            (i, j)
            for i, j in strike.stage.links()
            if -1 not in (side[i], side[j])
            and side[i] != side[j]
            and self._turned(side[i], side[j])
        )
        return strike.stage.burden(crossing, self.ailment.maker(strike))

    def _turned(self, sender: int, receiver: int) -> bool:
        """Whether this direction is meant: `to` and `from` are seen from the first group."""
        match self.direction:
            case "both":
                return True
            case "to":
                return receiver == 0
            case "from":
                return sender == 0
            case _:
                assert_never(self.direction)

    def _sides(self, hit: tuple[int, ...], seats: int) -> list[int]:
        """Return the side of everybody; −1 talks to all."""
        chosen = set(hit)
        match self.shape:
            case "isolate":
                return [0 if i in chosen else 1 for i in range(seats)]
            case "bridge":
                others = [i for i in range(seats) if i not in chosen]
                first = set(others[: (len(others) + 1) // 2])
                return [-1 if i in chosen else 0 if i in first else 1 for i in range(seats)]
            case "groups":
                of = {i: number for number, group in enumerate(self.groups) for i in group}
                return [of.get(i, len(self.groups)) for i in range(seats)]
            case _:
                assert_never(self.shape)

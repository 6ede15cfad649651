"""What a fault does to links: it lays an effect on links that touch agents, on given pairs, or on those that cross a cut."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from actors.faults.context import FaultContext, Firing, Link, Undo
from actors.faults.link_effects import Chance, LinkEffect
from actors.faults.targets import Target

Direction = Literal["both", "to", "from"]
_WAYS: dict[Direction, tuple[bool, bool]] = {
    "both": (True, True),
    "to": (True, False),
    "from": (False, True),
}
"""Whether a direction means messages to the target, and messages from it."""
MakeEffect = Callable[[Firing, Link], LinkEffect]
"""Makes the effect of one directed link: each has its own state and chance."""


def with_chance(effect: Callable[[int, Chance], LinkEffect]) -> MakeEffect:
    """Make effects that need random bits: each link has a stream of its own."""

    def make(firing: Firing, link: Link) -> LinkEffect:
        stream = firing.context.stream(f"{firing.path}/{link[0]}→{link[1]}")
        return effect(firing.fault, Chance(stream))

    return make


def without_chance(effect: Callable[[int], LinkEffect]) -> MakeEffect:
    """Make effects that need no random bits."""
    return lambda firing, _: effect(firing.fault)


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """Links that touch some agents, or given pairs; `to` and `from` take one direction of them.

    Of a pair [a, b], `to` is from a to b.
    """

    agents: Target
    pairs: tuple[Link, ...] = ()
    direction: Direction = "both"

    def links(self, hit: tuple[int, ...], context: FaultContext) -> Iterator[Link]:
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
        for i, j in context.links():
            if (back and i in chosen) or (to and j in chosen):
                yield i, j


def affect_links(firing: Firing, target: LinkTarget, make: MakeEffect) -> Undo:
    """Lay an effect on the links of a target."""
    context = firing.context
    return context.lay(target.links(firing.hit, context), lambda link: make(firing, link))


Shape = Literal["groups", "isolate", "bridge"]


@dataclass(frozen=True, slots=True)
class Partition:
    """Lays an effect on the links that cross a cut.

    The cut is between groups; between a target and all others; or between two halves that only a bridge joins.
    """

    shape: Shape
    make: MakeEffect
    groups: tuple[tuple[int, ...], ...] = ()
    direction: Direction = "both"

    def begin(self, firing: Firing) -> Undo:
        """Lay the effect on the links that cross."""
        context = firing.context
        side = self._sides(firing.hit, len(context.members.agents))
        crossing = (
            (i, j)
            for i, j in context.links()
            if -1 not in (side[i], side[j])
            and side[i] != side[j]
            and self._is_meant(side[i], side[j])
        )
        return context.lay(crossing, lambda link: self.make(firing, link))

    def _is_meant(self, sender: int, receiver: int) -> bool:
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
        """Return the side of each agent; an agent of side −1 talks to all."""
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

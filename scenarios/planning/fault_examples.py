"""Examples of faults that random worlds and tests draw."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


class Luck(Protocol):
    """Draws: dice for the command, Hypothesis for the tests."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        ...

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        ...


class RandomWorld(NamedTuple):
    """What an example may ask of the world that it is for."""

    family: str
    has_barrier: bool
    computes: bool
    """Whether computing takes time."""


class Example(NamedTuple):
    """A fault as an author would write it, without its timing, for a world with so many agents."""

    name: str
    make: Callable[[Luck, int], dict[str, Any]]
    fits: Callable[[RandomWorld], bool] = lambda _: True
    """Whether a world takes it."""


def some_agents(luck: Luck, size: int) -> Any:
    """Return a target: which agents a fault hits."""
    one, two = luck.whole(0, size - 1), min(2, size)
    choices: tuple[Any, ...] = ("all", "one", "minority", "majority", [one], "peers")
    choices += ({"count": two, "redraw": True}, {"percent": 50}, {"neighbours_of": one})
    choices += ({"degree_above": 1}, {"highest": "updates"}, {"lowest": "releases", "count": two})
    return luck.pick(choices)


def some_links(luck: Luck, size: int) -> Any:
    """Return the links of a target, or one pair."""
    return luck.pick((some_agents(luck, size), [[0, 1]]))


def on_agents(action: str) -> Example:
    """Return the example of an action that takes agents and no parameters."""
    return Example(action, lambda luck, size: {action: some_agents(luck, size)})


def on_server(action: str) -> Example:
    """Return an example of what hits the server."""
    return Example(
        f"{action} of the server",
        lambda *_: {action: "server"},
        lambda world: world.family == "server",
    )


def by_chance(action: str) -> Example:
    """Return the example of an action on links that happens to each message with a probability."""
    return Example(
        action,
        lambda luck, size: {
            action: {"on": some_links(luck, size), "p": luck.pick((0.1, 0.5, 1.0))}
        },
    )

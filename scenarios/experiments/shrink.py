"""From a scenario that fails to the smallest one that still fails: fewer faults, shorter, fewer agents, earlier."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from scenarios.language.value_rules import number_of_seconds

Table = dict[str, Any]
Fails = Callable[[Table], bool]

_MOST = 400
"""The largest number of trials: each is a run."""
_PLAIN: dict[str, Any] = {"loss": 0.0, "latency": 0.0, "rate": None, "silence": None}


def shrink(tree: Table, fails: Fails, most: int = _MOST) -> tuple[Table, int]:
    """Return the smallest scenario found that fails as this one does, and how many runs that took.

    It takes the first simpler one that fails and begins again, until none does: a fixed point.
    """
    smallest, tried, known = deepcopy(tree), 0, set[str]()
    again = True
    while again:
        again = False
        for simpler in _simpler(smallest):
            key = repr(simpler)
            if key in known:
                continue
            known.add(key)
            tried += 1
            if tried > most:
                return smallest, most
            if fails(simpler):
                smallest, again = simpler, True
                break
    return smallest, tried


def size(tree: Table) -> tuple[int, int, float]:
    """Return how large a scenario is: faults, agents, and how long it lasts."""
    agents = sum(group.get("count", 1) for group in tree["nodes"])
    run = tree.get("run") or {}
    lasts = next((_number(run[k]) for k in ("horizon", "rounds", "updates") if k in run), 60.0)
    return len(tree.get("fault") or []), agents, lasts


def _number(value: Any) -> float:
    """Return a duration or a count as a number; 0 for what is neither: a distribution."""
    return 0.0 if isinstance(value, dict) else number_of_seconds(value)


def _simpler(tree: Table) -> Iterator[Table]:
    """Yield simpler scenarios, the boldest first."""
    yield from _without(tree, "fault")
    yield from _without(tree, "expect", least=1)
    yield from _earlier(tree)
    yield from _fewer(tree)
    yield from _quieter(tree)
    yield from _shorter(tree)


def _with(tree: Table, path: tuple[str | int, ...], value: Any) -> Table:
    """Return a scenario with another value at a place; None takes what is there away."""
    copy = deepcopy(tree)
    place: Any = copy
    for part in path[:-1]:
        place = place[part]
    if value is None:
        place.pop(path[-1])
    else:
        place[path[-1]] = value
    return copy


def _without(tree: Table, key: str, least: int = 0) -> Iterator[Table]:
    """Yield scenarios without halves of the entries of a list, then without single ones; `least` entries stay."""
    entries = tree.get(key) or []
    width = len(entries) // 2
    while width >= 1:
        for first in range(0, len(entries), width):
            kept = entries[:first] + entries[first + width :]
            if least <= len(kept) < len(entries):
                yield tree | {key: deepcopy(kept)}
        width //= 2
    if len(entries) == 1 and least == 0:
        yield tree | {key: []}


def _earlier(tree: Table) -> Iterator[Table]:
    run = tree.get("run") or {}
    for key in ("horizon", "rounds", "updates"):
        lasts = _number(run.get(key, 0))
        if lasts > 1:
            for share in (0.25, 0.5, 0.75, 0.9):
                value = lasts * share if key == "horizon" else max(1, int(lasts * share))
                if value < lasts:
                    value = round(value, 3)
                    yield _with(tree, ("run", key), value)


def _fewer(tree: Table) -> Iterator[Table]:
    """Yield scenarios with fewer agents. Where a fault names an agent that is gone, the trial cannot run and does not count."""
    for g, group in enumerate(tree["nodes"]):
        count = group.get("count", 1)
        for fewer in dict.fromkeys((max(1, count // 2), count - 1)):
            if 1 <= fewer < count:
                yield _with(tree, ("nodes", g, "count"), fewer)
        if len(tree["nodes"]) > 1:
            yield _with(tree, ("nodes", g), None)


def _quieter(tree: Table) -> Iterator[Table]:
    """Yield scenarios without losses and delays of the network, and without computing times."""
    network = tree.get("network") or {}
    for key, plain in _PLAIN.items():
        if key in network and network[key] != plain:
            yield _with(tree, ("network", key), plain)
    for g, group in enumerate(tree["nodes"]):
        if "compute" in group:
            yield _with(tree, ("nodes", g, "compute"), None)
    if tree.get("link"):
        yield tree | {"link": []}


def _shorter(tree: Table) -> Iterator[Table]:
    """Yield scenarios with shorter windows, single firings, and agent 0 in place of all agents."""
    for i, fault in enumerate(tree.get("fault") or []):
        lasts = _number(fault.get("for", 0))
        if lasts > 0.1:
            yield _with(tree, ("fault", i, "for"), round(lasts / 2, 3))
        if fault.get("times") != 1 and "every" in fault:
            yield _with(tree, ("fault", i, "times"), 1)
        for key in ("probability", "later", "nth"):
            if key in fault:
                yield _with(tree, ("fault", i, key), None)
        for action, value in fault.items():
            if value == "all" and action not in {"name", "when"}:
                yield _with(tree, ("fault", i, action), [0])
            elif isinstance(value, dict) and value.get("on") == "all":
                yield _with(tree, ("fault", i, action, "on"), [0])

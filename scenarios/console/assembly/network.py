"""Builds the network of a frame: where its dots stand, what each is worth, what is on its way, what is cut."""

import math
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np

from actors.events import Sent
from mechanisms.vectors import Vector
from scenarios.console.assembly.places import places
from scenarios.console.assembly.stars import starred
from scenarios.console.drawing.layout import MANY
from scenarios.console.drawing.model import Window
from scenarios.console.drawing.network import Dot, Geometry, NetworkView
from scenarios.console.drawing.styled_text import GOOD, HERE, WARN, brief
from scenarios.console.sources.source import Source
from scenarios.console.sources.state import percentiles
from scenarios.language.json_numbers import number
from scenarios.running.observers.traffic import REMEMBERED

BUDGET = "ε/cap"
_GLOW_S = 0.3
"""A lost message is shown for so long, in seconds on the wall."""
_BLOCKS = 12
"""So many blocks of ids stand for agents of one group that are too many to be shown."""
_LOST, _HELD = -1, -2
_REMEMBERED = 10_000
"""Of so many messages it is remembered when they arrive."""
_CUTTING = ("partition", "loss")
"""The faults that may cut links."""


class NetworkBuilder:
    """Builds views of one network; the places of its dots are found once."""

    def __init__(self, source: Source, caps: Vector) -> None:
        self._source = source
        self._caps = caps
        self._facts = source.facts
        self._geometry: Geometry | None = None
        self._arrivals: dict[int, float] = {}
        """When the last copy of each message arrives, by the number of its event."""
        self._cuts: tuple[object, frozenset[tuple[int, int]]] = None, frozenset()
        """The faults that were active at the last frame, and what they cut."""
        self._whole = source.facts.size <= MANY
        self._members: dict[str, Sequence[int]] = {} if self._whole else _members(source)
        self._group_of = {i: at for at, ids in enumerate(self._members.values()) for i in ids}

    def build(
        self,
        color: str,
        cursor: int | None,
        states: Sequence[str],
        epsilons: Vector,
        windows: Sequence[Window],
        speed: float,
    ) -> NetworkView:
        """Return the network as of now; `color` is a metric of agents, or `ε/cap`; `cursor` an agent's id."""
        geometry = self._placed()
        values, low, high, metric = self._values(color, epsilons)
        dots, place = self._dots(values, (low, high), states), self._place_of
        active = self._active(windows)
        flows, lost, flying, is_least = self._flows(speed, {window.number for window in active})
        cut = self._cut(active)
        flows = {pair: style for pair, style in flows.items() if pair not in cut}
        return NetworkView(
            geometry,
            dots,
            flows,
            cut,
            metric,
            low,
            high,
            None if cursor is None else place(cursor),
            lost,
            flying,
            is_least,
        )

    def agent_beside(self, agent: int, down: int, right: int) -> int:
        """Return the nearest agent below (`down` > 0), above, to the right or to the left of an agent; itself where none is."""
        places_ = self._placed().places
        if not self._whole:
            step = 1 if down + right > 0 else -1
            return max(0, min(self._facts.size - 1, agent + step))
        x, y = places_[agent]
        best, least = agent, math.inf
        for other, (x1, y1) in enumerate(places_[: self._facts.size]):
            along = (x1 - x) * _sign(right) + (y1 - y) * _sign(down)
            across = abs((y1 - y) if right else (x1 - x))
            if other != agent and along > 0 and along + 2 * across < least:
                best, least = other, along + 2 * across
        return best

    def _placed(self) -> Geometry:
        if self._geometry is None:
            pairs = {
                tuple(sorted((self._place_of(i), self._place_of(j)))) for i, j in self._facts.edges
            }
            edges = sorted((i, j) for i, j in pairs if i != j)
            count = self._facts.seats if self._whole else len(self._members)
            self._geometry = Geometry(places(count, edges), edges)
        return self._geometry

    def _place_of(self, agent: int) -> int:
        """Return the dot that stands for an agent: itself, or its group."""
        if self._whole:
            return agent
        return self._group_of.get(agent, 0)

    def _values(self, color: str, epsilons: Vector) -> tuple[Sequence[float], float, float, str]:
        """Return a value for each agent, the least and the most that colours stand for, and what it is."""
        last = self._source.run_state.last
        sampled = None if last is None else last.values.get(color)
        if isinstance(sampled, list):
            values = [number(v) for v in sampled]
            known = [v for v in values if math.isfinite(v)]
            return values, min(known, default=0.0), max(known, default=1.0), starred(color)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = epsilons / self._caps
        if np.isfinite(shares).any():
            return shares.tolist(), 0.0, 1.0, BUDGET
        most = float(epsilons.max(initial=0.0))
        return epsilons.tolist(), 0.0, most if math.isfinite(most) and most else 1.0, "ε"

    def _dots(
        self, values: Sequence[float], bounds: tuple[float, float], states: Sequence[str]
    ) -> list[Dot]:
        low, high = bounds
        span = (high - low) or 1.0
        if self._whole:
            shares = [(v - low) / span for v in values]
            dots = [
                Dot(str(i), state, share, i)
                for i, (state, share) in enumerate(zip(states, shares, strict=True))
            ]
            if self._facts.seats > self._facts.size:
                state = self._source.run_state.state(self._facts.size)
                dots.append(Dot("server", state, math.nan))
            return dots
        return [
            self._group(name, ids, values, (low, span), states)
            for name, ids in self._members.items()
        ]

    @staticmethod
    def _group(
        name: str,
        ids: Sequence[int],
        values: Sequence[float],
        scale: tuple[float, float],
        states: Sequence[str],
    ) -> Dot:
        (median,) = percentiles([values[i] for i in ids], (50,))
        counts = Counter(states[i] for i in ids)
        here = sum(count for state, count in counts.items() if state in HERE)
        state = "up" if 2 * here >= len(ids) else counts.most_common(1)[0][0]
        note = f"median {brief(median)}, {here:,} of {len(ids):,} up"
        low, span = scale
        return Dot(f"{name} {len(ids):,}", state, (median - low) / span, None, note)

    def _flows(
        self, speed: float, active: Set[int]
    ) -> tuple[dict[tuple[int, int], str], int, int, bool]:
        """Return a style for each edge with a message on its way or just lost, how many of both there are, and whether more may be.

        `active` are the numbers of faults that last: what a fault held goes on when it is healed. More messages may be on
        their way where the oldest that is remembered of a sender still is.
        """
        if not self._whole:
            return {}, 0, 0, False
        source, now = self._source, self._source.now
        since = now - round(_GLOW_S * 1e9 * (speed if math.isfinite(speed) else 1.0))
        flows: dict[tuple[int, int], str] = {}
        lost = flying = 0
        is_least = False
        for sender in range(self._facts.seats):
            remembered, seen = source.traffic.last_sent(sender), 0
            for sent in remembered:
                seen = lost + flying
                arrivals = sent.arrives
                recent = sent.t >= since
                if not recent and self._last_arrival(sent) <= now:
                    continue
                held = _HELD in arrivals and not active.isdisjoint(sent.by)
                for receiver, arrives in zip(sent.to, arrivals, strict=True):
                    if arrives > now:
                        flying += 1
                        flows.setdefault(_ordered(sender, receiver), GOOD)
                    elif (arrives == _LOST and recent) or (arrives == _HELD and held):
                        lost += 1
                        flows[_ordered(sender, receiver)] = WARN
            if len(remembered) == REMEMBERED and lost + flying > seen:
                is_least = True
        return flows, lost, flying, is_least

    def _last_arrival(self, sent: Sent) -> float:
        """Return when the last copy of a message arrives (ns), infinite where one is held; looked up once a message."""
        known = self._arrivals.get(sent.seq)
        if known is None:
            if len(self._arrivals) >= _REMEMBERED:
                self._arrivals.clear()
            known = math.inf if _HELD in sent.arrives else max(sent.arrives)
            self._arrivals[sent.seq] = known
        return known

    def _active(self, windows: Sequence[Window]) -> list[Window]:
        """Return the faults that began and are not over."""
        now = self._source.now / 1e9
        return [
            window
            for window in windows
            if window.action
            and window.begun_s <= now
            and (window.ended_s is None or window.ended_s > now)
        ]

    def _cut(self, active: Sequence[Window]) -> frozenset[tuple[int, int]]:
        """Return the edges that active partitions cut, and those on which a fault loses every message."""
        known = tuple((w.number, w.action, w.targets) for w in active if w.action in _CUTTING)
        if self._cuts[0] != known:
            self._cuts = known, self._cut_by(known)
        return self._cuts[1]

    def _cut_by(
        self, active: Sequence[tuple[int, str, Sequence[int]]]
    ) -> frozenset[tuple[int, int]]:
        cut: set[tuple[int, int]] = set()
        edges = self._placed().edges
        for fault, action, targets in active:
            if action == "loss":
                cut |= self._lost_links(fault).intersection(edges)
                continue
            side = self._sides(fault, targets)
            if side:
                cut |= {(i, j) for i, j in edges if self._part(i, side) != self._part(j, side)}
        return frozenset(cut)

    def _lost_links(self, number: int) -> set[tuple[int, int]]:
        """Return the links that a fault names one by one and on which it loses every message: what `cut 0-1` does."""
        table = self._source.declared_fault(number).get("loss", {})
        links = table.get("on", ())
        if not self._whole or table.get("p") != 1 or not isinstance(links, Sequence):
            return set()
        pairs = [link for link in links if isinstance(link, Sequence) and len(link) == 2]
        return {_ordered(i, j) for i, j in pairs if isinstance(i, int) and isinstance(j, int)}

    def _part(self, dot: int, side: dict[int, int]) -> int:
        """Return the part of a partition that a dot lies in; a group lies where its first agent does."""
        agent = dot if self._whole else next(iter(list(self._members.values())[dot]))
        return side.get(agent, -1)

    def _sides(self, number: int, targets: Sequence[int]) -> dict[int, int]:
        """Return the part of each agent that a partition names; all others are one more part.

        A `bridge` has halves that no event names: nothing is returned, and its cuts show as lost messages. Nor is it
        where links are slow or hold messages: these are late, or show as held.
        """
        table = self._source.declared_fault(number).get("partition", {})
        if "bridge" in table or table.get("mode", "cut") != "cut":
            return {}
        groups = table.get("groups") or [targets]
        return {i: part for part, ids in enumerate(groups) for i in ids}


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _members(source: Source) -> dict[str, Sequence[int]]:
    """Return the groups; of one group alone blocks of ids."""
    members: dict[str, Sequence[int]] = dict(source.facts.members)
    if len(members) > 1:
        return members
    size = source.facts.size
    step = math.ceil(size / _BLOCKS)
    return {
        f"{first}–{min(size, first + step) - 1}": range(first, min(size, first + step))
        for first in range(0, size, step)
    }

"""What faults and rates of links do to the messages of a stretch, in the order in which they are sent.

An effect remembers the messages that it judged. A stretch may be cut: then each has the memory of before it again, and judges
once more what was really sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actors.columns.table import Words
from actors.faults.link_effects import LinkEffect, Passage
from actors.messages import Message
from actors.turns import LOST_ARRIVAL
from clocks.durations import Bits

if TYPE_CHECKING:
    from actors.agent import Agent

_ANY = Message(-1, 0, 0, None, 0)
"""Effects that settle look at no message."""


class Touched(NamedTuple):
    """What faults did to the messages of some wakes."""

    tails: dict[int, list[int]]
    """By wakes, the words behind their rows: see `actors.turns`."""
    faults: dict[int, list[list[int]]]
    """By wakes, the faults that touched each message that any touched."""


UNTOUCHED = Touched({}, {})
_NONE: list[int] = []


def _never_copied(bits: Bits) -> int:
    """Raise: effects that copy messages do not settle."""
    raise NotImplementedError(f"a message is not copied here ({len(bits)} draws)")


class LinkEffects:
    """The effects on the links of a world."""

    def __init__(self, agents: Sequence[Agent], owners: Words, firsts: Words) -> None:
        self._agents, self._owners, self._firsts = agents, owners, firsts
        self._has = np.zeros(len(owners), bool)
        """Which links have any."""
        self._are_any = False
        self._memories: dict[LinkEffect, Any] = {}
        """What effects remembered before the stretch."""
        self._sent: list[tuple[int, ...]] = []
        """What was judged in the stretch: wake, link, instant, arrival and size of each message."""

    def note(self, agent: int) -> None:
        """Note which links of an agent have effects."""
        first, effects = int(self._firsts[agent]), self._agents[agent].outbox.links.effects
        self._has[first : first + len(self._agents[agent].neighbours)] = False
        if effects:
            self._has[[first + slot for slot in effects]] = True
        self._are_any = bool(self._has.any())

    def judge(self, wake: Words, link: Words, t: Words, arrival: Words, size: int) -> Touched:
        """Change the arrivals of messages as faults want it, and return what they did; the messages are in order.

        `arrival` is LOST_ARRIVAL where a message is lost; `size` is that of each in bytes.
        """
        self._memories, self._sent = {}, []
        if not self._are_any:
            return UNTOUCHED
        chosen = np.flatnonzero(self._has[link])
        if not len(chosen):
            return UNTOUCHED
        columns = (wake, link, t, arrival)
        self._sent = [
            (*each, size)
            for each in zip(*(column[chosen].tolist() for column in columns), strict=True)
        ]
        arrivals, faults = self._judge(self._sent)
        arrival[chosen] = arrivals
        by = {at: those for at, those in zip(chosen.tolist(), faults, strict=True) if those}
        if not by:
            return UNTOUCHED
        touched, wakes, ends = Touched({}, {}), wake.tolist(), arrival.tolist()
        for at, those in by.items():
            touched.faults.setdefault(wakes[at], []).append(those)
        bounds = np.searchsorted(wake, np.array([*touched.faults])).tolist()
        for begin, (number, those_of) in zip(bounds, touched.faults.items(), strict=True):
            every, masks, at = sorted({fault for those in those_of for fault in those}), [], begin
            while at < len(wakes) and wakes[at] == number:
                if ends[at] == LOST_ARRIVAL:
                    masks.append(sum(1 << every.index(fault) for fault in by.get(at, ())))
                at += 1
            touched.tails[number] = every + masks
        return touched

    def _judge(self, sent: Iterable[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
        """Return when messages arrive, and which faults touched each."""
        known: dict[int, list[LinkEffect]] = {}
        memories, arrivals, faults = self._memories, list[int](), list[list[int]]()
        passage = Passage(0, 0, 0, _ANY, _never_copied)
        for _, link, now, arrival, size in sent:
            effects = known.get(link)
            if effects is None:
                effects = known[link] = self._effects_of(link)
                for effect in effects:
                    memories.setdefault(effect, effect.memory)
            passage.now, passage.size, passage.lost = now, size, arrival < 0
            passage.delay = 0 if arrival < 0 else arrival - now
            by = _NONE
            for effect in effects:
                if effect.judge(passage) and effect.fault >= 0:
                    by = [*by, effect.fault]
            arrivals.append(LOST_ARRIVAL if passage.lost else now + passage.delay)
            faults.append(by if len(by) < 2 else sorted(set(by)))
        return arrivals, faults

    def _effects_of(self, link: int) -> list[LinkEffect]:
        agent = int(self._owners[link])
        return self._agents[agent].outbox.links.effects[link - int(self._firsts[agent])]

    def end(self, done: int, silent: int, wakes: int) -> None:
        """Let effects remember the messages of the first `done` of so many wakes, but not of the one that stayed silent."""
        sent, self._sent = self._sent, []
        if sent and (done < wakes or silent >= 0):
            for effect, memory in self._memories.items():
                effect.memory = memory
            self._judge(each for each in sent if each[0] < done and each[0] != silent)
        self._memories = {}

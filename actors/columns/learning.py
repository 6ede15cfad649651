"""How the agents of a stretch learn: in fronts where their kind has a step over rows, else one after the other.

A wake needs the wake of its agent before it, and the wakes whose vectors it merges. Its level is one more than the highest of
those; the wakes of one level are a front, and may be computed together, to the bits of one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actors.columns.table import (
    DIVERGED,
    HAS_DIVERGED,
    OWN,
    PAUSE,
    PUBLISHED,
    STATE,
    UPDATES,
    Words,
    latest_of,
)
from actors.release import admit, draw_ahead, release, take_over
from actors.turns import DERIVED as IS_DERIVED
from mechanisms.abilities import Pauses, offers
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.columns import InRows, in_rows
from mechanisms.mixing import Heard, mean_of
from mechanisms.strategy import DERIVED, RELEASE, SILENT, State, Step
from mechanisms.vectors import Matrix, Vector, distinct

if TYPE_CHECKING:
    from actors.agent import Agent
    from actors.columns.forecast import Stretch
    from actors.columns.world import ColumnWorld

WENT_ON, DIFFERS, FAILS, UNSENT = 0, 16, 32, 64
"""How a call ended beside `HAS_DIVERGED`: as was forecast; the last wake takes another step, raised something, or sends nothing."""
_MOST_PLACES = 1 << 22
"""Where wakes and neighbours are so many that this many places would be looked at, agents learn one after the other."""
_HUGE = 1e300
"""Sums of squares below this are finite in whatever order they are added."""


class Differs(NamedTuple):
    """The step of a wake that is another one than was forecast, and what it was proposed from."""

    step: Step
    state: State
    heard: Heard


class Ending(NamedTuple):
    """Behind which wake a call ended, and how; `k` is the release that was charged before `error`, −1 for none."""

    end: int
    how: int = WENT_ON
    k: int = -1
    error: BaseException | None = None
    differs: Differs | None = None


class Learning:
    """The states of agents in columns, and how they have the wakes of a stretch."""

    def __init__(self, world: ColumnWorld, agents: Sequence[Agent]) -> None:
        self._world, self._agents = world, agents
        self._states: list[State] = [None] * len(agents)
        self._published: list[Vector | None] = [None] * len(agents)
        self._read = np.full(len(agents), -1, np.int64)
        """Which version `_published` is, of each agent."""
        self._placed: dict[int, int] = {}
        """The places of spends of the releases of the stretch, by their wakes."""
        self._fronts: Fronts | None = None
        self._was_in_fronts = False
        """Whether the last call computed fronts."""
        rows = in_rows([agent.mechanism for agent in agents])
        if rows is not None and _are_admitted(agents, rows):
            self._fronts = Fronts(world, agents, rows)

    # the states of agents

    def enter(self, agent: Agent) -> None:
        """Take over the state of an agent, and what it published last."""
        if self._fronts is not None:
            model = self._fronts.enter(agent.id, agent.state)
            if model is None:
                model = agent.mechanism.model(agent.state)
            self._world.agents[agent.id, OWN] = self._world.put_vector(model)
        self._states[agent.id] = agent.state
        self._published[agent.id] = agent.store.published
        self._read[agent.id] = agent.store.published_version

    def leave(self, agent: int) -> None:
        """Forget the state of an agent."""
        self._states[agent] = self._published[agent] = None

    def state(self, agent: int) -> State:
        """Return the state of an agent."""
        if self._fronts is not None and self._fronts.has(agent):
            return self._fronts.state(agent)
        return self._states[agent]

    def pause(self, agent: int) -> int:
        """Return how many wakes of an agent bring no release: its next ones, or those after the first."""
        kind: Any = self._agents[agent].mechanism
        return int(kind.pause(self.state(agent))) if offers(kind, Pauses) else 0

    def models(self, ids: Words) -> Matrix:
        """Return the models of some agents, a row each: a new array."""
        if self._fronts is not None:
            models: Matrix = self._world.vectors[self._world.agents[ids, OWN]]
            return models
        agents, states = self._agents, self._states
        return np.array([agents[i].mechanism.model(states[i]) for i in ids.tolist()])

    def published(self, agent: int) -> Vector | None:
        """Return what an agent published last; None where that is never sent."""
        row = self._world.agents[agent]
        if self._fronts is not None and row[PUBLISHED] != self._read[agent]:
            has_diverged = row[STATE] & DIVERGED
            self._published[agent] = None if has_diverged else self._world.own_model(agent)
            self._read[agent] = row[PUBLISHED]
        return self._published[agent]

    def note_shares(self, agent: int, heard: Heard) -> None:
        """Note how an agent mixes what it hears."""
        if self._fronts is not None:
            self._fronts.note_shares(agent, heard)

    # wakes

    def learn(self, stretch: Stretch, first: int, last: int) -> Ending:
        """Let agents have the wakes from `first` up to `last`, which are in the order of time."""
        ending = None if self._fronts is None else self._fronts.learn(stretch, first, last)
        self._was_in_fronts = ending is not None
        return ending or self._one_by_one(stretch, first, last)

    def _one_by_one(self, stretch: Stretch, first: int, last: int) -> Ending:
        """Let agents have wakes in the order of time: each is charged before its noise is drawn."""
        world, agents, link, place = self._world, self._agents, *stretch.merged
        merges = stretch.merges[first : last + 1].tolist()
        columns = (stretch.agent, stretch.k, stretch.places, stretch.t, stretch.rounds)
        each = zip(
            range(first, last),
            *(column[first:last].tolist() for column in columns),
            stretch.columns.flags[first:last].tolist(),
            merges[:-1],
            merges[1:],
            strict=True,
        )
        self._placed.clear()
        for wake, i, k, to, t, round_, flags, begin, end in each:
            if begin < end:
                world.held[link[begin:end]] = place[begin:end]
            agent = agents[i]
            if agent.diverged:
                continue
            wanted = RELEASE if k >= 0 else DERIVED if flags & IS_DERIVED else SILENT
            made = len(agent.store.ledger)
            try:
                if agent.balanced:
                    agent.heard.ticks = agent.ticks_at(t, round_)
                    agent.heard.own = self._published[i]
                ending = self._have_wake(wake, agent, wanted, to)
            except BaseException as error:  # noqa: BLE001 # it goes on when what was charged is told
                is_charged = len(agent.store.ledger) > made
                return Ending(wake + 1, FAILS, made if is_charged else -1, error)
            if ending is not None:
                return ending
        return Ending(last)

    def _have_wake(self, wake: int, agent: Agent, wanted: str, to: int) -> Ending | None:
        """Let an agent take its step, and keep what it publishes at a place; return how that ended, None as was forecast."""
        world, i, state, heard = self._world, agent.id, self.state(agent.id), agent.heard
        step = agent.mechanism.propose(state, heard, len(agent.store.ledger))
        if step.kind != wanted:
            return Ending(wake + 1, DIFFERS, differs=Differs(step, state, heard))
        if step.spend is None:
            after, vector = step.finish(None)
        else:
            ((k, refused),) = admit(((agent, step.spend),))
            if refused:
                return Ending(wake + 1, DIFFERS, differs=Differs(step, state, heard))
            self._placed[wake] = world.log.spends.place(step.spend)
            ((after, vector),) = release(((agent, k, step.spend, step.finish),))
        self._states[i] = after
        if to < 0:
            if self._fronts is not None:
                self._fronts.enter(i, after)  # it may count its wakes
            return None
        if vector is None:
            return Ending(wake + 1, UNSENT)
        world.vectors[to] = vector
        if self._fronts is not None:
            self._fronts.enter(i, after)
            world.agents[i, OWN] = to
        self._published[i] = vector
        if not isfinite(vector @ vector):
            self._published[i] = None  # it is never sent
            return Ending(wake + 1, HAS_DIVERGED)
        return None

    def note_taken(self, stretch: Stretch, first: int, last: int) -> None:
        """Note that agents have had some wakes."""
        if self._fronts is not None and self._was_in_fronts:
            self._fronts.take_over(stretch, first, last)

    def note_touched(self, agent: int, faults: Sequence[Sequence[int]]) -> None:
        """Count messages of an agent that faults touched."""
        for those in faults:
            self._agents[agent].outbox.note_touched(those)

    def places_of_spends(self, stretch: Stretch, wakes: Words) -> Words:
        """Return the places of the spends of releases in the table of the log; new ones get theirs in their order."""
        if self._fronts is not None and self._was_in_fronts:
            return self._fronts.places_of_spends(stretch, wakes)
        return np.array([self._placed[wake] for wake in wakes.tolist()], np.int64)


def _are_admitted(agents: Sequence[Agent], rows: InRows) -> bool:
    """Whether caps admit every release of the schedules: asked of each cap itself, release by release, on copies of ledgers."""
    known = set[tuple[int, int]]()
    for agent, spends in zip(agents, rows.spends, strict=True):
        cap = agent.settings.cap
        if cap is None or (id(cap), id(spends)) in known:
            continue
        known.add((id(cap), id(spends)))
        ledger = Ledger()
        for spend in spends:
            if not cap.admits(ledger, spend):
                return False
            ledger.note(spend)
    return True


class Fronts:
    """Computes the wakes of one level at once.

    The model of an agent is what it publishes: it lies among the vectors of the world. What is computed is read by nothing
    else before `take_over`, so that a stretch may be cut anywhere. An agent whose next step has no step over rows has its
    wakes one by one, and so have all others of that stretch.
    """

    def __init__(self, world: ColumnWorld, agents: Sequence[Agent], rows: InRows) -> None:
        self._world, self._agents, self._rows = world, agents, rows
        self._is_here = np.zeros(len(agents), bool)
        """Whether the next step of an agent is one over rows."""
        self._streams = [agent.noise_stream for agent in agents]
        self._odd: list[tuple[int, list[float]]] = []
        """Wakes whose noise was drawn with other scales than their spends state, and these."""
        degrees = np.fromiter((len(agent.neighbours) for agent in agents), np.int64, len(agents))
        # a sum over neighbours of one number each is taken in pairs: there, zeros behind them change its bits
        self._width_of = degrees if world.width == 1 else _padded(degrees)
        """How many links each agent mixes, those without a share included: few numbers for all agents."""
        self._widths = distinct(self._width_of).tolist()
        self._most = most = max(1, *self._widths)
        self._firsts = np.cumsum(degrees) - degrees
        near = np.minimum(np.arange(most), np.maximum(degrees - 1, 0)[:, None])
        self._links = np.minimum(self._firsts[:, None] + near, max(0, int(degrees.sum()) - 1))
        """The links of each agent, the last one again and again behind the others: it has no share there."""
        self._shares = np.zeros((len(agents), most))
        self._by_spend: dict[Spend, int] = {}
        self._spends = list[Spend]()
        self._starts, self._numbered = self._number_all(rows)
        self._log_places = np.full(len(self._spends), -1, np.int64)

    def _number_all(self, rows: InRows) -> tuple[Words, Words]:
        """Give every spend of any schedule a number; return where the schedule of each agent begins, and all of them."""
        known: dict[int, int] = {}
        starts, numbered = list[int](), list[int]()
        for spends in rows.spends:
            if id(spends) not in known:
                known[id(spends)] = len(numbered)
                for spend in spends:
                    if spend not in self._by_spend:
                        self._by_spend[spend] = len(self._spends)
                        self._spends.append(spend)
                    numbered.append(self._by_spend[spend])
            starts.append(known[id(spends)])
        return np.array(starts, np.int64), np.array(numbered, np.int64)

    def enter(self, agent: int, state: State) -> Vector | None:
        """Take over the state of an agent; return its model, or None where its next step is none over rows."""
        model = self._rows.enter(agent, state)
        self._is_here[agent] = model is not None
        return model

    def has(self, agent: int) -> bool:
        """Whether the state of an agent is here."""
        return bool(self._is_here[agent])

    def state(self, agent: int) -> State:
        """Return the state of an agent that is here."""
        return self._rows.state(agent, self._world.own_model(agent))

    def note_shares(self, agent: int, heard: Heard) -> None:
        """Note how an agent mixes what it hears."""
        self._shares[agent, : len(heard.shares)] = heard.shares

    def learn(self, stretch: Stretch, first: int, last: int) -> Ending | None:
        """Let agents have wakes; None where a step raised something: then they are to be computed one by one."""
        world, acts = self._world, first + np.flatnonzero(stretch.places[first:last] >= 0)
        self._odd = []
        if not len(acts) or len(acts) * self._most > _MOST_PLACES:
            return None
        if not self._is_here[stretch.agent[first:last]].all():
            return None
        held = self._held_at(stretch, first, last)
        try:
            self._compute(stretch, first, acts, held)
        except Exception:  # noqa: BLE001 # who raised it, and when, is found out one by one
            return None
        wrong = _first_infinite(world.vectors[stretch.places[acts]])
        end = last if wrong < 0 else int(acts[wrong]) + 1
        link, place = stretch.merged
        merged = slice(int(stretch.merges[first]), int(stretch.merges[end]))
        world.held[link[merged]] = place[merged]
        return Ending(end, WENT_ON if wrong < 0 else HAS_DIVERGED)

    def _compute(self, stretch: Stretch, first: int, acts: Words, held: Words) -> None:
        """Compute what agents send at some wakes, front by front, and write it to its places."""
        vectors, fronts = self._world.vectors, self._fronts(stretch, first, acts)
        order = np.concatenate(fronts)
        wakes = acts[order]
        agent, place, k = stretch.agent[wakes], stretch.places[wakes], stretch.k[wakes]
        before = self._before(stretch.agent[acts], stretch.places[acts])[order]
        held, shares = held[wakes - first], self._shares[agent]
        noise = self._noise(agent, k, wakes)
        widths = self._width_of[agent]
        step = self._rows.prepared(agent, self._pauses(stretch, wakes))
        smooths, begin = bool((k < 0).any()), 0
        for front in fronts:
            end = begin + len(front)
            rows = slice(begin, end)
            theta = vectors[before[rows]]
            mixed = self._mixed(held[rows], shares[rows], widths[rows])
            own = None if noise is None else noise[rows]
            rests = k[rows] < 0 if smooths else None
            if rests is None or not rests.any():
                moved = step.release(rows, theta, mixed, own)
            elif rests.all():
                moved = step.smooth(rows, theta, mixed)
            else:
                moved = step.release(rows, theta, mixed, own)
                moved[rests] = step.smooth(rows, theta, mixed)[rests]
            vectors[place[rows]] = moved
            begin = end

    def _pauses(self, stretch: Stretch, wakes: Words) -> Words:
        """Return at how many wakes, this one included, the agent of each wake makes no release before it does."""
        agents = stretch.agent[wakes]
        pauses: Words = self._world.agents[agents, PAUSE]
        if pauses.any():
            had = self._world.agents[agents, UPDATES]
            pauses = pauses - (stretch.updates[wakes] - 1 - had)
        return pauses

    def _before(self, agent: Words, place: Words) -> Words:
        """Return where the state of each agent lies before each of its wakes."""
        order = np.argsort(agent, kind="stable")
        ordered, before = agent[order], np.empty(len(agent), np.int64)
        former = np.empty(len(agent), np.int64)
        former[1:] = place[order[:-1]]
        opens = np.append(True, ordered[1:] != ordered[:-1])
        former[opens] = self._world.agents[ordered[opens], OWN]
        before[order] = former
        return before

    def _held_at(self, stretch: Stretch, first: int, last: int) -> Words:
        """Return where the vectors lie that each wake mixes: a row for each, a column for each neighbour."""
        agent = stretch.agent[first:last]
        order = np.argsort(agent, kind="stable")
        row_of = np.empty(len(order), np.int64)
        row_of[order] = np.arange(len(order))
        ordered = agent[order]
        opens = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        held = np.full((len(order), self._most), -1)
        held[opens] = self._world.held[self._links[ordered[opens]]]
        begin, end = int(stretch.merges[first]), int(stretch.merges[last])
        link, place = (column[begin:end] for column in stretch.merged)
        merging = row_of[
            np.repeat(np.arange(len(order)), np.diff(stretch.merges[first : last + 1]))
        ]
        held[merging, link - self._firsts[ordered[merging]]] = place
        known = np.where(held >= 0, np.arange(len(order))[:, None], 0)
        np.maximum.accumulate(known, axis=0, out=known)
        filled: Words = held[known, np.arange(self._most)]
        return filled[row_of]

    def _fronts(self, stretch: Stretch, first: int, acts: Words) -> list[Words]:
        """Return the wakes of each level, by their places among `acts`: a level after the other."""
        made_in = np.full(len(self._world.vectors), -1, np.int64)
        made_in[stretch.places[acts]] = np.arange(len(acts))
        begins = stretch.merges[first : int(acts[-1]) + 2]
        sources = made_in[stretch.merged[1][begins[0] : begins[-1]]]
        wakes = np.repeat(np.arange(len(begins) - 1), np.diff(begins))[sources >= 0]
        counts = np.bincount(wakes, minlength=len(begins) - 1)
        near, at, done = sources[sources >= 0].tolist(), acts - first, 0
        levels, latest = [0] * len(acts), dict[int, int]()
        acting = np.zeros(len(counts), bool)
        acting[at] = True
        place = 0
        each = zip(
            stretch.agent[first : first + len(counts)].tolist(),
            counts.tolist(),
            acting.tolist(),
            strict=True,
        )
        for agent, count, acts_now in each:
            level = latest.get(agent, 0)
            for source in near[done : done + count]:
                level = max(level, levels[source])
            done += count
            if acts_now:
                levels[place] = latest[agent] = level + 1
                place += 1
            else:
                latest[agent] = level
        order = np.argsort(np.array(levels), kind="stable")
        return np.split(order, np.cumsum(np.bincount(levels)[1:])[:-1])

    def _mixed(self, held: Words, shares: Matrix, widths: Words) -> Matrix:
        """Return what agents mix of their neighbours."""
        vectors = self._world.vectors
        if len(self._widths) == 1:
            return mean_of(shares, vectors[held])
        mixed = np.empty((len(held), self._world.width))
        for width in distinct(widths).tolist():
            some = widths == width
            mixed[some] = mean_of(shares[some, :width], vectors[held[some, :width]])
        return mixed

    def _noise(self, agents: Words, k: Words, wakes: Words) -> Matrix | None:
        """Draw the noise of releases, a row each; None where the kind has none. It counts when it is taken over."""
        rows, streams = self._rows, self._streams
        if rows.law is None:
            return None
        made = np.flatnonzero(k >= 0)
        if not len(made):
            return None
        ids, numbers = agents[made].tolist(), k[made].tolist()
        spends = [rows.spends[i][number] for i, number in zip(ids, numbers, strict=True)]
        noise = np.empty((len(made), self._world.width))
        odd = draw_ahead(noise, [streams[i] for i in ids], numbers, spends, rows.law)
        self._odd = [(int(wakes[made[at]]), scales) for at, scales in odd]
        if len(made) == len(k):
            return noise
        some = np.zeros((len(k), self._world.width))
        some[made] = noise
        return some

    def take_over(self, stretch: Stretch, first: int, last: int) -> None:
        """Charge the releases of some wakes, and let their vectors be what agents hold and published."""
        k, agents, world = stretch.k[first:last], stretch.agent[first:last], self._world
        place = stretch.places[first:last]
        acted = np.flatnonzero(place >= 0)
        latest = acted[latest_of(agents[acted])]
        world.agents[agents[latest], OWN] = place[latest]
        self._rest(agents[(place >= 0) & (k < 0)], silent=False)
        idle = agents[place < 0]
        self._rest(idle[world.agents[idle, STATE] & DIVERGED == 0], silent=True)
        made = np.flatnonzero(k >= 0)
        if not len(made):
            return
        order = made[np.argsort(agents[made], kind="stable")]
        opens = np.flatnonzero(np.append(True, agents[order[1:]] != agents[order[:-1]]))
        counts, firsts = np.diff(np.append(opens, len(order))), order[opens]
        each = zip(agents[firsts].tolist(), k[firsts].tolist(), counts.tolist(), strict=True)
        agents_of, spends, endless = self._agents, self._rows.spends, self._rows.law is None
        for i, number, count in each:
            mine = spends[i] * count if endless else spends[i][number : number + count]
            take_over(agents_of[i], mine, number)
        for wake, scales in self._odd:
            if first <= wake < last:
                i, number = int(stretch.agent[wake]), int(stretch.k[wake])
                self._streams[i].note_odd(number, scales, self._rows.spends[i][number])

    def _rest(self, agents: Words, *, silent: bool) -> None:
        """Count wakes without a release: the agent of each."""
        if len(agents):
            self._rows.rest(*np.unique(agents, return_counts=True), silent=silent)

    def places_of_spends(self, stretch: Stretch, wakes: Words) -> Words:
        """Return the places of spends of releases in the table of the log; new ones get theirs in their order."""
        table, starts = self._world.log.spends, self._starts[stretch.agent[wakes]]
        endless = self._rows.law is None
        numbers = self._numbered[starts if endless else starts + stretch.k[wakes]]
        for number in dict.fromkeys(numbers[self._log_places[numbers] < 0].tolist()):
            self._log_places[number] = table.place(self._spends[number])
        places: Words = self._log_places[numbers]
        return places


def _padded(degrees: Words) -> Words:
    """Return widths that degrees fit in: the degrees where all are equal, else powers of two."""
    if len(distinct(degrees)) <= 1:
        return degrees
    padded: Words = np.maximum(1, 1 << np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64))
    return padded


def _first_infinite(vectors: Matrix) -> int:
    """Return the place of the first vector whose square is not finite, as an agent asks it; −1 where all are."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    for row in np.flatnonzero(~(squares < _HUGE)).tolist():
        if not isfinite(vectors[row] @ vectors[row]):
            return int(row)
    return -1

"""Builds the model of a frame: from a source, and how a person looks at it, what is shown at this event."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.vectors import Vector
from scenarios.console.assembly.crowds import CrowdBuilder
from scenarios.console.assembly.network import NetworkBuilder
from scenarios.console.assembly.pace import PULSE_S, Motion, PaceMeter
from scenarios.console.assembly.panels import PanelInputs, candidates
from scenarios.console.assembly.ranking import Ranking
from scenarios.console.assembly.story import story_of
from scenarios.console.assembly.survey import Survey, survey
from scenarios.console.drawing.layout import MANY
from scenarios.console.drawing.model import (
    AgentDetails,
    Crowd,
    Feed,
    Header,
    Model,
    Nodes,
    Row,
)
from scenarios.console.drawing.styled_text import HEAD, brief
from scenarios.console.sources import feed
from scenarios.console.sources.source import Source, last_delay, memory_mb
from scenarios.console.sources.state import percentiles
from scenarios.console.sources.view_state import FAULTS, LINKS, ViewState
from scenarios.language.json_numbers import number, show, without_dust

_FEED = 60
"""A feed has at most so many lines."""
_PACED, _RUSHED = 20, 300
_UNKNOWN = math.nan, math.nan, math.nan


def _ordered(link: tuple[int, int]) -> tuple[int, int]:
    return min(link), max(link)


@dataclass(frozen=True, slots=True)
class Built:
    """The model of a frame, and how the run is looked at in it: the cursor is on what is shown."""

    model: Model
    view: ViewState


class ModelBuilder:
    """Builds models of one source; keeps what costs too much to find for every frame."""

    def __init__(self, source: Source, motion: Motion) -> None:
        self.source = source
        self.motion = motion
        self.facts = source.facts
        self._caps = np.array([math.nan if c is None else c for c in self.facts.caps])
        self._members = self.facts.members
        self.near = self.facts.neighbours()
        self.pace = PaceMeter(source, motion)
        self._remembered: tuple[tuple[int, int], list[str], tuple[float, float, float]]
        self._remembered = (-1, -1), [], _UNKNOWN
        """States and losses, as long as nothing changes them."""
        self._terms = -1, ""
        self._noted: tuple[int, list[tuple[str, str]]] = -1, []
        """The last notable event that a feed showed, and its lines."""
        self._survey: Survey | None = None
        """The last look at all agents."""
        self._due = 0.0
        self._ranking = Ranking(source, self._caps)
        self._crowds = CrowdBuilder(self._members, self._caps)
        self.networks = NetworkBuilder(source, self._caps)

    def build(self, view: ViewState, *, ascii_only: bool = False) -> Built:
        """Build the model of everything as it stands; return it with the view that it shows, which the caller keeps."""
        source = self.source
        source.refresh()
        self.pace.beat()
        state = source.run_state
        if view.opened is None:
            state.look_at(None)
        seen = self._seen(view)
        epsilons = source.epsilons() if seen is None else seen.epsilons
        order = self._ranking.order(view, epsilons, seen)
        view = view.within(len(order))
        crowd = self._crowd(view, order, seen) if seen and view.scale == "crowd" else None
        if crowd is not None:
            view = replace(view, outlier=crowd.picked)
        rows = [self._row(i, seen) for i in order[view.first : view.first + view.page]]
        inputs = PanelInputs(source, self.near, epsilons, self._caps)
        nodes = self._nodes(view, order, rows, epsilons, seen)
        windows = state.windows.all(source.now)
        view = replace(view, fault=max(0, min(view.fault, len(windows) - 1)))
        network = None
        if view.scale == "network":
            network = self.networks.build(
                view.color, nodes.cursor, nodes.states, epsilons, windows, self.motion.speed
            )
            if view.focus == LINKS and (link := self.link_at_cursor(view)) is not None:
                network = replace(network, flows={**network.flows, _ordered(link): HEAD})
        model = Model(
            header=self._header(),
            nodes=nodes,
            scale=view.scale,
            crowd=crowd,
            network=network,
            story=story_of(source, view.metric, self._caps),
            windows=windows,
            fault=view.fault if view.focus == FAULTS and windows else None,
            link=self.link_at_cursor(view) if view.focus == LINKS else None,
            messages=source.messages(),
            feed=self._feed(view),
            sides=[panel.part(inputs) for panel in candidates(view.scale, view.panel)],
            chosen_side=bool(view.panel),
            opened=None if view.opened is None else self._open(view, view.opened),
            ascii=ascii_only,
        )
        return Built(model, view)

    def at_cursor(self, view: ViewState) -> int | None:
        """Return the agent under the cursor; None where none is shown."""
        if view.opened is not None:
            return view.opened
        seen = self._seen(view)
        epsilons = self.source.epsilons() if seen is None else seen.epsilons
        order = self._ranking.order(view, epsilons, seen)
        if seen is not None and view.scale == "crowd":
            crowd = self._crowd(view, order, seen)
            return None if crowd is None else crowd.chosen
        return order[min(view.cursor, len(order) - 1)] if order else None

    def link_at_cursor(self, view: ViewState) -> tuple[int, int] | None:
        """Return the link under the cursor, of an opened agent or of the one at the cursor; None where it is elsewhere."""
        if view.opened is None and view.focus != LINKS:
            return None
        agent = self.at_cursor(view)
        if agent is None or not self.near[agent]:
            return None
        near = self.near[agent]
        return agent, near[min(view.link, len(near) - 1)]

    def place_of(self, view: ViewState, agent: int) -> int | None:
        """Return the place of an agent in the list that is shown; None where the filter hides it."""
        seen = self._seen(view)
        epsilons = self.source.epsilons() if seen is None else seen.epsilons
        order = self._ranking.order(view, epsilons, seen)
        return order.index(agent) if agent in order else None

    def _seen(self, view: ViewState) -> Survey | None:
        """Return the last look at all agents where there are thousands: now while nothing goes on, else not long ago.

        Of fewer it is None: they are looked at one by one, now.
        """
        if self.facts.size <= MANY and view.scale != "crowd":
            return None
        seen, seq = self._survey, self.source.seq
        begun = time.perf_counter()
        fresh = seen is not None and seen.seq == seq and seen.t == self.source.now
        if seen is not None and not fresh and not self.motion.paused:
            fresh = begun < self._due and not self._looks_anew(view, seen)
        if seen is None or not fresh:
            self._survey = seen = survey(self.source)
            self._due = begun + max(PULSE_S, self._share * (time.perf_counter() - begun))
        return seen

    @property
    def _share(self) -> float:
        """Looking at all of thousands takes one part of the time in so many: less while a run goes as fast as it can."""
        return _RUSHED if self.motion.speed == math.inf or self.motion.hurries else _PACED

    def _looks_anew(self, view: ViewState, seen: Survey) -> bool:
        """Whether a crowd is looked at otherwise than at the last view."""
        return view.scale == "crowd" and self._crowds.known != (seen.seq, seen.t, view.filter)

    def _crowd(self, view: ViewState, order: Sequence[int], seen: Survey) -> Crowd | None:
        """Look at the agents that pass the filter; of their outliers, one is under the cursor."""
        begun = time.perf_counter()
        crowd = self._crowds.of(seen, order, view.filter)
        self._due += self._share * (time.perf_counter() - begun)
        if crowd is None:
            return None
        row = max(0, min(view.outlier[0], len(crowd.outliers) - 1))
        shown = min(view.columns, len(crowd.outliers[row][1]))
        return replace(crowd, picked=(row, max(0, min(view.outlier[1], shown - 1))))

    def _header(self) -> Header:
        source, motion, facts, pace = self.source, self.motion, self.facts, self.pace
        share, server = source.progress, ""
        if facts.seats > facts.size:
            server = f"server {source.run_state.state(facts.size)}, round {source.run_state.round}"
        return Header(
            name=facts.name,
            mechanism=facts.kind,
            seed=facts.seed,
            mode=source.mode,
            goes=pace.goes(),
            speed=motion.speed,
            now_s=source.now / 1e9,
            seq=source.seq,
            end_s=None if source.end is None else source.end / 1e9,
            share=share,
            pace=pace.real,
            events_per_s=pace.events_per_s,
            left_s=pace.left(share),
            wall_s=pace.wall_s,
            queue=source.queue,
            memory_mb=memory_mb(),
            recorded_mb=source.recorded_mb,
            privacy=self._terms_of(),
            steered=source.steered,
            covered=not facts.not_covered and not source.steered,
            invariants=source.invariants,
            held=source.held,
            broken=source.broken,
            server=server,
        )

    def _terms_of(self) -> str:
        """What every ε stands with: of thousands as of the last look at all of them."""
        if self.facts.size <= MANY or self._survey is None:
            return self.source.terms()
        if self._terms[0] != self._survey.seq:
            self._terms = self._survey.seq, self.source.terms()
        return self._terms[1]

    # agents

    def _row(self, i: int, seen: Survey | None = None) -> Row:
        source = self.source
        trend = source.run_state.losses_of(i)
        if seen is not None:
            return Row(
                i,
                seen.states[i],
                float(seen.epsilons[i]),
                self.facts.cap_of(i),
                float(seen.losses[i]),
                trend,
                int(seen.releases[i]),
                int(seen.inbox[i]),
                float(seen.stale[i]),
            )
        return Row(
            i,
            source.run_state.state(i),
            source.epsilon(i),
            self.facts.cap_of(i),
            trend[-1] if trend else math.nan,
            trend,
            source.releases(i),
            source.inbox(i),
            source.stale(i),
        )

    def _nodes(
        self,
        view: ViewState,
        order: Sequence[int],
        rows: Sequence[Row],
        epsilons: Vector,
        seen: Survey | None,
    ) -> Nodes:
        state, size = self.source.run_state, self.facts.size
        stamp = (state.changes, -1) if seen is None else (-1, seen.seq)
        if self._remembered[0] != stamp:
            states = [state.state(i) for i in range(size)] if seen is None else list(seen.states)
            each = state.losses() if seen is None else seen.losses.tolist()
            p10, p50, p90 = percentiles(each, (10, 50, 90))
            self._remembered = stamp, states, (p10, p50, p90)
        _, states, losses = self._remembered
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = epsilons / self._caps
        sort = f"{view.sort}{'↓' if view.descending else ''}"
        return Nodes(
            rows=rows,
            first=view.first,
            listed=len(order),
            count=size,
            cursor=order[view.cursor] if order else None,
            sort=sort,
            filter=view.filter,
            states=states,
            shares=shares.tolist(),
            epsilon_worst=float(epsilons.max(initial=0.0)),
            epsilon_median=float(np.median(epsilons)),
            worst=int(np.argmax(epsilons)),
            losses=losses,
            at_s=None if seen is None else seen.t / 1e9,
        )

    # what happened

    def _feed(self, view: ViewState) -> Feed:
        lines = self._lines_of(view)
        if not lines:
            lines = [("nothing yet that passes the filter", "dim")]
        upcoming = feed.upcoming(self.source) if self.motion.paused else ""
        return Feed(lines, view.events.text, upcoming)

    def _lines_of(self, view: ViewState) -> list[tuple[str, str]]:
        """Return the lines of the feed; those of notable events are made anew when one more has happened."""
        source = self.source
        if view.events.text != "notable":
            return feed.lines_in(source, view.events, _FEED)
        notable = source.run_state.notable
        last = notable[-1].seq if notable else 0
        if self._noted[0] != last:
            self._noted = last, feed.lines_in(source, view.events, _FEED)
        return self._noted[1]

    def _open(self, view: ViewState, i: int) -> AgentDetails:
        source, state = self.source, self.source.run_state
        group = next((name for name, ids in self._members.items() if i in ids), "")
        ledger = folded(source.ledger(i, source.releases(i)))
        near = [
            (j, state.state(j), last_delay(source, i, j), last_delay(source, j, i))
            for j in self.near[i]
        ]
        mine = list(state.look_at(i))[-40:]
        listed = []
        if state.last is not None:
            values = state.last.values
            listed = [
                f"{name} {brief(without_dust(number(values[name][i]), name))}"
                for name in _OF_NODE
                if values.get(name)
            ]
            listed.append(f"(sampled at {state.last.t / 1e9:.3f} s)")
        why = feed.reason_of(source, i)
        return AgentDetails(
            row=self._row(i),
            group=group,
            facts=[*([why] if why else []), *listed],
            ledger=ledger,
            neighbours=near,
            messages=[feed.line_in(source, e) for e in mine],
            epsilons=self._epsilons_of(i),
            losses=self._losses_of(i),
            cursor=min(view.link, max(0, len(near) - 1)),
            count=self.facts.size,
        )

    def _epsilons_of(self, i: int) -> list[tuple[float, float]]:
        """Return ε of an agent at the samples that are kept, and now."""
        source = self.source
        rows = source.run_state.histories.of_agents("epsilon", [i])
        kept = [(t, each[0]) for t, each in rows if not math.isnan(each[0])]
        return [*kept, (source.now / 1e9, source.epsilon(i))]

    def _losses_of(self, i: int) -> list[tuple[float, float, float]]:
        """Return the loss of an agent and the median of its neighbours' at the samples that are kept."""
        near = [j for j in self.near[i] if j < self.facts.size]
        rows = self.source.run_state.histories.of_agents("loss", [i, *near])
        return [(t, each[0], percentiles(each[1:], (50,))[0]) for t, each in rows]


def folded(ledger: Sequence[tuple[int, Spend]]) -> list[str]:
    """Return the lines of a ledger, the last at the end; equal releases that follow each other are one line."""
    lines = list[str]()
    for spend, run in groupby(ledger, key=itemgetter(1)):
        numbers = [k for k, _ in run]
        one, other = numbers[0], numbers[-1]
        name = str(one) if one == other else f"{one}–{other}"
        times = "" if one == other else f"{len(numbers)} releases, each "
        lines.append(f"{name:>7} {times}{_cost_of(spend)}")
    return lines


def _cost_of(spend: Spend) -> str:
    """Tell what was paid: a pure ε, or the μ of Gaussian noise; and what was promised, where that is another."""
    unit = "μ" if spend.law == "gaussian" else "ε"
    same = math.isclose(spend.claimed, spend.charged, rel_tol=1e-6)
    promised = "" if same else f", claimed {show(spend.claimed)}"
    return f"costs {unit} {show(spend.charged)}{promised}: {spend.mechanism}, {spend.law} of scale {show(spend.scale)}"


_OF_NODE = (
    "epsilon.left",
    "epsilon.claimed",
    "updates",
    "derived",
    "releases.refused",
    "accuracy.train",
    "accuracy.test",
    "rmse.train",
    "rmse.test",
    "availability",
)

"""What a network was at one instant, from the events until then: traffic of edges, states and budgets of agents."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from actors.events import (
    Crashed,
    Diverged,
    Event,
    Joined,
    Left,
    Lost,
    Paused,
    Restarted,
    Resumed,
    Sampled,
    Sent,
)
from mechanisms.vectors import Vector
from scenarios.pictures.sampled_run import numbers
from scenarios.records.reader import RunRecord

Edge = tuple[int, int]
STATES = {
    Joined: "up",
    Restarted: "up",
    Resumed: "up",
    Crashed: "down",
    Paused: "paused",
    Left: "left",
    Diverged: "diverged",
}
"""The state of an agent after an event."""


@dataclass
class NetworkMoment:
    """The network at an instant, in nanoseconds."""

    instant: int
    size: int
    """Agents, and the server where there is one."""
    sent: Counter[Edge] = field(default_factory=Counter)
    """Messages between two agents from the start, in both directions together."""
    cut: set[Edge] = field(default_factory=set)
    """Edges over which the last message of either direction was lost or held back by the instant."""
    states: dict[int, str] = field(default_factory=dict)
    """Of agents that are not up."""
    epsilon: Vector = field(default_factory=lambda: np.zeros(0))
    """Of each agent at the last sample."""
    sampled: int = -1
    """The instant of that sample; -1 where there is none."""
    edges: list[Edge] = field(default_factory=list)
    """Every edge that the world began with, or that a message went over."""


def network_at(record: RunRecord, instant: int | None) -> NetworkMoment:
    """Return the network at an instant, in nanoseconds; None: at the end. Events at the instant itself count.

    Raises `FolderError` where the facts of its world cannot be read.
    """
    moment = NetworkMoment(0, 0)
    lost: dict[tuple[int, int], bool] = {}
    for event in record.typed_events():
        if instant is not None and event.t > instant:
            break
        moment.instant = event.t
        _take(moment, lost, event)
    if instant is not None:
        moment.instant = instant
    facts = record.facts
    edges = {*moment.sent, *(_edge(i, j) for i, j in facts.edges)}
    for i in facts.absent:
        moment.states.setdefault(i, "absent")
    seen = [len(moment.epsilon), *(max(edge) + 1 for edge in edges)]
    moment.size = max(facts.seats, *seen)
    moment.states = {i: state for i, state in moment.states.items() if state != "up"}
    moment.cut = {_edge(i, j) for (i, j), was in lost.items() if was}
    moment.edges = sorted(edges)
    return moment


def _take(moment: NetworkMoment, lost: dict[tuple[int, int], bool], event: Event) -> None:
    state = STATES.get(type(event))
    if state is not None and event.node is not None:
        moment.states[event.node] = state
    match event:
        case Sent(node=int(sender)):
            for receiver, arrives in zip(event.to, event.arrives, strict=True):
                moment.sent[_edge(sender, receiver)] += 1
                lost[sender, receiver] = arrives < 0
        case Lost(node=int(sender)):
            lost[sender, event.receiver] = True
        case Sampled() if "epsilon" in event.values:
            moment.epsilon, moment.sampled = numbers(event.values["epsilon"]), event.t


def _edge(i: int, j: int) -> Edge:
    return (i, j) if i < j else (j, i)

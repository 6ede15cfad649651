"""How long a run will last, how much will happen in it, and how many bytes it will write: expected before it begins.

Means, not bounds. Of faults only those count that make a barrier or a server wait for good, or agents slow.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from clocks.activation import Barrier, Periodic, Poisson, Trace
from clocks.durations import Duration
from mechanisms.abilities import Derives, offers
from mechanisms.warm_start import WarmDescent
from scenarios.language.json_numbers import declared_by
from scenarios.planning.metric_names import metrics_of
from scenarios.planning.plan import NodePlan, Plan

_ROW, _SETTLED, _RECEIVER, _SPEND = 96, 28, 12, 290
"""Bytes of the record: of a row, of a message that is settled in one, of one that is sent, and of a spend."""
_EVENT = 140
"""Bytes of an event that is in no row: the opening of a round, or its end."""
_LATE = 0.7
"""The share of agents that settle something at a sample, between their wakes, in a row of its own."""
_SAMPLED, _VALUES, _VALUE = 600, 82, 18
"""Bytes of a sample, of each agent in it, and of every metric of agents that the scenario asks for; measured over the library."""
_ENDS, _END = 1000, 120
"""Bytes of all else: of a run, and of each agent."""
_MOST_ROUNDS = 1000
"""So many rounds are sampled, at the most, of a run that takes no time."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What to expect of a run. NaN stands for what only the run can tell."""

    seconds: float
    """Simulated time until its end."""
    updates: float
    """Wakes of all agents."""
    messages: float
    """Messages, one for each receiver."""
    samples: float
    bytes: float
    """Size of its files of events."""
    stride: int = 0
    """How many rounds go to one sample where all rounds happen at one instant; 0 where time passes."""


def extent(plan: Plan) -> Extent:
    """Return what to expect of a run."""
    if plan.server is not None:
        return _served(plan)
    paces = _paces(plan)
    seconds = _seconds(plan, paces)
    wakes = _wakes(plan, paces, seconds)
    messages = rows = 0.0
    is_own = declared_by(plan.kind) is not None  # how often such code derives is not known
    for node, woken in zip(plan.nodes, wakes, strict=True):
        releases = woken if node.mechanism.planned is None else min(woken, node.mechanism.planned)
        spoken = woken if _goes_on(node) else math.nan if is_own else releases
        messages += spoken * _talk(plan, node)
        rows += woken + (2.0 * spoken if plan.family == "pairs" else 0.0)
    samples, stride = _samples(plan, seconds, sum(wakes) / plan.size)
    rows += min(messages, _LATE * samples * plan.size)  # NaN where messages are
    size = rows * _ROW + messages * (_SETTLED + _RECEIVER) + samples * _sample_bytes(plan)
    size += _spends(plan) * _SPEND + _ENDS + _END * plan.size
    return Extent(seconds, float(sum(wakes)), messages, samples, size, stride)


def _samples(plan: Plan, seconds: float, rounds: float) -> tuple[float, int]:
    """Return how many samples are taken, and how many rounds go to one where time stands still; else 0."""
    if seconds > 0 or not rounds >= 1:
        return seconds * 1e9 / plan.sample_every + 2, 0
    stride = math.ceil(rounds / _MOST_ROUNDS)
    return rounds // stride + 3, stride


def longest_s(plan: Plan) -> float:
    """Return how long a run may last that waits for every deadline it has: in simulated seconds, NaN if unknown.

    Deadlines are waited for where messages may be lost, or where there are faults.
    """
    if plan.horizon is not None or plan.rounds is None:
        return extent(plan).seconds
    lossy = bool(plan.faults) or _loss(plan) > 0
    if plan.server is not None:
        rounds = 1 if plan.server.mechanism.once else plan.rounds
        round_s = plan.server.round_rules.deadline_ns / 1e9 if lossy else _answer_s(plan)
        return (rounds + 1) * round_s
    timeouts = [
        node.activation.timeout_s for node in plan.nodes if isinstance(node.activation, Barrier)
    ]
    timeouts += [] if plan.silence is None else [plan.silence / 1e9]
    waited = max((t for t in timeouts if t is not None), default=0.0) if lossy else 0.0
    return max(extent(plan).seconds, plan.rounds * waited)


def _seconds(plan: Plan, paces: "list[_Pace]") -> float:
    """Return when a run without a server ends."""
    rate = sum(pace.rate for pace in paces)
    ends = [math.inf if plan.horizon is None else plan.horizon / 1e9]
    if plan.updates is not None:
        ends.append(_until_so_many(plan, rate))
    if plan.rounds is not None:
        ends.append(max(pace.seconds(plan.rounds) for pace in paces))
    if plan.stop == "spent":
        every = zip(plan.nodes, paces, strict=True)
        ends.append(max(_spent_s(node, pace.rate, plan.size) for node, pace in every))
    return min(ends)


def _until_so_many(plan: Plan, rate: float) -> float:
    """Return when all agents together have had the updates that end the run."""
    assert plan.updates is not None, "asked only of runs that end by updates"  # noqa: S101
    clocks = {id(node.activation): node.activation for node in plan.nodes}.values()
    if all(isinstance(clock, Trace) for clock in clocks):
        wakes = sorted(w for clock in clocks if isinstance(clock, Trace) for w in clock.wakes)
        return wakes[min(plan.updates, len(wakes)) - 1] / 1e9 if wakes else 0.0
    jitter = max((c.jitter_s for c in clocks if isinstance(c, Periodic)), default=0.0)
    return plan.updates / rate + jitter if rate > 0 else 0.0


def _spent_s(node: NodePlan, rate: float, of: int) -> float:
    """Return when an agent, of so many the slowest, has made its planned releases."""
    planned = node.mechanism.planned
    if planned is None or not rate > 0:
        return math.inf
    if isinstance(node.mechanism, WarmDescent):
        planned += max(1, node.mechanism.wakes) - 1
    chance = isinstance(node.activation, Poisson)
    late = math.sqrt(2.0 * planned * math.log(of)) if chance else 0.0
    return (planned + late) / rate


def _wakes(plan: Plan, paces: "list[_Pace]", seconds: float) -> list[float]:
    """Return the expected wakes of each agent."""
    if plan.updates is not None and plan.horizon is None:
        rate = sum(pace.rate for pace in paces)
        return [plan.updates * pace.rate / rate if rate > 0 else 0.0 for pace in paces]
    if plan.rounds is not None and plan.horizon is None:
        return [float(plan.rounds)] * plan.size
    wakes = [pace.wakes(seconds) for pace in paces]
    most = [float(m) for m in (plan.rounds,) if m is not None]
    wakes = [min(woken, *most) if most else woken for woken in wakes]
    total = sum(wakes)
    if plan.updates is not None and total > plan.updates:
        wakes = [woken * plan.updates / total for woken in wakes]
    return wakes


@dataclass(frozen=True, slots=True)
class _Pace:
    """Wakes, or rounds, every `every_s`; from `stalls_s` on each waits for its deadline of `waits_s`."""

    every_s: float
    waits_s: float = 0.0
    stalls_s: float = math.inf

    @property
    def rate(self) -> float:
        """Wakes a second while nothing is missing."""
        return 1.0 / self.every_s if self.every_s > 0 else math.inf

    def seconds(self, rounds: float) -> float:
        """Return how long so many rounds last."""
        if rounds * self.every_s <= self.stalls_s and self.stalls_s > 0:
            return rounds * self.every_s
        before = self.stalls_s / self.every_s if self.every_s > 0 else 0.0
        return self.stalls_s + (rounds - before) * max(self.waits_s, self.every_s)

    def wakes(self, seconds: float) -> float:
        """Return how many there are in a time."""
        calm = min(seconds, self.stalls_s)
        wakes = calm / self.every_s if self.every_s > 0 else math.inf if calm else 0.0
        if seconds > calm:
            wakes += (seconds - calm) / max(self.waits_s, self.every_s)
        return wakes


def _paces(plan: Plan) -> list[_Pace]:
    """Return the pace of each agent; agents of one clock, computing time and degree have one pace."""
    known: dict[tuple[int, int, int, int], _Pace] = {}
    paces = []
    for node in plan.nodes:
        own = node.id if plan.exceptions else 0
        key = id(node.activation), id(node.compute), len(node.neighbours), own
        if key not in known:
            known[key] = _pace(plan, node)
        paces.append(known[key])
    return paces


def _pace(plan: Plan, node: NodePlan) -> _Pace:
    if not isinstance(node.activation, Barrier):  # what it would do while it computes is left out
        rate = float(node.activation.rate)
        gap_s = 1.0 / rate if rate > 0 else math.inf
        busy_s = min(_late(node.compute, 1), _late(node.compute, 4))  # a mean may be infinite
        return _Pace(gap_s + busy_s if _piles_up(node) else max(gap_s, busy_s))
    busy_s = _slowed(plan) * _late(node.compute, plan.size)
    near = max(1, len(node.neighbours))
    laws = [plan.policy.latency]
    if plan.exceptions and node.neighbours:
        laws = [plan.policy_of(j, node.id).latency for j in node.neighbours]
    round_s = busy_s + max(_late(law, near) for law in laws)
    pace = _waiting(plan, round_s, node.activation.timeout_s, near)
    return _Pace(max(busy_s, pace.every_s), max(busy_s, pace.waits_s), pace.stalls_s)


def _waiting(plan: Plan, round_s: float, wait_s: float | None, messages: int) -> _Pace:
    """Return the pace of rounds that wait for so many messages, at most `wait_s` seconds."""
    patience = [t for t in (wait_s, None if plan.silence is None else plan.silence / 1e9) if t]
    if not patience:
        return _Pace(round_s)
    longest = max(round_s, min(patience)) if wait_s is None else min(patience)
    missed = 1.0 - (1.0 - _loss(plan)) ** messages
    usual = min(longest, round_s) * (1.0 - missed) + longest * missed
    return _Pace(usual, longest, _stalls_s(plan))


def _stalls_s(plan: Plan) -> float:
    """Return from when on an agent or a link is silent for good: rounds then wait for their deadline."""
    silent = [
        fault.timing.at / 1e9
        for fault in plan.faults
        if fault.stalls and fault.timing.at is not None and fault.timing.lasts is None
    ]
    return math.inf if plan.silence is not None else min(silent, default=math.inf)


def _slowed(plan: Plan) -> float:
    """Return by how much the slowest agent computes longer, for faults that slow agents down for good."""
    return max(
        (fault.action.slows for fault in plan.faults if fault.timing.lasts is None), default=1.0
    )


def _late(law: Duration | None, of: int) -> float:
    """Return about the longest of so many draws, in seconds."""
    if law is None:
        return 0.0
    bits = np.array([int((1.0 - 0.5 / max(1, of)) * 2**53) << 11], dtype=np.uint64)
    return float(law.draw(bits, 0)[0]) / 1e9 if of > 1 else law.mean_s


def _loss(plan: Plan) -> float:
    return max([plan.policy.loss, *(policy.loss for policy in plan.exceptions.values())])


def _goes_on(node: NodePlan) -> bool:
    """Whether an agent goes on sending after its planned releases."""
    able: Any = node.mechanism
    return offers(able, Derives) and bool(able.derives)


def _talk(plan: Plan, node: NodePlan) -> float:
    """Return how many messages a wake of an agent makes."""
    match plan.family:
        case "alone":
            return 0.0
        case "pairs":
            return 2.0 if node.neighbours else 0.0
        case "consensus" | "personalised":
            return float(len(node.neighbours))
        case family:
            raise NotImplementedError(f"nothing is known of the messages of family {family!r}")


def _spends(plan: Plan) -> int:
    """Return how many different spends are planned: each stands once in the record."""
    schedules = {id(planned): planned for node in plan.nodes if (planned := node.planned)}
    return len({spend for schedule in schedules.values() for spend in set(schedule)})


def _piles_up(node: NodePlan) -> bool:
    """Whether messages of one sender may arrive between two wakes: about half of them are superseded."""
    return isinstance(node.activation, Poisson)


def _sample_bytes(plan: Plan) -> float:
    more = sum(metric.per_agent for metric in metrics_of(plan.asked).values())
    return _SAMPLED + plan.size * (_VALUES + _VALUE * more / 2)


def _answer_s(plan: Plan) -> float:
    """Return how long a round with a server lasts in which all answer."""
    return 2.0 * max(_late(law, plan.size) for law, _ in plan.latencies) + max(
        _slowed(plan) * _late(node.compute, plan.size) + _idle_s(node) for node in plan.nodes
    )


def _idle_s(node: NodePlan) -> float:
    """Return how long a question waits for a client's own clock."""
    if isinstance(node.activation, Barrier):
        return 0.0
    rate = float(node.activation.rate)
    return 1.0 / rate if rate > 0 else 0.0


def _served(plan: Plan) -> Extent:
    """Return what to expect of a run with a server."""
    assert plan.server is not None, "asked only of server kinds"  # noqa: S101
    round_rules = plan.server.round_rules
    asked = max(1, round(round_rules.sample * plan.size))
    deadline = round_rules.deadline_ns / 1e9
    pace = _waiting(plan, _answer_s(plan), deadline, 2 * asked)
    most = math.inf if plan.horizon is None else plan.horizon / 1e9
    rounds = 1.0 if plan.server.mechanism.once else float(plan.rounds or math.inf)
    if plan.updates is not None:
        rounds = min(rounds, plan.updates / asked)
    rounds = min(rounds, pace.wakes(most))
    if not math.isfinite(rounds):
        return Extent(most, math.nan, math.nan, math.nan, math.nan)
    answers = rounds * asked
    silent = pace.stalls_s < pace.seconds(rounds) or _loss(plan) > 0
    seconds = min(most, pace.seconds(rounds) + (deadline if silent else 0.0))
    samples, stride = _samples(plan, seconds, rounds)
    updates, messages = answers + plan.size, 2 * answers + plan.size
    rows = 2 * answers + plan.size + 2 * rounds
    size = rows * _ROW + messages * (_SETTLED + _RECEIVER) + samples * _sample_bytes(plan)
    size += rounds * (2 * _EVENT + 8 * asked) + _spends(plan) * _SPEND + _ENDS + _END * plan.size
    return Extent(seconds, updates, messages, samples, size, stride)

"""What of a world can be compiled: clocks, links, objectives, noise and schedules of releases as rows of numbers.

What has no such form raises `NotCompiled`: its agents are computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.compiled.columns import (
    CLIPS,
    CLOCK,
    CLOCK_KEY,
    COUNT,
    DELAY,
    GAUSSIAN,
    GRID,
    JITTER,
    KINDS,
    L2,
    LAPLACE,
    NO_NOISE,
    NOISE_HIGH,
    NOISE_LOW,
    NORM_GAMMA,
    OFFSETS,
    PERIOD,
    PLANNED,
    POINTS,
    PULL,
    ROWS,
    SCHEDULE,
    SCHEDULED,
    SHAPE,
    SMOOTHS,
    SPENT,
    STATE,
    STEP,
    VALUE,
    WAKES,
    WEIGHT,
    Arrays,
    Numbers,
    Words,
    unsigned,
)
from actors.compiled.descent import HINGE, LOGISTIC, SQUARED, WELSCH
from actors.compiled.times import (
    CONSTANT,
    PERIODIC,
    POISSON,
    REPLAYED,
    SYNCHRONOUS,
    TABLE,
    TRACE,
)
from clocks.activation import Activation, Barrier, Periodic, Poisson, Synchronous, Trace
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration, Replayed, Table, exponential
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.noise import Gaussian, Laplace, NormGamma
from mechanisms.objectives import (
    LocalObjective,
    Logistic,
    SmoothedHinge,
    Squared,
    Welsch,
)

if TYPE_CHECKING:
    from actors.agent import Agent
    from actors.links import Policy

_LAWS: dict[type[Any], int] = {NormGamma: NORM_GAMMA, Laplace: LAPLACE, Gaussian: GAUSSIAN}
_ENDLESS = 1 << 62
_MOST_TABLES = 1 << 12
"""More tables than these (100 MB) are not laid out."""


class NotCompiled(Exception):
    """Something has no compiled form; the argument says what, for a person."""


class Catalogue:
    """What agents and links share: tables of durations, policies of links, spends, and schedules of them."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[int, Table]] = {}
        self._listed: list[int] = []
        self._lists: dict[int, tuple[int, Any]] = {}
        self._policies: dict[int, tuple[int, Policy]] = {}
        self._policy_rows: list[tuple[int, int, int]] = []
        self._losses: list[float] = []
        self.spends: list[Spend] = []
        """Every spend of any schedule, once."""
        self.numbers: dict[Spend, int] = {}
        """The place of each among them."""
        self._scheduled: list[int] = []
        self._scales: list[float] = []
        self._schedules: dict[tuple[int, ...], int] = {}
        self._known: dict[int, tuple[int, Sequence[Spend]]] = {}
        self._admitted: dict[tuple[int, int, int], tuple[Any, bool]] = {}

    def _table(self, law: Table) -> int:
        known = self._tables.setdefault(id(law), (len(self._tables), law))
        if len(self._tables) > _MOST_TABLES:
            raise NotCompiled(f"there are more than {_MOST_TABLES:,} different durations")
        return known[0]

    def _list(self, values: Sequence[int]) -> int:
        known = self._lists.get(id(values))
        if known is None:
            known = self._lists[id(values)] = len(self._listed), values
            self._listed += values
        return known[0]

    def duration(self, law: Duration) -> tuple[int, int, int]:
        """Return the kind of a duration, and two numbers that belong to it."""
        match law:
            case Constant():
                return CONSTANT, nanoseconds(law.value_s), 0
            case Table():
                return TABLE, self._table(law), 0
            case Replayed():
                return REPLAYED, self._list(law.values), len(law.values)
            case _:
                raise NotCompiled(f"{type(law).__name__} is no duration that is compiled")

    def policy(self, policy: Policy) -> int:
        """Return the place of a policy of links."""
        known = self._policies.get(id(policy))
        if known is None:
            if policy.rate is not None:
                raise NotCompiled("a link has a rate")
            self._policy_rows.append(self.duration(policy.latency))
            self._losses.append(policy.loss)
            known = self._policies[id(policy)] = len(self._policies), policy
        return known[0]

    def schedule(self, spends: Sequence[Spend]) -> int:
        """Return where the spends of a schedule begin; equal schedules lie at one place."""
        known = self._known.get(id(spends))
        if known is None:
            numbers = tuple(map(self._number, spends))
            start = self._schedules.get(numbers)
            if start is None:
                start = self._schedules[numbers] = len(self._scheduled)
                self._scheduled += numbers
                self._scales += [spend.scale for spend in spends]
            known = self._known[id(spends)] = start, spends
        return known[0]

    def _number(self, spend: Spend) -> int:
        number = self.numbers.setdefault(spend, len(self.spends))
        if number == len(self.spends):
            self.spends.append(spend)
        return number

    def admits_all(self, cap: Cap, spends: Sequence[Spend], start: int) -> bool:
        """Whether a cap admits every release of a schedule: asked of the cap itself, release by release, once for each pair."""
        key = id(cap), start, len(spends)
        known = self._admitted.get(key)
        if known is None:
            ledger, admitted = Ledger(), True
            for spend in spends:
                if not cap.admits(ledger, spend):
                    admitted = False
                    break
                ledger.charge(spend)
            known = self._admitted[key] = cap, admitted
        return known[1]

    def fill(self, arrays: Arrays) -> Arrays:
        """Put everything into the arrays."""
        tables = [law.knots for _, law in self._tables.values()]
        rows = np.array(self._policy_rows, np.int64).reshape(-1, 3)
        policies = np.zeros_like(rows)
        policies[:, (DELAY, VALUE, COUNT)] = rows
        return arrays._replace(
            tables=np.array(tables, np.int64).reshape(-1, 3, tables[0].shape[1] if tables else 1),
            listed=np.array(self._listed, np.int64),
            policies=policies,
            losses=np.array(self._losses, np.float64),
            spends=np.array(self._scheduled, np.int64),
            scales=np.array(self._scales, np.float64),
            places=np.full(len(self.spends), -1, np.int64),
            new_places=np.zeros(len(self.spends) + 1, np.int64),
        )

    def enrol(self, agent: Agent, row: Words, numbers: Numbers) -> None:
        """Write down what does not change of an agent; raise `NotCompiled` where its wakes cannot be compiled."""
        _check(agent)
        self.enrol_clock(agent.settings.activation, row)
        rounds = agent.settings.rounds
        row[CLOCK_KEY] = unsigned(int(agent.streams.keys[0]))
        row[WAKES] = _ENDLESS if rounds is None else rounds
        row[NOISE_LOW], row[NOISE_HIGH] = map(unsigned, agent.noise_stream.key.tolist())
        self._enrol_learning(agent, row, numbers)

    def enrol_clock(self, activation: Activation | Barrier, row: Words) -> None:
        """Write down when an agent wakes."""
        match activation:
            case Poisson():
                kind, period, jitter = POISSON, self._gaps(activation), 0
            case Synchronous():
                kind, period, jitter = SYNCHRONOUS, nanoseconds(activation.period_s), 0
            case Periodic():
                kind = PERIODIC
                period = nanoseconds(activation.period_s * (1 + activation.drift))
                jitter = nanoseconds(activation.jitter_s)
            case Trace():
                kind, period, jitter = TRACE, self._list(activation.wakes), len(activation.wakes)
            case _:
                raise NotCompiled("an agent wakes by messages, at barriers")
        row[CLOCK], row[PERIOD], row[JITTER] = kind, period, jitter

    def _gaps(self, activation: Poisson) -> int:
        gaps = exponential(1 / activation.rate)
        if not isinstance(gaps, Table):
            raise NotCompiled("the gaps of a clock are no table")
        return self._table(gaps)

    def _enrol_learning(self, agent: Agent, row: Words, numbers: Numbers) -> None:
        kind = agent.mechanism
        if type(kind) is not CoordinateDescent:
            raise NotCompiled(f"the step of {type(kind).__name__} is not compiled")
        objective = kind.objective
        if type(objective) is not LocalObjective:
            raise NotCompiled(f"the gradient of {type(objective).__name__} is not compiled")
        loss, shape = loss_of(objective.loss)
        rows, offsets = objective.rows, objective.offsets
        row[ROWS], row[POINTS] = _address(rows), len(rows)
        row[OFFSETS] = 0 if offsets is None else _address(offsets)
        row[CLIPS] = 0 if kind.clip is None else _address(kind.clip)
        pull = kind.mu * kind.confidence
        numbers[PULL], numbers[STEP] = pull, 1.0 / (1.0 + pull * kind.smoothness)
        numbers[GRID] = 0.0 if kind.grid is None else kind.grid
        numbers[WEIGHT], numbers[L2], numbers[SHAPE] = objective.weight, objective.l2, shape
        cap, spends, law = agent.settings.cap, kind.spends, NO_NOISE
        row[STATE] |= SMOOTHS if kind.smooth_after else 0
        if kind.law is None:
            if kind.free is None:
                raise NotCompiled("a release has no spend")
            spends, row[PLANNED] = (kind.free,), _ENDLESS
        else:
            law = _LAWS.get(type(kind.law), -1)
            if law < 0:
                raise NotCompiled(f"noise by {kind.law.name} is not compiled")
            row[PLANNED] = len(spends)
            if not spends:
                row[STATE] |= SPENT  # with nothing planned, nothing is ever spent
        row[KINDS] = law | loss << 8
        row[SCHEDULE] = start = self.schedule(spends)
        row[SCHEDULED] = len(spends)
        if cap is not None and (kind.law is None or not self.admits_all(cap, spends, start)):
            raise NotCompiled("a cap may refuse a release of the schedule")


def _check(agent: Agent) -> None:
    settings = agent.settings
    if settings.compute is not None:
        raise NotCompiled("agents take time to compute")
    if settings.silence is not None:
        raise NotCompiled("agents suspect neighbours that are silent")
    if settings.adopt_neighbours:
        raise NotCompiled("an agent begins with the models of its neighbours")
    if agent.balanced:
        raise NotCompiled("agents keep duals on their edges")


def loss_of(loss: Any) -> tuple[int, float]:
    """Return the number of a loss, and its width or clip; raise `NotCompiled` where it has none."""
    match loss:
        case Logistic():
            return LOGISTIC, 0.0
        case SmoothedHinge():
            return HINGE, loss.width
        case Squared():
            return SQUARED, loss.clip
        case Welsch():
            return WELSCH, 0.0
        case _:
            raise NotCompiled(f"the loss {type(loss).__name__} is not compiled")


def _address(array: Any) -> int:
    """Return where the numbers of an array lie in memory: it must be whole, and of floats of 64 bits."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise NotCompiled("the records of an agent do not lie in one piece, as floats of 64 bits")
    return unsigned(int(array.ctypes.data))

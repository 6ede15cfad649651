"""What of a world can be compiled: clocks, links, objectives, noise and schedules of releases as rows of numbers.

What has no such form raises `Unfit`: its agents are computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.arena.arena import ENDLESS, check_settings, enrol_schedule
from actors.arena.columns import (
    CLIPS,
    CLOCK,
    CLOCK_KEY,
    JITTER,
    KINDS,
    NOISE_HIGH,
    NOISE_LOW,
    OFFSETS,
    PERIOD,
    PLANNED,
    POINTS,
    ROWS,
    SMOOTHS,
    STATE,
    WAKES,
    Numbers,
    Words,
    unsigned,
)
from actors.arena.schedules import Schedules, Unfit
from actors.compiled.columns import (
    COUNT,
    DELAY,
    GAUSSIAN,
    GRID,
    L2,
    LAPLACE,
    NO_NOISE,
    NORM_GAMMA,
    PULL,
    SHAPE,
    STEP,
    VALUE,
    WEIGHT,
    Arrays,
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
_MOST_TABLES = 1 << 12
"""More tables than these (100 MB) are not laid out."""


class Catalogue:
    """What agents and links share: tables of durations, policies of links, and schedules of releases."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[int, Table]] = {}
        self._listed: list[int] = []
        self._lists: dict[int, tuple[int, Any]] = {}
        self._policies: dict[int, tuple[int, Policy]] = {}
        self._policy_rows: list[tuple[int, int, int]] = []
        self._losses: list[float] = []
        self.schedules = Schedules()

    def _table(self, law: Table) -> int:
        known = self._tables.setdefault(id(law), (len(self._tables), law))
        if len(self._tables) > _MOST_TABLES:
            raise Unfit(f"there are more than {_MOST_TABLES:,} different durations")
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
                raise Unfit(f"{type(law).__name__} is no duration that is compiled")

    def policy(self, policy: Policy) -> int:
        """Return the place of a policy of links."""
        known = self._policies.get(id(policy))
        if known is None:
            if policy.rate is not None:
                raise Unfit("a link has a rate")
            self._policy_rows.append(self.duration(policy.latency))
            self._losses.append(policy.loss)
            known = self._policies[id(policy)] = len(self._policies), policy
        return known[0]

    def fill(self, arrays: Arrays) -> Arrays:
        """Put everything into the arrays."""
        schedules = self.schedules
        scales = [schedules.spends[number].scale for number in schedules.scheduled]
        tables = [law.knots for _, law in self._tables.values()]
        rows = np.array(self._policy_rows, np.int64).reshape(-1, 3)
        policies = np.zeros_like(rows)
        policies[:, (DELAY, VALUE, COUNT)] = rows
        return arrays._replace(
            tables=np.array(tables, np.int64).reshape(-1, 3, tables[0].shape[1] if tables else 1),
            listed=np.array(self._listed, np.int64),
            policies=policies,
            losses=np.array(self._losses, np.float64),
            spends=np.array(schedules.scheduled, np.int64),
            scales=np.array(scales, np.float64),
            places=schedules.nowhere(),
            new_places=np.zeros(len(schedules.spends) + 1, np.int64),
        )

    def enrol(self, agent: Agent, row: Words, numbers: Numbers) -> tuple[Spend, ...]:
        """Write down what does not change of an agent, and return its schedule.

        Raises Unfit where its wakes cannot be compiled.
        """
        check_settings(agent)
        self.enrol_clock(agent.settings.activation, row)
        rounds = agent.settings.rounds
        row[CLOCK_KEY] = unsigned(int(agent.streams.keys[0]))
        row[WAKES] = ENDLESS if rounds is None else rounds
        row[NOISE_LOW], row[NOISE_HIGH] = map(unsigned, agent.noise_stream.key.tolist())
        return self._enrol_learning(agent, row, numbers)

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
                raise Unfit("an agent wakes by messages, at barriers")
        row[CLOCK], row[PERIOD], row[JITTER] = kind, period, jitter

    def _gaps(self, activation: Poisson) -> int:
        gaps = exponential(1 / activation.rate)
        if not isinstance(gaps, Table):
            raise Unfit("the gaps of a clock are no table")
        return self._table(gaps)

    def _enrol_learning(self, agent: Agent, row: Words, numbers: Numbers) -> tuple[Spend, ...]:
        kind = agent.mechanism
        if type(kind) is not CoordinateDescent:
            raise Unfit(f"the step of {type(kind).__name__} is not compiled")
        objective = kind.objective
        if type(objective) is not LocalObjective:
            raise Unfit(f"the gradient of {type(objective).__name__} is not compiled")
        loss, shape = loss_of(objective.loss)
        rows, offsets = objective.rows, objective.offsets
        row[ROWS], row[POINTS] = _address(rows), len(rows)
        row[OFFSETS] = 0 if offsets is None else _address(offsets)
        row[CLIPS] = 0 if kind.clip is None else _address(kind.clip)
        pull = kind.mu * kind.confidence
        numbers[PULL], numbers[STEP] = pull, 1.0 / (1.0 + pull * kind.smoothness)
        numbers[GRID] = 0.0 if kind.grid is None else kind.grid
        numbers[WEIGHT], numbers[L2], numbers[SHAPE] = objective.weight, objective.l2, shape
        row[STATE] |= SMOOTHS if kind.smooth_after else 0
        law = NO_NOISE
        if kind.law is None:
            row[PLANNED] = ENDLESS
        else:
            law = _LAWS.get(type(kind.law), -1)
            if law < 0:
                raise Unfit(f"noise by {kind.law.name} is not compiled")
            row[PLANNED] = len(kind.spends)
        row[KINDS] = law | loss << 8
        return enrol_schedule(agent, kind, row, self.schedules)


def loss_of(loss: Any) -> tuple[int, float]:
    """Return the number of a loss, and its width or clip; raise `Unfit` where it has none."""
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
            raise Unfit(f"the loss {type(loss).__name__} is not compiled")


def _address(array: Any) -> int:
    """Return where the numbers of an array lie in memory: it must be whole, and of floats of 64 bits."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise Unfit(
            "the records of an agent are not held in one piece as numbers of 64 bits (data.precision)"
        )
    return unsigned(int(array.ctypes.data))

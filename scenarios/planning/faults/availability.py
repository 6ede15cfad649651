"""availability: each agent is online as often as the hour says.

The share of agent i that is online at t is low + (high − low)·b_i·(1 − abs(1 − 2·frac((t − φ_i)/period))): lowest at φ_i,
highest half a `period` ("24h") later. `phase` says where φ_i lies: `uniform`: drawn for each agent; `same`: 0 for all; `region`: at
midnight of the agent's city where latency is by `cities` (midnight of longitude 0 is at t = 0), else evenly spaced by group;
`label`: half a period times the share of the agent's training labels above 0 (of values that are no labels, above their
median), so that who is online depends on data and ε does not cover the run. `bias = "beta"` draws b_i from Beta(2, 5), `[a, b]`
from another Beta; without it b_i = 1. An agent is online while a draw of its own is below its share: by default it draws once
a period, at φ_i, and with a `session` (a distribution, or a preset as of churn) anew after each. `by = "leave"` (default) or
`"crash"`
"""

from typing import TYPE_CHECKING, Any

from scenarios.language.problems import Report
from scenarios.language.table_rules import Many, key
from scenarios.language.value_rules import Choice, Either, Number, duration
from scenarios.planning.durations import DurationTable
from scenarios.planning.fault_examples import Example, Luck, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import availability, schedule
from scenarios.planning.fault_tables import SHARE, AgentsTable
from scenarios.planning.sessions import SESSION

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from clocks.durations import Duration
    from scenarios.planning.fault_builder import FaultBuilder

_BETA = (2.0, 5.0)
_SHAPE = Number(low=0.05, most=1e3)
_FOLLOWS = "lets agents be online by the share of their labels, so who takes part depends on data"


class AvailabilityTable(AgentsTable):
    """The lowest and the highest share that is online, the length of a day, and what lets agents differ."""

    low: float = key(SHARE, 0.1, words="The share that is online at the worst hour.")
    high: float = key(SHARE, 0.6, words="The share that is online at the best hour.")
    period: float = key(
        duration(zero=False), "24h", words="From one worst hour to the next, in seconds."
    )
    phase: str = key(
        Choice("uniform", "same", "region", "label"),
        "uniform",
        words="Where an agent's worst hour lies: drawn, at 0 for all, at midnight of its region, or by its labels.",
    )
    bias: str | list[float] | None = key(
        Either('"beta", or [a, b] of another Beta', Choice("beta"), Many(_SHAPE, 2, 2)),
        words="How much less than others an agent is online: a draw of Beta(2, 5), or of another Beta; left out, all are alike.",
    )
    session: DurationTable | None = key(
        SESSION,
        words="How long an agent stays online or away before it draws again; left out, a period.",
    )
    by: str = key(
        Choice("leave", "crash"), "leave", words="Whether agents leave, and say so, or crash."
    )

    def check(self, report: Report) -> None:
        if self.low > self.high:
            report.value(
                self.place, f"low must be at most high, got {self.low:g} and {self.high:g}"
            )


def build(at: "FaultBuilder", _: FaultTable, value: AvailabilityTable) -> "Action":
    """Return the action."""
    from clocks.clock import nanoseconds

    target, session = at.target(value.on), at.distribution(value.session)
    period, low = nanoseconds(value.period), round(value.low * availability.UNIT)
    curve = availability.DailyCurve(low, round(value.high * availability.UNIT) - low, period)
    online = availability.Availability(
        curve=curve,
        phases=_phases(at, target.among, value.phase, period),
        bias=_bias(value.bias),
        session=session,
        crashes=value.by == "crash",
    )
    rate = 1.0 / value.period
    if session is not None:
        rate += 1.0 / max(session.mean_s, 1e-9)
    return schedule.Action(
        target,
        online.begin,
        undone="calm",
        comes_per_s=len(target.among) * rate,
        uncovered=_FOLLOWS if value.phase == "label" else "",
    )


def _bias(written: str | list[float] | None) -> "Duration | None":
    """Return the distribution of the part of the rise that an agent has, a second standing for 1; None for all of it."""
    if written is None:
        return None
    from scipy.special import betaincinv

    from clocks.durations import Table

    a, b = _BETA if isinstance(written, str) else written
    return Table(lambda p: float(betaincinv(a, b, p)), a / (a + b))


def _phases(at: "FaultBuilder", nodes: tuple[int, ...], phase: str, period: int) -> dict[int, int]:
    """Return when the share of each agent is lowest, in nanoseconds from 0; none where agents draw it."""
    match phase:
        case "uniform":
            return {}
        case "same":
            return dict.fromkeys(nodes, 0)
        case "region":
            return _by_region(at, nodes, period)
        case "label":
            return _by_label(at, nodes, period)
        case _:
            raise NotImplementedError(f"no phase is written by {phase!r}")


def _by_region(at: "FaultBuilder", nodes: tuple[int, ...], period: int) -> dict[int, int]:
    from scenarios.planning.files import BadData

    cities, regions = at.cities, at.regions
    if cities is not None:
        east = {i: round(city.longitude * 100) for i, city in enumerate(cities)}
        return {i: -east[i] * period // 36_000 % period for i in nodes}
    late = {i: r * period // len(regions) for r, ids in enumerate(regions.values()) for i in ids}
    if not set(nodes) <= set(late):
        raise BadData('the server is in no group: phase = "region" needs latency by cities')
    return {i: late[i] for i in nodes}


def _by_label(at: "FaultBuilder", nodes: tuple[int, ...], period: int) -> dict[int, int]:
    import numpy as np

    from scenarios.planning.files import BadData

    labels = at.labels
    if any(i >= len(labels) for i in nodes):
        raise BadData('the server holds no labels: phase = "label" is for agents')
    everything = np.concatenate(labels)
    middle = 0.0 if np.isin(everything, (-1.0, 1.0)).all() else float(np.median(everything))
    return {
        i: period * int(np.count_nonzero(labels[i] > middle)) // (2 * len(labels[i])) for i in nodes
    }


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return a short day."""
    more: dict[str, Any] = luck.pick(
        ({}, {"bias": "beta"}, {"session": {"kind": "exponential", "mean": 1.5}}, {"phase": "same"})
    )
    on, by = some_agents(luck, size), luck.pick(("leave", "crash"))
    day = {"low": luck.pick((0.0, 0.3)), "high": luck.pick((0.6, 1.0)), "period": 8.0}
    return {"availability": {"on": on, "by": by} | day | more}


def by_data(luck: Luck, size: int) -> dict[str, Any]:
    """Return a short day that follows the labels, or the region."""
    day = {"on": some_agents(luck, size), "phase": luck.pick(("label", "region")), "period": 6.0}
    return {"availability": day}


KIND = FaultKind(
    name="availability",
    on="agents",
    order=72,
    table=AvailabilityTable,
    says="online as often as the hour says",
    template="availability {} low=0.1 high=0.6 period=24h",
    silences=True,
    loses=False,
    stalls=False,
    brings=Brings.BY_ITSELF,
    hits=Hits.LATER,
    state="",
    build=build,
    examples=(Example("availability", example), Example("availability by data", by_data)),
)

"""From the faults that a scenario names to faults that can act: whom, when, and by which chance."""

import hashlib
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from actors.conditions import read_condition
from actors.faults import link_effects, node_actions, privacy_actions
from actors.faults.link_actions import Ailment, Partition, Trouble, Where
from actors.faults.schedule import Deed, Fault, Timing
from actors.faults.targets import Target
from clocks import durations
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration
from scenarios.language.table_rules import Table as ReadTable
from scenarios.language.table_rules import values_of
from scenarios.planning.context import MOST, Settling, Table
from scenarios.planning.durations import build_duration
from scenarios.planning.fault_tables import ACTIONS, ON_LINKS, SESSIONS
from scenarios.planning.fault_targets import Aims
from scenarios.planning.files import BadData, numbers
from scenarios.planning.metric_names import reads_models

_BRINGS = ("join", "restart", "churn")
_BRINGS_BACK = ("crash", "leave", "pause", "privacy")


class Hazards:
    """Makes the faults of one scenario."""

    def __init__(self, at: Settling) -> None:
        self.at = at
        self.aims = Aims(at)
        self._seen: dict[str, int] = {}
        self._dimension = 0

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return the edges that joins bring along, each with the lower id first."""
        found = set[tuple[int, int]]()
        for fault in self.at.read["fault"]:
            if isinstance(fault.get("edges"), list):
                for i in self.aims.target(fault["join"]).among:
                    found |= {(min(i, j), max(i, j)) for j in fault["edges"] if i != j}
        return tuple(sorted(found))

    def faults(self, dimension: int) -> tuple[Fault, ...]:
        """Return what the scenario does to whom, and when; models are so long."""
        self._dimension = dimension
        return tuple(self._fault(i, fault) for i, fault in enumerate(self.at.read["fault"]))

    def _fault(self, number: int, fault: Table) -> Fault:
        action = next(a for a in ACTIONS if a in fault)
        timing = self._timing(number, fault)
        deed = self.at.attempt(("fault", number, action), lambda: self._deed(number, action, fault))
        asks = fault.get("oracle", False) or (
            deed is not None and deed.target.reads_metric and reads_models([deed.target.metric])
        )
        brings = action in _BRINGS or (action in _BRINGS_BACK and timing.lasts is not None)
        return Fault(number, deed, timing, self._path(action, fault), brings, asks)

    def judge(self, faults: tuple[Fault, ...], links: set[tuple[int, int]]) -> None:
        """Report faults that come too often, and pairs that no edge joins."""
        for fault in faults:
            self._often(fault)
            where = getattr(fault.deed, "where", None)
            for a, b in where.pairs if where is not None else ():
                if (a, b) not in links:
                    path = ("fault", fault.number, fault.deed.name)
                    self.at.report.value(path, f"no edge joins {a} and {b}")

    def _often(self, fault: Fault) -> None:
        run, timing, deed = self.at.read["run"], fault.timing, fault.deed
        ends = run.get("horizon") or (None if run.get("rounds") or run.get("updates") else 60.0)
        if self.at.until is not None:
            ends = self.at.until
        path, firings = ("fault", fault.number, "every"), 0.0
        if timing.every is not None:
            until = min(t for t in (ends, (timing.until or 0) / 1e9 or None, 9e9) if t is not None)
            firings = _ratio(until - timing.after / 1e9, timing.every.mean_s) + timing.prompt
            firings = min(firings, timing.times or firings)
        elif isinstance(deed, node_actions.Churn) and deed.session is not None and deed.downtime:
            lasts = timing.lasts.mean_s if timing.lasts is not None else (ends or 9e9)
            path = ("fault", fault.number, "churn")
            pace = min(deed.classes) * deed.session.mean_s + deed.downtime.mean_s
            firings = len(deed.target.among) * _ratio(lasts, pace)
        if firings > MOST["firings"] and not self.at.options.allow_large:
            said = f"comes about {firings:.3g} times; above {MOST['firings']:,} needs --allow-large"
            self.at.report.value(path, said)

    def _path(self, action: str, fault: Any) -> str:
        """Name a fault's chance by its name or by what it does: others come and go without touching it."""
        text = json.dumps(values_of(fault), sort_keys=True, default=str)
        name = fault.get("name") or f"{action}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        self._seen[name] = self._seen.get(name, 0) + 1
        return f"fault/{name}/{self._seen[name]}"

    def _timing(self, number: int, fault: Table) -> Timing:
        def instant(key: str) -> int | None:
            return None if fault.get(key) is None else nanoseconds(fault[key])

        when = fault.get("when")
        return Timing(
            at=instant("at"),
            every=self._law(("fault", number, "every"), fault.get("every")),
            when=None if when is None else read_condition(when),
            times=fault.get("times"),
            nth=fault.get("nth", 1),
            later=instant("later") or 0,
            after=instant("after") or instant("from") or 0,
            until=instant("until"),
            probability=fault.get("probability", 1.0),
            lasts=self._law(("fault", number, "for"), fault.get("for")),
            prompt=fault.get("from") is not None,
        )

    def _law(self, path: tuple[str | int, ...], table: Any) -> Duration | None:
        if table is None:
            return None
        if table["kind"] in SESSIONS:
            shape, scale = SESSIONS[table["kind"]]
            return durations.weibull(scale * table["scaled"], shape)
        law: Duration | None = self.at.attempt(path, lambda: build_duration(table, self.at.folders))
        return law

    def _deed(self, number: int, action: str, fault: Table) -> Deed:
        value = fault[action]
        if action == "partition":
            return self._partition(number, value, fault)
        if action in ON_LINKS:
            return self._trouble(number, action, value, fault)
        on = value["on"] if isinstance(value, ReadTable) and "on" in value else value
        makers: dict[str, Callable[[Target], Deed]] = {
            "crash": lambda t: node_actions.Crash(t, fault.get("lose", "volatile")),
            "restart": node_actions.Restart,
            "leave": node_actions.Leave,
            "join": lambda t: node_actions.Join(t, self._edges(fault)),
            "pause": node_actions.Pause,
            "slow": lambda t: node_actions.Slow(t, value["factor"]),
            "churn": lambda t: self._churn(number, t, value),
            "clock": lambda t: self._clock(t, value),
            "storage": lambda t: privacy_actions.Harm(t, value["kind"]),
            "privacy": lambda t: self._privacy(t, value, fault),
        }
        return makers[action](self.aims.target(on))

    @staticmethod
    def _edges(fault: Table) -> frozenset[int] | None:
        edges = fault.get("edges")
        return frozenset(edges) if isinstance(edges, list) else None

    def _churn(self, number: int, target: Target, value: Table) -> Deed:
        path: tuple[str | int, ...] = ("fault", number, "churn")
        return node_actions.Churn(
            target,
            self._law((*path, "session"), value.get("session")),
            self._law((*path, "downtime"), value.get("downtime")),
            tuple(value.get("per_node") or (1.0,)),
            self._sessions(value["path"]) if "path" in value else (),
            crashes=value["by"] == "crash",
        )

    def _sessions(self, name: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Read a trace of sessions: rows of id, from, to; who has rows is away between them."""
        path = self.at.folders.find(name)
        rows = numbers(path).tolist()
        spans: dict[int, list[tuple[int, int]]] = {}
        for at, row in enumerate(rows, 1):
            if len(row) != 3 or row[0] not in self.aims.everybody or not 0 <= row[1] < row[2] < 9e9:
                said = f"{path.name} must hold rows of id, from, to in seconds"
                raise BadData(f"{said}; row {at} is none")
            spans.setdefault(int(row[0]), []).append((nanoseconds(row[1]), nanoseconds(row[2])))
        try:
            return tuple((node, _turns(spans[node])) for node in sorted(spans))
        except ValueError:
            raise BadData(f"{path.name}: sessions of one agent overlap") from None

    @staticmethod
    def _clock(target: Target, value: Table) -> Deed:
        kind = next(k for k in ("offset", "drift", "jump", "freeze") if k in value)
        amount = Fraction(0)
        if kind == "drift":
            amount = Fraction(value["drift"]).limit_denominator(10**9)
        elif kind != "freeze":
            seconds = value[kind]
            amount = Fraction(nanoseconds(abs(seconds)) * (1 if seconds >= 0 else -1))
        return node_actions.Misjudge(target, kind, amount)

    def _privacy(self, target: Target, value: Table, fault: Table) -> Deed:
        match value["kind"]:
            case "twin":
                return privacy_actions.Doubled(target)
            case "replay":
                return privacy_actions.Replayed(target)
            case "counter-rollback":
                return privacy_actions.RolledBack(target)
            case "poison":
                return privacy_actions.Interfered(target, self._poison(value))
            case "duplicate-request":
                copies = Ailment(link_effects.Doubling, (("p", 1.0), ("asking", True)))
                return privacy_actions.Interfered(target, copies)
            case "crash-after-charge" | "crash-after-send" as kind:
                return privacy_actions.Ambush(target, kind, fault.get("lose", "volatile"))
            case kind:
                raise NotImplementedError(f"nothing is written that a privacy fault {kind!r} does")

    def _poison(self, value: Table) -> Ailment:
        factor = value.get("factor", 10.0)
        return Ailment(link_effects.Poisoning, (("factor", factor), ("dimension", self._dimension)))

    def _where(self, on: Any, fault: Table) -> Where:
        direction = fault.get("direction", "both")
        if isinstance(on, list) and on and isinstance(on[0], list):
            ends = tuple(dict.fromkeys(i for pair in on for i in pair))
            return Where(Target("named", ends), tuple((a, b) for a, b in on), direction)
        return Where(self.aims.target(on), (), direction)

    def _trouble(self, number: int, action: str, value: Any, fault: Table) -> Deed:
        on = value["on"] if isinstance(value, ReadTable) and "on" in value else value
        where = self._where(on, fault)
        return Trouble(action, where, self._ailment(number, action, value))

    def _ailment(self, number: int, action: str, value: Any) -> Ailment:
        match action:
            case "loss" if "kind" in value:
                chain = {"good": 0.0, "bad": 1.0} | {
                    k: v for k, v in value.items() if k not in {"on", "kind"}
                }
                return Ailment(link_effects.Bursts, tuple(sorted(chain.items())))
            case "loss":
                return Ailment(link_effects.Losing, (("p", value["p"]),))
            case "delay":
                law = self._law(("fault", number, "delay", "latency"), value["latency"])
                given = (("latency", law), ("correlation", value["correlation"]))
                return Ailment(link_effects.Delaying, given)
            case "duplicate":
                return Ailment(link_effects.Doubling, (("p", value["p"]),))
            case "reorder":
                return Ailment(link_effects.Overtaking, (("p", value["p"]),))
            case "corrupt":
                return Ailment(link_effects.Corrupting, (("p", value["p"]),))
            case "rate":
                given = (("bytes_per_second", value["bytes"]), ("burst", value["burst"]))
                return Ailment(link_effects.Throttling, given)
            case "hold":
                return Ailment(link_effects.Holding)
            case _:
                raise NotImplementedError(f"nothing is written that a link fault {action!r} does")

    def _partition(self, number: int, value: Table, fault: Table) -> Deed:
        shape = next(s for s in ("groups", "isolate", "bridge") if s in value)
        match value["mode"]:
            case "slow":
                law = self._law(("fault", number, "partition", "latency"), value["latency"])
                given = (("latency", law or Constant(0.0)), ("correlation", 0.0))
                ailment = Ailment(link_effects.Delaying, given)
            case "jam":
                ailment = Ailment(link_effects.Holding)
            case "cut":
                ailment = Ailment(link_effects.Losing, (("p", 1.0),))
            case mode:
                raise NotImplementedError(f"nothing is written that a partition does by {mode!r}")
        groups = tuple(map(tuple, value["groups"])) if shape == "groups" else ()
        listed = tuple(i for group in groups for i in group)
        target = Target("named", listed) if groups else self.aims.target(value[shape])
        return Partition(target, shape, ailment, groups, fault.get("direction", "both"))


def _ratio(lasts: float, gap: float) -> float:
    """Return how often a gap fits into a time; gaps of no length fit for ever."""
    return max(0.0, lasts) / gap if gap > 0 else math.inf


def _turns(spans: list[tuple[int, int]]) -> tuple[int, ...]:
    """Return when somebody goes and comes, by turns, who is there only in these spans; it is there at first."""
    found = list[int]()
    for instant in (0, *(end for span in sorted(spans) for end in span)):
        if found and found[-1] == instant:
            found.pop()  # gone and back at one instant
        elif found and found[-1] > instant:
            raise ValueError("spans overlap")
        else:
            found.append(instant)
    return tuple(found)

"""What is wrong with faults: actions that contradict each other, targets that are nowhere, conditions that cannot be read."""

from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning.check_budget import field
from scenarios.planning.check_conditions import judge_condition
from scenarios.planning.fault_tables import ACTIONS, CHOICES, ON_LINKS, TIMES, WORDS
from scenarios.planning.mechanism_tables import Tree, family_of
from scenarios.planning.metric_names import (
    is_known,
    names_of_agents,
    per_agent,
    reads_models,
    split_metric,
)

_INSTANT = ("restart", "replay", "counter-rollback")
"""What is done and over: there is nothing to undo."""
LOSSY = "messages can be lost"
"""Why a barrier cannot wait for every message of a round, however patient it is."""
_REPEATED = ("times", "after", "until")


def brings_silence(read: Tree) -> str:
    """Say how faults can leave a barrier waiting; empty where they cannot."""
    actions = {a for fault in read.get("fault") or [] if fault for a in ACTIONS if a in fault}
    if actions & {"loss", "corrupt", "hold", "partition", "reorder"}:
        return LOSSY
    silent = {"crash", "leave", "join", "churn", "pause", "privacy"}
    return "agents crash, leave or join" if actions & silent else ""


def latest(run: Tree) -> float | None:
    """Return the last instant that a run with a horizon may have; a run that is cut off keeps what comes after it."""
    horizon = run.get("horizon")
    return None if horizon is None else max(horizon, run.get("until") or 0)


def judge_faults(read: Tree, groups: list[tuple[str, int]], size: int, report: Report) -> None:
    """Report what is wrong with each fault."""
    for i, fault in enumerate(read.get("fault") or []):
        if fault is not None:
            _Judge(read, groups, size, report, i, fault).judge()


class _Judge:
    """One fault before its judge."""

    def __init__(
        self,
        read: Tree,
        groups: list[tuple[str, int]],
        size: int,
        report: Report,
        at: int,
        fault: Tree,
    ) -> None:
        self.read, self.size, self.report, self.fault = read, size, report, fault
        self.groups = dict(groups)
        self.names = set(self.groups)
        self.path: Path = ("fault", at)
        self.serves = family_of(read) == "server"

    def judge(self) -> None:
        actions = [action for action in ACTIONS if action in self.fault]
        if len(actions) != 1:
            got = " and ".join(actions) or "none"
            self.report.key(
                self.path, f"needs exactly one action of {', '.join(ACTIONS)}; got {got}"
            )
            return
        action = actions[0]
        self._time(action)
        self._belongs(action)
        value = self.fault[action]
        if value is None:
            return
        if isinstance(value, ReadTable) and "on" in value:
            self._target((*self.path, action, "on"), value["on"], links=action in ON_LINKS)
        elif action != "partition":
            self._target((*self.path, action), value, links=action in ON_LINKS)
        judge = getattr(self, f"_{action}", None)
        if judge is not None and isinstance(value, ReadTable):
            judge(value, (*self.path, action))

    def _time(self, action: str) -> None:
        fault, path, report = self.fault, self.path, self.report
        given = [time for time in TIMES if time in fault]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            report.key(path, f"needs exactly one of {', '.join(TIMES)}; got {got}")
            return
        for key in _REPEATED:
            if key in fault and given == ["at"]:
                report.key((*path, key), f"{key} belongs to every and when: at is one instant")
        if "from" in fault and given != ["every"]:
            report.key((*path, "from"), f"from is the first instant of every: {given[0]} has none")
        elif "from" in fault and "after" in fault:
            said = "every comes first at from, or one gap later than after: give one of them"
            report.key((*path, "after"), said)
        if "nth" in fault and given != ["when"]:
            report.key(
                (*path, "nth"),
                "nth counts the events that a condition holds of: it belongs to when",
            )
        for key in ("after", "from"):
            if fault.get("until") is not None and fault["until"] < (fault.get(key) or 0):
                report.value((*path, "until"), f"is before {key}")
        self._ends(given, action)
        if fault.get("when") is not None:
            self._when(fault["when"])

    def _ends(self, given: list[str], action: str) -> None:
        """A fault begins before the end of the run; where the run has no end of its own, it ends too."""
        fault, path, report = self.fault, self.path, self.report
        run = self.read.get("run") or {}
        horizon = latest(run)
        ended = horizon or run.get("until")
        endless = ended is None and (run.get("rounds") or run.get("updates"))
        for key in ("at", "after", "from"):
            if horizon is not None and (fault.get(key) or 0) > horizon:
                report.value((*path, key), f"is after the end of the run at {horizon:g} s")
        if endless and given == ["every"] and not {"times", "until"} & set(fault):
            report.key((*path, "every"), "never ends: without run.horizon give times or until")
        if endless and action == "churn" and "for" not in fault:
            report.key((*path, "churn"), "never ends: without run.horizon give for")

    def _when(self, text: str) -> None:
        found = judge_condition(text, (*self.path, "when"), {}, self.report)
        known = [] if found is None else [name for name in found.metrics if is_known(name, {})]
        told = found is not None and (reads_models(known) or "diverged" in text)
        if told and not self.fault.get("oracle"):
            self.report.value(
                (*self.path, "when"),
                "reads what only an oracle sees: participation would depend on data; say oracle = true, and "
                "the run's ε covers it no more",
            )

    def _belongs(self, action: str) -> None:
        fault, path, report = self.fault, self.path, self.report
        value = fault.get(action)
        table: Tree = value if isinstance(value, ReadTable) else {}
        kind = table.get("kind")
        over = action in _INSTANT or kind in _INSTANT or "jump" in table
        if "for" in fault and over:
            what = kind or ("a jump" if action == "clock" else action)
            report.key((*path, "for"), f"{what} is done once: there is nothing to undo")
        crashes = action == "crash" or kind in {"crash-after-charge", "crash-after-send"}
        if "lose" in fault and not crashes:
            report.key((*path, "lose"), f"only a crash loses anything, not {action}")
        if "edges" in fault and action != "join":
            report.key((*path, "edges"), f"only a join has edges, not {action}")
        if "direction" in fault and action not in ON_LINKS:
            report.key((*path, "direction"), f"links have a direction, {action} has none")
        for k, node in enumerate(fault["edges"] if isinstance(fault.get("edges"), list) else []):
            if node is not None and node >= self.size:
                report.value((*path, "edges", k), self._no_agent(node))

    def _no_agent(self, node: int) -> str:
        return f"no agent {node}: ids run from 0 to {self.size - 1}"

    def _target(self, path: Path, target: Any, *, links: bool = False) -> None:
        report = self.report
        if isinstance(target, str):
            if target == "server" and not self.serves:
                report.value(path, "this kind has no server")
            elif target == "event" and "when" not in self.fault:
                report.value(path, '"event" is the node of what triggered it: it belongs to when')
            elif target not in self.names and target not in WORDS:
                report.value(
                    path, f"no group '{target}'; {nearest(target, self.names | set(WORDS))}"
                )
        elif isinstance(target, list):
            for k, entry in enumerate(target):
                for node in entry if isinstance(entry, list) else [entry]:
                    if node is not None and node >= self.size + (links and self.serves):
                        report.value((*path, k), self._no_agent(node))
        elif isinstance(target, ReadTable):
            self._choice(path, target)

    def _choice(self, path: Path, target: Tree) -> None:
        report = self.report
        chosen = [how for how in CHOICES if how in target]
        if "count" in chosen and {"highest", "lowest"} & set(chosen):
            chosen.remove("count")  # so many of the highest
        if len(chosen) != 1:
            got = " and ".join(chosen) or "none"
            report.key(path, f"needs exactly one of {', '.join(CHOICES)}; got {got}")
            return
        group = target.get("of")
        if group is not None and group not in self.names:
            report.value((*path, "of"), f"no group '{group}'; {nearest(group, self.names)}")
        most = self.groups.get(group, self.size) if group is not None else self.size
        if (target.get("count") or 0) > most:
            report.value((*path, "count"), f"there are only {most} to choose from")
        near = target.get("neighbours_of")
        for node in near if isinstance(near, list) else [] if near is None else [near]:
            if node is not None and node >= self.size:
                report.value((*path, "neighbours_of"), self._no_agent(node))
        metric = target.get("highest") or target.get("lowest")
        if metric is not None and not per_agent(metric):
            base, how = split_metric(metric)
            hint = (
                f"give the metric itself, '{base}'" if how else nearest(metric, names_of_agents())
            )
            said = f"'{metric}' is no metric of each node; {hint}"
            report.value((*path, chosen[0]), said)
        elif metric is not None and reads_models([metric]) and not self.fault.get("oracle"):
            report.value(
                (*path, chosen[0]),
                "reads what only an oracle sees: participation would depend on data; say oracle = true",
            )

    def _partition(self, value: Tree, path: Path) -> None:
        report = self.report
        shapes = [shape for shape in ("groups", "isolate", "bridge") if shape in value]
        if len(shapes) != 1:
            got = " and ".join(shapes) or "none"
            report.key(path, f"needs exactly one of groups, isolate, bridge; got {got}")
            return
        if shapes == ["groups"]:
            seen = set[int]()
            for k, group in enumerate(value["groups"] or []):
                self._target((*path, "groups", k), group, links=True)
                for node in group or []:
                    if node in seen:
                        report.value((*path, "groups", k), f"agent {node} is named twice")
                    seen.add(node)
        else:
            self._target((*path, shapes[0]), value[shapes[0]])
        if ("latency" in value) != (value.get("mode") == "slow"):
            report.key((*path, "mode"), 'mode = "slow" and latency go together')

    def _loss(self, value: Tree, path: Path) -> None:
        bursts = ("enter", "leave", "good", "bad")
        if "kind" in value:
            missing = [key for key in ("enter", "leave") if key not in value]
            if missing or "p" in value:
                said = "gilbert-elliott needs enter and leave, the chances of a burst's beginning and end"
                self.report.key(path, said + ("; p is for single losses" if "p" in value else ""))
        elif "p" not in value:
            self.report.key(path, 'needs p, or kind = "gilbert-elliott"')
        else:
            for key in bursts:
                if key in value:
                    self.report.key((*path, key), f'{key} belongs to kind = "gilbert-elliott"')

    def _clock(self, value: Tree, path: Path) -> None:
        given = [key for key in ("offset", "drift", "jump", "freeze") if key in value]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            self.report.key(path, f"needs exactly one of offset, drift, jump, freeze; got {got}")
        if value.get("freeze") is False:
            self.report.value((*path, "freeze"), "changes nothing: leave it out")
        nodes = self.read.get("nodes") or []
        if self.serves or any(field(field(g, "clock"), "kind") == "barrier" for g in nodes):
            self.report.key(
                path, "needs clocks that show a time: barriers and servers count rounds"
            )

    def _churn(self, value: Tree, path: Path) -> None:
        alternating = {"session", "downtime"} & set(value)
        if ("path" in value) == bool(alternating) or len(alternating) == 1:
            self.report.key(path, "needs session and downtime, or the path of a trace")
        if "path" in value and "per_node" in value:
            self.report.key((*path, "per_node"), "a trace has its own sessions")

    def _slow(self, value: Tree, path: Path) -> None:
        del value
        nodes = [group or {} for group in self.read.get("nodes") or []]
        if all(field(group.get("compute"), "value") == 0 for group in nodes):
            self.report.key(path, "changes nothing: no group has a nodes.compute to be slowed down")

    def _privacy(self, value: Tree, path: Path) -> None:
        kind, family = value.get("kind"), family_of(self.read)
        if value.get("on") == "server" and kind != "poison":
            self.report.value((*path, "on"), "the server has no ledger")
        if kind == "duplicate-request" and family not in {"server", "pairs"}:
            self.report.value((*path, "kind"), "nobody asks anything in this kind: it broadcasts")
        if kind in {"twin", "poison"} and family in {"server", "pairs"}:
            what = "a second instance" if kind == "twin" else "a poisoned vector"
            said = f"{what} is simulated where models are broadcast, not with a server or in pairs"
            self.report.value((*path, "kind"), said)
        if "factor" in value and kind != "poison":
            self.report.key((*path, "factor"), "belongs to poison")

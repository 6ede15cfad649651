"""What is wrong with the targets of faults: agents, groups and metrics that are nowhere."""

from collections.abc import Mapping
from dataclasses import dataclass

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest
from scenarios.planning.fault_tables import CHOICES, TARGET_WORDS, ChoiceTable, OnAgents, OnLinks
from scenarios.planning.metric_names import (
    names_of_agents,
    nearest_metric,
    per_agent,
    reads_models,
    split_metric,
)


@dataclass(frozen=True, slots=True)
class ActionCheck:
    """What the check of one action may ask of its scenario and its fault, and where it reports."""

    report: Report
    groups: Mapping[str, int]
    """The number of agents of each group, by its name."""
    size: int
    """The number of agents."""
    family: str
    """The family of the mechanism."""
    shows_time: bool
    """Whether the clocks of agents show a time: barriers and servers count rounds."""
    computes: bool
    """Whether computing takes time in some group."""
    by_condition: bool
    """Whether an event triggers the fault."""
    oracle: bool
    """Whether the author lets the fault read what only an oracle sees."""

    @property
    def serves(self) -> bool:
        """Whether there is a server."""
        return self.family == "server"

    def agent(self, path: Path, node: int | None, *, links: bool = False) -> None:
        """Report an id that no agent has, and with `links` no server; None did not read."""
        if node is not None and node >= self.size + (links and self.serves):
            self.report.value(path, f"no agent {node}: ids run from 0 to {self.size - 1}")

    def target(self, path: Path, target: OnAgents | OnLinks | None, *, links: bool = False) -> None:
        """Report what is wrong with a target; links may touch the server, too."""
        report, names = self.report, set(self.groups)
        if isinstance(target, str):
            if target == "server" and not self.serves:
                report.value(path, "this kind has no server")
            elif target == "event" and not self.by_condition:
                report.value(path, '"event" is the node of what triggered it: it belongs to when')
            elif target not in names and target not in TARGET_WORDS:
                hint = nearest(target, names | set(TARGET_WORDS))
                report.value(path, f"no group '{target}'; {hint}")
        elif isinstance(target, list):
            entries: list[int | list[int]] = [*target]
            for k, entry in enumerate(entries):
                for node in entry if isinstance(entry, list) else [entry]:
                    self.agent((*path, k), node, links=links)
        elif target is not None:
            self._choice(target)

    def _choice(self, target: ChoiceTable) -> None:
        report, path = self.report, target.place
        chosen = [how for how in CHOICES if how in target.given]
        if "count" in chosen and {"highest", "lowest"} & set(chosen):
            chosen.remove("count")  # so many of the highest
        if len(chosen) != 1:
            got = " and ".join(chosen) or "none"
            report.key(path, f"needs exactly one of {', '.join(CHOICES)}; got {got}")
            return
        if target.of is not None and target.of not in self.groups:
            hint = nearest(target.of, self.groups)
            report.value((*path, "of"), f"no group '{target.of}'; {hint}")
        most = self.groups.get(target.of, self.size) if target.of is not None else self.size
        if (target.count or 0) > most:
            report.value((*path, "count"), f"there are only {most} to choose from")
        near = target.neighbours_of
        for node in [near] if isinstance(near, int) else near or []:
            self.agent((*path, "neighbours_of"), node)
        metric = target.highest or target.lowest
        if metric is not None and not per_agent(metric):
            base, how = split_metric(metric)
            hint = (
                f"give the metric itself, '{base}'"
                if how
                else nearest_metric(metric, names_of_agents(), any_fold=False)
            )
            report.value((*path, chosen[0]), f"'{metric}' is no metric of each node; {hint}")
        elif metric is not None and reads_models([metric]) and not self.oracle:
            report.value(
                (*path, chosen[0]),
                "reads what only an oracle sees: participation would depend on data; say oracle = true",
            )

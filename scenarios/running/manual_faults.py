"""Faults and heals by a person on a running world: checked like a scenario's, and kept as a scenario."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.faults.schedule import Fault
from clocks.clock import FAULT, NANOSECONDS, nanoseconds
from scenarios.language.problems import Problem, ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning.check_scenario import check_scenario
from scenarios.planning.context import Options, PlanningContext
from scenarios.planning.fault_planner import FaultPlanner
from scenarios.planning.scenario import load
from scenarios.records.file_guard import FolderError
from scenarios.records.whole_file import write_new
from scenarios.running.world import is_prepared

if TYPE_CHECKING:
    from scenarios.running.run import Run


Table = dict[str, Any]
_HEADER = """\
# A session by hand, as a scenario: {name}, seed {seed}. Every [[fault]] whose name begins with "hand-" is what a
# person did, at that very instant; run it, and the schedule is the same. oracle = true says that who did it may have
# seen losses, so that ε does not cover who took part.
"""
_FILES_NOTE = """\
# It reads files ({first} …): keep it in the folder where they are, or name that folder with --data.
"""


class Steering:
    """Does what a person asks at the next nanosecond: what is due at this instant comes first.

    So the same fault in a scenario file, at that instant, finds the same world (DECISIONS.md #79).
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._last = -1
        self._healed = set[int]()
        names = [str(fault.get("name")) for fault in run.journal.scenario.get("fault", [])]
        taken = [name.removeprefix("hand-") for name in names if name.startswith("hand-")]
        self._number = max((int(n) for n in taken if n.isdecimal()), default=0)

    @property
    def tree(self) -> Table:
        """The scenario in full, with everything that was done."""
        return self._run.journal.scenario

    @property
    def now(self) -> int:
        """Simulated time (ns)."""
        return self._run.governor.now

    @property
    def is_over(self) -> bool:
        """Whether nothing can be done any more."""
        return self._run.governor.stopped is not None

    def restart_pace(self) -> None:
        """Let time stand until the run goes on: what is done together is done at one instant."""
        self._run.governor.pacing.restart()

    def note(self, what: str, **more: Any) -> None:
        """Write a command into the journal, with the number of the last event; the journal ends with the run."""
        run = self._run
        if run.outcome is not None:
            return
        run.journal.unwritten.append({"seq": run.log.seq, "t": self.now, "what": what, **more})

    def fault(self, table: Table, *, after: int = 0) -> int:
        """Let a fault happen after an instant (ns), and return when it does; raise `ScenarioError` for a wrong one."""
        run, instant = self._run, self.instant(after=after)
        number, tree, fault = self.check(table, instant)
        assert run.script is not None, "a world that runs has a script"  # noqa: S101
        self._number += 1
        self._steer(instant, tree)
        run.observers.checks.faults.add(fault)
        run.script.add(fault, instant)
        self.note(
            "fault", at=instant, fault=number, does={"name": tree["fault"][number]["name"], **table}
        )
        return instant

    def check(self, table: Table, instant: int) -> tuple[int, Table, Fault]:
        """Check a fault like a scenario's; return its number, the scenario with it, and the fault."""
        run, number = self._run, len(self.tree.get("fault", []))
        name = f"hand-{self._number + 1}"
        entry = {"name": name, **table, "at": instant / NANOSECONDS, "oracle": True}
        tree = {**self.tree, "fault": [*self.tree.get("fault", []), entry]}
        planner = self._checked(tree, number)
        faults = planner.faults(run.plan.shards)
        self._raise(planner.at.report.problems, number)
        fault = faults[number]
        agents = run.members.agents
        links = {(agent.id, j) for agent in agents for j in agent.neighbours}
        planner.check((fault,), lambda a, b: (a, b) in links)
        for a, b in planner.edges():
            if (a, b) not in links:
                problem = f"no edge joins {a} and {b}: edges are laid before a run begins"
                planner.at.report.value(("fault", number, "edges"), problem)
        self._raise(planner.at.report.problems, number)
        if fault.action.target.metric.startswith("epsilon.un") and run.observers.fates is None:
            problem = "is not followed in this run: a scenario must ask for it before it begins"
            self._refuse(fault.action.target.metric, problem)
        if any(not is_prepared(agents[i], fault) for i in fault.action.target.among):
            problem = "agents are made ready for it only in runs begun at a pace: --speed 100"
            self._refuse(fault.name, problem)
        return number, tree, fault

    def began(self, number: int) -> tuple[int, int]:
        """Return when (ns) a fault that can be undone by hand began, and when it would end; −1 is never."""
        run, faults = self._run, self.tree.get("fault", [])
        if not 0 <= number < len(faults):
            known = f"they are numbered from 0 to {len(faults) - 1}" if faults else "there is none"
            self._refuse("heal", f"no fault {number}: {known}")
        assert run.script is not None, "a world that runs has a script"  # noqa: S101
        windows = run.script.windows(number)
        if not windows or number in self._healed:
            self._refuse("heal", f"fault {number} does nothing now that could be undone")
        if "at" not in faults[number]:
            self._refuse(
                "heal",
                f"fault {number} comes by {'a condition' if 'when' in faults[number] else 'chance'}: no file could say that it was healed by hand",
            )
        return windows[0]

    def heal(self, number: int, *, after: int = 0) -> int:
        """Undo a fault that began at an instant of its own; return the instant (ns) of its end."""
        run, tree, (began, ends) = self._run, self.tree, self.began(number)
        faults = tree["fault"]
        assert run.script is not None, "a world that runs has a script"  # noqa: S101
        instant = self.instant(since=began, after=after)
        if 0 <= ends <= instant:
            self._refuse("heal", f"fault {number} is over at this very instant")
        entry = {k: v for k, v in faults[number].items() if k != "for"}
        entry["name"] = (
            run.observers.checks.faults.faults[number]
            .path.removeprefix("fault/")
            .rpartition("/")[0]
        )
        entry |= {"for": (instant - began) / NANOSECONDS, "oracle": True}
        healed = [*faults[:number], entry, *faults[number + 1 :]]
        amended = {**tree, "fault": healed}
        self._checked(amended, number)
        self._steer(instant, amended)
        run.observers.checks.faults.end_at(number, instant)
        run.script.heal(number, instant)
        self._healed.add(number)
        self.note("heal", at=instant, fault=number)
        return instant

    def _steer(self, instant: int, tree: Table) -> None:
        self._last = instant
        journal = self._run.journal
        journal.scenario, journal.steered = tree, True
        self._run.governor.reach(instant)

    def instant(self, *, since: int = 0, after: int = 0) -> int:
        """Return the next instant (ns) that a file can name, in seconds since the start and since another instant."""
        run = self._run
        if run.governor.stopped is not None:
            self._refuse("", "the run is over")
        instant = max(self.now, self._last, after) + 1
        while not (_is_exact(instant) and _is_exact(instant - since)) or run.clock.is_taken(
            instant, FAULT
        ):
            instant += 1  # of two faults of one instant, a file could not say which came first
        if run.plan.horizon is not None and instant > run.plan.horizon:
            self._refuse("", "the run is over")
        return instant

    def _checked(self, tree: Table, number: int) -> FaultPlanner:
        """Check a whole scenario; raise what is wrong with one of its faults."""
        scenario = replace(load(tree), folder=self._run.plan.folder)
        if not scenario.report.problems:
            check_scenario(scenario.read, scenario.report)
        self._raise(scenario.report.problems, number)
        origin = scenario.read.origin
        in_memory = origin is not None and origin.in_memory
        options = Options(data={} if in_memory else None, allow_code=True)
        return FaultPlanner(PlanningContext(scenario, options))

    @staticmethod
    def _raise(problems: list[Problem], number: int) -> None:
        """Raise problems under the names that a person at the screen knows: without the place in the file."""
        if problems:
            place = f"fault.{number}"
            keys = [p.where.removeprefix("scenario: ").removeprefix(place) for p in problems]
            raise ScenarioError(
                Problem(key.removeprefix("."), problem.message)
                for key, problem in zip(keys, problems, strict=True)
            )

    @staticmethod
    def _refuse(key: str, problem: str) -> None:
        raise ScenarioError.of(key, problem)

    def text(self) -> str:
        """Return the session as the text of a scenario file, which names no folder of this machine.

        Files keep their paths, relative to the folder of the scenario that was steered.
        """
        text = _HEADER.format(name=self._run.plan.name, seed=self._run.plan.seed)
        origin = self.tree.get("origin") or {}
        tree = {key: value for key, value in self.tree.items() if key != "origin"}
        if origin.get("in_memory"):
            tree["origin"] = {"in_memory": True}
        files = sorted(origin.get("sha256") or {})
        if files:
            text += _FILES_NOTE.format(first=files[0])
        return text + to_toml(tree)

    def export(self, path: Path | None = None) -> Path:
        """Write the session as a scenario file; one that exists is not touched."""
        chosen = path if path is not None else self.export_name()
        if not write_new(chosen, self.text()):
            raise FolderError(f"{chosen} exists: nothing was written")
        self.note("export", file=str(chosen))
        return chosen

    def export_name(self) -> Path:
        """Return a name for the file of the session that is not taken."""
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in self._run.plan.name)
        for number in range(1, 10_000):
            path = Path(f"{name}-session-{number}.toml")
            if not path.exists():
                return path
        raise FolderError("there are ten thousand sessions here already: give a name, :export FILE")


def _is_exact(instant: int) -> bool:
    """Whether a number of seconds stands for exactly this instant."""
    return nanoseconds(instant / NANOSECONDS) == instant

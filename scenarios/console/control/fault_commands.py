"""Commands about the world: faults, heals, the menu, and the session as a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

from scenarios.console.control.fault_syntax import read_fault
from scenarios.console.control.line_editor import OpenMenu
from scenarios.console.drawing.model import Window
from scenarios.console.sources.fault_windows import FaultWindows
from scenarios.console.sources.view_state import CommandError
from scenarios.language.problems import ScenarioError
from scenarios.planning.fault_kinds import FAULTS, fault_kinds

if TYPE_CHECKING:
    from scenarios.console.control.pane import Pane
    from scenarios.running.manual_faults import Steering


T = TypeVar("T")
CUT_SAYS = "a link loses every message, until it is healed"
"""What the order `cut` does; it is the fault `loss` with p=1."""


class FaultCommands:
    """Does to the runs of all panes what a person asks: in all that are not over, at one instant, or in none."""

    def __init__(self, panes: Sequence[Pane]) -> None:
        self._panes = panes
        self._last: tuple[dict[Pane, int], str] | None = None
        """The fault that was commanded last, as long as it did not begin: its number in each run, and the answer."""
        self._joint: list[dict[Pane, int]] = []
        """Faults that were commanded together: the number of each in each run."""

    def _steered(self) -> list[tuple[Pane, Steering]]:
        """Return every pane with what acts on its run."""
        pairs = [(pane, pane.steering) for pane in self._panes if pane.steering is not None]
        if not pairs:
            raise CommandError("a recording cannot be changed; run its scenario to lay hands on it")
        return pairs

    def _going(self) -> list[tuple[Pane, Steering]]:
        """Return the panes whose runs go on, or else all; their time stands until this command is carried out."""
        steered = self._steered()
        going = [(pane, steering) for pane, steering in steered if not steering.is_over]
        for _, steering in going or steered:
            steering.restart_pace()
        return going or steered

    def _in_one(self, panes: Collection[Pane]) -> str:
        """Say in which of two runs, where it is one of them."""
        return f" in {next(iter(panes)).mark} alone" if len(panes) < len(self._panes) else ""

    @staticmethod
    def _try(pane: Pane, act: Callable[[], T]) -> T:
        """Do what may be wrong in one of two runs: then say in which, for it is done in neither."""
        try:
            return act()
        except ScenarioError as error:
            problem = "; ".join(str(problem) for problem in error.problems)
        except CommandError as error:
            problem = str(error)
        raise CommandError(f"{pane.mark}: {problem}; nothing was done" if pane.mark else problem)

    def fault(self, action: str, text: str) -> str:
        """Let a fault happen now: in every run that goes on, or in none."""
        going = self._going()
        tables = [
            self._try(pane, lambda p=pane: read_fault(action, text, p.source.facts))  # type: ignore[misc]
            for pane, _ in going
        ]
        after = _common_instant([(steering, 0) for _, steering in going])
        acts = list(zip(going, tables, strict=True))
        numbers = {
            pane: self._try(pane, lambda s=steering, t=table: s.check(t, after + 1)[0])  # type: ignore[misc]
            for (pane, steering), table in acts
        }
        for (_, steering), table in acts:
            steering.fault(table, after=after)
        self._joint.append(numbers)
        where, seq = self._in_one(numbers), going[0][0].source.seq
        answer = f"{action} {text}{where} at {(after + 1) / 1e9:.9f} s, after event {seq:,}"
        self._last = numbers, answer
        return f"{answer}; e exports the session"

    def cut(self, text: str) -> str:
        """Cut links, such as 0-1: the fault `loss` with p=1, with what else is written, such as for=10s."""
        target, _, more = text.partition(" ")
        if "-" not in target:
            raise CommandError(f"cut needs a link such as 0-1, got '{target}'")
        return self.fault("loss", f"{target} p=1 {more}".rstrip())

    def links(self) -> list[str]:
        """Return the links of the agent at the cursor, as they are written."""
        pane = self._panes[0]
        agent, size = pane.builder.at_cursor(pane.view), pane.source.facts.size
        near = [] if agent is None else pane.builder.near[agent]
        return [f"{agent}-{j if j < size else 'server'}" for j in near]

    def follow_up(self, message: str) -> str:
        """Return the message that is shown, or that the fault it tells of hit no agent, once that is known."""
        if self._last is None:
            return message
        numbers, answer = self._last
        begun = {
            pane: [w for w in _windows(pane).all(0) if w.number == number and w.action]
            for pane, number in numbers.items()
        }
        if not all(begun.values()):
            return message
        self._last = None
        missed = [pane for pane, windows in begun.items() if not windows[-1].struck]
        if missed and message.startswith(answer):
            return f"{answer}: it hit no agent{self._in_one(missed)}"
        return message

    def heal(self, text: str) -> str:
        """Undo a fault: by its number, in two runs such as B3, or the last that can be undone."""
        lead = self._going()[0][0]
        if not text:
            return self._heal_last(lead)
        for pane in self._panes:
            if pane.mark and text[:1].upper() == pane.mark:
                lead, text = pane, text[1:].strip()
                break
        if not text.isdecimal():
            raise CommandError(f"heal needs the number of a fault, got '{text}'")
        return self._heal(lead, int(text))

    def _heal(self, lead: Pane, number: int) -> str:
        """Undo what was commanded together, together; what the scenario of one run declared, there alone."""
        joint = next((n for n in self._joint if n.get(lead) == number), {lead: number})
        acts = [(pane, steering) for pane, steering in self._going() if pane in joint]
        if not acts:
            raise CommandError("that run is over")
        begun = [
            (steering, self._try(pane, lambda s=steering, n=joint[pane]: s.began(n))[0])  # type: ignore[misc]
            for pane, steering in acts
        ]
        after, instant = _common_instant(begun), 0
        for pane, steering in acts:
            instant = steering.heal(joint[pane], after=after)
        action = next((w.action for w in _windows(lead).lasting() if w.number == number), "")
        where = self._in_one([pane for pane, _ in acts])
        return f"fault {number} ({action}) is undone{where} at {instant / 1e9:.9f} s"

    def _heal_last(self, lead: Pane) -> str:
        """Undo what began last and lasts, at the agent under the cursor before others."""
        pane = self._panes[0]
        here = pane.builder.at_cursor(pane.view)
        problem: CommandError | ScenarioError | None = None
        lasting: list[Window] = _windows(lead).lasting()
        for window in sorted(lasting, key=lambda w: here not in w.targets):
            try:
                return self._heal(lead, window.number)
            except (CommandError, ScenarioError) as error:
                problem = problem or error
        raise problem or CommandError("no fault lasts that could be undone")

    def menu(self) -> OpenMenu:
        """Return the menu of faults, for the agent or the link under the cursor."""
        self._steered()
        pane = self._panes[0]
        link, agent = pane.builder.link_at_cursor(pane.view), pane.agent_at_cursor()
        entries = []
        joins = link or next(iter(self._first_link(agent)), None)
        if joins is not None:
            name = f"{joins[0]}-{joins[1] if joins[1] < pane.source.facts.size else 'server'}"
            entries.append(("cut", CUT_SAYS, f"cut {name} for=10s"))
        for kind in fault_kinds():
            joined = link is not None and kind.on == "links"
            target = f"{link[0]}-{link[1]}" if joined and link is not None else str(agent)
            entries.append((kind.name, kind.says, kind.template.format(target)))
        if link is None:
            return OpenMenu(f"faults at agent {agent}", entries)
        entries.sort(key=lambda entry: entry[0] in FAULTS and FAULTS[entry[0]].on == "agents")
        return OpenMenu(f"faults at agent {agent}, link {link[0]}-{link[1]}", entries)

    def _first_link(self, agent: int) -> list[tuple[int, int]]:
        return [(agent, j) for j in self._panes[0].builder.near[agent][:1]]

    def export_name(self) -> str:
        """Return a name for the file of the session that is not taken, to be changed."""
        steered = self._steered()
        return str(steered[0][1].export_name())

    def export(self, text: str) -> str:
        """Write the session as a scenario file that does the same; of two runs two files, or none."""
        steered = self._steered()
        path = Path(text).expanduser() if text else None
        paths = [path] * len(steered)
        if path is not None and len(steered) > 1:
            paths = [path.with_stem(path.stem + mark) for mark in ("-a", "-b")]
            there = next((p for p in paths if p is not None and p.exists()), None)
            if there is not None:
                raise CommandError(f"{there} exists: nothing was written")
        files = [str(s.export(p)) for (_, s), p in zip(steered, paths, strict=True)]
        return "; ".join(f"wrote {p}: hush run {quote(p if '/' in p else f'./{p}')}" for p in files)


def _windows(pane: Pane) -> FaultWindows:
    return pane.source.run_state.windows


def _common_instant(acts: Sequence[tuple[Steering, int]]) -> int:
    """Return an instant (ns) after which the next one that is free is the same in all runs.

    Each run stands with the instant at which the fault began that is to be undone there; 0 where none is.
    """
    after = 0
    while True:
        instants = {steering.instant(since=since, after=after) for steering, since in acts}
        if len(instants) == 1:
            return instants.pop() - 1
        after = max(instants) - 1

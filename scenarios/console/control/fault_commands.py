"""Orders about the world: faults, heals, the menu, and the session as a scenario."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from shlex import quote
from typing import TypeVar

from scenarios.console.assembly.build_model import Gather
from scenarios.console.control.fault_syntax import TEMPLATES, read_fault
from scenarios.console.drawing.model import Window
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import Choosing, Look, NotThere
from scenarios.language.problems import ScenarioError
from scenarios.planning.fault_tables import ON_LINKS
from scenarios.running.manual_faults import Steering

T = TypeVar("T")


class Hands:
    """What a person does to one world."""

    def __init__(
        self, source: Source, gather: Gather, look: Look, steering: Steering | None
    ) -> None:
        self.source = source
        self.gather = gather
        self.look = look
        self.steering = steering
        self.fellows: tuple[Hands, ...] = ()
        """Those who do the same to runs beside this one, at one instant, or nobody does it."""
        self._asked: tuple[dict[Hands, int], str] | None = None
        """A fault that was ordered last, and what was answered."""
        self._joint: list[dict[Hands, int]] = []
        """What was done together: its number in each run."""

    def note(self, what: str, **more: object) -> None:
        """Write into the journal, where there is one."""
        if self.steering is not None:
            self.steering.note(what, **more)

    def _hand(self) -> Steering:
        if self.steering is None:
            raise NotThere("a recording cannot be changed; run its scenario to lay hands on it")
        return self.steering

    @property
    def _everybody(self) -> list[tuple["Hands", Steering]]:
        return [(hands, hands._hand()) for hands in (self, *self.fellows)]  # noqa: SLF001 # of the same class

    def _together(self) -> list[tuple["Hands", Steering]]:
        """Return everybody whose run goes on; their times stand until this order is carried out."""
        everybody = self._everybody
        found = [(hands, steering) for hands, steering in everybody if not steering.is_over]
        for _, steering in found or everybody:
            steering.set_out()
        return found or everybody

    def _mark(self, hands: "Hands") -> str:
        return "A" if hands is self else "B"

    def _where(self, some: Collection["Hands"]) -> str:
        """Say in which of two runs, where it is one of them."""
        return f" in {self._mark(next(iter(some)))} alone" if len(some) <= len(self.fellows) else ""

    def _as_of(self, hands: "Hands", act: Callable[[], T]) -> T:
        """Do something that may be wrong in one of two runs: then it says in which, and it is done in neither."""
        try:
            return act()
        except ScenarioError as error:
            said = "; ".join(str(problem) for problem in error.problems)
        except NotThere as error:
            said = str(error)
        if self.fellows:
            said = f"{self._mark(hands)}: {said}; nothing was done"
        raise NotThere(said)

    def fault(self, action: str, text: str) -> str:
        """Let a fault happen now: in every run that goes on, or in none."""
        together = self._together()
        tables = [
            self._as_of(hands, lambda h=hands: read_fault(action, text, h.source.facts))  # type: ignore[misc]
            for hands, _ in together
        ]
        after = _common([(steering, 0) for _, steering in together])
        acts = list(zip(together, tables, strict=True))
        numbers = {
            hands: self._as_of(hands, lambda s=steering, t=table: s.judged(t, after + 1)[0])  # type: ignore[misc]
            for (hands, steering), table in acts
        }
        for (_, steering), table in acts:
            steering.fault(table, after=after)
        self._joint.append(numbers)
        seq = together[0][0].source.seq
        said = f"{action} {text}{self._where(numbers)} at {(after + 1) / 1e9:.9f} s, after event {seq:,}"
        self._asked = numbers, said
        return f"{said}; e exports the session"

    def follow(self) -> None:
        """Say so where what was ordered last hit nobody."""
        if self._asked is None:
            return
        numbers, said = self._asked
        fired = {
            hands: [w for w in hands.source.scene.windows.all(0) if w.number == number and w.action]
            for hands, number in numbers.items()
        }
        if not all(fired.values()):
            return
        self._asked = None
        missed = [hands for hands, windows in fired.items() if not windows[-1].struck]
        if missed and self.look.says.startswith(said):
            self.look.says = f"{said}: it hit nobody{self._where(missed)}"

    def heal(self, text: str) -> str:
        """Undo a fault: by its number, in two runs such as B3, or the last that can be undone."""
        self._hand()
        lead = self._together()[0][0]
        if not text:
            return self._heal_last(lead)
        for hands in (self, *self.fellows):
            if self.fellows and text[:1].upper() == self._mark(hands):
                lead, text = hands, text[1:].strip()
                break
        if not text.isdecimal():
            raise NotThere(f"heal needs the number of a fault, got '{text}'")
        return self._heal(lead, int(text))

    def _heal(self, lead: "Hands", number: int) -> str:
        """Undo what was done together, together; what the scenario of one run declared, there alone."""
        joint = next((n for n in self._joint if n.get(lead) == number), {lead: number})
        acts = [(hands, steering) for hands, steering in self._together() if hands in joint]
        if not acts:
            raise NotThere("that run is over")
        begun = [
            (steering, self._as_of(hands, lambda s=steering, n=joint[hands]: s.began(n))[0])  # type: ignore[misc]
            for hands, steering in acts
        ]
        after, instant = _common(begun), 0
        for hands, steering in acts:
            instant = steering.heal(joint[hands], after=after)
        action = next((w.action for w in _lasting(lead) if w.number == number), "")
        where = self._where([hands for hands, _ in acts])
        return f"fault {number} ({action}) is undone{where} at {instant / 1e9:.9f} s"

    def _heal_last(self, lead: "Hands") -> str:
        """Undo what was done last and lasts, at the agent under the cursor before others."""
        here = self.gather.at_cursor(self.look)
        problem: NotThere | ScenarioError | None = None
        for window in sorted(_lasting(lead), key=lambda w: here not in w.targets):
            try:
                return self._heal(lead, window.number)
            except (NotThere, ScenarioError) as error:
                problem = problem or error
        raise problem or NotThere("no fault lasts that could be undone")

    def menu(self) -> str:
        """Open the menu of faults, for the agent or the link under the cursor."""
        self._hand()
        link = self.gather.link_at_cursor(self.look)
        node = self.gather.at_cursor(self.look)
        if node is None:
            raise NotThere("no agent is shown")
        entries = []
        for action, (text, said) in TEMPLATES.items():
            joined = link is not None and action in ON_LINKS and action != "partition"
            target = f"{link[0]}-{link[1]}" if joined and link is not None else str(node)
            entries.append((action, said, text.format(target)))
        if link is not None:
            entries.sort(key=lambda entry: entry[0] not in ON_LINKS)
            title = f"faults at agent {node}, link {link[0]}-{link[1]}"
        else:
            title = f"faults at agent {node}"
        self.look.choosing = Choosing(title, entries)
        return ""

    def export(self, text: str) -> str:
        """Write the session as a scenario file that does the same; of two runs two files, or none."""
        everybody = self._everybody
        path = Path(text).expanduser() if text else None
        paths = [path] * len(everybody)
        if path is not None and self.fellows:
            paths = [path.with_stem(path.stem + mark) for mark in ("-a", "-b")]
            there = next((p for p in paths if p is not None and p.exists()), None)
            if there is not None:
                raise NotThere(f"{there} exists: nothing was written")
        wrote = [str(s.export(p)) for (_, s), p in zip(everybody, paths, strict=True)]
        return "; ".join(f"wrote {p}: hush run {quote(p if '/' in p else f'./{p}')}" for p in wrote)


def _lasting(hands: Hands) -> list[Window]:
    return hands.source.scene.windows.lasting()


def _common(acts: Sequence[tuple[Steering, int]]) -> int:
    """Return an instant after which all of some runs are free next, at the same time, for what began at some instant."""
    after = 0
    while True:
        found = {steering.instant(since=since, after=after) for steering, since in acts}
        if len(found) == 1:
            return found.pop() - 1
        after = max(found) - 1

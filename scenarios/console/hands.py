"""Orders about the world: faults, heals, the menu, and the session as a scenario."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from scenarios.console.gather import Gather
from scenarios.console.look import Choosing, Look, NotThere
from scenarios.console.model import Window
from scenarios.console.source import Source
from scenarios.console.writing_faults import TEMPLATES, Table, read_fault
from scenarios.grammar_faults import ON_LINKS
from scenarios.problem import ScenarioError
from scenarios.steering import Steering


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
        self._asked: tuple[int, str] | None = None
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

    def _together(self) -> list[tuple["Hands", Steering]]:
        """Return everybody whose run goes on; their times stand until this order is carried out."""
        everybody = [(hands, hands._hand()) for hands in (self, *self.fellows)]  # noqa: SLF001 # of the same class
        found = [(hands, steering) for hands, steering in everybody if not steering.is_over]
        for _, steering in found or everybody:
            steering.set_out()
        return found or everybody

    def fault(self, action: str, text: str) -> str:
        """Let a fault happen now: in every run that is shown, or in none."""
        together = self._together()
        acts = [(steering, self._read(hands, action, text)) for hands, steering in together]
        after = _common([(steering, 0) for steering, _ in acts])
        numbers, instant = dict[Hands, int](), after + 1
        for (hands, _), (steering, table) in zip(together, acts, strict=True):
            numbers[hands] = self._judged(hands, steering, table, instant)
        for steering, table in acts:
            instant = steering.fault(table, after=after)
        self._joint.append(numbers)
        said = f"{action} {text} at {instant / 1e9:.9f} s, after event {self.source.seq:,}"
        if self in numbers:
            self._asked = numbers[self], said
        return f"{said}; e exports the session"

    def follow(self) -> None:
        """Say so where what was ordered last hit nobody."""
        if self._asked is None:
            return
        number, said = self._asked
        found = [w for w in self.source.scene.windows.all(0) if w.number == number and w.action]
        if found:
            self._asked = None
            if not found[-1].struck and self.look.says.startswith(said):
                self.look.says = f"{said}: it hit nobody"

    def _read(self, hands: "Hands", action: str, text: str) -> Table:
        try:
            return read_fault(action, text, hands.source.facts)
        except NotThere as error:
            raise NotThere(self._nowhere(hands, str(error))) from None

    def _judged(self, hands: "Hands", steering: Steering, table: Table, instant: int) -> int:
        try:
            number, _, _ = steering.judged(table, instant)
        except ScenarioError as error:
            said = "; ".join(str(problem) for problem in error.problems)
            raise NotThere(self._nowhere(hands, said)) from None
        return number

    def _nowhere(self, hands: "Hands", said: str) -> str:
        """Say in which of two runs something is wrong: then it is done in neither."""
        return (
            f"{'A' if hands is self else 'B'}: {said}; nothing was done" if self.fellows else said
        )

    def heal(self, text: str) -> str:
        """Undo a fault: by its number, or the last that can be undone."""
        self._hand()
        if not text:
            return self._heal_last()
        if not text.isdecimal():
            raise NotThere(f"heal needs the number of a fault, got '{text}'")
        return self._heal(int(text))

    def _heal(self, number: int) -> str:
        """Undo what was done together, together; what the scenario of this run declared, here alone."""
        joint = next((numbers for numbers in self._joint if numbers.get(self) == number), None)
        acts = [
            (steering, number if joint is None else joint[hands])
            for hands, steering in self._together()
            if (joint is None and hands is self) or (joint is not None and hands in joint)
        ]
        if not acts:
            raise NotThere("that run is over")
        begun = [(steering, steering.began(mine)[0]) for steering, mine in acts]
        after, instant = _common(begun), 0
        for steering, mine in acts:
            instant = steering.heal(mine, after=after)
        action = next((w.action for w in self._windows() if w.number == number), "")
        where = "" if joint is not None or not self.fellows else " in A alone"
        return f"fault {number} ({action}) is undone{where} at {instant / 1e9:.9f} s"

    def _windows(self) -> list[Window]:
        return self.source.scene.windows.lasting()

    def _heal_last(self) -> str:
        """Undo what was done last and lasts, at the agent under the cursor before others."""
        here = self.gather.at_cursor(self.look)
        problem: ScenarioError | None = None
        for window in sorted(self._windows(), key=lambda w: here not in w.targets):
            try:
                return self._heal(window.number)
            except ScenarioError as error:
                problem = problem or error
        if problem is not None:
            raise problem
        raise NotThere("no fault lasts that could be undone")

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
        """Write the session as a scenario file that does the same; of two runs, two files."""
        everybody = [(hands, hands._hand()) for hands in (self, *self.fellows)]  # noqa: SLF001 # of the same class
        asked = Path(text).expanduser() if text else None
        said = []
        for mark, (_, steering) in zip(("-a", "-b"), everybody, strict=False):
            path = asked
            if asked is not None and self.fellows:
                path = asked.with_stem(asked.stem + mark)
            wrote = steering.export(path)
            said.append(
                f"wrote {wrote}: hush run {quote(str(wrote) if '/' in str(wrote) else f'./{wrote}')}"
            )
        return "; ".join(said)


def _common(acts: Sequence[tuple[Steering, int]]) -> int:
    """Return an instant after which all of some runs are free next, at the same time, for what began at some instant."""
    after = 0
    while True:
        found = {steering.instant(since=since, after=after) for steering, since in acts}
        if len(found) == 1:
            return found.pop() - 1
        after = max(found) - 1

"""Orders about the world: faults, heals, the menu, and the session as a scenario."""

from pathlib import Path
from shlex import quote

from scenarios.console.gather import Gather
from scenarios.console.look import Choosing, Look, NotThere
from scenarios.console.source import Source
from scenarios.console.writing_faults import TEMPLATES, read_fault
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
        """Those who do the same to runs beside this one, at one instant."""

    def note(self, what: str, **more: object) -> None:
        """Write into the journal, where there is one."""
        if self.steering is not None:
            self.steering.note(what, **more)

    def _hand(self) -> Steering:
        if self.steering is None:
            raise NotThere("a recording cannot be changed; run its scenario to lay hands on it")
        return self.steering

    def fault(self, action: str, text: str) -> str:
        """Let a fault happen now."""
        table = read_fault(action, text, self.source.facts)
        instant = self._hand().fault(table, after=self._together())
        return f"{action} {text} at {instant / 1e9:.9f} s, after event {self.source.seq:,}; e exports the session"

    def _together(self) -> int:
        """Return the latest instant of all runs that are shown: what is done to them is done at one time."""
        return max(
            (hands.steering.latest for hands in self.fellows if hands.steering is not None),
            default=0,
        )

    def heal(self, text: str) -> str:
        """Undo a fault: by its number, or the last that can be undone."""
        steering = self._hand()
        if text:
            if not text.isdecimal():
                raise NotThere(f"heal needs the number of a fault, got '{text}'")
            number = int(text)
            instant = steering.heal(number, after=self._together())
        else:
            number, instant = self._heal_last(steering)
        action = next((w.action for w in self.source.scene.windows.all() if w.number == number), "")
        return f"fault {number} ({action}) is undone at {instant / 1e9:.9f} s"

    def _heal_last(self, steering: Steering) -> tuple[int, int]:
        """Undo what was done last and lasts, at the agent under the cursor before others."""
        here = self.gather.at_cursor(self.look)
        lasting = self.source.scene.windows.lasting()
        problem: ScenarioError | None = None
        for window in sorted(lasting, key=lambda w: here not in w.targets):
            try:
                return window.number, steering.heal(window.number, after=self._together())
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
        """Write the session as a scenario file that does the same."""
        path = self._hand().export(Path(text).expanduser() if text else None)
        return f"wrote {path}: hush run {quote(str(path) if '/' in str(path) else f'./{path}')}"

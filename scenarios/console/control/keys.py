"""Keys: a table of commands. Help and the last line of the screen are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.console.assembly.panels import chosen_by_key
from scenarios.console.control.commands import COMMANDS, carry_out, complete, offers
from scenarios.console.control.line_editor import PASTED, LineEditor
from scenarios.console.control.session import Session
from scenarios.console.drawing.model import Help, Menu, Prompt

_OFFERED = 8
"""So many words that may complete a line are shown."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, its command, and a word for the last line. `…` begins a command that is still to be written."""

    key: str
    command: str
    word: str
    name: str = ""

    @property
    def shown(self) -> str:
        """How a person reads it."""
        return self.name or self.key


KEYS = (
    Key(" ", "play", "pause", "space"),
    Key(".", "step", "step"),
    Key("q", "quit", "quit"),
    Key("?", "help", "help"),
    Key("f", "menu", "fault"),
    Key("enter", "open", "agent", "⏎"),
    Key(":", "…", "cmd"),
    Key("h", "heal", "heal"),
    Key("e", "export", "export"),
    Key(">", "until …", "until…"),
    Key("n", "next …", "next"),
    Key("+", "faster", "faster", "+"),
    Key("=", "faster", "", "="),
    Key("-", "slower", "slower", "-"),
    Key("g", "view", "view"),
    Key("s", "sort", "sort"),
    Key("/", "filter …", "filter"),
    Key("l", "events …", "log"),
    Key("b", "break …", "break"),
    Key("t", "seek …", "seek"),
    Key("S", "svg", "svg"),
    Key("escape", "back", "", "esc"),
    *(Key(panel.key, panel.name, panel.name) for panel in chosen_by_key()),
)
"""The most important first: the last line shows as many as fit."""
_WHILE_IT_GOES = frozenset(
    {"play", "step", "menu", "heal", "until", "next", "faster", "slower", "break", "seek"}
)
_FAR = 10**9
MOVES = {
    "up": (-1, 0),
    "down": (1, 0),
    "left": (0, -1),
    "right": (0, 1),
    "home": (-_FAR, -_FAR),
    "end": (_FAR, _FAR),
}
"""Lines down, places to the right."""


def by_key(keys: Sequence[Key]) -> dict[str, Key]:
    """Return keys by what is pressed. Raises ValueError where two keys are one."""
    found: dict[str, Key] = {}
    for key in keys:
        if key.key in found:
            taken = found[key.key].command
            raise ValueError(f"the key {key.key!r} of {key.command!r} is that of {taken!r} already")
        found[key.key] = key
    return found


_BY_KEY = by_key(KEYS)


def press(session: Session, key: str) -> None:
    """Do what a key asks: write, choose, or give a command."""
    menu, view = session.menu, session.pane.view
    if session.editor is not None:
        _write(session, session.editor, key)
    elif key in MOVES:
        session.move(*MOVES[key])
    elif key in {"page-up", "page-down"}:
        page = session.lines if session.shows_help or menu else view.page // view.row
        session.move(max(1, page) if key == "page-down" else -max(1, page))
    elif menu is not None and key in {"enter", "f"}:
        _begin(session, menu.entries[menu.at][2])
        session.menu = None
    elif menu is not None and len(key) == 1 and key.isalpha() and key != "q":
        menu.jump(key)
    elif key in _BY_KEY:
        _command(session, _BY_KEY[key].command)


def _begin(session: Session, text: str) -> None:
    """Open the command line with the beginning of a command."""
    session.editor = LineEditor()
    session.editor.replace(text)


def _command(session: Session, command: str) -> None:
    session.tell("")
    if command == "quit" and session.is_covered:
        session.back()
        return
    if command != "back":
        session.menu = None
    if session.shows_help and command not in {"help", "back"}:
        session.shows_help = False
    elif command.endswith("…"):
        _begin(session, command.removesuffix("…"))
    else:
        carry_out(session, command)


def _write(session: Session, editor: LineEditor, key: str) -> None:
    history = session.history
    if key == "enter":
        _send(session, editor)
    elif key == "escape" or (key == "backspace" and not editor.text):
        session.editor = None
    elif key == "tab":
        editor.replace(complete(session, editor.text))
    elif key == "backspace":
        editor.erase()
    elif key in {"up", "down"}:
        editor.back = max(0, min(len(history), editor.back - sum(MOVES[key])))
        editor.replace(history[-editor.back] if editor.back else "")
    elif not editor.edit(key):
        editor.insert(_typed(key))


def _typed(key: str) -> str:
    """Return what a key writes: itself, or all that was pasted; on one line."""
    text = key.removeprefix(PASTED) if key.startswith(PASTED) or len(key) == 1 else ""
    return "".join(c for c in " ".join(text.split("\n")) if c.isprintable())


def _send(session: Session, editor: LineEditor) -> None:
    text = editor.text.strip()
    if not carry_out(session, text):
        editor.error = session.message
        session.tell("")
        return
    session.editor = None
    if text and text not in session.history[-1:]:
        session.history.append(text)


def known(session: Session) -> list[tuple[str, str]]:
    """Return the keys of the last line with their words, the most important first."""
    shown, over = list[tuple[str, str]](), session.is_over
    for key in KEYS:
        name = key.command.partition(" ")[0]
        word, command = key.word, COMMANDS.get(name)
        if not word or (command is not None and command.steers and session.pane.steering is None):
            continue
        if over and name in _WHILE_IT_GOES:
            continue
        if name == "play" and session.control.paused:
            word = "run  "
        if name == "quit" and session.pane.view.opened is not None:
            word = "back"
        if name == "quit" and over:
            shown.insert(0, (key.shown, word if word == "back" else "leave"))
        else:
            shown.append((key.shown, word))
    return shown


def manual(session: Session) -> list[tuple[str, str]]:
    """Return every key and every command, with what it does."""
    by_command: dict[str, list[str]] = {}
    for key in KEYS:
        by_command.setdefault(key.command.partition(" ")[0], []).append(key.shown)
    lines = [
        ("arrows PgDn …", "move the cursor: among agents, links, outliers, lines"),
        (":", "write an order; Tab completes, ↑ remembers"),
    ]
    for name, command in COMMANDS.items():
        if command.steers and session.pane.steering is None:
            continue
        keys = " ".join(by_command.get(name, []))
        usage = f"{name} {command.usage}".strip()
        lines.append((keys or ":", f"{usage}: {command.help}"))
    return lines


def help_of(session: Session) -> Help | None:
    """Return help, when it is open."""
    return Help(manual(session), session.help_line) if session.shows_help else None


def prompt_of(session: Session) -> Prompt | None:
    """Return the line that is being written, with what may complete it."""
    editor = session.editor
    if editor is None:
        return None
    return Prompt(editor.text, editor.at, offers(session, editor.text)[:_OFFERED], editor.error)


def menu_of(session: Session) -> Menu | None:
    """Return the menu that is open."""
    menu = session.menu
    if menu is None:
        return None
    return Menu(menu.title, [(name, meaning) for name, meaning, _ in menu.entries], menu.at)

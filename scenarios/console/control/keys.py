"""Keys: a table of commands. Help and the last line of the screen are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.console.assembly.panels import chosen_by_key
from scenarios.console.control.commands import COMMANDS, carry_out, complete, offers
from scenarios.console.control.line_editor import PASTED, LineEditor
from scenarios.console.control.session import Session
from scenarios.console.drawing.model import Help, Menu, Prompt
from scenarios.console.drawing.styled_text import (
    ABBREVIATIONS,
    BAD,
    CUT,
    GOOD,
    HAND,
    HEAD,
    HEATS,
    PLAIN,
    STATE_WORDS,
    STATES,
    WARN,
    plain,
)

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
    Key("g", "view", "network"),
    Key("m", "metric", "metric"),
    Key("H", "heal", "heal"),
    Key("e", "export …", "export"),
    Key(">", "until …", "until…"),
    Key("n", "next …", "next"),
    Key("+", "faster", "faster", "+"),
    Key("=", "faster", "", "="),
    Key("-", "slower", "slower", "-"),
    Key("tab", "focus", "focus", "Tab"),
    Key("]", "forward", "+2%"),
    Key("[", "rewind", "−2%"),
    Key("}", "fault-after", "", "}"),
    Key("{", "fault-before", "", "{"),
    Key("s", "sort", "sort"),
    Key("c", "color", "color"),
    Key("/", "filter …", "filter"),
    Key("L", "events …", "log"),
    Key("b", "break …", "break"),
    Key("t", "seek …", "seek"),
    Key("S", "svg", "svg"),
    Key("escape", "back", "", "esc"),
    *(Key(panel.key, panel.name, panel.name) for panel in chosen_by_key()),
)
"""The most important first: the last line shows as many as fit."""
_WHILE_IT_GOES = frozenset(
    {
        "play",
        "step",
        "menu",
        "heal",
        "until",
        "next",
        "faster",
        "slower",
        "break",
        "seek",
        "forward",
        "rewind",
        "fault-after",
        "fault-before",
    }
)
_FAR, _WHEEL = 10**9, 3
MOVES = {
    "up": (-1, 0),
    "down": (1, 0),
    "left": (0, -1),
    "right": (0, 1),
    "k": (-1, 0),
    "j": (1, 0),
    "h": (0, -1),
    "l": (0, 1),
    "wheel-up": (-_WHEEL, 0),
    "wheel-down": (_WHEEL, 0),
    "home": (-_FAR, -_FAR),
    "end": (_FAR, _FAR),
}
"""Lines down, places to the right."""
PAGES = {"page-up": -1.0, "page-down": 1.0, "clear": -0.5, "half-down": 0.5}
"""Pages down; Ctrl-U, which clears a line that is written, goes up by half a page where none is."""


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


def pressed_by(shown: str) -> str:
    """Return the key that is shown so."""
    return next((key.key for key in KEYS if key.shown == shown), shown)


def press(session: Session, key: str) -> None:
    """Do what a key asks: write, choose, or give a command."""
    menu, view = session.menu, session.pane.view
    if session.editor is not None:
        _write(session, session.editor, key)
    elif key in MOVES:
        session.move(*MOVES[key])
    elif key in PAGES:
        page = session.lines if session.pops_up else view.page // view.row
        session.move(round(PAGES[key] * max(2, page)))
    elif menu is not None and key in {"enter", "f"}:
        choose(session)
    elif menu is not None and len(key) == 1 and key.isalpha() and key != "q":
        menu.jump(key)
    elif key in _BY_KEY:
        _command(session, _BY_KEY[key].command)
    elif not key.startswith(PASTED):
        session.tell("? lists the keys")


def choose(session: Session) -> None:
    """Write the order of the entry at the cursor of the menu, to be changed and sent."""
    menu = session.menu
    if menu is not None:
        _begin(session, menu.entries[menu.at][2])
        session.menu = None


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
        begun = command.removesuffix("…")
        name = COMMANDS.get(begun.strip())
        session.do(lambda: _begin(session, begun + (name.begins(session) if name else "")))
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
    """Carry a line out. It is remembered, and the keyboard is given back, whether it succeeds or not."""
    text = editor.text.strip()
    session.editor = None
    if text and text not in session.history[-1:]:
        session.history.append(text)
    if not carry_out(session, text) and text:
        session.tell(f"{session.message}   (: ↑ brings the line back)")


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
        ("arrows h j k l", "move the cursor: among agents, links, faults, outliers, lines"),
        ("PgUp PgDn", "a page up or down; Ctrl-U and Ctrl-D half a page"),
        ("click", "choose what is under it, again: open it; on an axis: go to that time"),
        ("wheel", "move the cursor by three lines"),
        (":", "write an order; Tab completes (letters in their order are enough), ↑ remembers"),
    ]
    for name, command in COMMANDS.items():
        if command.steers and session.pane.steering is None:
            continue
        keys = " ".join(by_command.get(name, []))
        usage = f"{name} {command.usage}".strip()
        lines.append((keys or ":", f"{usage}: {command.help}"))
    return lines


def legend() -> list[tuple[str, str, str]]:
    """Return what glyphs, colours and abbreviations mean, with the style of each."""
    states = [
        (f"{glyph} {state}", STATE_WORDS[state], style)
        for state, (glyph, _, style) in STATES.items()
    ]
    return [
        ("states of an agent", "", HEAD),
        *states,
        ("colours", "", HEAD),
        ("blue", "fine; messages on their way", GOOD),
        ("yellow", "look here: close to a cap, slow, lost, refused", WARN),
        ("orange", "what a metric is compared with; an active fault; a cut link", CUT),
        ("red", "an agent has ended, or a promise is broken", BAD),
        ("pink", "done by hand", HAND),
        ("●●●●●●●●●", "a scale, from least to most", HEATS[4]),
        ("abbreviations", "", HEAD),
        *((name, meaning, PLAIN) for name, meaning in ABBREVIATIONS),
        ("keys and orders", "", HEAD),
    ]


def help_of(session: Session) -> Help | None:
    """Return help, when it is open."""
    if not session.shows_help:
        return None
    entries = [(key, meaning, HEAD) for key, meaning in manual(session)]
    about = [
        (plain(pane.source.facts.name), plain(pane.source.about), HEAD)
        for pane in session.panes
        if pane.source.about
    ]
    heading = [("this run", "", HEAD)] if about else []
    return Help([*heading, *about, *legend(), *entries], session.help_line)


def prompt_of(session: Session) -> Prompt | None:
    """Return the line that is being written, with what may complete it."""
    editor = session.editor
    if editor is None:
        return None
    return Prompt(editor.text, editor.at, offers(session, editor.text)[:_OFFERED])


def menu_of(session: Session) -> Menu | None:
    """Return the menu that is open."""
    menu = session.menu
    if menu is None:
        return None
    return Menu(menu.title, [(name, meaning) for name, meaning, _ in menu.entries], menu.at)

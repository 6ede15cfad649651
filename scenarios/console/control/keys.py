"""Keys: a table of orders. Help and the last line of the screen are made of it."""

from dataclasses import dataclass

from scenarios.console.control.command_target import Desk
from scenarios.console.control.commands import ORDERS, carry_out, complete, offers
from scenarios.console.drawing.model import Help, Menu, Prompt
from scenarios.console.sources.view_state import Look, Writing

PASTED = "pasted: "
"""The beginning of pasted text: it is one key, and its text follows."""

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Key:
    """A key, the order that it is, and a word for the last line. `…` begins an order that is still to be written."""

    key: str
    order: str
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
    Key("enter", "open", "node", "⏎"),
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
)
"""The most important first: the last line shows as many as fit."""
_WHILE_IT_GOES = frozenset(
    {"play", "step", "menu", "heal", "until", "next", "faster", "slower", "break", "seek"}
)
_FAR = 10**9
MOVES = {
    "up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1), "home": (-_FAR, -_FAR), "end": (_FAR, _FAR),
}  # fmt: skip
"""Lines down, places to the right."""
_BY_KEY = {key.key: key for key in KEYS}


def press(desk: Desk, key: str) -> None:
    """Do what a key asks: write, choose, or give an order."""
    look = desk.look
    if look.writing is not None:
        _write(desk, look, look.writing, key)
    elif key in MOVES:
        desk.move(*MOVES[key])
    elif key in {"page-up", "page-down"}:
        page = look.lines if look.helps or look.choosing else look.page // look.row
        page = max(1, page)
        desk.move(page if key == "page-down" else -page)
    elif look.choosing is not None and key in {"enter", "f"}:
        look.writing = Writing()
        look.writing.replace(look.choosing.entries[look.choosing.at][2])
        look.choosing = None
    elif look.choosing is not None and len(key) == 1 and key.isalpha() and key != "q":
        _jump(look, key)
    else:
        _order(desk, look, key)


def _jump(look: Look, letter: str) -> None:
    """Go to the next entry of a menu that begins with a letter."""
    menu = look.choosing
    if menu is None:
        return
    after = [*range(menu.at + 1, len(menu.entries)), *range(menu.at + 1)]
    menu.at = next((i for i in after if menu.entries[i][0].startswith(letter)), menu.at)


def _order(desk: Desk, look: Look, key: str) -> None:
    found = _BY_KEY.get(key)
    if found is None:
        return
    look.says = ""
    covered = look.helps or look.choosing is not None or look.opened is not None
    if found.order == "quit" and covered:
        desk.back()
        return
    if found.order != "back":
        look.choosing = None
    if look.helps and found.order not in {"help", "back"}:
        look.helps = False
    elif found.order.endswith("…"):
        look.writing = Writing()
        look.writing.replace(found.order.removesuffix("…"))
    else:
        carry_out(desk, found.order)


def _write(desk: Desk, look: Look, writing: Writing, key: str) -> None:
    if key == "enter":
        _finish(desk, look, writing)
    elif key == "escape" or (key == "backspace" and not writing.text):
        look.writing = None
    elif key == "tab":
        writing.replace(complete(desk, writing.text))
    elif key == "backspace":
        writing.erase()
    elif key in {"up", "down"}:
        writing.back = max(0, min(len(look.history), writing.back - sum(MOVES[key])))
        writing.replace(look.history[-writing.back] if writing.back else "")
    elif not writing.edit(key):
        writing.put(_typed(key))


def _typed(key: str) -> str:
    """Return what a key writes: itself, or all that was pasted; on one line."""
    text = key.removeprefix(PASTED) if key.startswith(PASTED) or len(key) == 1 else ""
    return "".join(c for c in " ".join(text.split("\n")) if c.isprintable())


def _finish(desk: Desk, look: Look, writing: Writing) -> None:
    text = writing.text.strip()
    if not carry_out(desk, text):
        writing.error, look.says = look.says, ""
        return
    look.writing = None
    if text and text not in look.history[-1:]:
        look.history.append(text)


def known(desk: Desk) -> list[tuple[str, str]]:
    """The keys of the last line, the most important first."""
    found, over = list[tuple[str, str]](), desk.is_over
    for key in KEYS:
        name = key.order.partition(" ")[0]
        word, order = key.word, ORDERS.get(name)
        if not word or (order is not None and order.steers and desk.steering is None):
            continue
        if over and name in _WHILE_IT_GOES:
            continue
        if key.order == "play" and desk.deck.paused:
            word = "run  "
        if key.order == "quit" and desk.look.opened is not None:
            word = "back"
        if key.order == "quit" and over:
            found.insert(0, (key.shown, word if word == "back" else "leave"))
        else:
            found.append((key.shown, word))
    return found


def manual(desk: Desk) -> list[tuple[str, str]]:
    """Every key and every order, with what it does."""
    by_order: dict[str, list[str]] = {}
    for key in KEYS:
        by_order.setdefault(key.order.partition(" ")[0], []).append(key.shown)
    lines = [
        ("arrows PgDn …", "move the cursor: among agents, links, outliers, lines"),
        (":", "write an order; Tab completes, ↑ remembers"),
    ]
    for name, order in ORDERS.items():
        if order.steers and desk.steering is None:
            continue
        shown = " ".join(by_order.get(name, []))
        said = f"{name} {order.usage}".strip()
        lines.append((shown or ":", f"{said}: {order.help}"))
    return lines


def help_of(desk: Desk) -> Help | None:
    """Help, when it is open."""
    return Help(manual(desk), desk.look.line) if desk.look.helps else None


def prompt_of(desk: Desk) -> Prompt | None:
    """The line that is being written, with what may complete it."""
    writing = desk.look.writing
    if writing is None:
        return None
    return Prompt(writing.text, writing.at, offers(desk, writing.text)[:_SHOWN], writing.error)


def menu_of(desk: Desk) -> Menu | None:
    """The menu that is open."""
    menu = desk.look.choosing
    if menu is None:
        return None
    return Menu(menu.title, [(name, said) for name, said, _ in menu.entries], menu.at)

"""Text that leaves the program: what a terminal would obey, or a reader could not see, is spelled out.

Names in recordings, file names and values of a scenario file may hold anything: escape sequences that
set a window's title or fill the clipboard, C1 controls that mean the same in one character, marks that
reverse the direction of what follows. `visible` is the one rule for all of them; `say` is the one door
to standard output and standard error, and applies it.
"""

import json
import sys
import unicodedata
from typing import Any

_SPACES = "Zs"
"""The category of spaces other than U+0020. They are seen as gaps and are left alone."""


def is_visible(text: str) -> bool:
    """Return whether a text is printable as it stands: no control, format or unassigned characters."""
    return text.isprintable() or all(map(_is_visible, text))


def _is_visible(c: str) -> bool:
    return c.isprintable() or unicodedata.category(c) == _SPACES


def visible(text: str, *, but: str = "") -> str:
    r"""Return a text of one line with every invisible character spelled out, as TOML and Python write it.

    Spelled out are C0 and C1 controls (newlines too), DEL, format characters (all bidirectional marks
    are among them), separators of lines, lone surrogates and code points without a character: U+001B
    becomes `\u001b`. Characters of `but` stay. A text that was spelled out once stays as it is.
    """
    if text.isprintable():
        return text
    return "".join(c if _is_visible(c) or c in but else _spelled(c) for c in text)


def _spelled(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


def say(*lines: str, error: bool = False) -> None:
    """Write lines to standard output or standard error; a tab stays a tab, a newline inside a line does not."""
    stream = sys.stderr if error else sys.stdout
    if stream is not None:  # closed by the program that started this one
        stream.write("".join(visible(line, but="\t") + "\n" for line in lines or ("",)))


def say_json(tree: Any, *, indent: int | None = 2) -> None:
    """Write JSON to standard output, in ASCII: JSON has escapes of its own for everything else."""
    say(*json.dumps(tree, indent=indent).split("\n"))

"""Text that leaves the program: what a terminal would obey, or a reader could not see, is spelled out.

Names in recordings, file names and values of a scenario file may hold anything: escape sequences that
set a window's title or fill the clipboard, C1 controls that mean the same in one character, marks that
reverse the direction of what follows. `visible` is the one rule for all of them; `say` is the one door
to standard output and standard error, and applies it.
"""

import codecs
import json
import sys
import unicodedata
from collections.abc import Sequence
from textwrap import wrap
from typing import Any, TextIO

_SPACES = "Zs"
"""The category of spaces other than U+0020. They are seen as gaps and are left alone."""
CELLS: dict[str, str] = {
    **dict(zip("▁▂▃▄▅▆▇█", ",:;-+*%@", strict=True)),
    **dict.fromkeys("▉▊▋", "="),
    **dict.fromkeys("▌▍▎▏", "-"),
    "▒": "%",
    "░": ".",
    "─": "-",
    "│": "|",
    **dict.fromkeys("┌┐└┘┬┴├┤┼", "+"),
    "·": ".",
    "…": "~",
    "—": "-",
    "–": "-",
    "✓": "v",
    "✕": "x",
    "╳": "x",
    "●": "o",
    "□": "=",
    "━": "=",
    "╌": "-",
    "╱": "/",
    "∙": ".",
    "◐": "~",
    "■": "#",
    "○": "_",
    "‖": "|",
    "▶": ">",
    "▸": ">",
    "▲": "^",
    "❚": "|",
    "×": "x",
    "ε": "e",
    "δ": "d",
    "σ": "s",
    "μ": "u",
    "→": ">",
    "←": "<",
    "↑": "^",
    "↓": "v",
    "↔": "-",
    "≤": "<",
    "≥": ">",
    "Δ": "D",
    "⏎": "<",
    "“": '"',
    "”": '"',
    "−": "-",
}
"""One ASCII character for one of a frame, where columns count. None is a digit: a bar must not read as a number."""
_IN_TEXT: dict[str, str] = {
    "∞": "inf",
    "ε": "eps",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "…": "...",
    "·": "*",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "√": "sqrt",
    "Σ": "sum",
    "‖": "||",
    "∈": "in",
    "≈": "~",
    "∘": "o",
    "¬": "not ",
}
_PLAIN = bytes((*b"\n", *range(32, 127)))
"""What a line of JSON may hold as it stands."""
_HANDLER = "hush.ascii"
"""The name of the codecs' error handler that writes what a terminal cannot."""


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


def in_ascii(c: str) -> str:
    """Return what stands for a character where only ASCII can be written: a word, or "?" where there is none.

    No symbol becomes a digit: an exponent becomes `^2`, an index `_2`, infinity `inf`.
    """
    if c.isascii():
        return c
    name = unicodedata.name(c, "")
    if c in _IN_TEXT:
        return _IN_TEXT[c]
    if name.startswith("GREEK "):
        return name.split()[-1].lower() if "SMALL" in name else name.split()[-1].capitalize()
    if c in CELLS:
        return CELLS[c]
    plain = unicodedata.normalize("NFKD", c)
    base = "".join(b for b in plain if b.isascii())
    mark = "^" if name.startswith("SUPERSCRIPT") else "_" if name.startswith("SUBSCRIPT") else ""
    return f"{mark}{base}" if base.isalpha() or (mark and base) else "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(in_ascii, error.object[error.start : error.end])), error.end


codecs.register_error(_HANDLER, _replace)


def prepare(stream: object, *, ascii_only: bool = False) -> None:
    """Let a stream write what its terminal cannot show in ASCII; everything, where that is asked for."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if ascii_only:
        reconfigure(encoding="ascii", errors=_HANDLER)
    else:
        reconfigure(errors=_HANDLER)


WIDTH = 100
"""So wide is text on a terminal at most."""
UNWRAPPED = sys.maxsize
"""The width of text that no terminal shows: programs such as grep read it line by line."""


def text_width() -> int:
    """Return how wide text for a person may be: as the terminal is, where it is written to one."""
    from shutil import get_terminal_size  # slow to load, and not every command asks

    if sys.stdout is None or not sys.stdout.isatty():
        return UNWRAPPED
    return max(40, min(WIDTH, get_terminal_size((WIDTH, 24)).columns))


def hung(word: str, text: str, width: int) -> list[str]:
    """Return a word and what is said under it as lines of a width: those after the first begin where the text does."""
    return wrap(
        visible(text),
        width,
        initial_indent=f"  {word}",
        subsequent_indent=" " * (2 + len(word)),
        break_long_words=False,
        break_on_hyphens=False,
    )


def say(*lines: str, error: bool = False) -> None:
    """Write lines to standard output or standard error; a tab stays a tab, a newline inside a line does not."""
    stream = sys.stderr if error else sys.stdout
    if stream is not None:  # closed by the program that started this one
        _write("".join(visible(line, but="\t") + "\n" for line in lines or ("",)), stream)


def say_lines(lines: bytes) -> None:
    """Write lines of JSON to standard output, in ASCII: each is one line of printable characters."""
    if sys.stdout is None:  # closed by the program that started this one
        return
    if lines.translate(None, _PLAIN):
        say(*(json.dumps(json.loads(line), separators=(",", ":")) for line in lines.splitlines()))
    else:
        _write(lines.decode("ascii"), sys.stdout)


_PIECE = 4096
"""So many characters are written at once: of a larger piece, Python loses in silence what a full disk did not take."""


def _write(text: str, stream: TextIO) -> None:
    for first in range(0, len(text), _PIECE):  # noqa: FURB122 # `main` wraps `write` of a stream, and no more
        stream.write(text[first : first + _PIECE])


def say_json(tree: Any, *, indent: int | None = 2) -> None:
    """Write JSON to standard output, in ASCII: JSON has escapes of its own for everything else."""
    say(*json.dumps(tree, indent=indent, default=_rows).split("\n"))


def _rows(table: object) -> list[Any]:
    """Return a sequence that is no list of Python's own, such as a `JsonTable`, as a list."""
    if isinstance(table, Sequence):
        return list(table)
    raise TypeError(f"JSON has no form for {type(table).__name__}")

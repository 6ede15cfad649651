"""Where each key of a TOML text stands, and a refusal of what would hang or crash its parser.

No library gives positions for valid TOML. This scanner is linear in the text, follows its structure
only, and leaves values to `tomllib`. Where it cannot follow, it stops: the parser then sees no more
than it did, and says what is wrong.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

Path = tuple[str | int, ...]

LONGEST_FILE = 1 << 20
MOST_TABLES = 5
MOST_ARRAYS = 3
MOST_PARTS = 8
LONGEST_KEY = 256

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_SCALAR = re.compile(r"[^,\]\}\n#]+")


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file: line and column count from 1.

    `text` is the line itself; empty where it is not to be quoted, in a file that the user did not name.
    """

    file: str
    line: int
    column: int
    text: str


@dataclass(slots=True)
class Located:
    """What the scanner found: spots of keys and values, how far it got, and what it refuses."""

    keys: dict[Path, Spot] = field(default_factory=dict)
    values: dict[Path, Spot] = field(default_factory=dict)
    end: int = 0
    refused: tuple[Spot, str] | None = None


class _Stop(Exception):  # not an error: the end of what can be followed
    def __init__(self, position: int, why: str | None = None) -> None:
        super().__init__(why)
        self.position = position
        self.why = why


def locate(text: str, file: str, *, quotes: bool = True) -> Located:
    """Scan a text; `refused` names what breaks a limit, before any parser sees it.

    Without `quotes`, spots have no text.
    """
    return _Scanner(text, file, quotes=quotes).scan()


class _Scanner:
    def __init__(self, text: str, file: str, *, quotes: bool) -> None:
        self.text = text
        self.file = file
        self._quotes = quotes
        self.at = 0
        self.located = Located()
        self.counts: dict[Path, int] = {}
        self._lines: dict[int, str] = {}
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def scan(self) -> Located:
        try:
            base: Path = ()
            while True:
                self._skip(_SPACE)
                if self.at >= len(self.text):
                    break
                if self.text[self.at] == "[":
                    base = self._header()
                else:
                    self._pair(base, 0, 0)
                self._skip(_BLANK)
                if self.at < len(self.text) and self.text[self.at] not in "\r\n#":
                    raise _Stop(self.at)
            self.located.end = len(self.text)
        except _Stop as stop:
            if stop.why is not None:
                self.located.refused = self.spot(stop.position), stop.why
            newline = self.text.find("\n", stop.position)
            self.located.end = len(self.text) if newline < 0 else newline
        return self.located

    def spot(self, position: int) -> Spot:
        """Turn an offset into line and column."""
        line = bisect_right(self._starts, position)
        start = self._starts[line - 1]
        if line not in self._lines:
            end = self.text.find("\n", start)
            self._lines[line] = self.text[start : len(self.text) if end < 0 else end].rstrip("\r")
        quoted = self._lines[line] if self._quotes else ""
        return Spot(self.file, line, position - start + 1, quoted)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()

    def _expect(self, literal: str) -> None:
        if not self.text.startswith(literal, self.at):
            raise _Stop(self.at)
        self.at += len(literal)

    def _key(self) -> tuple[list[str], int]:
        """Read a dotted key; return its parts and where it begins."""
        begin, parts = self.at, list[str]()
        while True:
            self._skip(_BLANK)
            matches = (p.match(self.text, self.at) for p in (_BARE, _BASIC, _LITERAL))
            match = next((m for m in matches if m), None)
            if match is None:
                raise _Stop(self.at)
            word = match.group()
            parts.append(word[1:-1] if word[0] in "\"'" else word)
            if len(parts) > MOST_PARTS:
                raise _Stop(begin, f"a dotted key has at most {MOST_PARTS} parts")
            if len(word) > LONGEST_KEY:
                raise _Stop(begin, f"a key has at most {LONGEST_KEY} characters")
            self.at = match.end()
            self._skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return parts, begin
            self.at += 1

    def _enter(self, base: Path, parts: list[str], position: int) -> Path:
        """Follow a header's parts from the root, through the newest table of each array."""
        path = base
        for part in parts:
            path = (*path, part)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        self._check_depth(path, position)
        return path

    def _header(self) -> Path:
        begin = self.at
        array = self.text.startswith("[[", self.at)
        self._expect("[[" if array else "[")
        parts, _ = self._key()
        self._expect("]]" if array else "]")
        if not array:
            path = self._enter((), parts, begin)
        else:
            name = (*self._enter((), parts[:-1], begin), parts[-1])
            self.counts[name] = self.counts.get(name, 0) + 1
            path = (*name, self.counts[name] - 1)
            self.located.keys.setdefault(name, self.spot(begin))
            self._check_depth(path, begin)
        self.located.keys.setdefault(path, self.spot(begin))
        self.located.values.setdefault(path, self.spot(begin))
        return path

    def _check_depth(self, path: Path, position: int) -> None:
        if sum(1 for part in path if isinstance(part, str)) > MOST_TABLES:
            raise _Stop(position, f"tables nest at most {MOST_TABLES} deep")

    def _pair(self, base: Path, arrays: int, tables: int) -> None:
        parts, begin = self._key()
        self._expect("=")
        path = (*base, *parts)
        self._check_depth(path[:-1], begin)
        for length in range(len(base) + 1, len(path) + 1):
            self.located.keys.setdefault(path[:length], self.spot(begin))
        self._skip(_BLANK)
        self._value(path, arrays, tables)

    def _value(self, path: Path, arrays: int, tables: int) -> None:
        begin = self.at
        self.located.values.setdefault(path, self.spot(begin))
        if self.text.startswith("[", begin):
            self._array(path, arrays + 1, tables)
        elif self.text.startswith("{", begin):
            self._inline(path, arrays, tables + 1)
        elif self.text.startswith(('"""', "'''"), begin):
            self._long_string(self.text[begin : begin + 3])
        else:
            for pattern in (_BASIC, _LITERAL, _SCALAR):
                match = pattern.match(self.text, begin)
                if match:
                    self.at = match.end()
                    return
            raise _Stop(begin)

    def _long_string(self, quotes: str) -> None:
        at = self.at + 3
        while True:
            end = self.text.find(quotes, at)
            if end < 0:
                raise _Stop(self.at)
            before = end
            while self.text[before - 1] == "\\":
                before -= 1
            if quotes == "'''" or (end - before) % 2 == 0:
                self.at = end + 3
                while self.text.startswith(quotes[0], self.at) and self.at - end < 5:
                    self.at += 1
                return
            at = end + 1

    def _array(self, path: Path, arrays: int, tables: int) -> None:
        if arrays > MOST_ARRAYS:
            raise _Stop(self.at, f"arrays nest at most {MOST_ARRAYS} deep")
        self._expect("[")
        index = 0
        while True:
            self._skip(_SPACE)
            if self.text.startswith("]", self.at):
                self.at += 1
                return
            self._value((*path, index), arrays, tables)
            index += 1
            self._skip(_SPACE)
            if not self.text.startswith("]", self.at):
                self._expect(",")

    def _inline(self, path: Path, arrays: int, tables: int) -> None:
        if tables > MOST_TABLES:
            raise _Stop(self.at, f"tables nest at most {MOST_TABLES} deep")
        self._check_depth(path, self.at)
        self._expect("{")
        self._skip(_BLANK)
        if self.text.startswith("}", self.at):
            self.at += 1
            return
        while True:
            self._skip(_BLANK)
            self._pair(path, arrays, tables)
            self._skip(_BLANK)
            if self.text.startswith("}", self.at):
                self.at += 1
                return
            self._expect(",")

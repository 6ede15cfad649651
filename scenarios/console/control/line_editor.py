"""The command line as it is written, and a menu as it is chosen from."""

from dataclasses import dataclass

PASTED = "pasted: "
"""The beginning of pasted text: it is one key, and its text follows."""


@dataclass(slots=True)
class LineEditor:
    """A line that is being written, with a cursor."""

    text: str = ""
    at: int = 0
    back: int = 0
    """How many lines ago the shown one was sent; 0 for a new one."""

    def insert(self, text: str) -> None:
        """Write at the cursor."""
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    def erase(self) -> None:
        """Take the character before the cursor away."""
        if self.at:
            self.text = self.text[: self.at - 1] + self.text[self.at :]
            self.at -= 1

    def edit(self, key: str) -> bool:
        """Do what an editing key does; return whether it is one."""
        text, at = self.text, self.at
        word = len(text[:at].rstrip().rpartition(" ")[0])
        edits = {
            "left": (text, max(0, at - 1)),
            "right": (text, min(len(text), at + 1)),
            "home": (text, 0),
            "end": (text, len(text)),
            "clear": ("", 0),
            "delete": (text[:at] + text[at + 1 :], at),
            "word": (text[:word] + text[at:], word),
        }
        if key in edits:
            self.text, self.at = edits[key]
        return key in edits

    def replace(self, text: str) -> None:
        """Write something else."""
        self.text, self.at = text, len(text)


@dataclass(slots=True)
class OpenMenu:
    """A menu that is open: its entries, and the command line that each becomes."""

    title: str
    entries: list[tuple[str, str, str]]
    """Name, what it does, and the command line."""
    at: int = 0

    def jump(self, letter: str) -> None:
        """Go to the next entry that begins with a letter."""
        after = [*range(self.at + 1, len(self.entries)), *range(self.at + 1)]
        self.at = next((i for i in after if self.entries[i][0].startswith(letter)), self.at)

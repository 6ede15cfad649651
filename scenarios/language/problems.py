"""What is wrong with a scenario: where, which rule, which value, and the nearest name."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scenarios.language.positions import Path, Spot
from scenarios.language.visible_text import visible

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    where: str
    message: str
    spot: Spot | None = None

    def __str__(self) -> str:
        """`file:line:column: key: rule, value`, the line, and a caret under the place."""
        text = visible(f"{self.where}: {self.message}" if self.where else self.message)
        if self.spot is None:
            return text
        head = f"{visible(self.spot.file)}:{self.spot.line}:{self.spot.column}: {text}"
        if not self.spot.text:
            return head
        first = max(0, self.spot.column - _SHOWN)
        line = self.spot.text[first : first + 2 * _SHOWN].replace("\t", " ")
        margin = f"{self.spot.line:>5} | "
        caret = len(margin) + len(visible(line[: self.spot.column - first - 1]))
        return f"{head}\n{margin}{visible(line)}\n{' ' * caret}^"


class ScenarioError(ValueError):
    """A scenario cannot run; every problem that was found is in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def of(cls, where: str, message: str) -> "ScenarioError":
        """Return the error of one problem that has no place in a file: of an option, or of a whole scenario."""
        return cls([Problem(where, message)])

    def __reduce__(self) -> tuple[type["ScenarioError"], tuple[tuple[Problem, ...]]]:
        """Survive the way back from another process."""
        return type(self), (self.problems,)


class Report:
    """Collects problems, each with the spot of the key or value it is about."""

    def __init__(
        self, keys: Mapping[Path, Spot], values: Mapping[Path, Spot], name: str = ""
    ) -> None:
        self._keys = keys
        self._values = values
        self._name = name
        self.problems: list[Problem] = []

    def value(self, path: Path, message: str) -> None:
        """Say what is wrong with a value."""
        self._add(path, message, self._values)

    def key(self, path: Path, message: str) -> None:
        """Say what is wrong with a key."""
        self._add(path, message, self._keys)

    def _add(self, path: Path, message: str, spots: Mapping[Path, Spot]) -> None:
        at = path
        while at and at not in spots:
            at = at[:-1]  # a default, or a missing key: its table
        spot = spots.get(at) or self._keys.get(at)
        where = ".".join(str(part) for part in path)
        if spot is None and self._name:
            where = f"{self._name}: {where}" if where else self._name
        problem = Problem(where, message, spot)
        if problem not in self.problems:
            self.problems.append(problem)

    def spot(self, path: Path) -> Spot | None:
        """Return where a key stands in its file."""
        return self._keys.get(path) or self._values.get(path)

    def stop_if_any(self) -> None:
        """Raise everything that was found, in the order of the file."""
        if self.problems:

            def place(problem: Problem) -> tuple[str, int, int]:
                spot = problem.spot
                return (spot.file, spot.line, spot.column) if spot else ("", 0, 0)

            raise ScenarioError(sorted(self.problems, key=place))


def shown(value: Any) -> str:
    """Show a value as TOML would, cut short."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = f'"{value}"'
    else:
        text = str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def nearest_few(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that are nearest to a name, the nearest first; none where none is near."""
    return difflib.get_close_matches(name[:100], sorted(set(known)), n=most, cutoff=0.6)


def nearest(
    name: str, known: Iterable[str], spellings: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return a hint: the nearest known name, and what there is. `spellings` stand for the names that they map to."""
    names = sorted(known)
    close = nearest_few(name, (*names, *spellings), 1)
    folded = dict.fromkeys(n.split("/")[0] + "/…" if "/" in n else n for n in names)
    listed = ", ".join(list(folded)[:40])
    if not close:
        return f"known: {listed}"
    return f"did you mean '{spellings.get(close[0], close[0])}'? ({listed})"

"""Rules for single values: each reads one, and says what is wrong with it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest, shown
from scenarios.language.visible_text import is_visible

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
SCENARIO_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What a scenario may be called: its runs have folders of this name."""
_DURATION = re.compile(_NUMBER + r"\s*(ns|us|ms|s|m|h|d)")
_SIZE = re.compile(_NUMBER + r"\s*(B|kB|MB|GB)")
_RATE = re.compile(_NUMBER + r"\s*/\s*(s|m|h|d)")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LONGEST_S = 9e9  # 285 years: what 63 bits of nanoseconds hold
SHORTEST_S = 1e-9  # time is counted in whole nanoseconds
SMALLEST, LARGEST = 1e-12, 1e12
"""Between these lies every scale, weight and budget: squares, products and quotients of a few stay finite."""
MANY = 10**12
"""No count is above this: products of a few counts stay below 2^63 or are judged as what they ask for."""


class Rule(Protocol):
    """Reads one value of a scenario."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        """Return the value as the plan wants it; report what is wrong with it."""
        ...

    def fill(self, value: Any) -> Any:
        """Return the value as an author would have written it in full."""
        ...


class Scalar:
    """A rule whose values need no filling."""

    __slots__ = ()

    def fill(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Number(Scalar):
    """A finite number within bounds; `above` and `below` exclude the bound itself.

    A number that is not 0 must also have a magnitude from `least` to `most`: beyond them arithmetic in doubles fails.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = False
    least: float = 0.0
    most: float = math.inf

    def words(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if self.low is not None and self.high is not None:
            return f"{kind} from {self.low:g} to {self.high:g}"
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in (
                (">=", self.low),
                (">", self.above),
                ("<=", self.high),
                ("<", self.below),
            )
            if bound is not None
        ]
        return f"{kind} {' and '.join(bounds)}".strip()

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not self._is_number(value) or not self._within(value):
            report.value(path, f"must be {self.words()}, got {shown(value)}")
            return None
        extreme = self.extreme(value)
        if extreme is not None:
            report.value(path, extreme)
            return None
        return value if self.whole else float(value)

    def _is_number(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            return False
        return abs(value) < 2**63 if self.whole else math.isfinite(as_float(value))

    def extreme(self, value: Any) -> str | None:
        """Say that a number of the right kind and sign is too small or too large; None where it is not."""
        if not self._is_number(value) or not self._within(value) or value == 0:
            return None
        if self.least <= abs(value) <= self.most:
            return None
        bound = f"at least {self.least:g}" if abs(value) < self.least else f"at most {self.most:g}"
        return f"must be {self.words()}, and {bound}, got {shown(value)}"

    def _within(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


def positive() -> Number:
    """Any scale, weight or budget: above 0, and of a magnitude that arithmetic bears."""
    return Number(above=0, least=SMALLEST, most=LARGEST)


def count(low: int = 1) -> Number:
    """How many of something."""
    return Number(low=low, whole=True, most=MANY)


def as_float(value: float) -> float:
    """Return a number as a float; whole numbers beyond all floats are infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Quantity(Scalar):
    """A number of base units, or a text with a unit. What is not 0 lies between `least` and `most`."""

    what: str
    pattern: re.Pattern[str]
    units: Mapping[str, float]
    example: str
    zero: bool = True
    inverse: bool = False
    least: float = 0.0
    most: float = LONGEST_S

    def read(self, value: Any, path: Path, report: Report) -> Any:
        amount = self._amount(value)
        if amount is None:
            report.value(path, f"must be {self.what}, {self.example}, got {shown(value)}")
            return None
        wrong = self._wrong(amount)
        if wrong:
            report.value(path, f"must be {wrong}, got {shown(value)}")
            return None
        return amount

    def _wrong(self, amount: float) -> str:
        """Say what an amount must be; empty where it is so."""
        sign = f"{'>=' if self.zero else '>'} 0"
        if amount < 0 or math.isinf(amount) or (amount == 0 and not self.zero):
            return f"{sign} and finite"
        if amount > self.most:
            return f"{sign} and at most {self.most:g}"
        return f"{sign}, and at least {self.least:g}" if 0 < amount < self.least else ""

    def _amount(self, value: Any) -> float | None:
        if isinstance(value, str):
            match = self.pattern.fullmatch(value.strip())
            if not match:
                return None
            unit = self.units[match[2]]
            return float(match[1]) / unit if self.inverse else float(match[1]) * unit
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        amount = as_float(value)
        return None if math.isnan(amount) else amount


def duration(*, zero: bool = True) -> Quantity:
    """Seconds, or "250ms"."""
    example = 'seconds or a text such as "250ms", "1.5s", "2m", "1h", "3d"'
    return Quantity("a duration", _DURATION, SECONDS, example, zero, least=SHORTEST_S)


def rate() -> Quantity:
    """Per second, or "2/h"."""
    example = 'per second or a text such as "2/h"'
    return Quantity("a rate", _RATE, SECONDS, example, False, True, 1 / LONGEST_S, 1 / SHORTEST_S)


def size(*, zero: bool = True) -> Quantity:
    """Bytes, or "250kB"."""
    example = 'bytes or a text such as "500B", "250kB", "1.5MB"'
    return Quantity("a size", _SIZE, BYTES, example, zero, least=1e-3, most=1e15)


@dataclass(frozen=True, slots=True)
class Signed(Scalar):
    """A quantity that may be negative."""

    rule: Quantity

    def read(self, value: Any, path: Path, report: Report) -> Any:
        negative, size = False, value
        if isinstance(value, str) and value.strip().startswith("-"):
            negative, size = True, value.strip()[1:]
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            negative, size = True, -value
        trial = Report({}, {})
        amount = self.rule.read(size, path, trial)
        if trial.problems:
            wanted = f'must be {self.rule.what}, finite, negative or not, such as 2 or "-250ms", got {shown(value)}'
            report.value(path, wanted)
            return None
        return -amount if negative else amount


def signed_duration() -> Signed:
    """Seconds, or "-250ms"."""
    return Signed(duration())


def number_of_seconds(value: float | str) -> float:
    """Read a duration outside of a file, where it has been checked or is a person's word."""
    rule = duration()
    amount = rule._amount(value)  # noqa: SLF001 # the same rule, without a report
    if amount is None:
        raise ValueError(f'must be a duration such as 20 or "250ms", got {shown(value)}')
    wrong = rule._wrong(amount)  # noqa: SLF001
    if wrong:
        raise ValueError(f"must be {wrong}, got {shown(value)}")
    return amount


@dataclass(frozen=True, slots=True)
class Text(Scalar):
    """A text."""

    what: str = "a text"

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, str) or "\0" in value:
            report.value(path, f"must be {self.what}, got {shown(value)}")
            return None
        return value


@dataclass(frozen=True, slots=True)
class Name(Text):
    """A text that is printed as it stands, on terminals and in files: printable characters only."""

    what: str = "a name"

    def read(self, value: Any, path: Path, report: Report) -> Any:
        read = Text.read(self, value, path, report)
        if read is not None and not is_visible(read):
            report.value(path, f"must be {self.what} of printable characters, got {shown(value)}")
            return None
        return read


@dataclass(frozen=True, slots=True)
class Tag(Name):
    """A word by which tests are selected: an identifier, in which '-' may stand for '_'."""

    what: str = "a tag"

    def read(self, value: Any, path: Path, report: Report) -> Any:
        read = Name.read(self, value, path, report)
        if read is None:
            return None
        if read.startswith("_") or not read.replace("-", "_").isidentifier():
            wanted = "must be a tag of letters, digits, '_' and '-' that begins with a letter"
            report.value(path, f"{wanted}, got {shown(value)}")
            return None
        return read


@dataclass(frozen=True, slots=True)
class Flag(Scalar):
    """True or false."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, bool):
            report.value(path, f"must be true or false, got {shown(value)}")
            return None
        return value


class Choice(Scalar):
    """One of some words."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, str) or value not in self.names:
            hint = (
                nearest(value, self.names)
                if isinstance(value, str)
                else "known: " + ", ".join(self.names)
            )
            report.value(path, f"must be one of its names, got {shown(value)}; {hint}")
            return None
        return value


class Either(Scalar):
    """One of several rules; the message names them all."""

    def __init__(self, what: str, *rules: Rule) -> None:
        self.what = what
        self.rules = rules

    def read(self, value: Any, path: Path, report: Report) -> Any:
        tables = [rule for rule in self.rules if hasattr(rule, "table")]
        if tables and isinstance(value, dict):
            return tables[0].read(value, path, report)
        for rule in self.rules:
            trial = Report({}, {})
            read = rule.read(value, path, trial)
            if not trial.problems:
                return read
        extreme = [rule.extreme(value) for rule in self.rules if isinstance(rule, Number)]
        problem = next((text for text in extreme if text), None)
        report.value(path, problem or f"must be {self.what}, got {shown(value)}")
        return None

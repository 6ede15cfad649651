"""Rules for single values: each reads one, and says what is wrong with it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scenarios.locate import Path
from scenarios.problem import Report, nearest, shown
from scenarios.saying import is_visible

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
_DURATION = re.compile(_NUMBER + r"\s*(ns|us|ms|s|m|h|d)")
_SIZE = re.compile(_NUMBER + r"\s*(B|kB|MB|GB)")
_RATE = re.compile(_NUMBER + r"\s*/\s*(s|m|h|d)")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LONGEST_S = 9e9  # 285 years: what 63 bits of nanoseconds hold


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
    """A finite number within bounds; `above` and `below` exclude the bound itself."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = False

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
        wanted = int if self.whole else (int, float)
        fine = isinstance(value, wanted) and not isinstance(value, bool)
        fine = fine and (abs(value) < 2**63 if self.whole else math.isfinite(float(value)))
        if not fine or not self._within(value):
            report.value(path, f"must be {self.words()}, got {shown(value)}")
            return None
        return value if self.whole else float(value)

    def _within(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True, slots=True)
class Quantity(Scalar):
    """A number of base units, or a text with a unit."""

    what: str
    pattern: re.Pattern[str]
    units: Mapping[str, float]
    example: str
    zero: bool = True
    inverse: bool = False

    def read(self, value: Any, path: Path, report: Report) -> Any:
        amount = self._amount(value)
        if amount is None:
            report.value(path, f"must be {self.what}, {self.example}, got {shown(value)}")
            return None
        if not 0 <= amount <= LONGEST_S or (amount == 0 and not self.zero):
            report.value(
                path, f"must be {'>=' if self.zero else '>'} 0 and finite, got {shown(value)}"
            )
            return None
        return amount

    def _amount(self, value: Any) -> float | None:
        if isinstance(value, str):
            match = self.pattern.fullmatch(value.strip())
            if not match:
                return None
            unit = self.units[match[2]]
            return float(match[1]) / unit if self.inverse else float(match[1]) * unit
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            return None
        return float(value)


def duration(*, zero: bool = True) -> Quantity:
    """Seconds, or "250ms"."""
    example = 'seconds or a text such as "250ms", "1.5s", "2m", "1h", "3d"'
    return Quantity("a duration", _DURATION, SECONDS, example, zero)


def rate() -> Quantity:
    """Per second, or "2/h"."""
    return Quantity("a rate", _RATE, SECONDS, 'per second or a text such as "2/h"', False, True)


def size(*, zero: bool = True) -> Quantity:
    """Bytes, or "250kB"."""
    example = 'bytes or a text such as "500B", "250kB", "1.5MB"'
    return Quantity("a size", _SIZE, BYTES, example, zero)


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
            said = f'must be {self.rule.what}, finite, negative or not, such as 2 or "-250ms", got {shown(value)}'
            report.value(path, said)
            return None
        return -amount if negative else amount


def signed_duration() -> Signed:
    """Seconds, or "-250ms"."""
    return Signed(duration())


def number_of_seconds(value: float | str) -> float:
    """Read a duration outside of a file, where it has been checked or is a person's word."""
    amount = duration()._amount(value)  # noqa: SLF001 # the same rule, without a report
    if amount is None:
        raise ValueError(f'must be a duration such as 20 or "250ms", got {shown(value)}')
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
        tables = [rule for rule in self.rules if hasattr(rule, "fields")]
        if tables and isinstance(value, dict):
            return tables[0].read(value, path, report)
        for rule in self.rules:
            trial = Report({}, {})
            read = rule.read(value, path, trial)
            if not trial.problems:
                return read
        report.value(path, f"must be {self.what}, got {shown(value)}")
        return None

"""A condition on one event: names of its fields and of metrics, comparisons, `and or not in` (reference.md, section 4).

`kind == "released" and node == 3`, `loss.mean < 0.3`, `3 in to`. What an event has no value for satisfies no comparison.
"""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from actors.events import KINDS, Event, Sampled

LONGEST = 200
_DEEPEST = 20
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<text>"[^"]*"|'[^']*')"""
    r"""|(?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)|(?P<word>[A-Za-z_][A-Za-z0-9_.-]*))"""
)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS = {"and", "or", "not", "in", "true", "false"}
_MISSING: Any = object()

FIELDS = frozenset(
    {"kind", "seq", "t", "node", "cause"}
    | {
        name
        for kind in KINDS
        for name in kind.__struct_fields__
        if name not in {"values", "spend", "late_ns"}
    }
)
"""What a condition may ask of an event."""
NAMES = tuple(str(kind.__struct_config__.tag) for kind in KINDS)
_BY_NAME = dict(zip(NAMES, KINDS, strict=True))

Metrics = Callable[[str, int | None], float]
"""Looks up a metric as of the last sample; of a node where it is per node."""


class NoCondition(ValueError):
    """A text is no condition; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a condition: an event, and the metrics as of the last sample."""

    event: Event
    metrics: Metrics

    def value(self, name: str) -> Any:
        """Return the value of a name; `_MISSING` where this event has none."""
        if name == "kind":
            return type(self.event).__struct_config__.tag
        if name in FIELDS:
            value = getattr(self.event, name, _MISSING)
            return _MISSING if value is None else value
        value = self.metrics(name, self.event.node)
        return _MISSING if math.isnan(value) else value


Test = Callable[[Subject], Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read: it prints as it was written."""

    text: str
    test: Test
    names: frozenset[str]
    kinds: tuple[type[Event], ...]
    """Events of other kinds can never satisfy it."""

    @property
    def metrics(self) -> frozenset[str]:
        """The names that are no fields of events."""
        return self.names - FIELDS

    @property
    def reads_samples(self) -> bool:
        """Whether it asks for metrics, for samples, or for numbers of events that samples have, too."""
        asks = Sampled in self.kinds and len(self.kinds) < len(KINDS)
        return bool(self.metrics) or asks or bool(self.names & {"seq", "cause"})

    @property
    def is_of_metrics(self) -> bool:
        """Whether it asks for metrics alone: then it changes at samples only, but for which agent an event is of."""
        return not self.names & FIELDS

    def holds(self, event: Event, metrics: Metrics) -> bool:
        """Whether an event satisfies it."""
        return bool(self.test(Subject(event, metrics)))


def read_condition(text: str) -> Condition:
    """Read a condition; raise `NoCondition`."""
    if len(text) > LONGEST:
        raise NoCondition(f"a condition has at most {LONGEST} characters, got {len(text)}")
    reader = _Reader(_tokens(text))
    test = reader.either()
    reader.ends()
    if not reader.names:
        raise NoCondition("asks nothing of an event: name a field or a metric")
    return Condition(text, test, frozenset(reader.names), _kinds(reader.only))


def _kinds(only: set[str] | None) -> tuple[type[Event], ...]:
    return KINDS if only is None else tuple(_BY_NAME[name] for name in NAMES if name in only)


def _tokens(text: str) -> list[tuple[str, Any]]:
    tokens, at = list[tuple[str, Any]](), 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise NoCondition(f"cannot be read at character {at + 1}: {text[at : at + 10]!r}")
        what, word = match.lastgroup or "", match.group(match.lastgroup or 0)
        value: Any = word
        if what == "number":
            value = float(word) if set(word) & set(".eE") else int(word)
        elif what == "text":
            value = word[1:-1]
        elif word in {"true", "false"}:
            what, value = "number", word == "true"
        elif word in _WORDS:
            what = "sign"
        tokens.append((what, value))
        at = match.end()
    return tokens


class _Reader:
    """Descends: or, and, not, comparison. `only` are the kinds of events that can satisfy what was read last."""

    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self.names = set[str]()
        self.only: set[str] | None = None

    def _peek(self) -> tuple[str, Any]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *signs: str) -> str | None:
        what, value = self._peek()
        if what == "sign" and value in signs:
            self._at += 1
            return str(value)
        return None

    def ends(self) -> None:
        """Refuse what follows a whole condition."""
        if self._peek()[0] != "end":
            raise NoCondition(f"does not end where it should: {self._peek()[1]!r}")

    def either(self) -> Test:
        """Read one or more conditions joined by `or`."""
        tests, only = [self._both()], self.only
        while self._take("or"):
            tests.append(self._both())
            only = None if only is None or self.only is None else only | self.only
        self.only = only
        return tests[0] if len(tests) == 1 else lambda subject: any(test(subject) for test in tests)

    def _both(self) -> Test:
        tests, only = [self._negated()], self.only
        while self._take("and"):
            tests.append(self._negated())
            if self.only is not None:
                only = self.only if only is None else only & self.only
        self.only = only
        return tests[0] if len(tests) == 1 else lambda subject: all(test(subject) for test in tests)

    def _negated(self) -> Test:
        if self._take("not"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise NoCondition(f"is more than {_DEEPEST} deep")
            test = self._negated()
            self.only = None
            return lambda subject: not test(subject)
        return self._comparison()

    def _comparison(self) -> Test:
        if self._take("("):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise NoCondition(f"is more than {_DEEPEST} deep")
            test = self.either()
            if not self._take(")"):
                raise NoCondition("a parenthesis is not closed")
            self._depth -= 1
            return test
        left, name = self._operand()
        sign = self._take(*_SIGNS, "in", "not")
        if sign is None:
            raise NoCondition(f"needs a comparison after {name or 'a value'}, such as node == 3")
        if sign == "not" and not self._take("in"):
            raise NoCondition("'not' after a value goes with 'in'")
        start = self._at
        right, _ = self._operand()
        self.only = self._kinds_of(name, sign, self._tokens[start : self._at])
        if sign in _SIGNS:
            return _compared(left, _SIGNS[sign], right)
        return _contained(left, right, wanted=sign == "in")

    def _kinds_of(self, name: str, sign: str, right: list[tuple[str, Any]]) -> set[str] | None:
        """Refuse an unknown kind, and remember which kinds a comparison leaves."""
        if name != "kind":
            return None
        texts = [value for what, value in right if what == "text"]
        for text in texts:
            if text not in _BY_NAME:
                from difflib import get_close_matches  # noqa: PLC0415 # only for a hint

                near = get_close_matches(text, NAMES, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(NAMES)}"
                raise NoCondition(f"no event is of kind {text!r}; {hint}")
        return set(texts) if sign in {"==", "in"} and texts else None

    def _operand(self) -> tuple[Test, str]:
        what, value = self._peek()
        self._at += 1
        if what in {"number", "text"}:
            return lambda _: value, ""
        if what == "word":
            self.names.add(value)
            return lambda subject: subject.value(value), value
        if (what, value) == ("sign", "["):
            return self._list(), ""
        if (what, value) == ("sign", "("):
            raise NoCondition('a list is written in brackets, such as ["lost", "sent"]')
        raise NoCondition("ends too early" if what == "end" else f"{value!r} is no value")

    def _list(self) -> Test:
        values: list[Any] = []
        while not self._take("]"):
            what, value = self._peek()
            if what not in {"number", "text"}:
                raise NoCondition("a list holds numbers and texts, and ends with ]")
            values.append(value)
            self._at += 1
            self._take(",")
        return lambda _: values


def _compared(left: Test, sign: Callable[[Any, Any], bool], right: Test) -> Test:
    def test(subject: Subject) -> bool:
        one, other = left(subject), right(subject)
        if one is _MISSING or other is _MISSING:
            return False
        try:
            return bool(sign(one, other))
        except TypeError:
            return False

    return test


def _contained(left: Test, right: Test, *, wanted: bool) -> Test:
    def test(subject: Subject) -> bool:
        one, other = left(subject), right(subject)
        if one is _MISSING or other is _MISSING:
            return False
        try:
            return (one in other) == wanted
        except TypeError:
            return False

    return test

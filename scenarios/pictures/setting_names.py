"""What settings are called in legends: as short as tells them apart."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

Label = str | float | bool
_TABLE = re.compile(r"([\w.:/-]+)\((.*)\)")
"""A table as a sweep writes it: `cd(mu=1.0, noise=gaussian)`."""


class SettingNames:
    """Names of settings by the axes in which they differ; `labels` maps the axes to all their values."""

    def __init__(self, labels: Mapping[str, Sequence[Label]]) -> None:
        self._keys = last_parts(list(labels))
        self._labels = labels

    @cached_property
    def _shortened(self) -> dict[str, str]:
        """Every value that is a table, and what is said of it: its kind, and what other tables have not."""
        short: dict[str, str] = {}
        for values in self._labels.values():
            short |= shortened([value for value in values if isinstance(value, str)])
        return short

    def value(self, value: Label) -> str:
        """Return a value in short."""
        return (
            self._shortened.get(value, value)
            if isinstance(value, str)
            else value_in_words(value, digits=6)
        )

    def of(self, values: Mapping[str, Label | None], most: int | None = None) -> str:
        """Return the name of a setting by some of its values, at most the first `most`; empty without any."""
        words = [self._entry(key, value) for key, value in values.items() if value is not None]
        return ", ".join(words[:most])

    def _entry(self, key: str, value: Label) -> str:
        if isinstance(value, str):
            return self.value(value)
        return f"{self._keys.get(key, key)} = {self.value(value)}"

    @property
    def explained(self) -> list[str]:
        """Sentences that say in full what was shortened."""
        return [f"{short} is {full}." for full, short in self._shortened.items() if short != full]


def last_parts(names: Sequence[str]) -> dict[str, str]:
    """Return the last parts of dotted names, as many as make each unlike the others."""
    short = {}
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            short[name] = ".".join(parts[-length:])
            if sum(n.split(".")[-length:] == parts[-length:] for n in names) == 1:
                break
    return short


def shortened(labels: Sequence[str]) -> dict[str, str]:
    """Return short names of tables: the kind, and of several of one kind the keys in which they differ; texts stay."""
    parts = {label: _parts(label) for label in dict.fromkeys(labels)}
    short = {}
    for label, (kind, keys) in parts.items():
        rivals = [of for other, (k, of) in parts.items() if k == kind and other != label]
        own = {k: v for k, v in keys.items() if any(of.get(k) != v for of in rivals)}
        words = ", ".join(f"{k}={v}" for k, v in own.items())
        short[label] = f"{kind} ({words})" if words else kind
    return short if len(set(short.values())) == len(short) else {label: label for label in parts}


def _parts(label: str) -> tuple[str, dict[str, str]]:
    """Split a table into its kind and its keys; a text that is none has no keys."""
    found = _TABLE.fullmatch(label)
    if found is None:
        return label, {}
    keys, depth, start = dict[str, str](), 0, 0
    inner = found[2] + ","
    for at, c in enumerate(inner):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth <= 0:
            key, _, value = inner[start:at].strip().partition("=")
            keys[key] = value
            start = at + 1
    return found[1], keys


def value_in_words(value: Label, digits: int = 12) -> str:
    """Return a value of an axis as it is written: `true`, `0.5`, or a text as it is."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.{digits}g}"

"""Labels as a source has them, and as a loss of two labels wants them: −1 and +1.

Of any two labels the smaller becomes −1 and the larger +1; of words the one that comes first in the order of characters
becomes −1. Labels that are −1 and +1 already stay as they are. The rule looks at all points of a source, whichever agent
holds them, and at no order of points or agents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.vectors import distinct
from scenarios.language.problems import nearest
from scenarios.planning.files import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Vector

SIGNS = (-1.0, 1.0)
"""The labels of a loss of two labels."""
_MOST_NAMED = 1000
"""More different labels than this are numbers to be predicted: they are not named."""
_LONGEST, _SHOWN = 40, 5
_MORE = 'data.positive = "…" makes one against the rest'


@dataclass(frozen=True, slots=True)
class Classes:
    """The different labels of a source as numbers, and what the source calls each of them."""

    values: tuple[float, ...]
    names: tuple[str, ...]
    are_words: bool
    """Whether numbers stand for words: then no loss of numbers can be learnt from them."""


def classes_of(labels: "Iterable[Vector]") -> Classes | None:
    """Return the different labels of some points; None where they are so many that they are numbers to be predicted."""
    parts = [distinct(part) for part in labels if len(part)]
    every = distinct(np.concatenate(parts)) if parts else np.empty(0)
    if len(every) > _MOST_NAMED:
        return None
    return Classes(tuple(every.tolist()), tuple(map(_called, every.tolist())), are_words=False)


def as_numbers(
    labels: "Sequence[NDArray[Any]]", positive: Any
) -> "tuple[list[Vector], Classes | None, tuple[str, ...]]":
    """Return labels as numbers, those of all parts by one rule; what they are called, and what is to be said of it.

    Words become their numbers; with `positive` that label becomes +1 and all others −1. Raises BadData where a label is
    infinite, where some parts are words and others numbers, and where no label is `positive`.
    """
    kinds = {part.dtype.kind == "O" for part in labels if len(part)}
    if len(kinds) > 1:
        raise BadData("labels are words for one agent and numbers for another: give one kind")
    are_words = True in kinds
    if not are_words and any(np.isinf(part).any() for part in labels):
        raise BadData("a label is infinite")
    if not are_words and positive is None:
        return [part.astype(np.float64, copy=False) for part in labels], None, ()
    cuts = np.cumsum([len(part) for part in labels])[:-1]
    every, classes = np.concatenate([part for part in labels if len(part)] or list(labels)), None
    if are_words:
        every, classes = numbered(every)
    said: tuple[str, ...] = ()
    if positive is not None:
        every, classes = one_against_rest(every, classes, positive)
        said = (in_words(classes),)
    return np.split(every, cuts), classes, said


def numbered(words: "NDArray[Any]") -> "tuple[Vector, Classes]":
    """Return labels that are words as their numbers in the order of characters, and the words."""
    names, numbers = np.unique(words.astype(str), return_inverse=True)
    values = tuple(float(number) for number in range(len(names)))
    return numbers.astype(np.float64), Classes(values, tuple(names.tolist()), are_words=True)


def one_against_rest(
    labels: "Vector", classes: Classes | None, positive: Any
) -> "tuple[Vector, Classes]":
    """Return +1 for the points that have one label, and −1 for all others.

    `positive` is a word or a number, whichever labels are; a number may be written as a word. Raises BadData where no
    point has that label, or every point has it.
    """
    classes = classes or classes_of([labels])
    chosen = labels == _value(classes, labels, positive)
    if chosen.all():
        raise BadData(f"every point has the label '{_called(positive)}': there is no other")
    own = _called(positive)
    rest = () if classes is None else [name for name in classes.names if name != own]
    other = rest[0] if len(rest) == 1 else f"not {own}"
    return np.where(chosen, 1.0, -1.0), Classes(SIGNS, (other, own), are_words=True)


def _value(classes: Classes | None, labels: "Vector", positive: Any) -> float:
    """Return the number of the label that is called `positive`."""
    name = _called(positive)
    if classes is not None and name in classes.names:
        return classes.values[classes.names.index(name)]
    if classes is not None and classes.are_words:
        raise BadData(f"no point has the label '{name}'; {nearest(name, classes.names)}")
    try:
        value = float(positive)
    except ValueError:
        value = np.nan
    if not (labels == value).any():
        known = "" if classes is None else f"; labels are {_shown(classes.names)}"
        raise BadData(f"no point has the label '{name}'{known}")
    return value


def _called(label: Any) -> str:
    """Return a label as a text."""
    is_number = isinstance(label, (int, float)) and not isinstance(label, bool)
    return f"{label:.6g}" if is_number else str(label)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _shown(names: Sequence[str]) -> str:
    """Return the first five labels, and how many more there are."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(map(_cut, names[:_SHOWN])) + more


def in_words(classes: Classes) -> str:
    """Return which label is −1 and which is +1."""
    negative, positive = map(_cut, classes.names)
    return f"labels: {negative} → −1, {positive} → +1"


def signs(
    labels: "Sequence[Vector]", classes: Classes | None
) -> "tuple[list[Vector], Classes | None]":
    """Return labels as −1 and +1, and what the source calls these two; None where it calls them so itself.

    `labels` are those of each agent and of test points, `classes` those of their source where it has more points than
    they. Labels that are −1 and +1 are returned as they are. Raises BadData where a source has more labels than two, or a
    single one that is neither.
    """
    are_signs = all(bool((np.abs(part) == 1.0).all()) for part in labels)
    if are_signs and (classes is None or set(classes.values) <= set(SIGNS)):
        named = classes is not None and classes.are_words
        return list(labels), classes if named else None
    every = classes or classes_of(labels)
    if every is None:
        raise BadData(
            f"labels take more than {_MOST_NAMED:,} values, and the loss is of two labels: "
            f'{_MORE}, or task.loss = "squared" predicts numbers'
        )
    if len(every.values) != 2:
        raise BadData(_not_two(every))
    high = every.values[1]
    return [np.where(part == high, 1.0, -1.0) for part in labels], Classes(
        SIGNS, every.names, are_words=every.are_words
    )


def _not_two(classes: Classes) -> str:
    """Return what is wrong with labels that are not two, and what to do."""
    if len(classes.values) == 1:
        name = _cut(classes.names[0])
        return f"every label is {name}, and the loss is of two labels: give points of another, too"
    otherwise = "" if classes.are_words else ', or task.loss = "squared" predicts numbers'
    return (
        f"labels take {len(classes.values):,} values ({_shown(classes.names)}), and the loss is of two labels: "
        f"keep two of them, or {_MORE}{otherwise}"
    )

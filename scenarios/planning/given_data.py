"""Points that are handed over in Python, in whatever container they lie: `run(…, data=…)`.

Arrays, lists, data frames, sparse matrices and bunches are known by what they can do (`toarray`, `columns`, `__array__`),
so that no package that makes them is needed here. Whatever a container raises becomes BadData.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.language.problems import nearest, shown
from scenarios.language.visible_text import visible
from scenarios.planning import shared_rows
from scenarios.planning.datasets import Shards, dealt, with_bias
from scenarios.planning.files import BadData
from scenarios.planning.labels import Classes, as_numbers
from scenarios.planning.packed_points import Points
from scenarios.planning.pool import WHICH_IS_PUBLIC, Pool
from scenarios.planning.splits import NoSplit
from scenarios.planning.value_table import (
    ValueTable,
    absent,
    complete,
    encoded,
    features_of,
    is_words,
    refuse_large,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix
    from scenarios.planning.data_sources import SourceInputs
    from scenarios.planning.data_sources.given import GivenTable
    from scenarios.planning.tabular import TabularTable

FORMS = (
    "data must be (X, y) for one pool of points, [(X0, y0), …] for the points of each agent, "
    "{'nodes': [(X0, y0), …], 'test': …, 'rows': …}, {'pool': (X, y), 'test': (X, y)}, "
    "{'frame': a data frame, 'label': 'a column'}, or a bunch with data and target"
)
"""What `run(data=…)` takes, in words."""
_LONGEST, _MOST_NAMED = 200, 1000
_CATEGORIES = ("category", "categorical", "enum")
"""How data frames call the type of a column of categories."""


_WORDS = "holds words: give numbers, or a data frame, of which columns of words become categories"
_NO_NUMBERS = {
    "c": "holds complex numbers: give their real and imaginary parts as columns",
    "U": _WORDS,
    "S": _WORDS,
    "T": _WORDS,
    "M": "holds times: give numbers",
    "m": "holds times: give numbers",
    "V": "is a structured array: give numbers in rows and columns",
}
"""Why an array of a kind of NumPy's holds no real numbers."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Some points as they were handed over: their features and their labels, which are numbers or words."""

    x: "Matrix | ValueTable"
    y: "NDArray[Any]"
    name: str


@dataclass(frozen=True, slots=True)
class _Read:
    """The points of each part, which of its rows were left out, and what is known of all of them."""

    points: tuple[Points, ...]
    rows: "tuple[NDArray[np.int64], ...]"
    classes: Classes | None
    notes: tuple[str, ...]
    uncovered: tuple[str, ...]


def shards_of(data: Any, table: "GivenTable", inputs: "SourceInputs") -> Shards:
    """Return the points of each agent of what was handed over. Raises BadData or NoSplit.

    One pool is dealt by the keys of the table; points that have agents already stay theirs.
    """
    with _guarded("data"):
        if isinstance(data, Mapping):
            return _of_mapping(data, table, inputs)
        if _is_pair(data):
            return _of_pool(data, None, table, inputs)
        return _of_agents({"nodes": data}, table, inputs)


def _of_mapping(data: Mapping[Any, Any], table: "GivenTable", inputs: "SourceInputs") -> Shards:
    """Read data whose parts have names."""
    if "nodes" in data:
        _refuse_others(data, ("nodes", "test", "rows"))
        return _of_agents(data, table, inputs)
    if "pool" in data:
        _refuse_others(data, ("pool", "test"))
        return _of_pool(data["pool"], data.get("test"), table, inputs)
    if "data" in data and "target" in data:  # a bunch: it may hold more, also a frame
        pair = (data["data"], data["target"])
        names = data.get("feature_names"), data.get("target_names")
        return _of_pool(pair, None, table, inputs, names=names)
    if "frame" in data:
        _refuse_others(data, ("frame", "label"))
        return _of_frame(data, table, inputs)
    keys = ", ".join(shown(str(key)) for key in islice(data, 5)) or "nothing"
    raise BadData(f"{FORMS}; got a dict with {keys}")


def _refuse_others(data: Mapping[Any, Any], known: Sequence[str]) -> None:
    for key in data:
        if key not in known:
            raise BadData(f"data has no key {shown(str(key))}; {nearest(str(key), known)}")


def _is_pair(data: Any) -> bool:
    """Whether something is (X, y) and not a list of such pairs."""
    if not isinstance(data, tuple):
        return False
    return len(data) == 2 and not any(isinstance(part, tuple) for part in data)


def _of_frame(data: Mapping[Any, Any], table: "GivenTable", inputs: "SourceInputs") -> Shards:
    """Take the labels of a data frame from one of its columns."""
    frame, label = data["frame"], data.get("label")
    if not _is_frame(frame):
        raise BadData(f"data['frame'] must be a data frame, got {_kind(frame)}")
    if label is None:
        raise BadData("data['label'] must name the column of the labels")
    values = _columns(frame, "the frame", inputs.folders.most)
    if str(label) not in values.columns:
        values.known(str(label), "data['label']")
    part = _Part(values.without(str(label)), values.columns[str(label)], "the frame")
    return _dealt([part], table, inputs)


def _of_pool(
    pair: Any,
    test: Any,
    table: "GivenTable",
    inputs: "SourceInputs",
    names: tuple[Any, Any] = (None, None),
) -> Shards:
    """Deal one pool; `test` are common test points of its own, `names` those of features and labels."""
    most = inputs.folders.most
    parts = [_part(pair, "", most, *names)]
    if test is not None:
        parts.append(_part(test, "of the test points", most))
    return _dealt(parts, table, inputs)


def _dealt(parts: list[_Part], table: "GivenTable", inputs: "SourceInputs") -> Shards:
    """Deal the first of some parts; the second, where there is one, are common test points."""
    read = _read(parts, table, inputs.folders.most)
    (x, y), rows = read.points[0], read.rows[0]
    held = parts[0].x.columns if isinstance(parts[0].x, ValueTable) else {}
    columns = {name: values[rows] for name, values in held.items()}
    pool = Pool(x, y, columns, None, read.notes, read.uncovered, read.classes)
    if len(parts) == 1:
        return dealt(table, pool, inputs)
    return replace(dealt(replaced(table, test=0.0), pool, inputs), common_test=read.points[1])


def replaced(table: "GivenTable", **changes: Any) -> "GivenTable":
    """Return a table with some other values."""
    from dataclasses import fields

    values = {part.name: getattr(table, part.name) for part in fields(table)}
    return type(table)(**values | changes)


def _of_agents(data: Mapping[str, Any], table: "GivenTable", inputs: "SourceInputs") -> Shards:
    """Return the points of agents that were handed over for each of them."""
    n, most = inputs.agents, inputs.folders.most
    pairs = _listed(data["nodes"], n, "points")
    parts = [_part(pair, f"of agent {i}", most) for i, pair in enumerate(pairs)]
    given, tests, common = data.get("test"), list[_Part](), list[_Part]()
    if _is_pair(given):
        common = [_part(given, "of the test points", most)]
    elif given is not None and not (hasattr(given, "__len__") and not len(given)):
        listed = _listed(given, n, "test points")
        tests = [_part(pair, f"of agent {i}'s test points", most) for i, pair in enumerate(listed)]
    read = _read([*parts, *tests, *common], table, most)
    declared = _declared(data.get("rows"), read.rows[:n], parts)
    held = [shared_rows.places(x) for x, _ in pairs]
    kept = [rows[mine] for rows, mine in zip(held, read.rows, strict=False) if len(rows)]
    shared = max(map(shared_rows.by_number, (kept, declared)))
    return Shards(
        read.points[:n],
        read.points[n : 2 * n] if tests else (),
        read.points[-1] if common else None,
        None,
        (*read.notes, *_unused(table)),
        shared,
        uncovered=read.uncovered,
        classes=read.classes,
    )


def _unused(table: "GivenTable") -> tuple[str, ...]:
    """Say which keys say nothing of points that have agents already."""
    unused = [] if table.split is None else ["data.split"]
    unused += [] if table.points is None else ["data.points"]
    verb = "is" if len(unused) == 1 else "are"
    return (
        (f"{' and '.join(unused)} {verb} not used: each agent's points were given",)
        if unused
        else ()
    )


def _listed(given: Any, n: int, what: str) -> list[Any]:
    """Return what was given for each of n agents. Raises BadData where it is no such list."""
    if isinstance(given, (str, bytes, Mapping)) or hasattr(given, "shape") or _is_frame(given):
        raise BadData(f"{FORMS}; got {_kind(given)}")
    if isinstance(given, tuple) and given and not all(map(_is_like_a_pair, given)):
        raise BadData(f"{FORMS}; got a tuple of {len(given)}")
    try:
        entries = list(islice(given, n + 1))
    except TypeError:
        raise BadData(f"{FORMS}; got {_kind(given)}") from None
    for i, entry in enumerate(entries):
        if not _is_like_a_pair(entry):
            raise BadData(f"{FORMS}; entry {i} is {_kind(entry)}, not a pair (X, y)")
    if len(entries) != n:
        got = len(given) if hasattr(given, "__len__") else f"{len(entries)} or more"
        raise BadData(
            f"data must be {what} for {n} agents, got {got}: give as many pairs as [[nodes]] has agents, "
            "or one pool (X, y) to be dealt"
        )
    return entries


def _is_like_a_pair(entry: Any) -> bool:
    return isinstance(entry, (tuple, list)) and len(entry) == 2


def _declared(
    rows: Any, kept: "Sequence[NDArray[np.int64]]", parts: Sequence[_Part]
) -> "list[NDArray[Any]]":
    """Return the numbers that were declared for the points of each agent; none where they were not."""
    if rows is None:
        return []
    declared = list(islice(rows, len(kept) + 1))
    if not declared:
        return []
    if len(declared) != len(kept):
        raise BadData(f"data has rows for {len(declared)} of {len(kept)} agents")
    numbers = []
    for i, (mine, part, chosen) in enumerate(zip(declared, parts, kept, strict=False)):
        try:
            numbers.append(shared_rows.numbered(mine, len(part.y))[chosen])
        except ValueError as error:
            raise BadData(f"node {i}: {error}") from None
    return numbers


# containers


@contextmanager
def _guarded(what: str) -> Iterator[None]:
    """Turn whatever a container raises into BadData."""
    try:
        yield
    except (BadData, NoSplit):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 # whatever the container of another package raises
        words = visible(str(error).partition("\n")[0][:_LONGEST])
        raise BadData(f"{what} cannot be read: {type(error).__name__}: {words}; {FORMS}") from None


def _kind(thing: Any) -> str:
    """Return what something is, in words."""
    if isinstance(thing, (tuple, list)):
        return f"a {type(thing).__name__} of {len(thing)}"
    shape = getattr(thing, "shape", None)
    of = f" of shape {shape}" if isinstance(shape, tuple) else ""
    return f"a {type(thing).__name__}{of}"


def _is_frame(thing: Any) -> bool:
    """Whether something is a data frame: it has named columns with types."""
    return hasattr(thing, "columns") and hasattr(thing, "dtypes") and hasattr(thing, "shape")


def _part(pair: Any, whose: str, most: float, features: Any = None, targets: Any = None) -> _Part:
    """Read a pair (X, y)."""
    if not _is_like_a_pair(pair):
        raise BadData(f"{FORMS}; got {_kind(pair)}")
    first, second = (getattr(part, "shape", None) for part in pair)
    if first and second and (len(first), len(second)) == (1, 2) and second[1] > 1:
        raise BadData(
            f"X of shape {first} and y of shape {second} seem exchanged: give (X, y), the features first"
        )
    x_name, y_name = (f"{letter} {whose}".strip() for letter in "Xy")
    with _guarded(x_name):
        x = _features(pair[0], x_name, most, features)
    with _guarded(y_name):
        y = _labels(pair[1], y_name, targets)
    if len(x) != len(y):
        raise BadData(f"{x_name} has {len(x):,} rows and {y_name} {len(y):,} labels")
    return _Part(x, y, x_name)


def _features(x: Any, name: str, most: float, features: Any) -> "Matrix | ValueTable":
    """Return features as a matrix, or as named columns where they come from a data frame."""
    if _is_frame(x):
        return _columns(x, name, most)
    if hasattr(x, "toarray"):
        _refuse_large(x, name, most)
        x = x.toarray()
    array = _array(x, name, most)
    if array.ndim != 2:
        hints = {
            1: f"{name}.reshape(-1, 1) is one column" if array.size else "a row for each point"
        }
        hint = hints.get(
            array.ndim,
            f"{name}.reshape(len({name}), -1) makes one row of each"
            if array.ndim
            else "give an array",
        )
        raise BadData(
            f"{name} must have a row for each point and a column for each feature, got shape {array.shape}; {hint}"
        )
    if array.dtype.kind not in "fiub":
        raise BadData(f"{name} {_no_numbers(array)}")
    if array.shape[1] == 0:
        raise BadData(f"{name} has no columns: a point needs at least one feature")
    matrix = array.astype(np.float64, copy=False)
    names = [] if features is None else [str(feature) for feature in islice(features, _MOST_NAMED)]
    if len(names) != matrix.shape[1] or len(set(names)) < len(names):
        return matrix
    columns = {feature: matrix[:, i] for i, feature in enumerate(names)}
    return ValueTable(name, columns, partial(_place, name), len(matrix))


def _array(x: Any, name: str, most: float) -> "NDArray[Any]":
    """Return an array of whatever makes one, without asking for numbers yet."""
    _refuse_large(x, name, most)
    if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
        raise BadData(f"{name} masks values: give numbers, or rows without gaps")
    if isinstance(x, (list, tuple)):
        _refuse_ragged(x, name)
    return np.asarray(x)


def _refuse_large(x: Any, name: str, most: float) -> None:
    """Raise BadData where a container says that it has too many numbers."""
    shape = getattr(x, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2:
        refuse_large(name, int(shape[0]), int(shape[1]), most)


def _refuse_ragged(rows: Sequence[Any], name: str) -> None:
    lengths = [len(row) if isinstance(row, (list, tuple)) else -1 for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None and max(lengths) >= 0:
        raise BadData(
            f"{name}: row {odd} has {max(0, lengths[odd])} values, and row 0 has {max(0, lengths[0])}"
        )


def _no_numbers(array: "NDArray[Any]") -> str:
    """Return why an array holds no real numbers, and what to give instead."""
    kind = array.dtype.kind
    if kind != "O":
        return _NO_NUMBERS[kind]
    flat = ((place, cell) for place, cell in np.ndenumerate(array))
    odd = next((one for one in flat if not isinstance(one[1], (int, float))), None)
    if odd is None:
        return "holds Python objects: give numbers, .astype(float)"
    place, cell = odd
    return f"holds objects: row {place[0]}, column {place[-1]} is {_kind(cell)}; give numbers"


def _columns(frame: Any, name: str, most: float) -> ValueTable:
    """Return the columns of a data frame: numbers, or words where they are none."""
    rows, width = frame.shape
    refuse_large(name, int(rows), int(width), most)
    names = [str(column) for column in frame.columns]
    twice = (
        next((one for one in names if names.count(one) > 1), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise BadData(f"{name} has two columns called {shown(twice)}")
    columns = {
        text: _column(frame[column], f"{name}, column {shown(text)}")
        for text, column in zip(names, frame.columns, strict=True)
    }
    return ValueTable(name, columns, partial(_place, name), int(rows))


def _place(name: str, row: int) -> str:
    return f"{name}, row {row}"


def _column(series: Any, name: str) -> "NDArray[Any]":
    """Return a column: numbers (NaN where one is missing), or words ("" where one is missing)."""
    type_name = str(getattr(series, "dtype", "")).lower()
    array = np.asarray(series)
    if array.ndim != 1:
        raise BadData(f"{name} must hold single values, got shape {array.shape}")
    return _values(array, name, as_words=type_name.startswith(_CATEGORIES))


def _values(array: "NDArray[Any]", name: str, *, as_words: bool = False) -> "NDArray[Any]":
    """Return values as numbers, or as words; raise BadData where they are neither."""
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind in "fiub" and not as_words:
        return array.astype(np.float64)
    if array.dtype.kind in "fiub":
        cells: list[Any] = array.tolist()
    elif array.dtype.kind in "UO":
        cells = array.tolist()
    else:
        raise BadData(f"{name} {_no_numbers(array)}")
    gaps = [_is_gap(cell) for cell in cells]
    held = [cell for cell, gap in zip(cells, gaps, strict=True) if not gap]
    if not as_words and held and all(isinstance(cell, (int, float)) for cell in held):
        return np.array(
            [np.nan if gap else float(cell) for cell, gap in zip(cells, gaps, strict=True)]
        )
    words = as_words or all(isinstance(cell, str) for cell in held)
    if not words or not all(isinstance(cell, (str, int, float)) for cell in held):
        row = next(i for i, cell in enumerate(cells) if not gaps[i] and not isinstance(cell, str))
        raise BadData(f"{name}: row {row} is {_kind(cells[row])}; give numbers, or words only")
    out = np.empty(len(cells), dtype=object)
    out[:] = ["" if gap else _word(cell) for cell, gap in zip(cells, gaps, strict=True)]
    return out


def _word(cell: Any) -> str:
    return f"{cell:.12g}" if isinstance(cell, float) else str(cell)


def _is_gap(cell: Any) -> bool:
    """Whether a value is missing: None, NaN, or what a data frame has in its place."""
    if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(cell, float) and cell != cell  # noqa: PLR0124 # NaN alone is not itself


def _labels(y: Any, name: str, targets: Any) -> "NDArray[Any]":
    """Return labels, one for each point: numbers, or words."""
    if hasattr(y, "toarray"):
        y = y.toarray()
    if _is_frame(y):
        if y.shape[1] != 1:
            raise BadData(f"{name} must be one column of labels, got {y.shape[1]}")
        y = y[next(iter(y.columns))]
    type_name = str(getattr(y, "dtype", "")).lower()
    if isinstance(y, np.ma.MaskedArray) and np.ma.getmaskarray(y).any():
        raise BadData(f"{name} masks values: give a label for each point")
    array = _listed_labels(y, name) if isinstance(y, (list, tuple)) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise BadData(f"{name} must be one label for each point, got shape {array.shape}")
    values = _values(array, name, as_words=type_name.startswith(_CATEGORIES))
    return _named_targets(values, targets)


def _listed_labels(y: Sequence[Any], name: str) -> "NDArray[Any]":
    """Return a list of labels as an array; of single ones as they are, for NumPy would make words of numbers among words."""
    _refuse_ragged(y, name)
    if any(isinstance(label, (list, tuple, np.ndarray)) for label in y):
        return np.asarray(y)
    array = np.empty(len(y), dtype=object)
    array[:] = y
    return array


def _named_targets(values: "NDArray[Any]", targets: Any) -> "NDArray[Any]":
    """Return labels by the names that a bunch has for 0, 1, 2 …; as they are where it has none."""
    if targets is None or is_words(values) or not len(values):
        return values
    names = [str(target) for target in islice(targets, _MOST_NAMED)]
    whole = np.isfinite(values).all() and (values == np.round(values)).all()
    if not whole or set(np.unique(values).tolist()) != set(map(float, range(len(names)))):
        return values
    out = np.empty(len(values), dtype=object)
    out[:] = [names[int(value)] for value in values]
    return out


# what is made of them


def _read(parts: list[_Part], keys: "TabularTable", most: float) -> _Read:
    """Return the points of every part, whose features and labels are made by one rule for all."""
    if keys.names_columns or any(isinstance(part.x, ValueTable) for part in parts):
        features, rows, notes, uncovered = _of_columns(parts, keys, most)
    else:
        matrices = [part.x for part in parts if not isinstance(part.x, ValueTable)]
        features, rows = _of_matrices(parts, matrices, keys.missing)
        notes, uncovered = (), ()
    wide = {x.shape[1] for x in features}
    if len(wide) > 1:
        raise BadData(f"all agents need one dimension, got {sorted(wide)} features")
    if keys.bias:
        features = [with_bias(x, bias=True) for x in features]
    labels, classes, said = as_numbers(
        [part.y[mine] for part, mine in zip(parts, rows, strict=True)], keys.positive
    )
    left = sum(len(part.y) for part in parts) - sum(map(len, rows))
    dropped = (f"{left:,} rows with missing values were left out{WHICH_IS_PUBLIC}",) if left else ()
    return _Read(
        tuple(zip(features, labels, strict=True)),
        tuple(rows),
        classes,
        (*dropped, *notes, *said),
        uncovered,
    )


def _of_matrices(
    parts: list[_Part], matrices: "list[Matrix]", policy: str
) -> "tuple[list[Matrix], list[NDArray[np.int64]]]":
    """Return matrices without the rows in which a value is missing; refuse what is not finite."""
    kept, rows = [], []
    for part, x in zip(parts, matrices, strict=True):
        place = partial(_place, part.name)
        if np.isfinite(x).all() and not absent(part.y).any():
            mine = np.arange(len(x))
        else:
            gaps = np.argwhere(np.isnan(x))
            column = int(gaps[0][1]) if len(gaps) else 0
            some = np.zeros(len(x))
            some[gaps[:, 0]] = np.nan
            both = [(f"column {column}", some), ("the label", part.y)]
            mine = complete(both, len(x), place, policy)
            x = x[mine]  # noqa: PLW2901
            if np.isinf(x).any():
                row, column = (int(place) for place in np.argwhere(np.isinf(x))[0])
                raise BadData(f"{place(int(mine[row]))}: column {column} is infinite")
        kept.append(x)
        rows.append(mine)
    return kept, rows


def _of_columns(
    parts: list[_Part], keys: "TabularTable", most: float
) -> "tuple[list[Matrix], list[NDArray[np.int64]], tuple[str, ...], tuple[str, ...]]":
    """Return the features of all parts, made of the same columns by the same categories and scales."""
    tables = [_as_table(part) for part in parts]
    first = tables[0]
    for table in tables[1:]:
        if list(table.columns) != list(first.columns):
            odd = set(table.columns) ^ set(first.columns)
            what = f": {', '.join(map(shown, sorted(odd)[:5]))}" if odd else " in its order"
            raise BadData(f"{table.name} has other columns than {first.name}{what}")
    rows, chosen = [], []
    for part, table in zip(parts, tables, strict=True):
        used = features_of(table, keys)
        mine = complete(
            [*used.items(), ("the label", part.y)], len(table), table.place, keys.missing
        )
        rows.append(mine)
        chosen.append(table.take(mine))
    together = chosen[0] if len(chosen) == 1 else _joined(chosen)
    made = encoded(together, keys, most)
    cuts = np.cumsum([len(mine) for mine in rows])[:-1]
    return np.split(made.x, cuts), rows, made.notes, made.uncovered


def _as_table(part: _Part) -> ValueTable:
    """Return a part as named columns; those of an array are called by their numbers."""
    if isinstance(part.x, ValueTable):
        return part.x
    columns = {str(i): part.x[:, i] for i in range(part.x.shape[1])}
    return ValueTable(part.name, columns, partial(_place, part.name), len(part.x))


def _joined(tables: list[ValueTable]) -> ValueTable:
    """Return the rows of several tables, one after another."""
    columns = {}
    for name in tables[0].columns:
        parts = [table.columns[name] for table in tables]
        kinds = {is_words(part) for part in parts if len(part)}
        if len(kinds) > 1:
            raise BadData(
                f"the column {shown(name)} holds words for one agent and numbers for another"
            )
        columns[name] = np.concatenate([part for part in parts if len(part)] or parts)
    ends = np.cumsum([len(table) for table in tables])

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        return tables[at].place(row - (int(ends[at - 1]) if at else 0))

    return ValueTable(tables[0].name, columns, place, int(ends[-1]))

"""Tidy columns with types, and as frames of the packages that are installed: pandas, polars, Arrow."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.api.packages import required

Label = str | float | bool
"""A value that a sweep varies."""
Type = type[float] | type[int] | type[bool] | type[str]
_PANDAS: dict[Type, str] = {float: "float64", int: "Int64", bool: "boolean", str: "string"}
"""Types of pandas that hold a missing value, too; of a float it is NaN."""
_POLARS: dict[Type, str] = {float: "Float64", int: "Int64", bool: "Boolean", str: "String"}
_ARROW: dict[Type, str] = {float: "float64", int: "int64", bool: "bool_", str: "string"}


class Columns(dict[str, list[Any]]):
    """Columns of one length, by their names: plain lists, in which None is no value.

    A column of type `float` holds NaN where there is no number. `pandas.DataFrame`, `polars.DataFrame` and `pyarrow.table`
    take columns as they are. The methods also give a column its type where it holds no value at all; each raises
    `MissingPackage`, in one sentence, where its package is not installed.
    """

    def __init__(self, types: Mapping[str, Type]) -> None:
        super().__init__({name: [] for name in types})
        self.types = dict(types)
        """The type of each column; of one that was added later, none."""

    def add(self, *row: Any) -> None:
        """Add a row: a value for each column, in their order."""
        for column, value in zip(self.values(), row, strict=True):
            column.append(value)

    def to_pandas(self) -> Any:
        """Return a data frame of pandas: whole numbers, truth values and texts have types that hold missing values."""
        pandas = required("pandas", "a data frame of pandas", "pandas")
        columns = {
            name: pandas.Series(
                values, dtype=_PANDAS[self.types[name]] if name in self.types else None
            )
            for name, values in self.items()
        }
        return pandas.DataFrame(columns)

    def to_polars(self) -> Any:
        """Return a data frame of polars."""
        polars = required("polars", "a data frame of polars", "polars")
        schema = {
            name: getattr(polars, _POLARS[self.types[name]]) if name in self.types else None
            for name in self
        }
        return polars.DataFrame(dict(self), schema=schema)

    def to_arrow(self) -> Any:
        """Return a table of Arrow."""
        arrow = required("pyarrow", "a table of Arrow", "hush-sim[parquet]")
        columns = {
            name: arrow.array(
                values,
                type=getattr(arrow, _ARROW[self.types[name]])() if name in self.types else None,
            )
            for name, values in self.items()
        }
        return arrow.table(columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the columns over by the PyCapsule interface of Arrow (its C stream interface, Apache Arrow 14 and later)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def type_of(values: Sequence[Label]) -> Type:
    """Return the type of a column that holds some values: text where one is a text, else the widest of the others."""
    kinds = {type(value) for value in values}
    if str in kinds or (bool in kinds and len(kinds) > 1):
        return str
    if kinds == {bool}:
        return bool
    return int if kinds == {int} else float


def as_type(value: Label | None, kind: Type) -> Label | None:
    """Return a value as its column holds it: a number among texts is its text."""
    if value is None or isinstance(value, kind):
        return value
    return str(value).lower() if isinstance(value, bool) else kind(value)

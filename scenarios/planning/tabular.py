"""Keys of sources whose points are rows of named columns: which are features, and what becomes of them."""

from collections.abc import Mapping

from scenarios.language.table_rules import Free, Many, key, values_of
from scenarios.language.value_rules import LARGEST, SMALLEST, Choice, Either, Flag, Number, Text
from scenarios.planning.data_sources import PooledTable

_NAMES = Many(Text("the name of a column"))


class TabularTable(PooledTable):
    """Points that are rows of named columns."""

    positive: str | float | None = key(
        Either("a label: a word or a number", Number(), Text("a label")),
        words="The label that counts as +1; the other one is −1.",
    )
    categorical: list[str] | None = key(
        _NAMES,
        words="The columns of which each value becomes a feature; left out, those that are not numbers.",
    )
    categories: Mapping[str, list[str]] = key(
        Free(Many(Text("a category"), 1)),
        {},
        words="The categories of a column where they are declared; else they are those that the data have.",
    )
    drop: list[str] = key(
        _NAMES, [], words="Columns that are no features. A split may still deal by them."
    )
    missing: str = key(
        Choice("refuse", "drop"),
        "refuse",
        words="What becomes of a row in which a value is missing: `drop` leaves it out.",
    )
    columns: str = key(
        Choice("as-is", "max"),
        "as-is",
        words="How numbers are scaled: `max` divides each column by its largest magnitude in the data.",
    )
    maximum: Mapping[str, float] = key(
        Free(Number(above=0, least=SMALLEST, most=LARGEST)),
        {},
        words="The declared largest magnitude of a column, by which it is divided.",
    )
    bias: bool = key(
        Flag(), False, words="Whether a constant feature is appended; all are then divided by √2."
    )

    def of_pool(self) -> str:
        """Return the values of all keys on which the pool depends, and not how it is dealt: what a kept pool goes by."""
        dealing = {"split", "test", "validation", "scale", "points"}
        return repr({k: v for k, v in values_of(self).items() if k not in dealing})

    def amount(self, _: int) -> None:
        return None

    @property
    def names_columns(self) -> bool:
        """Whether a key asks for something of columns one by one."""
        named = bool(self.categories or self.drop or self.maximum)
        return named or self.categorical is not None or self.columns != "as-is"

"""Families of kinds: one frozen record for each kind, in a file of its own.

A family is a package such as `scenarios/planning/metrics/`. Each of its modules holds one record called `KIND`, or
several in a tuple called `KINDS`. A new kind is a new file: everything else folds over the records.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from scenarios.language.table_rules import KindTable

Record = TypeVar("Record")


class Family(Mapping[str, Record], Generic[Record]):
    """The records of one family by their names, in the order of files and of places within them.

    `package` is the package whose modules hold the records, `record` their type, which has a `name`. A module holds
    several of them only with `several`. If not, the name of a kind is that of its file, with `-` for `_`: then names are
    known before anything is imported.

    A module without a record is a TypeError, two records of one name and a record that has not the name of its file are
    ValueErrors: each is raised when it is first asked for.
    """

    def __init__(self, package: str, record: type[Record], *, several: bool = False) -> None:
        self._package = package
        self._record = record
        self._several = several
        self._loaded: dict[str, Record] = {}

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The modules of the package, by the names that their files stand for."""
        paths = import_module(self._package).__path__
        stems = {file.stem for path in paths for file in Path(path).glob("*.py")} - {"__init__"}
        return {stem.replace("_", "-"): f"{self._package}.{stem}" for stem in sorted(stems)}

    def _read(self, module: str) -> tuple[Record, ...]:
        """Return the records of one module."""
        name = "KINDS" if self._several else "KIND"
        held = getattr(import_module(module), name, None)
        records = held if self._several and isinstance(held, tuple) else (held,)
        for record in records:
            if not isinstance(record, self._record):
                file = f"{module.replace('.', '/')}.py"
                raise TypeError(f"{file} has no {self._record.__name__} called {name}")
        return records

    @cached_property
    def _all(self) -> dict[str, Record]:
        """Every record, where a file may hold several."""
        records: dict[str, Record] = {}
        for module in self._modules.values():
            for record in self._read(module):
                name: str = record.name  # type: ignore[attr-defined] # a record has a name
                if name in records:
                    raise ValueError(f"{module} holds a second {self._record.__name__} {name!r}")
                records[name] = record
        return records

    def names(self) -> tuple[str, ...]:
        """Return the name of every kind; nothing is imported where one file holds one kind."""
        return tuple(self._all if self._several else self._modules)

    def __getitem__(self, name: str) -> Record:
        if self._several:
            return self._all[name]
        if name not in self._loaded:
            module = self._modules[name]
            (record,) = self._read(module)
            own: str = record.name  # type: ignore[attr-defined] # a record has a name
            if own != name:
                what, file = self._record.__name__, own.replace("-", "_")
                raise ValueError(
                    f"{module} holds the {what} {own!r}: name the file {file}.py, or the record {name!r}"
                )
            self._loaded[name] = record
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()


class HasTable(Protocol):
    """A record whose parameters are a table of the scenario file."""

    @property
    def table(self) -> "type[KindTable]":
        """The table: its fields are the keys of the kind."""
        ...


class Tables(Mapping[str, "type[KindTable]"]):
    """The tables of a family's kinds by their names: what a rule needs to read one of them."""

    def __init__(self, family: Mapping[str, HasTable]) -> None:
        self._family = family

    def __getitem__(self, name: str) -> "type[KindTable]":
        return self._family[name].table

    def __iter__(self) -> Iterator[str]:
        return iter(self._family)

    def __len__(self) -> int:
        return len(self._family)

    def __contains__(self, name: object) -> bool:
        return name in self._family

"""The accountants, one record called `ACCOUNTANT` in each file, the simplest argument first. A new one is a new file."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from mechanisms.accounting.accountant import Accountant


def _all() -> Mapping[str, Accountant]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    records: list[Accountant] = sorted(
        (module.ACCOUNTANT for module in modules), key=lambda record: record.simplicity
    )
    names = {record.name: record for record in records}
    if len(names) < len(records):
        raise ValueError(f"two accountants have one name: {[record.name for record in records]}")
    return MappingProxyType(names)


ACCOUNTANTS = _all()
"""Every accountant by its name."""


def named(name: str) -> Accountant:
    """Return an accountant by its name; raise ValueError where there is none."""
    if name not in ACCOUNTANTS:
        raise ValueError(f"unknown accountant {name!r}")
    return ACCOUNTANTS[name]


def simplest(unit: str, delta: float) -> str:
    """Return the name of the simplest accountant with a claim for releases of a unit at δ."""
    return next(name for name, one in ACCOUNTANTS.items() if one.has_claim(unit, delta))

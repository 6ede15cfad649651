"""Packages that hush can do without: what asks for one says in one sentence which is missing."""

from importlib import import_module
from typing import Any


class MissingPackage(ImportError):
    """Something was asked for whose package is not installed; the message says which one, and how it is had."""


def required(name: str, what: str, install: str) -> Any:
    """Return a module; raise `MissingPackage` where its package is not installed.

    `what` is what needs it, for the message, and `install` what `pip install` is given.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        said = f"{what} needs {package}, which is not installed: pip install '{install}'"
        raise MissingPackage(said, name=package) from None

"""Code of a scenario's own, `package.module:Thing`: loaded only where --allow-code allows it."""

import importlib
import sys
from pathlib import Path
from typing import Any

from mechanisms.own_mechanism import OwnCodeError


class Forbidden(ValueError):
    """A scenario names code, and it is not allowed or does not work."""


_own_files: set[str] = set()
"""The files of code of scenarios' own that was loaded in this process."""
_OURS = {"actors", "clocks", "hush", "mechanisms", "scenarios"}


def failure_of_own(error: BaseException) -> str | None:
    """Return how code of a scenario's own failed, with file:line where it raised the error or passed it; None where it did not."""
    place = _place(error)
    if isinstance(error, OwnCodeError):
        place = place or error.place
        return f"{place}: {error}" if place else str(error)
    if place is None:
        return None
    return f"{place}: code of the scenario's own failed: {type(error).__name__}: {error}"


def _place(error: BaseException) -> str | None:
    place, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename in _own_files:
            place = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}"
        at = at.tb_next
    return place


def own(kind: str, *, allow_code: bool, folder: Path) -> Any:
    """Return the thing that `package.module:Thing` names."""
    if not allow_code:
        raise Forbidden(f"'{kind}' is code of the scenario's own: it runs only with --allow-code")
    module, _, name = kind.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        loaded = importlib.import_module(module)
        _own_files.add(str(getattr(loaded, "__file__", None)))
        thing = getattr(loaded, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 # whatever the author's code does
        raise Forbidden(f"'{kind}' cannot be loaded: {type(error).__name__}: {error}") from None

    def make(**parameters: Any) -> Any:
        try:
            made = thing(**parameters)
        except Exception as error:  # noqa: BLE001
            place = f"{_place(error)}: " if _place(error) else ""
            told = error if isinstance(error, OwnCodeError) else f"{type(error).__name__}: {error}"
            raise Forbidden(f"'{kind}' cannot be made: {place}{told}") from None
        _note_bases(type(made), folder)
        return made

    return make


def _note_bases(kind: type, folder: Path) -> None:
    """Note the files of the scenario's folder that a class inherits from: an error may pass no other line of its own."""
    for base in kind.__mro__:
        file = Path(getattr(sys.modules.get(base.__module__), "__file__", None) or "/")
        theirs = (
            base.__module__.partition(".")[0] not in _OURS and "site-packages" not in file.parts
        )
        if theirs and file.is_relative_to(folder.resolve()):
            _own_files.add(str(file))

"""Code of a scenario's own, `package.module:Thing`: loaded only where --allow-code allows it."""

import importlib
import sys
from pathlib import Path
from typing import Any


class Forbidden(ValueError):
    """A scenario names code, and it is not allowed or does not work."""


_own_files: set[str] = set()
"""The files of code of scenarios' own that was loaded in this process."""


def place_of_own(error: BaseException) -> str | None:
    """Return where in code of a scenario's own an error was raised or passed, as file:line; None where it was not."""
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
            return thing(**parameters)
        except Exception as error:  # noqa: BLE001
            raise Forbidden(f"'{kind}' cannot be made: {type(error).__name__}: {error}") from None

    return make

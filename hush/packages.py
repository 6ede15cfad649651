"""Checks that the names `actors`, `clocks`, `mechanisms` and `scenarios` lead to the packages of hush."""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("actors", "clocks", "mechanisms", "scenarios")
MARK = "Part of hush."
"""The `__init__` of each package says this. A path would not do: `pip install scenarios` writes into our folder."""


def shadowed() -> str | None:
    """Return a sentence about the first name that leads to another module; None where all four are ours.

    No module is imported for this.
    """
    for name in PACKAGES:
        place = _place(name)
        if place is None:
            return f"hush: its package {name!r} is missing: install hush-sim again"
        if not _is_ours(place):
            where = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(place))
            return (
                f"hush: {name!r} is a package of hush, but Python finds another one at {where}: "
                "rename or remove that one, or run hush where Python does not find it"
            )
    return None


def _place(name: str) -> Path | None:
    """Return the file that `import name` would run, or the folder of a package without one."""
    try:
        spec = find_spec(name)
    except ValueError:  # a module in sys.modules that was made by hand
        return Path("sys.modules")
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin)
    return Path(next(iter(spec.submodule_search_locations or ["sys.modules"])))


def _is_ours(place: Path) -> bool:
    return place.is_file() and MARK in place.read_text("utf-8", errors="replace")

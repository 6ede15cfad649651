"""The environment that the install line of a page makes: a page may use what its reader has, and nothing else."""

import re
import shlex
import sys
import venv
from collections.abc import Iterable
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "hush-sim"
FOR_DEVELOPERS = {"test", "lint", "docs"}
"""Extras of those who change hush: a line that names one of them is none for readers."""
_INSTALL = re.compile(r"\bpip install((?: +(?:'[^'\n]*'|[^\s'`&|;()]+))+)")
_PLACES: list[TemporaryDirectory[str]] = []


def installed(text: str) -> frozenset[str]:
    """Return what the install lines of a page name, as requirements; a page without one has readers with hush alone."""
    wanted = {OURS}
    for line in _INSTALL.finditer(text):
        words = [word for word in shlex.split(line[1]) if not word.startswith("-")]
        named = [re.sub(r"^\.(?=\[|$)", OURS, word) for word in words]
        if not any(Requirement(one).extras & FOR_DEVELOPERS for one in named):
            wanted |= set(named)
    return frozenset(wanted)


def needed(requirements: Iterable[str]) -> dict[str, Distribution]:
    """Return the distributions that requirements stand for, with all that those need, by name; those that are installed."""
    found: dict[str, Distribution] = {}
    seen = set[tuple[str, str]]()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        extras = {(name, extra) for extra in ("", *one.extras)} - seen
        if not extras:
            continue
        seen |= extras
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # a page that uses it fails, which is what should be seen
        waiting += [
            inner
            for text in found[name].requires or ()
            if (inner := Requirement(text)).marker is None
            or any(inner.marker.evaluate({"extra": extra}) for _, extra in extras)
        ]
    return found


@cache
def reader_python(requirements: frozenset[str]) -> str:
    """Return a Python that has these requirements and what they need, and nothing else that is installed here."""
    place = TemporaryDirectory(prefix="reader-")
    _PLACES.append(place)
    venv.EnvBuilder(with_pip=False, symlinks=True).create(place.name)
    (site,) = Path(place.name).glob("lib/python*/site-packages")
    for one in needed(requirements).values():
        tops = {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}
        for top in sorted(tops):
            link = site / top
            if not top.endswith(".pth") and not link.exists():
                link.symlink_to(Path(str(one.locate_file(top))))
    return str(Path(place.name) / "bin" / Path(sys.executable).name)

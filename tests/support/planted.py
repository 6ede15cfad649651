"""A kind of mechanism in a file of its own, which stands among those of the product for the time of one test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scenarios.planning import mechanisms
from scenarios.planning.mechanism import MECHANISMS

HEAD = """
from dataclasses import fields, replace
from scenarios.planning.mechanism import MechanismKind
from scenarios.planning.mechanisms.local import KIND as LIKE

given = {{part.name: getattr(LIKE, part.name) for part in fields(LIKE)}} | {{"name": {name!r}}}
"""
"""`given` are the fields of `local`, under the new name."""


@pytest.fixture
def plant_mechanism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], None]]:
    """Write the file of a kind: its name, and the code after `HEAD`."""
    folder = tmp_path / "planted"
    folder.mkdir()
    monkeypatch.setattr(mechanisms, "__path__", [*mechanisms.__path__, str(folder)])
    monkeypatch.setattr(MECHANISMS, "_loaded", dict(MECHANISMS._loaded))
    MECHANISMS.__dict__.pop("_modules", None)
    planted = list[str]()

    def write(name: str, text: str) -> None:
        stem = name.replace("-", "_")
        (folder / f"{stem}.py").write_text(HEAD.format(name=name) + text)
        planted.append(f"{mechanisms.__name__}.{stem}")

    yield write
    MECHANISMS.__dict__.pop("_modules", None)
    for module in planted:
        sys.modules.pop(module, None)

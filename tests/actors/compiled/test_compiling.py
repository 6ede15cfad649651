"""Compiled code is kept, and is made anew where anything that it was made of has changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.arenas import needs_numba
from tests.support.paths import ROOT

pytestmark = [needs_numba, pytest.mark.slow]


@pytest.mark.parametrize("changed", ["actors/turns.py", "clocks/durations.py"])
def test_code_with_numbers_of_another_file_is_not_older_than_that_file(
    tmp_path: Path, changed: str
) -> None:
    """The layout of rows and the length of tables are compiled in: old ones would write a false record."""
    for room in ("actors", "clocks", "mechanisms"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    kept = tmp_path / "actors" / "compiled" / "__pycache__" / "kernel.fly-1.py311.1.nbc"
    kept.parent.mkdir()

    def is_kept(age: int) -> bool:
        """Say whether code is still there after an import, where one file is `age` seconds younger than it."""
        kept.write_bytes(b"")
        then = 2_000_000_000
        os.utime(kept, (then, then))
        for source in tmp_path.rglob("*.py"):
            os.utime(source, (then - 100, then - 100))
        os.utime(tmp_path / changed, (then + age, then + age))
        command = [sys.executable, "-c", "import actors.compiled.compiling"]
        subprocess.run(command, cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": "."})
        return kept.exists()

    assert is_kept(-1)
    assert not is_kept(1)

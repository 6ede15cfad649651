"""A Python process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


def python(
    *words: str, cwd: Path = ROOT, ours: bool = True, timeout: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run Python with these words and return its output.

    `ours` puts this repository on the path, behind `cwd`; without it, only what is installed is seen.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=environment | ({"PYTHONPATH": str(ROOT)} if ours else {}),
        timeout=timeout,
    )

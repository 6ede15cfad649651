"""The real command, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


def hush(*arguments: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scenarios", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
    )


def start(*arguments: str, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
    """Start the command, and go on beside it."""
    return subprocess.Popen(
        [sys.executable, "-m", "scenarios", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

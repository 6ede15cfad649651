"""The real command, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def hush(*arguments: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scenarios", *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
    )  # fmt: skip

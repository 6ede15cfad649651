"""Where links lead."""

import os
from pathlib import Path


def followed(path: Path) -> Path:
    """Return an absolute path with its links followed.

    A link that leads back to itself stays as it is, and no file has that path; `Path.resolve` raises there.
    """
    return Path(os.path.realpath(path))

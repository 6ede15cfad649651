"""Where the repository stands, and where the published data sets are."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLISHED = Path(os.environ.get("HUSH_DATA") or ROOT.parent / "shared" / "data")
"""The folder of the published data sets: HUSH_DATA, else shared/data beside the repository."""


def needs_data(name: str) -> pytest.MarkDecorator:
    """Skip a test where a published file is missing; `name` is its path below `PUBLISHED`."""
    reason = f"{name} is not in {PUBLISHED}: name its folder by HUSH_DATA"
    return pytest.mark.skipif(not (PUBLISHED / name).is_file(), reason=reason)

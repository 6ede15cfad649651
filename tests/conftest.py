"""Hypothesis on a noisy machine: no deadlines; in CI the same examples each time."""

import os

from hypothesis import settings

settings.register_profile("hush", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("hush")

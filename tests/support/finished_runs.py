"""Finished runs that the tests of a session share."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scenarios.api.runs import make_plan
from tests.support.builders import Ran, perform

_runs: dict[str, Ran] = {}
"""By the hash of the plan."""
_folder = TemporaryDirectory(prefix="hush-finished-")


def finished(world: Mapping[str, Any], **options: Any) -> Ran:
    """Return a finished run of a world: the run of another test where that had the same plan.

    `options` are those of `make_plan`.

    One plan is one run, so one run is enough for all tests that only read. They change neither its objects nor
    its folder. Each worker of a session has its own runs.
    """
    plan = make_plan(world, **options)
    text = json.dumps([plan.resolved, plan.path], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()
    if key not in _runs:
        _runs[key] = perform(plan, Path(_folder.name))
    return _runs[key]

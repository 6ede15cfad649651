"""The scenario in full, as it can be run again: same seed, same data, or it says what changed."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenarios.language.table_rules import Table, fill_table, values_of
from scenarios.planning.context import PlanningContext
from scenarios.planning.data_sources import SourceTable
from scenarios.planning.mechanism import family_of
from scenarios.planning.scenario_tables import ServerTable


def resolved_tree(context: PlanningContext) -> dict[str, Any]:
    """Return the scenario with every default and the hash of every file: it runs again with the same seed and data."""
    options = context.options
    resolved = {k: v for k, v in context.scenario.raw.items() if k != "extends"}
    resolved["name"] = context.scenario.name
    run = resolved["run"] | {"seed": context.seed}
    if context.until is not None:
        run["until"] = context.until
    if not {"horizon", "rounds", "updates"} & set(run):
        run["horizon"] = "60s"
    run["engine"] = options.engine or run["engine"]
    resolved["run"] = run
    if family_of(context.read) == "server":
        resolved["server"] = fill_table(ServerTable, resolved.get("server", {}))
    resolved["seeds"] = dict(context.seeds)
    if context.calibrated is not None:
        # named, so that a run is repeated exactly after an accountant has become tighter
        resolved["privacy"] = resolved["privacy"] | {"calibrate": context.calibrated}
    resolved.pop("origin", None)
    resolved["origin"] = {"folder": str(context.scenario.folder), "sha256": _hashes(context)}
    if options.data is not None or options.graph is not None:
        resolved["origin"]["in_memory"] = True
    return resolved


def _hashes(context: PlanningContext) -> dict[str, str]:
    """Return the sha256 of every file that the scenario reads, by its path there."""
    data, folders = context.read.data, context.folders
    tree = {k: v for k, v in values_of(context.read).items() if k not in {"origin", "data"}}
    files = {name: folders.find(name) for name in _paths(tree)}
    if isinstance(data, SourceTable) and context.options.data is None:
        files |= data.files(folders)
    return {name: _sha256(file) for name, file in files.items()}


def _sha256(path: Path) -> str:
    known = path.stat()
    return _read_sha256(path, known.st_ino, known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=4096)
def _read_sha256(path: Path, _inode: int, _size: int, _changed_ns: int) -> str:
    """Read a file for its checksum; a sweep asks for that of one file for each of its settings."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _paths(tree: Any) -> Iterator[str]:
    """Yield the value of every key `path`: outside of [data] it is a file."""
    if isinstance(tree, Table):
        tree = values_of(tree)
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "path" and isinstance(value, str):
                yield value
            else:
                yield from _paths(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _paths(value)

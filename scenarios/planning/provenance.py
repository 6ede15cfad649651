"""The scenario in full, as it can be run again: same seed, same data, or it says what changed."""

import hashlib
from collections.abc import Iterator
from typing import Any

from scenarios.language.table_rules import Table, fill_table, values_of
from scenarios.planning.context import PlanningContext
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
    """Return the sha256 of every file that the scenario names, by its path there."""
    tree = {k: v for k, v in values_of(context.read).items() if k != "origin"}
    hashes: dict[str, str] = {}
    for name in _paths(tree):
        place = context.folders.find(name)
        below = sorted(path for path in place.rglob("*.npz") if path.is_file())
        for file in below if place.is_dir() else [place]:
            if context.folders.is_inside(file):  # a link that leads out was not read either
                key = name if file == place else f"{name}/{file.relative_to(place).as_posix()}"
                hashes[key] = hashlib.sha256(file.read_bytes()).hexdigest()
    return hashes


def _paths(tree: Any) -> Iterator[str]:
    """Yield the value of every key `path`."""
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

"""The scenario in full, as it can be run again: same seed, same data, or it says what changed."""

import hashlib
from typing import Any

from scenarios.language.table_rules import Table, fill_table, values_of
from scenarios.planning.context import PlanningContext
from scenarios.planning.mechanism import family_of
from scenarios.planning.scenario_tables import ServerTable


class Origin:
    """Writes out every default, and the hash of every file."""

    def __init__(self, context: PlanningContext) -> None:
        self.context = context
        self.read = context.read

    def resolved(self) -> dict[str, Any]:
        """Return the scenario in full: it runs again with the same seed and the same data."""
        resolved = {k: v for k, v in self.context.scenario.raw.items() if k != "extends"}
        resolved["name"] = self.context.scenario.name
        run = dict(resolved["run"])
        run["seed"] = self.context.seed
        if self.context.until is not None:
            run["until"] = self.context.until
        if not {"horizon", "rounds", "updates"} & set(run):
            run["horizon"] = "60s"
        run["engine"] = self.context.options.engine or run["engine"]
        resolved["run"] = run
        if family_of(self.read) == "server":
            resolved["server"] = fill_table(ServerTable, resolved.get("server", {}))
        resolved["seeds"] = dict(self.context.seeds)
        if self.context.calibrated is not None:
            # named, so that a run is repeated exactly after an accountant has become tighter
            resolved["privacy"] = resolved["privacy"] | {"calibrate": self.context.calibrated}
        hashes = self._hashes()
        resolved.pop("origin", None)
        resolved["origin"] = {"folder": str(self.context.scenario.folder), "sha256": hashes}
        if self.context.options.data is not None or self.context.options.graph is not None:
            resolved["origin"]["in_memory"] = True
        return resolved

    def _hashes(self) -> dict[str, str]:
        """Hash every file that the scenario names."""
        hashes: dict[str, str] = {}

        def walk(tree: Any) -> None:
            if isinstance(tree, Table):
                tree = values_of(tree)
            if isinstance(tree, dict):
                for key, value in tree.items():
                    if key == "path" and isinstance(value, str):
                        self._hash(value, hashes)
                    else:
                        walk(value)
            elif isinstance(tree, list):
                for value in tree:
                    walk(value)

        walk({k: v for k, v in values_of(self.read).items() if k != "origin"})
        return hashes

    def _hash(self, name: str, hashes: dict[str, str]) -> None:
        folders = self.context.folders
        place = folders.find(name)
        below = sorted(path for path in place.rglob("*.npz") if path.is_file())
        files = below if place.is_dir() else [place]
        for file in files:
            if folders.is_inside(file):  # a link that leads out was not read either
                key = name if file == place else f"{name}/{file.relative_to(place).as_posix()}"
                hashes[key] = hashlib.sha256(file.read_bytes()).hexdigest()

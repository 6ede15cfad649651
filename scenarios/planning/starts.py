"""The models that agents start from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Text
from scenarios.planning.files import BadData, Folders

if TYPE_CHECKING:
    from mechanisms.objectives import LocalObjective
    from mechanisms.vectors import Matrix


@dataclass(frozen=True, slots=True)
class StartInputs:
    """What a start may be made of beside its table."""

    shape: tuple[int, int]
    """Agents × dimension."""
    seed: int
    folders: Folders
    objectives: "tuple[LocalObjective, ...]"
    warm: bool
    """Whether the mechanism makes a warm start of its own from the local models."""


class StartTable(KindTable):
    """The parameters of a start."""

    def models(self, inputs: StartInputs) -> "Matrix":
        """Return a row for each agent. Raises BadData or NoMinimiser."""
        raise NotImplementedError(f"no start is made for {self.kind!r}")


class ZerosTable(StartTable):
    """Models of zeros."""

    def models(self, inputs: StartInputs) -> "Matrix":
        import numpy as np

        return np.zeros(inputs.shape)


class RandomTable(StartTable):
    """Normal vectors of about norm 1, from a public seed."""

    def models(self, inputs: StartInputs) -> "Matrix":
        from scenarios.planning.seeds import generator

        drawn: Matrix = generator(inputs.seed, "start").standard_normal(inputs.shape)
        return drawn / math.sqrt(inputs.shape[1])


class StartFileTable(StartTable):
    """An archive that holds an array theta, a row for each agent."""

    path: str = key(
        Text("a path"),
        REQUIRED,
        words="An archive (`.npz`) that holds an array `theta` with a row for each agent.",
    )

    def models(self, inputs: StartInputs) -> "Matrix":
        import numpy as np

        from scenarios.planning.array_files import arrays, refusal

        path = inputs.folders.find(self.path)
        with refusal(f"{path.name} must hold an array theta of numbers"):
            theta: Matrix = arrays(path, "theta", most=inputs.folders.most)[0]
        if theta.shape != inputs.shape or not np.isfinite(theta).all():
            rows, columns = inputs.shape
            raise BadData(f"theta must be {rows} × {columns} and finite, got {theta.shape}")
        return theta


class LocalStartTable(StartTable):
    """The model that each agent would learn alone."""

    def models(self, inputs: StartInputs) -> "Matrix":
        import numpy as np

        from mechanisms.solve import minimise

        if inputs.warm:
            return np.zeros(inputs.shape)
        return np.array([minimise(objective).theta for objective in inputs.objectives])


STARTS: Mapping[str, type[StartTable]] = {
    "zeros": ZerosTable,
    "random": RandomTable,
    "file": StartFileTable,
    "local": LocalStartTable,
}

"""A pool of points that are dealt to agents, and what a split may deal them by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix, Vector
    from scenarios.planning.labels import Classes


WHICH_IS_PUBLIC = "; ε takes it as public which ones"
"""What a note says of rows that their own values left out: a record that is replaced by another of the kind stays in."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Points, a row each: features, labels, and what else is known of each point.

    `columns` are values of the source's own columns by their names, one for each point, in the words of the source; a
    split deals by them, and no agent learns from them unless they are features, too. `users` numbers the person that each
    point belongs to; None where no person is known. `notes` say what was done to the points. `uncovered` says why ε does
    not cover what was done: constants that were computed from the points, say.
    """

    x: "Matrix"
    y: "Vector"
    columns: "Mapping[str, NDArray[Any]]" = field(default_factory=dict)
    users: "NDArray[np.int64] | None" = None
    notes: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    classes: "Classes | None" = None
    """What the source calls its labels; None where they are numbers."""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: "NDArray[np.int64]") -> "Pool":
        """Return the pool of some points, by their numbers."""
        return replace(
            self,
            x=self.x[rows],
            y=self.y[rows],
            columns={name: values[rows] for name, values in self.columns.items()},
            users=None if self.users is None else self.users[rows],
        )

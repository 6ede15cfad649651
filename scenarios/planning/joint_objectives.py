"""What the agents of a kind minimise together. NumPy is loaded when a plan is made, not with the records."""

from typing import TYPE_CHECKING, Protocol

from scenarios.planning.mechanism_tables import MechanismTable

if TYPE_CHECKING:
    from mechanisms.joint import Apart, Common, Graph, Personalised, Propagating
    from mechanisms.objectives import LocalObjective
    from mechanisms.vectors import Vector

    Objectives = tuple[LocalObjective, ...]


class HasMu(Protocol):
    """A table that weighs an agent's own data against its neighbours."""

    @property
    def mu(self) -> float:
        """The weight of the agent's own objective."""
        ...


def summed(table: MechanismTable, graph: "Graph", objectives: "Objectives") -> "Common":  # noqa: ARG001
    """Return the sum of all objectives, for one model."""
    import numpy as np

    from mechanisms.joint import Common

    return Common(objectives, np.ones(len(objectives)))


def evenly(table: MechanismTable, graph: "Graph", objectives: "Objectives") -> "Common":  # noqa: ARG001
    """Return the mean of all objectives, for one model."""
    import numpy as np

    from mechanisms.joint import Common

    return Common(objectives, np.full(len(objectives), 1.0 / len(objectives)))


def by_size(table: MechanismTable, graph: "Graph", objectives: "Objectives") -> "Common":  # noqa: ARG001
    """Return the mean of all objectives, each weighed by its points, for one model."""
    from mechanisms.joint import Common

    sizes = _sizes(objectives)
    return Common(objectives, sizes / sizes.sum())


def apart(table: MechanismTable, graph: "Graph", objectives: "Objectives") -> "Apart":  # noqa: ARG001
    """Return every objective by itself. Raises NoMinimiser where one has no single minimiser."""
    from mechanisms.joint import Apart
    from mechanisms.solve import minimise

    for objective in objectives:
        minimise(objective)
    return Apart(objectives)


def personalised(table: HasMu, graph: "Graph", objectives: "Objectives") -> "Personalised":
    """Return Q_L of Bellet et al. 2018: a model for each agent, near to those of its neighbours."""
    from mechanisms.joint import Personalised

    return Personalised(graph, objectives, _confidences(objectives), table.mu)


def propagating(table: HasMu, graph: "Graph", objectives: "Objectives") -> "Propagating":
    """Return the propagation of local models. Raises NoMinimiser where an agent's objective has no single minimiser."""
    import numpy as np

    from mechanisms.joint import Propagating
    from mechanisms.solve import minimise

    models = np.array([minimise(objective).theta for objective in objectives])
    return Propagating(graph, models, _confidences(objectives), table.mu)


def _sizes(objectives: "Objectives") -> "Vector":
    import numpy as np

    return np.array([objective.points for objective in objectives], dtype=np.float64)


def _confidences(objectives: "Objectives") -> "Vector":
    """Return c_i = m_i / max m."""
    sizes = _sizes(objectives)
    confidences: Vector = sizes / sizes.max()
    return confidences

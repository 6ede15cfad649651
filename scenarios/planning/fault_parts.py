"""The modules of `actors.faults`, loaded when a record of a fault first builds something with them.

Records are needed to read a file; what they build needs NumPy, which a file with errors must not wait for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actors import events
    from actors.faults import (
        agent_actions,
        availability,
        context,
        link_actions,
        link_effects,
        outage,
        privacy_actions,
        schedule,
        targets,
    )
else:

    class _LazyModule:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    events = _LazyModule("actors.events")
    agent_actions = _LazyModule("actors.faults.agent_actions")
    availability = _LazyModule("actors.faults.availability")
    context = _LazyModule("actors.faults.context")
    link_actions = _LazyModule("actors.faults.link_actions")
    link_effects = _LazyModule("actors.faults.link_effects")
    outage = _LazyModule("actors.faults.outage")
    privacy_actions = _LazyModule("actors.faults.privacy_actions")
    schedule = _LazyModule("actors.faults.schedule")
    targets = _LazyModule("actors.faults.targets")

__all__ = [
    "agent_actions",
    "availability",
    "context",
    "events",
    "link_actions",
    "link_effects",
    "outage",
    "privacy_actions",
    "schedule",
    "targets",
]

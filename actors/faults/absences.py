"""The agents that one firing of a fault lets go and come back, again and again."""

from actors.faults.context import Firing
from actors.faults.overlapping_absences import (
    crash_for,
    leave_for,
    rejoin_after,
    restart_after,
)


class Absences:
    """Lets agents go and come back, until the firing is undone; only an agent that this fault took away comes back by it.

    With `crashes` an agent goes without a word, and loses nothing; else it leaves, and its neighbours learn of it.
    """

    def __init__(self, firing: Firing, *, crashes: bool) -> None:
        self._members = firing.context.members
        self._fault = firing.cause
        self._crashes = crashes
        self._away = set[int]()
        self.over = False
        """Whether the firing is undone: no agent goes any more."""

    def turn(self, node: int, *, on: bool) -> None:
        """Let an agent come back, or go; nothing where the firing is undone."""
        if self.over:
            return
        if on:
            self._bring(node, self._fault)
        elif self._goes(node):
            self._away.add(node)

    def end(self, ended: int) -> None:
        """Bring back every agent that is away by this fault; `ended` is the event that says so."""
        self.over = True
        for node in sorted(self._away):
            self._bring(node, ended)

    def _goes(self, node: int) -> bool:
        if self._crashes:
            return crash_for(self._members, node, "nothing", self._fault)
        return leave_for(self._members, node, self._fault)

    def _bring(self, node: int, cause: int) -> None:
        if node in self._away:
            self._away.discard(node)
            back = restart_after if self._crashes else rejoin_after
            back(self._members, node, cause, self._fault)

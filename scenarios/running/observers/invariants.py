"""What must hold in every run, in words, and how it is judged."""

from dataclasses import dataclass

INVARIANTS: dict[str, str] = {
    "budget": "no ledger is over its cap, recomposed from the list of its releases",
    "charged once": "every release is charged exactly once, in order",
    "noise once": "no noise is drawn for two releases",
    "noise as charged": "noise is drawn with the scale that its ledger line states",
    "charged before sent": "a release leaves only after its charge",
    "ledger survives": "crash and rejoin change nothing in a ledger",
    "only releases": "nothing leaves but releases, resends, derived and control messages",
    "sensitivity": "no record's gradient is longer than the bound that noise was scaled for",
    "conservation": "sent + duplicated = delivered + lost + rejected + in flight",
    "time": "time never falls, and nothing arrives after it was noticed",
    "silence": "agents that are down or gone do nothing and receive nothing",
    "declared faults": "only declared faults happen, when they were declared",
    "finite": "every model is finite, or its agent was declared diverged",
    "nobody waits for ever": "no barrier is left that nothing can open",
}


class InvariantBroken(Exception):
    """An invariant does not hold; the message says which, where and how."""


@dataclass(slots=True)
class Verdict:
    """Pass, fail or unknown; with the event that decided it."""

    verdict: str
    first: int | None = None
    detail: str = ""

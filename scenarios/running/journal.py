"""What a person did to a run: the scenario with it, and what is not written down yet."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Journal:
    """The record of a session by hand."""

    scenario: dict[str, Any]
    """The scenario in full, with every fault that a person added or ended."""
    steered: bool = False
    """Whether a person changed anything: then ε does not cover which agents took part."""
    unwritten: list[dict[str, Any]] = field(default_factory=list)
    """Entries for `inputs.jsonl`, oldest first."""

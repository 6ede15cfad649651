"""Traces that others measured: read by parsers that execute nothing, judged, mended where that is asked for, and written for scenarios."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from scenarios.language.visible_text import visible

Repair = Literal["drop", "merge", "unwrap", "neighbour", "symmetric"]
"""What may be done to values that cannot be used as they are."""
REPAIRS: tuple[Repair, ...] = get_args(Repair)
KINDS = ("availability", "matrix", "durations")
"""What a file may hold."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that is wrong with a trace, how often, where first, and what was done about it."""

    what: str
    count: int
    first: str
    """The place of the first one; empty where it has none."""
    done: str
    """What was done; empty where nothing was."""
    repairs: tuple[Repair, ...] = ()
    """What would mend it; empty where it need not be mended."""

    @property
    def blocks(self) -> bool:
        """Whether the trace cannot be used because of it."""
        return bool(self.repairs) and not self.done

    def in_words(self) -> str:
        """Return a line for a terminal."""
        where = f", first {self.first}" if self.first else ""
        then = self.done or "kept"
        if self.blocks:
            then = "UNUSABLE: " + " or ".join(f"--repair {repair}" for repair in self.repairs)
        return visible(f"{self.count:,} × {self.what}{where}: {then}")

    def as_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "what": self.what,
            "count": self.count,
            "first": self.first,
            "done": self.done,
            "repairs": list(self.repairs),
            "usable": not self.blocks,
        }


@dataclass(slots=True)
class Hygiene:
    """What was looked at in a trace, and what was found wrong with it; `allowed` is what may be done about it."""

    allowed: frozenset[str] = frozenset()
    flaws: list[Flaw] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """What is known of the trace, by names in words."""

    def find(self, what: str, where: Sequence[str], done: str) -> None:
        """Note a flaw that was mended, or does no harm; nothing where it is nowhere."""
        if where:
            self.flaws.append(Flaw(what, len(where), where[0], done))

    def mend(self, what: str, where: Sequence[str], how: dict[Repair, str]) -> Repair | None:
        """Note a flaw that must be mended; return by which of the repairs it may be, the first that is allowed.

        `how` says in words what each repair does. None: nowhere, or none is allowed.
        """
        repair = next((one for one in how if one in self.allowed), None)
        if where:
            done = "" if repair is None else how[repair]
            self.flaws.append(Flaw(what, len(where), where[0], done, tuple(how)))
        return repair if where else None

    @property
    def is_usable(self) -> bool:
        """Whether nothing is left that cannot be used."""
        return not any(flaw.blocks for flaw in self.flaws)


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read of a trace: its kind, the lines to write, and what was found wrong."""

    kind: str
    lines: tuple[str, ...]
    hygiene: Hygiene
    usage: str
    """What a scenario writes to use it; `{}` stands for the file."""

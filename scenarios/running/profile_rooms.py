"""The rooms of a profile: which part of hush is at work when a stack of calls looks like this.

One table says to which room each package belongs. Where the calls of several modules lie on each other, one decides:

- Inside of the engine, the stack is read from the innermost call up to the entry that the engine serves; what called the engine
  does not matter. Planning and start-up are over there, and claim nothing.
- A module of `scenarios` claims all that is done for it: the losses that a sample asks for are part of the sample. Where several
  claim, the one with the smaller `rank` has it.
- Where none claims, the innermost module of `actors`, `clocks` or `mechanisms` has it.
- Loading modules is start-up, whenever it happens.

It loads no NumPy: a profile begins before anything is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import NamedTuple


@dataclass(frozen=True)
class Room:
    """A part of hush that takes processor time."""

    name: str
    summary: str
    """What happens there, in a few words."""
    color: str
    """Of its frames in a flame graph."""
    rank: int | None = None
    """Which room has what several claim: the smallest number; None for rooms that claim nothing."""
    ends: bool = False
    """Whether it is over when the engine runs, so that it claims nothing there."""


CLOCK = Room("clock", "what wakes next: the engine, activations, the event loop", "#8dd3c7")
AGENT = Room(
    "agent", "what an agent does at a wake: behaviours, membership, what it keeps", "#ffd27f"
)
LINKS = Room("links", "messages: fates and delays of links, mailboxes", "#bebada")
FAULTS = Room("faults", "faults: when, on which agents, what they change", "#d9a5a5")
MECHANISM = Room("mechanism", "gradients, solvers, mixing, noise", "#fb8072")
COLUMNS = Room("columns", "many wakes settled, charged and sent in columns", "#fdb462")
LEDGER = Room("ledger", "charges, caps, accountants", "#80b1d3")
LOG = Room("record", "events and rows, digests, files of the run", "#b3de69")
CONSOLE = Room("console", "the live screen: looking, drawing, writing, keys", "#fccde5", 1)
RECORD = Room(LOG.name, LOG.summary, LOG.color, 2)
CHECKS = Room("checks", "invariants, expectations, counts of messages", "#cccccc", 3)
END = Room("end", "the judgement of the run and its summary", "#bc80bd", 4)
SAMPLES = Room("samples", "metrics at every sample, by an oracle", "#ffed6f", 5)
CLAIMED = Room(LEDGER.name, LEDGER.summary, LEDGER.color, 6)
PACE = Room(CLOCK.name, CLOCK.summary, CLOCK.color, 7)
PLANNING = Room("planning", "reading and planning the scenario", "#a6cee3", 8, ends=True)
START = Room("start-up", "loading modules, building the world", "#d9d9d9", 9, ends=True)

ORDER = tuple(
    dict.fromkeys(
        room.name
        for room in (
            *(START, PLANNING, CLOCK, AGENT, LINKS, FAULTS, MECHANISM, COLUMNS, LEDGER),
            *(LOG, CHECKS, SAMPLES, CONSOLE, END),
        )
    )
)
"""The names of the rooms, in the order of a run."""
ROOMS = {
    room.name: room
    for room in (
        *(START, PLANNING, CLOCK, AGENT, LINKS, FAULTS, MECHANISM, COLUMNS, LEDGER),
        *(LOG, CHECKS, SAMPLES, CONSOLE, END),
    )
}

MODULES: dict[str, Room] = {
    "clocks": CLOCK,
    "clocks.durations": LINKS,
    "asyncio": CLOCK,
    "mechanisms": MECHANISM,
    "mechanisms.accounting": LEDGER,
    "actors": AGENT,
    "actors.columns": COLUMNS,
    "actors.conditions": FAULTS,
    "actors.events": LOG,
    "actors.fault_state": FAULTS,
    "actors.faults": FAULTS,
    "actors.links": LINKS,
    "actors.log": LOG,
    "actors.mailbox": LINKS,
    "actors.messages": LINKS,
    "actors.turns": LOG,
    "hush": START,
    "scenarios": START,
    "scenarios.auditing": SAMPLES,
    "scenarios.console": CONSOLE,
    "scenarios.language": PLANNING,
    "scenarios.pictures": END,
    "scenarios.planning": PLANNING,
    "scenarios.planning.metrics": SAMPLES,
    "scenarios.records": RECORD,
    "scenarios.records.budget": CLAIMED,
    "scenarios.records.release_fates": CHECKS,
    "scenarios.records.summary": END,
    "scenarios.records.summary_text": END,
    "scenarios.records.world_facts": START,
    "scenarios.running.compared_runs": SAMPLES,
    "scenarios.running.control": PACE,
    "scenarios.running.expectations": CHECKS,
    "scenarios.running.journal": CONSOLE,
    "scenarios.running.manual_faults": CONSOLE,
    "scenarios.running.metrics": SAMPLES,
    "scenarios.running.observers": CHECKS,
    "scenarios.running.observers.progress_lines": CONSOLE,
    "scenarios.running.observers.recorder": RECORD,
    "scenarios.running.observers.schedule_rows": RECORD,
    "scenarios.running.run_observers": SAMPLES,
    "scenarios.running.run_report": END,
    "scenarios.running.sampling": SAMPLES,
    "scenarios.running.snapshot": SAMPLES,
}
"""The rooms of packages, and of modules that have another one than their package."""
FUNCTIONS: dict[tuple[str, str], Room] = {
    ("scenarios.running.run", "Run._conclude"): END,
    ("scenarios.command.run_plans", "_tell"): END,
}
"""Functions that belong to another room than the rest of their module."""
ENGINES = frozenset({"clocks.virtual", "clocks.wall"})
"""Modules whose calls serve entries: what lies above them does not decide."""
_LOADING = "<frozen importlib"
OURS = ("actors", "clocks", "hush", "mechanisms", "scenarios")


class Call(NamedTuple):
    """One call on a stack: the module that its code stands in, and the function with its class."""

    module: str
    function: str

    @property
    def is_ours(self) -> bool:
        """Whether it is code of hush."""
        return self.module.partition(".")[0] in OURS

    @property
    def is_loading(self) -> bool:
        """Whether Python loads a module."""
        return self.module.startswith("importlib._bootstrap")


@lru_cache(maxsize=100_000)
def call_of(code: CodeType, module: str) -> Call:
    """Return the call of some code of a module."""
    if code.co_filename.startswith(_LOADING):
        module = code.co_filename.removeprefix("<frozen ").removesuffix(">")
    return Call(module, code.co_qualname)


@lru_cache(maxsize=100_000)
def room_of(module: str, function: str = "") -> Room | None:
    """Return the room of a module of hush, or of a function of it; None for a module that has none."""
    special = FUNCTIONS.get((module, function))
    if special is not None:
        return special
    place = module
    while place:
        if place in MODULES:
            return MODULES[place]
        place = place.rpartition(".")[0]
    return None


class Decision(NamedTuple):
    """The room of a stack, and how many of its innermost calls were looked at for it."""

    room: Room
    calls: int


def decided(stack: Sequence[Call]) -> Decision:
    """Return the room of a stack of calls, the innermost first."""
    inner: Room | None = None
    claims: list[Room] = []
    leaf, serves = True, False
    at = len(stack)
    for number, call in enumerate(stack):
        if call.is_loading:
            return Decision(START, len(stack))
        room = room_of(*call)
        if room is None:
            continue
        if call.module in ENGINES:
            if not leaf:
                serves, at = True, number
                break
        elif call.is_ours:
            leaf = False
        if room.rank is not None:
            claims.append(room)
        elif inner is None:
            inner = room
    if serves:
        claims = [room for room in claims if not room.ends]
    elif inner is CLOCK and all(room is START for room in claims):
        return Decision(CLOCK, at)  # the engine or the event loop itself
    best = min(claims, key=lambda room: room.rank or 0, default=None)
    return Decision(best or inner or START, at)

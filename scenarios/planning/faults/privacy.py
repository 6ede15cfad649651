"""privacy: what threatens a ledger.

`crash-after-charge`, `crash-after-send`: a crash at the next charge, or message; `duplicate-request`: questions come twice
(server and pairs); `replay`: the first message of each link arrives again; `counter-rollback`: counters are set back;
`twin`: a second instance, one ledger; `poison`: what arrives is −`factor` (10) times the model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Choice
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, RandomWorld, some_agents
from scenarios.planning.fault_kinds import LOSE, Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import (
    context,
    events,
    link_actions,
    link_effects,
    privacy_actions,
    schedule,
)
from scenarios.planning.fault_tables import POSITIVE, AgentsTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def _crash_at(
    at: "FaultBuilder",
    fault: FaultTable,
    value: "PrivacyFaultTable",
    awaited: "type[events.Charged | events.Sent]",
) -> "Action":
    do = partial(privacy_actions.crash_at, awaited=awaited, lose=fault.get_beside(LOSE))
    return schedule.Action(at.target(value.on), do, undone="restart")


def _poison(at: "FaultBuilder", _: FaultTable, value: "PrivacyFaultTable") -> "Action":
    factor = 10.0 if value.factor is None else value.factor
    effect = partial(link_effects.Poisoning, factor=factor, dimension=at.dimension)
    return at.affect(value.on, link_actions.without_chance(effect), "from")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyFault:
    """One kind of threat."""

    build: "Callable[[FaultBuilder, FaultTable, PrivacyFaultTable], Action]"
    crashes: bool = False
    """Whether it crashes agents, so that `lose` says what they lose."""
    once: bool = False
    """Whether it is done once, so that there is nothing to undo."""
    asks: bool = False
    """Whether it needs a mechanism in which agents are asked."""
    broadcast: str = ""
    """What it needs a mechanism that broadcasts models for; empty where it needs none."""


PRIVACY: dict[str, PrivacyFault] = {
    "crash-after-charge": PrivacyFault(
        build=lambda at, fault, value: _crash_at(at, fault, value, events.Charged), crashes=True
    ),
    "crash-after-send": PrivacyFault(
        build=lambda at, fault, value: _crash_at(at, fault, value, events.Sent), crashes=True
    ),
    "duplicate-request": PrivacyFault(
        build=lambda at, _, value: at.affect(
            value.on,
            link_actions.with_chance(partial(link_effects.Duplication, p=1.0, asking=True)),
            "to",
        ),
        asks=True,
    ),
    "replay": PrivacyFault(
        build=lambda at, _, value: schedule.Action(
            at.target(value.on), privacy_actions.replay, undone="", needs=context.FIRST_MESSAGES
        ),
        once=True,
    ),
    "counter-rollback": PrivacyFault(
        build=lambda at, _, value: schedule.Action(
            at.target(value.on), privacy_actions.roll_back_counter, undone=""
        ),
        once=True,
    ),
    "twin": PrivacyFault(
        build=lambda at, _, value: schedule.Action(at.target(value.on), privacy_actions.run_twin),
        broadcast="a second instance",
    ),
    "poison": PrivacyFault(build=_poison, broadcast="a poisoned vector"),
}


class PrivacyFaultTable(AgentsTable):
    """Which threat; `factor` is that of poison."""

    kind: str = key(Choice(*PRIVACY), REQUIRED, words="What threatens the ledger.")
    factor: float | None = key(
        POSITIVE,
        words="What the model is multiplied by in `poison`, with the other sign; 10 where it is left out.",
    )


def check(at: ActionCheck, fault: FaultTable, value: PrivacyFaultTable) -> None:
    """Report a threat that the mechanism does not know, and keys of other threats."""
    if value.on == "server" and value.kind != "poison":
        at.report.value(value.path_to("on"), "the server has no ledger")
    if "factor" in value.given and value.kind != "poison":
        at.report.key(value.path_to("factor"), "belongs to poison")
    if value.kind is None:
        return
    known, asked = PRIVACY[value.kind], at.family in {"server", "pairs"}
    if LOSE.name in fault.beside and not known.crashes:
        at.report.key(fault.path_to(LOSE.name), LOSE.refusal.format("privacy"))
    if known.asks and not asked:
        said = "nobody asks anything in this kind: it broadcasts"
        at.report.value(value.path_to("kind"), said)
    if known.broadcast and asked:
        said = f"{known.broadcast} is simulated where models are broadcast, not with a server or in pairs"
        at.report.value(value.path_to("kind"), said)


def _example(name: str, fits: Callable[[RandomWorld], bool], *kinds: str) -> Example:
    return Example(
        name,
        lambda luck, size: {"privacy": {"on": some_agents(luck, size), "kind": luck.pick(kinds)}},
        fits,
    )


def _is_asked(world: RandomWorld) -> bool:
    return world.family in {"server", "pairs"}


_ANYWHERE = tuple(n for n, known in PRIVACY.items() if not (known.asks or known.broadcast))
_ASKED = tuple(name for name, known in PRIVACY.items() if known.asks)
_BROADCAST = tuple(name for name, known in PRIVACY.items() if known.broadcast)
KIND = FaultKind(
    name="privacy",
    on="agents",
    order=100,
    table=PrivacyFaultTable,
    says="what endangers a ledger: twin, replay, counter-rollback …",
    template="privacy {} kind=crash-after-charge",
    silences=True,
    loses=False,
    stalls=False,
    brings=Brings.AT_END,
    hits=Hits.UNTOLD,
    state="",
    build=lambda at, fault, value: PRIVACY[value.kind].build(at, fault, value),
    examples=(
        _example("privacy", lambda _: True, *_ANYWHERE),
        _example("privacy where agents are asked", _is_asked, *_ASKED),
        _example("privacy of a broadcast", lambda world: not _is_asked(world), *_BROADCAST),
    ),
    beside=(LOSE,),
    once=lambda value: value.kind if value.kind in PRIVACY and PRIVACY[value.kind].once else "",
    check=check,
)

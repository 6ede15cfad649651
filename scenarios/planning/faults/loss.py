"""loss: messages are lost, each for itself with probability `p`.

Or in bursts: `kind = "gilbert-elliott"`, with `enter` and `leave`, the chances of each message to begin or end a burst, and
`good` and `bad` (0 and 1), the chances to be lost outside and inside of one.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, Luck, by_chance, some_links
from scenarios.planning.fault_kinds import FaultTable, LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import SHARE, LinksTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


class LossTable(LinksTable):
    """A probability `p`; or a chain of bursts: `enter` and `leave` one, losses outside (`good`) and inside (`bad`)."""

    p: float | None = key(SHARE, words="The probability that a message is lost, each for itself.")
    kind: str | None = key(Choice("gilbert-elliott"), words="Losses in bursts.")
    enter: float | None = key(SHARE, words="The probability that a message begins a burst.")
    leave: float | None = key(SHARE, words="The probability that a message ends a burst.")
    good: float | None = key(
        SHARE,
        words="The probability that a message outside of a burst is lost; 0 where it is left out.",
    )
    bad: float | None = key(
        SHARE,
        words="The probability that a message inside of a burst is lost; 1 where it is left out.",
    )


def check(at: ActionCheck, _: FaultTable, value: LossTable) -> None:
    """Report a loss that is neither single nor in bursts, or both."""
    if "kind" in value.given:
        if not {"enter", "leave"} <= value.given or "p" in value.given:
            said = (
                "gilbert-elliott needs enter and leave, the chances of a burst's beginning and end"
            )
            more = "; p is for single losses" if "p" in value.given else ""
            at.report.key(value.place, said + more)
    elif "p" not in value.given:
        at.report.key(value.place, 'needs p, or kind = "gilbert-elliott"')
    else:
        for name in ("enter", "leave", "good", "bad"):
            if name in value.given:
                said = f'{name} belongs to kind = "gilbert-elliott"'
                at.report.key(value.path_to(name), said)


def build(at: "FaultBuilder", fault: FaultTable, value: LossTable) -> "Action":
    """Return the action."""
    if value.p is not None:
        single = partial(link_effects.RandomLoss, p=value.p)
        return at.on_links(fault, value.on, link_actions.with_chance(single))
    bursts = partial(
        link_effects.BurstLoss,
        enter=value.enter or 0.0,
        leave=value.leave or 0.0,
        good=value.good or 0.0,
        bad=1.0 if value.bad is None else value.bad,
    )
    return at.on_links(fault, value.on, link_actions.with_chance(bursts))


def bursts_example(luck: Luck, size: int) -> dict[str, Any]:
    """Return losses in bursts."""
    chain = {"kind": "gilbert-elliott", "enter": 0.2, "leave": luck.pick((0.2, 0.5))}
    return {"loss": {"on": some_links(luck, size), **chain}}


KIND = LinkFault(
    name="loss",
    order=110,
    table=LossTable,
    says="messages are lost; or kind=gilbert-elliott enter=0.1 leave=0.3",
    template="loss {} p=0.3",
    loses=True,
    stalls=False,
    build=build,
    examples=(by_chance("loss"), Example("bursts", bursts_example)),
    check=check,
)

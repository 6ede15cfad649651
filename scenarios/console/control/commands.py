"""The command line of the screen: every order by its name, with completion. Keys are orders, too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actors.conditions import FIELDS, NAMES
from scenarios.console.control.command_target import Desk
from scenarios.console.control.fault_syntax import TEMPLATES, of_fault
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.styled_text import STATES
from scenarios.console.sources.feed import WORDS
from scenarios.console.sources.view_state import SORTS, only
from scenarios.language.problems import nearest
from scenarios.language.table_rules import SubTable, keys_of
from scenarios.planning.fault_tables import FaultTable
from scenarios.planning.metric_names import names_of_agents, names_of_network

Act = Callable[[Desk, str], str | None]


@dataclass(frozen=True, slots=True)
class Order:
    """One order: its name, what may follow it, what it does."""

    name: str
    usage: str
    help: str
    act: Act
    offers: Callable[[Desk], Sequence[str]] = lambda _: ()
    steers: bool = False
    alone: bool = False
    """Whether it is done once where two runs are shown: their hands, or their screens, move together anyway."""


def _condition_words(_: Desk) -> Sequence[str]:
    names = [f"{name}.{how}" for name in names_of_agents() for how in ("mean", "max")]
    return [
        *WORDS,
        *sorted(FIELDS),
        *(f'kind == "{name}"' for name in NAMES),
        *names_of_network(),
        *names,
    ]


def _lasting(desk: Desk) -> Sequence[str]:
    return [str(window.number) for window in desk.source.scene.windows.lasting()]


def _groups(desk: Desk) -> Sequence[str]:
    return [*STATES, *desk.source.facts.members]


ORDERS: dict[str, Order] = {
    order.name: order
    for order in (
        Order("play", "", "hold, or go on", lambda d, _: d.timing.play(), alone=True),
        Order("step", "", "one event", lambda d, _: d.timing.step(), alone=True),
        Order("next", "[KIND]", "to the next event of a kind", lambda d, t: d.timing.next(t), _condition_words, alone=True),
        Order("until", "T | +T | CONDITION", "on to a time or an event", lambda d, t: d.timing.until(t), _condition_words, alone=True),
        Order("seek", "T | -T", "to a time; a recording goes back, too", lambda d, t: d.timing.seek(t), alone=True),
        Order("faster", "", "twice the speed", lambda d, _: d.timing.faster(), alone=True),
        Order("slower", "", "half the speed", lambda d, _: d.timing.slower(), alone=True),
        Order("speed", "X | max", "simulated seconds per second", lambda d, t: d.timing.speed(t), lambda _: ("max",), alone=True),
        Order("break", "[CONDITION]", "hold when an event satisfies it; list", lambda d, t: d.timing.stop_when(t), _condition_words),
        Order("clear", "[N]", "forget breakpoints", lambda d, t: d.timing.clear(t)),
        Order("view", "[table | grid | crowd]", "another scale", lambda d, t: d.view(t), lambda _: SCALES, alone=True),
        Order("sort", "[COLUMN]", "by another column; again: turned round", lambda d, t: d.sort(t), lambda _: SORTS),
        Order("filter", "[STATES, GROUPS, IDS]", "only these agents", lambda d, t: d.filter(t), _groups),
        Order("events", "[KINDS | CONDITION]", "only these events", lambda d, t: d.events(t), _condition_words),
        Order("open", "[ID]", "an agent: ledger, neighbours, messages", lambda d, t: d.open(t), alone=True),
        Order("back", "", "close what is open", lambda d, _: d.back(), alone=True),
        Order("menu", "", "faults for the agent or link at the cursor", lambda d, _: d.hands.menu(), steers=True, alone=True),
        Order("heal", "[N]", "undo a fault: the last, or number N", lambda d, t: d.hands.heal(t), _lasting, steers=True, alone=True),
        Order("export", "[FILE]", "the session as a scenario file", lambda d, t: d.hands.export(t), steers=True, alone=True),
        Order("svg", "[FILE]", "the screen as a picture", lambda d, t: d.picture(t), alone=True),
        Order("help", "", "keys and orders", lambda d, _: d.help(), alone=True),
        Order("quit", "", "end here; what there is, is kept", lambda d, _: d.quit(), alone=True),
        *(
            Order(
                action,
                template.partition(" ")[2].replace("{}", "TARGET"),
                said,
                lambda d, t, action=action: d.hands.fault(action, t),  # type: ignore[misc]
                lambda d, action=action: _fault_words(d, action),  # type: ignore[misc]
                steers=True,
                alone=True,
            )
            for action, (template, said) in TEMPLATES.items()
        ),
    )
}  # fmt: skip


def _fault_words(desk: Desk, action: str) -> Sequence[str]:
    """What may follow an action: targets, the keys that fit it, and the values of those that have names."""
    keys = keys_of(FaultTable)
    rule = keys[action].rule
    fields = dict(keys_of(rule.table)) if isinstance(rule, SubTable) else {}
    fields |= {key: keys[key] for key in of_fault(action)}
    words = [*desk.source.facts.members, "all", "one"]
    for key, field in fields.items():
        if key != "on":
            words += [f"{key}=", *(f"{key}={name}" for name in getattr(field.rule, "names", ()))]
    return words


def carry_out(desk: Desk, text: str) -> bool:
    """Carry out a line; false when something is wrong with it, which the screen says."""
    name, _, rest = text.strip().partition(" ")
    if not name:
        return True
    found = ORDERS.get(name) or ORDERS.get(only(name, ORDERS))
    if found is None:
        desk.look.says = f"no order '{name}'; {nearest(name, ORDERS)}"
        return False
    if rest.strip() and not found.usage:
        desk.look.says = f"{found.name} takes nothing; got '{rest.strip()}'"
        return False
    fine = desk.do(lambda: found.act(desk, rest.strip()))
    if not found.alone:
        for fellow in desk.fellows:
            fellow.do(lambda fellow=fellow: found.act(fellow, rest.strip()))  # type: ignore[misc]
            if fellow.look.says and fellow.look.says != desk.look.says:
                desk.look.says = f"{desk.look.says}  |  {fellow.look.says}"
    return fine


def offers(desk: Desk, text: str) -> list[str]:
    """Return what may complete the last word of a line."""
    name, blank, rest = text.partition(" ")
    if not blank:
        return [
            order for order in ORDERS if order.startswith(name) and _allowed(desk, ORDERS[order])
        ]
    order = ORDERS.get(name)
    if order is None:
        return []
    last = rest.rpartition(" ")[2].rpartition(",")[2]
    return [
        word
        for word in dict.fromkeys(order.offers(desk))
        if word.startswith(last)
        and word != last
        and ("=" in last or word[-1:] == "=" or "=" not in word)
    ]


def _allowed(desk: Desk, order: Order) -> bool:
    return desk.steering is not None or not order.steers


def complete(desk: Desk, text: str) -> str:
    """Complete the last word as far as all that is offered agrees."""
    found = offers(desk, text)
    if not found:
        return text
    shared = found[0]
    for word in found[1:]:
        while not word.startswith(shared):
            shared = shared[:-1]
    begun = max(text.rfind(" "), text.rfind(",")) + 1
    if len(shared) <= len(text) - begun:
        return text
    return text[:begun] + shared + (" " if len(found) == 1 and not shared.endswith("=") else "")

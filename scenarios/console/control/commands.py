"""The command line of the screen: every command by its name, with completion. A key is a command, too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from actors.conditions import FIELDS, NAMES
from scenarios.console.assembly.panels import Panel, chosen_by_key
from scenarios.console.assembly.story import metrics_of
from scenarios.console.control.fault_commands import CUT_SAYS
from scenarios.console.control.fault_syntax import keys_beside
from scenarios.console.control.pane import Pane
from scenarios.console.control.session import Session
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.styled_text import STATES
from scenarios.console.sources.feed import WORDS
from scenarios.console.sources.view_state import SORTS, only_match
from scenarios.language.problems import nearest
from scenarios.language.table_rules import keys_of
from scenarios.planning.fault_kinds import FaultKind, fault_kinds, keys_of_faults
from scenarios.planning.metric_names import names_of_agents, names_of_network

Act = Callable[[Session, str], str | None]
"""Carries a command out, with what was written after its name; returns an answer, or nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the command line: its name, what may follow it, what it does."""

    name: str
    usage: str
    help: str
    act: Act
    offers: Callable[[Session], Sequence[str]] = lambda _: ()
    """Words that may follow the name."""
    steers: bool = False
    """Whether it acts on a run, and a recording has no use for it."""
    begins: Callable[[Session], str] = lambda _: ""
    """What a key that begins the line writes after the name, to be changed."""


def _conditions(_: Session) -> Sequence[str]:
    names = [f"{name}.{how}" for name in names_of_agents() for how in ("mean", "max")]
    kinds = (f'kind == "{name}"' for name in NAMES)
    return [*WORDS, *sorted(FIELDS), *kinds, *names_of_network(), *names]


def _lasting(session: Session) -> Sequence[str]:
    return [str(window.number) for window in session.pane.source.run_state.windows.lasting()]


def _groups(session: Session) -> Sequence[str]:
    return [*STATES, *session.pane.source.facts.members]


_COMMANDS = (
    Command("play", "", "hold, or go on", lambda s, _: s.time.play()),
    Command("step", "", "one event", lambda s, _: s.time.step()),
    Command(
        "next", "[KIND]", "to the next event of a kind", lambda s, t: s.time.next(t), _conditions
    ),
    Command(
        "until",
        "T | +T | CONDITION",
        "on to a time or an event",
        lambda s, t: s.time.until(t),
        _conditions,
    ),
    Command("seek", "T | -T", "to a time; a recording goes back, too", lambda s, t: s.time.seek(t)),
    Command("forward", "", "on by a fiftieth of the run", lambda s, _: s.time.scrub(1)),
    Command(
        "rewind",
        "",
        "back by a fiftieth of the run; a recording alone goes back",
        lambda s, _: s.time.scrub(-1),
    ),
    Command(
        "fault-after", "", "on to where the next fault begins", lambda s, _: s.time.to_fault(1)
    ),
    Command(
        "fault-before",
        "",
        "back to where the fault before began; a recording alone goes back",
        lambda s, _: s.time.to_fault(-1),
    ),
    Command("faster", "", "twice the speed", lambda s, _: s.time.faster()),
    Command("slower", "", "half the speed", lambda s, _: s.time.slower()),
    Command(
        "speed",
        "X | max",
        "simulated seconds per second",
        lambda s, t: s.time.speed(t),
        lambda _: ("max",),
    ),
    Command(
        "break",
        "[CONDITION]",
        "a breakpoint: hold time whenever an event satisfies it; alone: list them",
        lambda s, t: s.in_panes(s.time.add_breakpoint, t),
        _conditions,
    ),
    Command("clear", "[N]", "forget breakpoints", lambda s, t: s.in_panes(s.time.clear, t)),
    Command(
        "view",
        "[table | grid | crowd | network]",
        "another scale: the network first, then the others",
        lambda s, t: s.set_scale(t),
        lambda _: SCALES,
    ),
    Command(
        "sort",
        "[COLUMN]",
        "by another column; again: turned round",
        lambda s, t: s.in_panes(Pane.sort, t),
        lambda _: SORTS,
    ),
    Command(
        "filter",
        "[STATES, GROUPS, IDS]",
        "only these agents",
        lambda s, t: s.in_panes(Pane.filter, t),
        _groups,
    ),
    Command(
        "events",
        "[KINDS | CONDITION]",
        "only these events",
        lambda s, t: s.in_panes(Pane.events, t),
        _conditions,
    ),
    Command(
        "metric",
        "[NAME]",
        "what the chart shows: the next metric, or a named one",
        lambda s, t: s.set_metric(t),
        lambda s: metrics_of(s.pane.source),
    ),
    Command(
        "color",
        "[NAME]",
        "what the colours of the network stand for: ε/cap, or a metric of agents",
        lambda s, t: s.set_color(t),
        lambda s: s.colors(),
    ),
    Command("focus", "", "the cursor among agents, links, or faults", lambda s, _: s.set_focus()),
    Command("mouse", "", "heed the mouse, or leave it to the terminal", lambda s, _: s.set_mouse()),
    Command("open", "[ID]", "an agent: ledger, neighbours, messages", lambda s, t: s.open(t)),
    Command("back", "", "close what is open", lambda s, _: s.back()),
    Command(
        "menu",
        "",
        "faults for the agent or link at the cursor",
        lambda s, _: s.open_menu(),
        steers=True,
    ),
    Command(
        "cut",
        "LINK",
        CUT_SAYS,
        lambda s, t: s.faults.cut(t),
        lambda s: s.faults.links(),
        steers=True,
    ),
    Command(
        "heal",
        "[N]",
        "undo a fault: the last, or number N",
        lambda s, t: s.faults.heal(t or s.fault_at_cursor()),
        _lasting,
        steers=True,
    ),
    Command(
        "export",
        "[FILE]",
        "the session as a scenario file",
        lambda s, t: s.faults.export(t),
        steers=True,
        begins=lambda s: s.faults.export_name(),
    ),
    Command("svg", "[FILE]", "the screen as a picture", lambda s, t: s.picture(t)),
    Command("help", "", "keys and orders", lambda s, _: s.help()),
    Command("quit", "", "end here; what there is, is kept", lambda s, _: s.quit()),
)


def _fault_command(kind: FaultKind[Any]) -> Command:
    return Command(
        kind.name,
        kind.template.partition(" ")[2].replace("{}", "TARGET"),
        kind.says,
        lambda session, text: session.faults.fault(kind.name, text),
        offers=lambda session: _fault_words(session, kind),
        steers=True,
    )


def _panel_command(panel: Panel) -> Command:
    return Command(panel.name, "", panel.shows, lambda s, _: s.toggle_panel(panel.name))


def _fault_words(session: Session, kind: FaultKind[Any]) -> Sequence[str]:
    """What may follow an action: targets, the keys that fit it, and the values of those that have names."""
    keys = keys_of_faults()
    fields = {} if kind.table is None else dict(keys_of(kind.table))
    fields |= {key: keys[key] for key in keys_beside(kind)}
    words = [*session.pane.source.facts.members, "all", "one"]
    for key, field in fields.items():
        if key != "on":
            words += [f"{key}=", *(f"{key}={name}" for name in getattr(field.rule, "names", ()))]
    return words


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        *_COMMANDS,
        *(_panel_command(panel) for panel in chosen_by_key()),
        *map(_fault_command, fault_kinds()),
    )
}


def carry_out(session: Session, text: str) -> bool:
    """Carry out a line; return false when something is wrong with it, which the screen then shows."""
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if not name:
        return True
    command = COMMANDS.get(name) or COMMANDS.get(only_match(name, COMMANDS))
    if command is None:
        session.tell(f"no order '{name}'; {nearest(name, COMMANDS)}")
        return False
    if rest and not command.usage:
        session.tell(f"{command.name} takes nothing; got '{rest}'")
        return False
    act = command.act
    return session.do(lambda: act(session, rest))


def offers(session: Session, text: str) -> list[str]:
    """Return what may complete the last word of a line."""
    name, blank, rest = text.partition(" ")
    if not blank:
        return matching(name, [k for k in COMMANDS if _is_allowed(session, COMMANDS[k])])
    command = COMMANDS.get(name)
    if command is None:
        return []
    last = rest.rpartition(" ")[2].rpartition(",")[2]
    fits = [
        word
        for word in dict.fromkeys(command.offers(session))
        if word != last and ("=" in last or word[-1:] == "=" or "=" not in word)
    ]
    return matching(last, fits)


def matching(begun: str, names: Sequence[str]) -> list[str]:
    """Return the names that begin so; where none does, those that have its letters in their order, the shortest first."""
    first = [name for name in names if name.startswith(begun)]
    return first or sorted((n for n in names if _has_in_order(n, begun)), key=len)


def _has_in_order(name: str, letters: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


def _is_allowed(session: Session, command: Command) -> bool:
    return session.pane.steering is not None or not command.steers


def complete(session: Session, text: str) -> str:
    """Complete the last word as far as all that is offered agrees."""
    words = offers(session, text)
    if not words:
        return text
    begun = max(text.rfind(" "), text.rfind(",")) + 1
    if not words[0].startswith(text[begun:]):  # its letters alone: the shortest name is meant
        words = words[:1]
    shared = commonprefix(words)  # noqa: RUF071 # characters are what is completed
    if words[0].startswith(text[begun:]) and len(shared) <= len(text) - begun:
        return text
    return text[:begun] + shared + (" " if len(words) == 1 and not shared.endswith("=") else "")

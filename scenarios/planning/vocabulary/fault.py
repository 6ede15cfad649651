"""Faults: what is done to agents, links, clocks, disks and ledgers."""

from importlib import import_module

from scenarios.language.table_rules import Field, keys_of
from scenarios.planning.fault_kinds import FAULTS, FaultTable
from scenarios.planning.word_cards import WordCard, WordFamily, words_of

_ON = {
    "agents": "agents",
    "links": "links that touch a target, or pairs of agents",
    "network": "the network: its own keys choose the links",
}


def _card(name: str) -> WordCard:
    kind = FAULTS[name]
    module = import_module(f"scenarios.planning.faults.{name.replace('-', '_')}")
    says = words_of(module).removeprefix(f"{name}: ")
    keys = {name: Field(kind.rule)} if kind.table is None else dict(keys_of(kind.table))
    facts = {
        "acts on": _ON[kind.on],
        "in short": kind.says,
        "lasts": "until it is undone (for, until, or heal)" if kind.lasts else "it happens once",
        "state": f"while it lasts, its agents are {kind.state}"
        if kind.state
        else "agents stay as they are",
        "timing": ", ".join(sorted(keys_of(FaultTable))),
        "console": kind.template.format("TARGET"),
        "stands at": "[[fault]]: one action in each; docs/faults.md has targets and timings",
    }
    more = {beside.name: Field(beside.rule, beside.default) for beside in kind.beside}
    return WordCard(name=name, says=says, facts=facts, keys=keys | more)


KIND = WordFamily(name="fault", order=2, names=FAULTS.names, card=_card)
